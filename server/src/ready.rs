//! `mkopo ready`: whether the service on this machine answers and can reach its store.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpStream},
    time::Duration,
};

use anyhow::{Context, ensure};
use mkopo::config::ReadySettings;

/// How long the service may take: longer than it gives its store.
const PATIENCE: Duration = Duration::from_secs(4);

/// Asks the service for `/readyz`; what is wrong is the error.
pub fn ask(settings: &ReadySettings) -> anyhow::Result<()> {
    let mut address = settings.listen;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let answer = answer_of(address).with_context(|| format!("no answer on {address}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    ensure!(
        head.split(' ').nth(1) == Some("200"),
        "not ready: {}",
        if body.is_empty() { head } else { body }
    );
    println!("ready");
    Ok(())
}

fn answer_of(address: std::net::SocketAddr) -> std::io::Result<String> {
    let mut connection = TcpStream::connect_timeout(&address, PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    // After an answer to HTTP/1.0 the service closes the connection.
    connection.write_all(b"GET /readyz HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}
