//! The one task of a process that writes.
//!
//! It takes the work that waits, in the order in which it came, runs each piece in a savepoint of
//! its own, and commits them together: one flush to disk for all, where a commit each would queue
//! for the disk (measured 3 to 4 times as many). A piece that fails is undone alone. Nobody is
//! answered before the commit that holds its work, and everybody hears what became of it: kept,
//! not done, or, when the store failed in the middle of a commit, not known.
//!
//! On PostgreSQL each transaction begins by taking one lock that all servers share, so that
//! writes of all of them follow one another as those of one file do, each seeing all before it.
//! What holds on one engine holds on the other, and no two transactions can stand in each other's
//! way.

use std::{future::Future, panic::AssertUnwindSafe};

use futures::{FutureExt, future::BoxFuture};
use sqlx::{ConnectOptions, postgres::PgConnectOptions, sqlite::SqliteConnectOptions};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Connection, engine_error, reach};
use crate::error::Failure;

/// How many pieces of work one commit takes at most, so that nobody waits for a giant one.
pub const TOGETHER_AT_MOST: usize = 64;

/// How often a transaction in which nothing was done yet is begun.
const BEGUN_AT_MOST: u32 = 3;

/// What the writer is told.
pub(super) enum Order {
    Work(Work),
    /// Do what waits, take no more, and say when that is over.
    Close(oneshot::Sender<()>),
}

pub(super) struct Work {
    /// Does the work and says whether its changes are to be kept.
    run: Run,
    heard: oneshot::Sender<Fate>,
}

type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, bool> + Send>;

/// What became of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It is on disk.
    Kept,
    /// Nothing of it was done.
    NotDone,
    /// The store failed while it was being kept: it may be there or not.
    Unknown,
}

/// `work` as the writer takes it, and what its sender waits for.
pub(super) fn piece<T, F>(work: F) -> (Work, impl Future<Output = Result<T, Failure>>)
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
{
    let (tell, mut result) = oneshot::channel();
    let (heard, fate) = oneshot::channel();
    let run: Run = Box::new(move |connection: &mut Connection| {
        async move {
            let outcome = work(connection).await;
            let keep = outcome.is_ok();
            // Whoever went away meanwhile does not hear it; the work stands.
            _ = tell.send(outcome);
            keep
        }
        .boxed()
    });
    let done = async move {
        match fate.await {
            Ok(Fate::Kept) => {}
            Ok(Fate::NotDone) => return Err(Failure::Busy),
            Ok(Fate::Unknown) | Err(_) => return Err(Failure::NotCommitted),
        }
        match result.try_recv() {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Internal("a piece of work panicked and was undone".to_owned())),
        }
    };
    (Work { run, heard }, done)
}

/// How the writer reaches its store, and what it says there besides the statements of its work.
pub(super) enum Target {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

impl Target {
    async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(options) => options.connect().await?.into(),
            Self::Postgres(options) => reach(options).await?.into(),
        })
    }

    /// Begins a transaction that no other writer is in, and its first piece of work.
    ///
    /// On PostgreSQL each statement after the lock sees what was committed before it: at any
    /// higher level of isolation they would see what was there when they began to wait. The number
    /// is "mkopo" in ASCII.
    fn begin(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE; SAVEPOINT work",
            Self::Postgres(_) => {
                "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
                 SELECT pg_advisory_xact_lock(469953900655);
                 SAVEPOINT work"
            }
        }
    }

    fn commit(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "COMMIT",
            // Alone, it would pass for well when it undoes a transaction that a statement broke.
            Self::Postgres(_) => "RELEASE work; COMMIT",
        }
    }
}

const NEXT_PIECE: &str = "RELEASE work; SAVEPOINT work";

const UNDO_PIECE: &str = "ROLLBACK TO work";

