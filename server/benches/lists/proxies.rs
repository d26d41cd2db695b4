//! How fast the list is forwarded from another provider, compared with nginx as a reverse proxy. The provider
//! sends bytes from memory, so that what is measured is the way through the proxy.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
};

use super::{FEWER_ROUNDS, Other, Section, cores, free_address, in_turns, rounds};

/// A proxy in front of the provider.
struct Proxy {
    name: &'static str,
    server: Other,
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

/// Measures this service and nginx, if this machine has it, in front of `provider`, which has the same core.
pub async fn measure(folder: &Path, provider: SocketAddr, section: &mut Section) {
    let proxies = start(folder, provider).await;
    let mut asked: Vec<_> = proxies.iter().map(|proxy| proxy.server.asked(proxy.name, "")).collect();
    in_turns(&mut asked, rounds(FEWER_ROUNDS)).await;
    section.table("100 loans: calls a second, forwarded from ready bytes of another server");
    for asked in &asked {
        section.figure(asked.what.clone(), "/s", asked.each(|rate| rate.per_second), "");
    }
    if let [own, nginx] = &asked[..] {
        section.figure("Mkopo against nginx", "", own.against(nginx, |rate| rate.per_second), "≥ 1");
    }
}

/// That of nginx, if this machine has it.
pub fn versions() -> Vec<String> {
    let version = Command::new("nginx").arg("-v").output().ok().map(|said| said.stderr);
    let version = version
        .and_then(|said| String::from_utf8(said).ok()?.rsplit_once('/').map(|(_, at)| at.trim().into()));
    version.map(|version: String| format!("nginx {version}")).into_iter().collect()
}

async fn start(folder: &Path, provider: SocketAddr) -> Vec<Proxy> {
    let server = start_mkopo(&folder.join("portal"), provider).await;
    let mut proxies = vec![Proxy { name: "Mkopo", server, stop: None }];
    match start_nginx(folder, provider).await {
        Some(server) => {
            let mut stop = nginx(folder);
            stop.args(["-s", "stop"]);
            proxies.push(Proxy { name: "nginx", server, stop: Some(stop) });
        }
        None => println!("nginx skipped: it is not installed"),
    }
    proxies
}

async fn start_mkopo(folder: &Path, provider: SocketAddr) -> Other {
    let address = free_address();
    let mut command = cores::measured(env!("CARGO_BIN_EXE_mkopo"));
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
    let workers = if cores::are_kept_apart() { "1" } else { "auto" };
    let settings = format!(
        "daemon off;\nworker_processes {workers};\npid nginx.pid;\nerror_log stderr crit;\nevents {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  upstream provider {{ server {provider}; keepalive 64; keepalive_requests 10000000; }}\n\
         server {{\n  listen {address};\n  keepalive_requests 10000000;\n  location / {{\n    proxy_pass http://provider;\n\
         proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n\
         proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n  }}\n }}\n}}\n"
    );
    std::fs::write(folder.join("nginx.conf"), settings).ok()?;
    Some(Other::start(&mut nginx(folder), address).await.0)
}

fn nginx(folder: &Path) -> Command {
    let mut command = cores::measured("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}
