//! Servers as processes, and the figures that Linux gives of them.

use std::{
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::net::TcpStream;

use super::{
    PENDING,
    client::{Answer, Client, request},
};

pub const CONSOLE_TOKEN: &str = "a-token-of-a-bench";
pub const SECRETS: [&str; 4] =
    ["--jwt-secret", "the-secret-of-the-servers-of-a-bench", "--console-token", CONSOLE_TOKEN];

/// A process that is killed on drop.
pub struct Running(Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// A server, as in a deployment.
pub struct Server {
    process: Running,
    pub portal: SocketAddr,
    pub console: SocketAddr,
}

impl Server {
    /// Starts the program of `command` with more options, and waits until it answers.
    pub async fn start(mut command: Command, options: &[&str]) -> Self {
        let (portal, console) = (free_address(), free_address());
        let addresses = [portal, console].map(|address| address.to_string());
        command.args([
            "serve",
            "--demo",
            "true",
            "--listen",
            &addresses[0],
            "--console-listen",
            &addresses[1],
        ]);
        command.args(SECRETS).args(options).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Running::start(&mut command);
        first_answer(portal).await;
        Self { process, portal, console }
    }

    /// A figure of its memory in MB, such as `VmRSS`.
    pub fn memory(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The first answer of a process that has just been started.
pub async fn first_answer(address: SocketAddr) -> Answer {
    let start = Instant::now();
    while TcpStream::connect(address).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "no server started at {address}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Client::of(address).await.call(&request(&format!("GET {PENDING}"), "", "")).await
}

/// The time that this process had a processor, in its own code and in the kernel's.
pub fn processor_time() -> Duration {
    /// Linux counts in hundredths of a second for every machine.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name before may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = [fields[11], fields[12]].map(|field| field.parse::<u32>().unwrap());
    TICK * ticks.iter().sum()
}
