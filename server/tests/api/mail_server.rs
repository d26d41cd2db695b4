//! A mail server on the loopback address, as far as RFC 5321 needs one to take a message.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
    sync::Notify,
};

/// What it does with who comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mood {
    /// Takes every message.
    Takes,
    /// Says 451 to every recipient.
    Refuses,
    /// Takes the message and never says so.
    FallsSilent,
}

/// A message as it arrived.
#[derive(Clone, Debug)]
pub struct Mail {
    pub from: String,
    pub to: String,
    pub data: String,
}

impl Mail {
    /// What stands in a header line.
    pub fn header(&self, name: &str) -> String {
        let start = format!("{name}: ");
        self.data.lines().find_map(|line| line.strip_prefix(&start)).unwrap().to_owned()
    }
}

/// Runs until it is dropped.
pub struct MailServer {
    pub url: String,
    world: Arc<World>,
    accepting: tokio::task::JoinHandle<()>,
}

struct World {
    mood: Mutex<Mood>,
    got: Mutex<Vec<Mail>>,
    refused: Mutex<usize>,
    changed: Notify,
}

impl MailServer {
    pub async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let world = Arc::new(World {
            mood: Mutex::new(mood),
            got: Mutex::default(),
            refused: Mutex::default(),
            changed: Notify::new(),
        });
        let accepting = tokio::spawn({
            let world = Arc::clone(&world);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&world).talk(stream));
                }
            }
        });
        Self { url, world, accepting }
    }

    pub fn set(&self, mood: Mood) {
        *self.world.mood.lock().unwrap() = mood;
    }

    /// Waits until so many messages have arrived, and gives them.
    pub async fn got(&self, count: usize) -> Vec<Mail> {
        self.until(|world| world.got.lock().unwrap().len() >= count).await;
        self.world.got.lock().unwrap().clone()
    }

    /// Waits until so many recipients were refused.
    pub async fn refused(&self, count: usize) {
        self.until(|world| *world.refused.lock().unwrap() >= count).await;
    }

    async fn until(&self, done: impl Fn(&World) -> bool) {
        let waiting = async {
            while !done(&self.world) {
                self.world.changed.notified().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await.unwrap();
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl World {
    fn mood(&self) -> Mood {
        *self.mood.lock().unwrap()
    }

    async fn talk(self: Arc<Self>, stream: TcpStream) {
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        let mut mail = Mail { from: String::new(), to: String::new(), data: String::new() };
        say(&mut write, "220 mail.test ESMTP").await;
        while let Ok(Some(line)) = lines.next_line().await {
            let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
            match verb.to_ascii_uppercase().as_str() {
                "EHLO" => say(&mut write, "250-mail.test\r\n250 8BITMIME").await,
                "MAIL" => {
                    mail.from = rest.to_owned();
                    say(&mut write, "250 OK").await;
                }
                "RCPT" if self.mood() == Mood::Refuses => {
                    *self.refused.lock().unwrap() += 1;
                    self.changed.notify_one();
                    say(&mut write, "451 try again later").await;
                }
                "RCPT" => {
                    mail.to = rest.to_owned();
                    say(&mut write, "250 OK").await;
                }
                "DATA" => {
                    say(&mut write, "354 go on").await;
                    while let Ok(Some(line)) = lines.next_line().await {
                        if line == "." {
                            break;
                        }
                        mail.data += line.strip_prefix('.').unwrap_or(&line);
                        mail.data += "\n";
                    }
                    self.got.lock().unwrap().push(mail.clone());
                    self.changed.notify_one();
                    if self.mood() != Mood::FallsSilent {
                        say(&mut write, "250 queued").await;
                    }
                }
                "RSET" | "NOOP" => say(&mut write, "250 OK").await,
                "QUIT" => return say(&mut write, "221 bye").await,
                _ => say(&mut write, "502 what?").await,
            }
        }
    }
}

async fn say(to: &mut OwnedWriteHalf, line: &str) {
    // Who hung up need not hear it.
    _ = to.write_all(format!("{line}\r\n").as_bytes()).await;
}
