//! Work of one kind that is done for many callers together, each statement for all of them.
//!
//! A call's work joins what waits, and all of it is written as a set, in one transaction. Each
//! member gets its own result. A set that fails as a whole is rolled back, and each of its members is written
//! by itself, as a set of one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{Mutex, OwnedSemaphorePermit, mpsc, oneshot};
use tracing::{Instrument, Span};

use crate::{connection::Connection, database::Database, transaction::Transaction, writer::Writer};
use base::error::Failure;

/// The maximum number of members of a set, which bounds how long its transaction takes.
const MAX_SET_SIZE: usize = 64;

/// The time for which a member is tried again while somebody else has locked its rows.
const LOCKED_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause before such a member is tried again.
const LOCKED_PAUSE: Duration = Duration::from_millis(20);

/// Work that is done in sets.
pub trait InSets: Send + Sync + Sized + 'static {
    type Done: Send + 'static;

    /// Does all of `set`, in a transaction that may be repeated, and returns a result for each member, as if
    /// they had been done one after the other. Nothing is written for a member that fails.
    ///
    /// Never waits for a row that somebody else may keep locked: the member fails with [`Failure::Conflict`]
    /// and is tried again.
    ///
    /// # Errors
    /// If nothing must be written for any member; [`Failure::Conflict`] if another transaction was faster.
    fn write(
        set: &[Arc<Self>],
        connection: &mut Connection,
    ) -> impl Future<Output = Written<Self::Done>> + Send;
}

/// The result for each member of a set.
pub type Written<D> = Result<Vec<Result<D, Failure>>, Failure>;

/// The queue of one kind of work. Clones share it.
#[derive(Debug)]
pub struct Sets<W: InSets> {
    database: Database,
    queue: mpsc::UnboundedSender<Member<W>>,
}

impl<W: InSets> Clone for Sets<W> {
    fn clone(&self) -> Self {
        Self { database: self.database.clone(), queue: self.queue.clone() }
    }
}

/// A call's work, and the channel for its result.
#[derive(Debug)]
struct Member<W: InSets> {
    work: Arc<W>,
    answer: oneshot::Sender<Result<W::Done, Failure>>,
    place: OwnedSemaphorePermit,
    /// The step of the caller that waits.
    step: Span,
}

impl<W: InSets> Sets<W> {
    /// A queue that is written to `database`, until the last clone is dropped.
    pub fn of(database: &Database) -> Self {
        // Bounded by the places.
        let (queue, waiting) = mpsc::unbounded_channel();
        tokio::spawn(write_sets(database.clone(), database.side_writer(), waiting));
        Self { database: database.clone(), queue }
    }

    /// Does `work` together with other work that waits, and returns when it is committed.
    pub async fn write(&self, work: W) -> Result<W::Done, Failure> {
        let place = self.database.place()?;
        self.done(work, place).await
    }

    /// Like [`Sets::write`], but waits if the queue is full: for work that continues an accepted call.
    pub async fn write_in_turn(&self, work: W) -> Result<W::Done, Failure> {
        let place = self.database.place_in_turn().await?;
        self.done(work, place).await
    }

    async fn done(&self, work: W, place: OwnedSemaphorePermit) -> Result<W::Done, Failure> {
        let (answer, answered) = oneshot::channel();
        let member = Member { work: Arc::new(work), answer, place, step: traces::current() };
        self.queue.send(member).map_err(|_| Failure::Busy)?;
        answered.await.unwrap_or(Err(Failure::NotCommitted))
    }
}

async fn write_sets<W: InSets>(
    database: Database,
    writer: Arc<Mutex<Writer>>,
    mut waiting: mpsc::UnboundedReceiver<Member<W>>,
) {
    let mut members = Vec::new();
    while waiting.recv_many(&mut members, MAX_SET_SIZE).await > 0 {
        // Lets calls that are about to arrive join the set.
        let mut joined = 0;
        while joined < members.len() && members.len() < MAX_SET_SIZE {
            joined = members.len();
            tokio::task::yield_now().await;
            while members.len() < MAX_SET_SIZE
                && let Ok(member) = waiting.try_recv()
            {
                members.push(member);
            }
        }
        write_set(&database, &writer, std::mem::take(&mut members)).await;
    }
}

async fn write_set<W: InSets>(database: &Database, writer: &Arc<Mutex<Writer>>, members: Vec<Member<W>>) {
    let (mut works, mut callers, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for Member { work, answer, place, step } in members {
        works.push(work);
        callers.push((answer, step));
        places.push(place);
    }
    let step = traces::of_the_first(callers.iter().map(|(_, step)| step));
    let written = write_together(database, writer, places, &works).instrument(step).await;
    let results = written.unwrap_or_else(|failure| {
        tracing::debug!(?failure, "a set was not written");
        let of_each = || match &failure {
            Failure::Busy => Failure::Busy,
            Failure::Unavailable(reason) => Failure::Unavailable(Arc::clone(reason)),
            Failure::NotCommitted => Failure::NotCommitted,
            _ => Failure::Conflict,
        };
        works.iter().map(|_| Err(of_each())).collect()
    });
    for ((work, result), (answer, step)) in works.into_iter().zip(results).zip(callers) {
        if let Err(Failure::Conflict) = result {
            // The next set does not wait for it.
            tokio::spawn(write_alone(database.clone(), Arc::clone(writer), work, answer).instrument(step));
        } else {
            // Fails if the caller has gone.
            _ = answer.send(result);
        }
    }
}

/// The maximum number of attempts for a set that PostgreSQL undoes because of another transaction.
const MAX_ATTEMPTS: u32 = 5;

async fn write_together<W: InSets>(
    database: &Database,
    writer: &Arc<Mutex<Writer>>,
    mut places: Vec<OwnedSemaphorePermit>,
    set: &[Arc<W>],
) -> Written<W::Done> {
    let mut attempts = 1;
    loop {
        let mut transaction = Transaction::begin(writer, false, std::mem::take(&mut places)).await?;
        match W::write(set, &mut transaction).await {
            Ok(results) => return transaction.commit().await.map(|()| results),
            Err(Failure::Conflict) if attempts < MAX_ATTEMPTS => attempts += 1,
            Err(failure) => return Err(failure),
        }
        database.count_conflict();
    }
}

async fn write_alone<W: InSets>(
    database: Database,
    writer: Arc<Mutex<Writer>>,
    work: Arc<W>,
    answer: oneshot::Sender<Result<W::Done, Failure>>,
) {
    let began = Instant::now();
    let result = loop {
        database.count_conflict();
        let written = write_together(&database, &writer, Vec::new(), std::slice::from_ref(&work)).await;
        match written.and_then(|mut results| results.pop().unwrap_or(Err(Failure::NotCommitted))) {
            Err(Failure::Conflict) if began.elapsed() < LOCKED_TIMEOUT => {
                tokio::time::sleep(LOCKED_PAUSE).await;
            }
            // Nothing was done, as when the database is unavailable.
            Err(Failure::Conflict) => break Err(Failure::Busy),
            result => break result,
        }
    };
    _ = answer.send(result);
}