pub(super) struct Writer {
    target: Target,
    /// None after a failure that left it unfit.
    connection: Option<Connection>,
    orders: mpsc::Receiver<Order>,
    together_at_most: usize,
    committed: watch::Sender<()>,
    closing: Option<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn new(
        target: Target,
        connection: Connection,
        orders: mpsc::Receiver<Order>,
        together_at_most: usize,
        committed: watch::Sender<()>,
    ) -> Self {
        Self { target, connection: Some(connection), orders, together_at_most, committed, closing: None }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Work(first) => self.write_together(first).await,
                Order::Close(closed) => self.close_after(closed),
            }
        }
        if let Some(connection) = self.connection {
            connection.close().await;
        }
        if let Some(closed) = self.closing {
            _ = closed.send(());
        }
    }

    fn close_after(&mut self, closed: oneshot::Sender<()>) {
        self.orders.close();
        self.closing = Some(closed);
    }

    /// Work that waits already, without waiting for more.
    fn waiting(&mut self) -> Option<Work> {
        match self.orders.try_recv().ok()? {
            Order::Work(work) => Some(work),
            Order::Close(closed) => {
                self.close_after(closed);
                None
            }
        }
    }

    async fn write_together(&mut self, first: Work) {
        let mut heard = Vec::new();
        let fate = match self.begin().await {
            Ok(mut connection) => {
                let (fate, is_fit) = self.attempt(&mut connection, first, &mut heard).await;
                self.connection = is_fit.then_some(connection);
                fate
            }
            Err(error) => {
                tracing::error!(%error, "database away");
                heard.push(first.heard);
                Fate::NotDone
            }
        };
        for heard in heard {
            _ = heard.send(fate);
        }
        if fate == Fate::Kept {
            self.committed.send_replace(());
        }
    }

    /// A connection in a transaction that no other writer is in. One that broke since the last, or
    /// was chosen to end a deadlock, is begun again: nothing has been done in it.
    async fn begin(&mut self) -> Result<Connection, sqlx::Error> {
        let mut begun = 1;
        loop {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.target.connect().await?,
            };
            let Err(error) = connection.command(self.target.begin()).await else { return Ok(connection) };
            if roll_back(&mut connection, &error).await != RolledBack::Failed {
                self.connection = Some(connection);
            }
            if begun == BEGUN_AT_MOST || !engine_error::may_be_begun_again(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "beginning a transaction again");
            begun += 1;
        }
    }

    /// What became of the whole batch, and whether the connection is fit for the next.
    async fn attempt(
        &mut self,
        connection: &mut Connection,
        first: Work,
        heard: &mut Vec<oneshot::Sender<Fate>>,
    ) -> (Fate, bool) {
        if let Err(error) = self.run_all(connection, first, heard).await {
            tracing::error!(%error, "writing failed");
            return (Fate::NotDone, roll_back(connection, &error).await != RolledBack::Failed);
        }
        let Err(error) = connection.command(self.target.commit()).await else {
            return (Fate::Kept, true);
        };
        tracing::error!(%error, "commit failed");
        match (&self.target, roll_back(connection, &error).await) {
            (_, RolledBack::Failed) => (Fate::Unknown, false),
            (Target::Sqlite(_), RolledBack::Now) => (Fate::NotDone, true),
            (_, _) if engine_error::is_before_commit(&error) => (Fate::NotDone, true),
            (Target::Sqlite(_), RolledBack::Before) => (Fate::Unknown, true),
            // PostgreSQL rolls back what it has committed, too: it does nothing, and is content.
            (Target::Postgres(_), _) => (Fate::Unknown, false),
        }
    }

    async fn run_all(
        &mut self,
        connection: &mut Connection,
        first: Work,
        heard: &mut Vec<oneshot::Sender<Fate>>,
    ) -> Result<(), sqlx::Error> {
        let mut next = Some(first);
        while let Some(Work { run, heard: who }) = next {
            heard.push(who);
            if heard.len() > 1 {
                connection.command(NEXT_PIECE).await?;
            }
            let keep = AssertUnwindSafe(run(connection)).catch_unwind().await.unwrap_or(false);
            if !keep {
                // Fails when the disk's failure has undone the whole transaction already.
                connection.command(UNDO_PIECE).await?;
            }
            next = if heard.len() < self.together_at_most { self.waiting() } else { None };
        }
        Ok(())
    }
}

#[derive(PartialEq)]
enum RolledBack {
    Now,
    /// The engine had done it by itself.
    Before,
    Failed,
}

/// Undoes what `failed`, unless the way to the store is broken: then it is undone there.
async fn roll_back(connection: &mut Connection, failed: &sqlx::Error) -> RolledBack {
    if matches!(failed, sqlx::Error::Io(_)) {
        return RolledBack::Failed;
    }
    match connection.command("ROLLBACK").await {
        Ok(()) => RolledBack::Now,
        Err(sqlx::Error::Database(error)) if error.message().contains("no transaction is active") => {
            RolledBack::Before
        }
        Err(error) => {
            tracing::error!(%error, "roll-back failed");
            RolledBack::Failed
        }
    }
}
