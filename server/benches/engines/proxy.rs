//! A proxy that stands for the network between a server and PostgreSQL: it delays each byte by the same time
//! in both directions.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Passes connections on to `target`, until the process ends, and returns its own address. On threads: timers of an async
/// runtime are too coarse for a millisecond.
pub fn start(target: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(target).unwrap());
            pass(client.try_clone().unwrap(), server.try_clone().unwrap(), delay);
            pass(server, client, delay);
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    from.set_nodelay(true).unwrap();
    to.set_nodelay(true).unwrap();
    let (sender, received) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 65536];
        while let Ok(read) = from.read(&mut buffer) {
            if read == 0 || sender.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in received {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        _ = to.shutdown(std::net::Shutdown::Both);
    });
}
