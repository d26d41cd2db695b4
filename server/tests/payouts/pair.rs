//! Two servers on the same data, each with its own runtime and its own clock.
//!
//! A runtime runs only while the test drives it, so the test decides where a step interrupts a
//! server. Dropping a runtime stops all its tasks immediately, as a crash does, and drops the
//! connections with their uncommitted transactions. The next life opens the same files.

use std::{sync::Arc, time::Duration};

use base::clock::{Clock, UnixMillis};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;
use tokio::{
    runtime::Runtime,
    sync::OwnedRwLockWriteGuard,
    task::{JoinHandle, LocalSet, yield_now},
};

use crate::{
    test_app::{NOON, TestApp},
    test_store,
};

/// The number of servers.
pub const SERVERS: usize = 2;

/// Long enough for the database threads to finish a statement.
const A_MOMENT: Duration = Duration::from_micros(20);

/// One life of a server.
struct Server {
    runtime: Runtime,
    app: TestApp,
    /// While it is held, no request reaches mobile money.
    requests_held: Option<OwnedRwLockWriteGuard<()>>,
}

impl Server {
    /// Runs its tasks for a few polls.
    fn turn(&self) {
        self.runtime.block_on(yield_now());
    }
}

pub struct Pair {
    folder: Arc<TempDir>,
    servers: [Option<Server>; SERVERS],
    /// The time that a right clock shows.
    real_time: UnixMillis,
    /// The number of starts of servers; each generates other ids.
    starts: u64,
}

impl Pair {
    /// Starts both on a copy of the data in `folder`, with clocks that are this many ms ahead.
    pub fn start_on(folder: &TempDir, ahead_ms: [i64; SERVERS]) -> Self {
        let mut pair = Self { folder: copy_of(folder), servers: [None, None], real_time: NOON, starts: 0 };
        pair.start_all(ahead_ms);
        pair
    }

    fn start_all(&mut self, ahead_ms: [i64; SERVERS]) {
        for (on, ahead_ms) in ahead_ms.into_iter().enumerate() {
            self.start(on, ahead_ms);
        }
    }

    /// Starts a server that is not running, with a clock that is `ahead_ms` ahead.
    pub fn start(&mut self, on: usize, ahead_ms: i64) {
        assert!(self.servers[on].is_none());
        self.starts += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (folder, starts) = (Arc::clone(&self.folder), self.starts);
        let clock = Clock::held_at(UnixMillis(self.real_time.0 + ahead_ms));
        let local = LocalSet::new();
        let starting = local.spawn_local(async move {
            TestApp::open(folder, clock, &["--session-minutes", "43200"], starts).await
        });
        while !starting.is_finished() {
            local.block_on(&runtime, yield_now());
            self.turn_all();
        }
        let app = local.block_on(&runtime, starting).unwrap();
        self.servers[on] = Some(Server { runtime, app, requests_held: None });
    }

    fn server(&self, on: usize) -> &Server {
        self.servers[on].as_ref().unwrap()
    }

    pub fn app(&self, on: usize) -> TestApp {
        self.server(on).app.clone()
    }

    /// Begins `task` on a server.
    pub fn spawn<T: Send + 'static>(
        &self,
        on: usize,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.server(on).runtime.spawn(task)
    }

    /// The result of a task that is finished.
    pub fn result_of<T>(&self, on: usize, task: JoinHandle<T>) -> T {
        self.server(on).runtime.block_on(task).unwrap()
    }

    /// Finishes `task` on a server, while both run.
    pub fn finish<T: Send + 'static>(&self, on: usize, task: impl Future<Output = T> + Send + 'static) -> T {
        let task = self.spawn(on, task);
        while !task.is_finished() {
            self.turn_all();
        }
        self.result_of(on, task)
    }

    /// Runs one server for a few polls, so that the next step interrupts it.
    pub fn turn(&self, on: usize) {
        self.server(on).turn();
        std::thread::sleep(A_MOMENT);
    }

    /// Runs both servers for a few polls.
    pub fn turn_all(&self) {
        for server in self.servers.iter().flatten() {
            server.turn();
        }
        std::thread::sleep(A_MOMENT);
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        self.real_time = self.real_time.plus(time);
        for server in self.servers.iter().flatten() {
            server.app.clock.advance(time);
        }
    }

    /// Moves the clock of one server forward.
    pub fn jump(&self, on: usize, by: Duration) {
        self.server(on).app.clock.advance(by);
    }

    /// Holds up the requests of a server on their way to mobile money, or lets them pass.
    pub fn hold_requests(&mut self, on: usize, is_held: bool) {
        if !is_held {
            self.servers[on].as_mut().unwrap().requests_held = None;
        } else if self.server(on).requests_held.is_none() {
            let app = self.app(on);
            let held = self.finish(on, async move { app.sandbox.mobile_money.hold_requests().await });
            self.servers[on].as_mut().unwrap().requests_held = Some(held);
        }
    }

    /// Kills one server.
    pub fn crash(&mut self, on: usize) {
        self.servers[on].take().unwrap().runtime.shutdown_timeout(Duration::from_secs(5));
    }

    /// Stops one server without waiting for its work.
    pub fn stop(&mut self, on: usize) {
        let app = self.app(on);
        self.finish(on, async move { app.sandbox.close(Duration::ZERO).await });
    }

    /// Kills both servers, and returns a copy of the data that they leave.
    pub fn crash_all(&mut self) -> Arc<TempDir> {
        for on in 0..SERVERS {
            self.crash(on);
        }
        if test_store::is_postgres() {
            return copy_of(&self.folder);
        }
        // Otherwise a connection that is still closing could write during the copy.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let file = self.folder.path().join("mkopo.db");
            let mut lock = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut lock).await.unwrap();
            let copy = copy_of(&self.folder);
            lock.close().await.unwrap();
            copy
        })
    }

    /// Starts both after [`Pair::crash_all`], on the same data or on a copy of `older` data.
    pub fn start_again(&mut self, older: Option<&TempDir>, ahead_ms: [i64; SERVERS]) {
        if let Some(older) = older {
            self.folder = copy_of(older);
        }
        self.start_all(ahead_ms);
    }
}

/// A copy of the data in `folder`, which is not open.
fn copy_of(folder: &TempDir) -> Arc<TempDir> {
    let copy = Arc::new(tempfile::tempdir().unwrap());
    test_store::copy(folder.path(), copy.path());
    copy
}
