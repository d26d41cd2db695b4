//! Floods from callers without a session: the service never grows, never stops and never locks others out.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::fd::OwnedFd,
    process::{Command, Stdio},
    time::Duration,
};

use mkopo::http::connections::Limits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    connections::served,
    contract,
    server::{Server, try_call},
    slices,
    test_app::TestApp,
    test_store,
};

/// JSON nested as deep as the parser goes, 8 KB of it.
fn nested() -> Value {
    let mut object = json!({});
    for _ in 0..100 {
        object = json!({"a": object});
    }
    Value::Array(vec![object; 13])
}

// S-8, S-95, S-113
#[tokio::test]
async fn traffic_keeps_a_bounded_number_of_bytes_whatever_is_sent() {
    let app = TestApp::start().await;
    let body = nested();
    let size = body.to_string().len();
    assert!((7_000..8_192).contains(&size), "{size}");
    for _ in 0..1_100 {
        assert_eq!(app.post("/api/v1/zzz", body.clone()).await.status, 404);
    }
    let kept = app.sandbox.traffic.entries().len();
    assert!((500..=8 * 1024 * 1024 / size).contains(&kept), "{kept}");
}

// S-113
#[tokio::test]
async fn a_path_over_one_kibibyte_is_refused() {
    let app = TestApp::start().await;
    for path in ["/", "/api/v1/", "/loans/", "/console/"] {
        let long = format!("{path}{}", "a".repeat(1025));
        assert_eq!(app.get(&long).await.kind(), "414 uri_too_long", "{path}");
    }
    for (path, method) in contract::operations().iter().filter(|(path, _)| path.contains('{')) {
        assert!(contract::response(path, method, "414").is_some(), "{method} {path} has no 414");
    }
}

// S-1
#[tokio::test]
async fn a_name_that_no_file_can_have_is_a_page_or_missing_and_never_an_error() {
    let (app, _portal) = slices::started().await;
    let long = "a".repeat(256);
    let encoded = "%61".repeat(256);
    for name in [long.as_str(), encoded.as_str(), &"a".repeat(253), "%00", "x%00y"] {
        for screen in ["/", "/loans/"] {
            assert_eq!(app.get(&format!("{screen}{name}")).await.status, 200, "{screen}{name}");
        }
        for folder in ["/assets/", "/slices/", "/slices/mfe-auth/"] {
            assert_eq!(app.get(&format!("{folder}{name}")).await.status, 404, "{folder}{name}");
        }
    }
}

/// U+FDFA is 18 letters in a domain name (IDNA): the largest body of them would keep the server busy for seconds.
// S-113
#[tokio::test]
async fn an_e_mail_address_that_is_too_long_is_refused_before_it_is_parsed() {
    let app = TestApp::start().await;
    let email = format!("a@{}", "\u{fdfa}".repeat(20_000));
    let credentials =
        json!({"email": email, "password": "x", "otp": "123456", "new_password": "Kahawa-2026"});
    let calls =
        ["login", "verify-signin-otp", "request-signin-otp", "request-password-reset", "reset-password"];
    for call in calls {
        let answer = app.post(&format!("/api/v1/auth/{call}"), credentials.clone()).await;
        assert_eq!(answer.kind(), "422 invalid_request", "{call}");
    }
}

/// Returns whether the service answers on this connection.
async fn answers(stream: &mut TcpStream) -> bool {
    if stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").await.is_err() {
        return false;
    }
    let mut answer = Vec::new();
    while !answer.ends_with(b"\"ok\"}") {
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read_buf(&mut answer)).await;
        if !matches!(read, Ok(Ok(1..))) {
            return false;
        }
    }
    answer.starts_with(b"HTTP/1.1 200")
}

// S-95
#[tokio::test]
async fn one_address_has_a_bounded_number_of_connections_and_its_longest_idle_one_is_closed() {
    let served = served(Limits { per_address: 3, ..Limits::default() }).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        let mut stream = served.connect().await;
        assert!(answers(&mut stream).await);
        open.push(stream);
    }
    let mut alive = Vec::new();
    for stream in &mut open {
        alive.push(answers(stream).await);
    }
    assert_eq!(alive, [false, false, true, true, true]);
}

// S-113
#[tokio::test]
async fn when_all_connections_are_taken_the_longest_idle_one_is_closed_for_the_next() {
    let served = served(Limits { connections: 2, ..Limits::default() }).await;
    let mut idle = [served.connect().await, served.connect().await];
    for stream in &mut idle {
        assert!(answers(stream).await);
    }
    let mut next = served.connect().await;
    assert!(answers(&mut next).await);
}

// S-113
#[tokio::test]
async fn silent_connections_take_no_open_files_from_other_clients_and_the_console() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" serve --demo true --log off \"$@\""])
        .args([env!("CARGO_BIN_EXE_mkopo"), "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path())
        .env_clear()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut printed = || {
        let line = lines.find(|line| line.contains("http://"))?;
        Some(line.split_once("http://")?.1.split('/').next()?.to_owned())
    };
    let [portal, console] = [printed().unwrap(), printed().unwrap()];
    let mut silent = Vec::new();
    for _ in 0..70 {
        silent.push(TcpStream::connect(&portal).await.unwrap());
    }
    let mut answered = Vec::new();
    for address in [portal, console] {
        answered.push(answers(&mut TcpStream::connect(address).await.unwrap()).await);
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(answered, [true, true]);
}

// S-104
#[test]
fn a_log_that_can_not_be_written_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody reads it.
    let (_, log) = std::io::pipe().unwrap();
    let log = File::from(OwnedFd::from(log));
    let server = Server::start_with_log(&[], log, &test_store::options(folder.path()));
    for _ in 0..20 {
        let answer = try_call(&server.address, "GET", "/api/v1/zzz", &[], None).unwrap();
        assert_eq!(answer.status, 404);
    }
}
