//! A writing transaction, as its caller holds it.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use tokio::sync::oneshot;
use tracing::{Instrument, Span};

use crate::connection::Connection;
use base::error::Failure;

/// A transaction that writes. It is rolled back if it is dropped before it is committed.
#[derive(Debug)]
pub struct Transaction {
    /// `None` once the connection was given back.
    lent: Option<Lent>,
}

/// The writer's connection, and the channel for its return.
#[derive(Debug)]
struct Lent {
    connection: Connection,
    back: oneshot::Sender<Returned>,
}

/// The writer's connection after a caller's statements.
#[derive(Debug)]
pub(super) struct Returned {
    pub connection: Connection,
    /// `None` to roll back.
    pub commit: Option<Commit>,
}

/// A caller that waits for the commit.
#[derive(Debug)]
pub(super) struct Commit {
    /// The channel for the outcome.
    pub outcome: oneshot::Sender<Outcome>,
    /// The step of the caller that waits.
    pub step: Span,
}

/// The outcome of a commit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The changes are on disk.
    Committed,
    /// Nothing was written, for this reason.
    NotDone(Arc<str>),
    /// The database failed during the commit, so the changes may or may not be there.
    Unknown,
}

impl Transaction {
    /// Returns a transaction on `connection`, and the channel on which the connection comes back.
    pub(super) fn on(connection: Connection) -> (Self, oneshot::Receiver<Returned>) {
        let (back, returned) = oneshot::channel();
        (Self { lent: Some(Lent { connection, back }) }, returned)
    }

    /// Commits, together with other waiting writes, and returns when the changes are on disk.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if nothing was written; [`Failure::NotCommitted`] if it is unknown whether it was.
    pub async fn commit(mut self) -> Result<(), Failure> {
        let (sender, outcome) = oneshot::channel();
        let step = traces::step!("commit");
        self.give_back(Some(Commit { outcome: sender, step: step.clone() }));
        match outcome.instrument(step).await {
            Ok(Outcome::Committed) => Ok(()),
            Ok(Outcome::NotDone(reason)) => Err(Failure::Unavailable(reason)),
            Ok(Outcome::Unknown) | Err(_) => Err(Failure::NotCommitted),
        }
    }

    /// Runs `work` and commits. If `work` fails, its changes are rolled back.
    ///
    /// # Errors
    /// Those of `work` and of [`Transaction::commit`].
    pub async fn run<T>(
        mut self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = work(&mut self).await?;
        self.commit().await?;
        Ok(done)
    }

    fn give_back(&mut self, commit: Option<Commit>) {
        if let Some(Lent { connection, back }) = self.lent.take() {
            // Fails if the writer has stopped; its connection is closed then.
            _ = back.send(Returned { connection, commit });
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.give_back(None);
    }
}

impl Deref for Transaction {
    type Target = Connection;

    #[expect(clippy::expect_used, reason = "only its end gives the connection back")]
    fn deref(&self) -> &Connection {
        &self.lent.as_ref().expect("a connection until the end").connection
    }
}

impl DerefMut for Transaction {
    #[expect(clippy::expect_used, reason = "only its end gives the connection back")]
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.lent.as_mut().expect("a connection until the end").connection
    }
}
