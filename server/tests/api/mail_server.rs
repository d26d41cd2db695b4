//! A minimal SMTP server on the loopback address that can accept a message (RFC 5321).

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
};

use crate::test_app::wait_until;

/// The behaviour of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behaviour {
    /// Accepts every message.
    Accepts,
    /// Answers this to every recipient.
    Refuses(&'static str),
    /// Does not answer to this recipient.
    HangsAt(&'static str),
    /// Receives the message and does not answer.
    Hangs,
}

/// A message as it arrived.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The name by which its sender said hello.
    pub hello: String,
    pub from: String,
    pub to: String,
    pub data: String,
}

impl Mail {
    /// The value of a header.
    pub fn header(&self, name: &str) -> String {
        let start = format!("{name}: ");
        self.data.lines().find_map(|line| line.strip_prefix(&start)).unwrap().to_owned()
    }
}

/// A server that runs until it is dropped.
pub struct MailServer {
    pub url: String,
    state: Arc<State>,
    accepting: tokio::task::JoinHandle<()>,
}

struct State {
    behaviour: Mutex<Behaviour>,
    received: Mutex<Vec<Mail>>,
    refused: Mutex<usize>,
}

impl MailServer {
    pub async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            behaviour: Mutex::new(behaviour),
            received: Mutex::default(),
            refused: Mutex::default(),
        });
        let accepting = tokio::spawn({
            let state = Arc::clone(&state);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&state).talk(stream));
                }
            }
        });
        Self { url, state, accepting }
    }

    pub fn set(&self, behaviour: Behaviour) {
        *self.state.behaviour.lock().unwrap() = behaviour;
    }

    /// Waits until `count` messages have arrived, and returns them.
    pub async fn received(&self, count: usize) -> Vec<Mail> {
        wait_until("messages arrive", async || self.state.received.lock().unwrap().len() >= count).await;
        self.state.received.lock().unwrap().clone()
    }

    /// Waits until `count` recipients were refused, or got no answer.
    pub async fn refused(&self, count: usize) {
        wait_until("recipients are refused", async || *self.state.refused.lock().unwrap() >= count).await;
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl State {
    fn behaviour(&self) -> Behaviour {
        *self.behaviour.lock().unwrap()
    }

    fn count_refused(&self) {
        *self.refused.lock().unwrap() += 1;
    }

    async fn talk(self: Arc<Self>, stream: TcpStream) {
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        let mut mail =
            Mail { hello: String::new(), from: String::new(), to: String::new(), data: String::new() };
        say(&mut write, "220 mail.test ESMTP").await;
        while let Ok(Some(line)) = lines.next_line().await {
            let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
            match verb.to_ascii_uppercase().as_str() {
                "EHLO" => {
                    mail.hello = rest.to_owned();
                    say(&mut write, "250-mail.test\r\n250 8BITMIME").await;
                }
                "MAIL" => {
                    mail.from = rest.to_owned();
                    say(&mut write, "250 OK").await;
                }
                "RCPT" => match self.behaviour() {
                    Behaviour::Refuses(reply) => {
                        self.count_refused();
                        say(&mut write, reply).await;
                    }
                    Behaviour::HangsAt(recipient) if rest.contains(recipient) => self.count_refused(),
                    _ => {
                        mail.to = rest.to_owned();
                        say(&mut write, "250 OK").await;
                    }
                },
                "DATA" => {
                    say(&mut write, "354 send the message").await;
                    while let Ok(Some(line)) = lines.next_line().await {
                        if line == "." {
                            break;
                        }
                        mail.data += line.strip_prefix('.').unwrap_or(&line);
                        mail.data += "\n";
                    }
                    self.received.lock().unwrap().push(mail.clone());
                    if self.behaviour() != Behaviour::Hangs {
                        say(&mut write, "250 queued").await;
                    }
                }
                "RSET" | "NOOP" => say(&mut write, "250 OK").await,
                "QUIT" => return say(&mut write, "221 bye").await,
                _ => say(&mut write, "502 command not implemented").await,
            }
        }
    }
}

async fn say(to: &mut OwnedWriteHalf, line: &str) {
    // Fails if the client has disconnected.
    _ = to.write_all(format!("{line}\r\n").as_bytes()).await;
}
