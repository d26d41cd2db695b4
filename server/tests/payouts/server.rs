//! The real server as a process, called over the network.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Lines},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use axum::http::{HeaderMap, Request};
use lending::demo;
use serde_json::{Value, json};
use ureq::Agent;

use crate::test_app::{CONSOLE_TOKEN, JWT_SECRET};

/// A running server process.
pub struct Server {
    process: Child,
    pub address: String,
    /// The console's address.
    pub console: String,
    /// Kept open, because the process writes to it.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts a server on the database given by `store`.
    pub fn start_on(store: &[String]) -> Self {
        Self::start_with(&[], store)
    }

    /// Starts a server with these environment variables.
    pub fn start_with(variables: &[(&str, &str)], store: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
        Self::run(command.envs(variables.iter().copied()).arg("serve"), store)
    }

    /// Starts a server with these environment variables, which writes what matters to `log`.
    pub fn start_with_log(variables: &[(&str, &str)], log: File, store: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
        command.envs(variables.iter().copied()).env("MKOPO_LOG", "info").stderr(log);
        Self::run(command.arg("serve"), store)
    }

    /// Starts a server on a machine whose clock is off by `offset`, such as `+10m` or `-1h`.
    pub fn start_with_clock_off_by(offset: &str, store: &[String]) -> Self {
        let mut command =
            Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/machine/faketime"));
        Self::run(command.args([offset, env!("CARGO_BIN_EXE_mkopo"), "serve"]), store)
    }

    /// Starts a server that can't write more than `bytes` to any one file, until its disk is given room.
    pub fn start_with_disk_of(bytes: usize, store: &[String]) -> Self {
        // With the signal ignored, writing beyond the limit fails as on a full disk.
        Self::start_after(&format!("trap '' XFSZ; ulimit -Sf {}", bytes / 512), store)
    }

    /// Starts a server from a shell that has run these commands.
    pub fn start_after(commands: &str, store: &[String]) -> Self {
        let script = format!("{commands}; exec \"$0\" serve \"$@\"");
        Self::run(Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_mkopo")]), store)
    }

    /// Lifts the limit of [`Self::start_with_disk_of`].
    pub fn give_disk_room(&self) {
        let mut command = Command::new("prlimit");
        let lifted =
            command.args(["--fsize=unlimited", "--pid"]).arg(self.id().to_string()).status().unwrap();
        assert!(lifted.success(), "prlimit: {lifted}");
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    fn run(command: &mut Command, store: &[String]) -> Self {
        if !command.get_envs().any(|(name, _)| name == "MKOPO_LOG") {
            // The cause of a 500 and nothing else, as no test expects one.
            command.env("MKOPO_LOG", "mkopo::http::edge=error");
        }
        let mut process = command
            .args(["--listen", "127.0.0.1:0", "--demo", "true"])
            .env("MKOPO_SESSION_MINUTES", "43200")
            .args(["--console-token", CONSOLE_TOKEN, "--jwt-secret", JWT_SECRET])
            .args(store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut printed_address =
            || lines.find_map(|line| Some(line.unwrap().split_once("http://")?.1.trim().to_owned())).unwrap();
        let (address, console) = (printed_address(), printed_address());
        let console = console.trim_end_matches("/console").to_owned();
        Self { process, address, console, _output: lines }
    }
}

/// Sends SIGKILL, so that the process can't clean up.
impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// An HTTP response.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// Calls a server.
///
/// # Errors
/// It is unreachable, its answer is truncated, or there is none in 25 s.
pub fn try_call(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Result<Answer, ureq::Error> {
    let mut request = Request::builder().method(method).uri(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    // A new connection for each call, without a proxy.
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    let agent = config.timeout_global(Some(Duration::from_secs(25))).build().new_agent();
    let mut response = match body {
        Some(body) => {
            let request = request.header("content-type", "application/json");
            agent.run(request.body(body.to_string()).unwrap())?
        }
        None => agent.run(request.body(()).unwrap())?,
    };
    let text = response.body_mut().read_to_string()?;
    let body =
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).map_err(io::Error::from)? };
    Ok(Answer { status: response.status().as_u16(), headers: response.headers().clone(), body })
}

/// Signs in as the demo data's agent and returns the token.
pub fn sign_in(address: &str) -> String {
    sign_in_as("agent@mkopo.test", address).unwrap()
}

/// Signs in with the demo's password; `None` if the server is unavailable.
pub fn sign_in_as(email: &str, address: &str) -> Option<String> {
    let credentials = json!({"email": email, "password": demo::PASSWORD});
    let answer = try_call(address, "POST", "/api/v1/auth/login", &[], Some(&credentials)).ok()?;
    if answer.status >= 500 {
        return None;
    }
    assert_eq!(answer.status, 200, "{}", answer.body);
    Some(answer.body["user"]["token"].as_str().unwrap().to_owned())
}
