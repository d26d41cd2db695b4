//! How fast the list is forwarded from another provider, compared with nginx as a reverse proxy. The provider
//! sends bytes from memory, so that what is measured is the way through the proxy.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
};

use super::{Other, Rate, free_address};

/// A proxy in front of the provider.
pub struct Proxy {
    name: &'static str,
    pub server: Other,
    pub best: Rate,
    /// Stops it with its workers, which outlive it otherwise.
    stop: Option<Command>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(stop) = &mut self.stop {
            _ = stop.status();
        }
    }
}

/// Starts this service and nginx, if this machine has it, in front of `provider`.
pub async fn start(folder: &Path, provider: SocketAddr) -> Vec<Proxy> {
    let mut proxies = vec![Proxy {
        name: "forwarded by Mkopo",
        server: start_mkopo(&folder.join("portal"), provider).await,
        best: Rate::default(),
        stop: None,
    }];
    match start_nginx(folder, provider).await {
        Some(server) => {
            let mut stop = nginx(folder);
            stop.args(["-s", "stop"]);
            let best = Rate::default();
            proxies.push(Proxy { name: "forwarded by nginx", server, best, stop: Some(stop) });
        }
        None => println!("  nginx skipped: it is not installed"),
    }
    proxies
}

async fn start_mkopo(folder: &Path, provider: SocketAddr) -> Other {
    let address = free_address();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
    command.args(["serve", "--console-listen", "off", "--listen", &address.to_string()]);
    command.args(["--provider-url", &format!("http://{provider}"), "--data-dir"]).arg(folder);
    Other::start(command.stdout(Stdio::null()).stderr(Stdio::null()), address).await.0
}

async fn start_nginx(folder: &Path, provider: SocketAddr) -> Option<Other> {
    let is_installed = Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_ok();
    if !is_installed {
        return None;
    }
    let address = free_address();
    let settings = format!(
        "daemon off;\nworker_processes auto;\npid nginx.pid;\nerror_log stderr crit;\nevents {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  upstream provider {{ server {provider}; keepalive 64; keepalive_requests 10000000; }}\n\
         server {{\n  listen {address};\n  keepalive_requests 10000000;\n  location / {{\n    proxy_pass http://provider;\n\
         proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n\
         proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n  }}\n }}\n}}\n"
    );
    std::fs::write(folder.join("nginx.conf"), settings).ok()?;
    Some(Other::start(&mut nginx(folder), address).await.0)
}

fn nginx(folder: &Path) -> Command {
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Prints the rates, each as a share of that of the last one, nginx.
pub fn print(proxies: &[Proxy]) {
    let Some(last) = proxies.last() else { return };
    for proxy in proxies {
        let ratio = proxy.best.per_second / last.best.per_second;
        println!("  {:<32} {}  {ratio:.2} times {}  (target 1)", proxy.name, proxy.best, last.name);
    }
}
