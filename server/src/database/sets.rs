//! Work of one kind that is done for many at once, by one statement each.
//!
//! A call's work joins what waits in its lane, and all of it is written as a set. What a set can't do,
//! because a rule has to be looked at or because somebody else was faster, goes alone afterwards, with all
//! its rules. A set that fails is rolled back as a whole, and each of it goes alone.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::{Connection, Database, MAX_BATCH_SIZE};
use crate::error::Failure;

/// Work that is done in sets.
pub trait InSets: Send + Sync + Sized + 'static {
    /// What comes of it.
    type Done: Send + 'static;

    /// Work with the same key is done in the same lane.
    fn lane(&self) -> &str;

    /// Does all of `set`, in a transaction that may be repeated; `None` for what has to go alone.
    fn together(
        set: &[Arc<Self>],
        connection: &mut Connection,
    ) -> impl Future<Output = Result<Vec<Option<Self::Done>>, Failure>> + Send;

    /// Does one, in a transaction that may be repeated.
    fn alone(&self, connection: &mut Connection) -> impl Future<Output = Result<Self::Done, Failure>> + Send;
}

/// The queues of one kind of work, one for each lane. Clones share them.
#[derive(Debug)]
pub struct Sets<W: InSets> {
    database: Database,
    lanes: Arc<[mpsc::UnboundedSender<Member<W>>]>,
}

impl<W: InSets> Clone for Sets<W> {
    fn clone(&self) -> Self {
        Self { database: self.database.clone(), lanes: Arc::clone(&self.lanes) }
    }
}

/// A call's work, and where it is answered.
#[derive(Debug)]
struct Member<W: InSets> {
    work: Arc<W>,
    answer: oneshot::Sender<Result<W::Done, Failure>>,
    /// Its place among what waits for a writer.
    place: OwnedSemaphorePermit,
}

impl<W: InSets> Sets<W> {
    /// Queues that are written to `database`, until the last clone is dropped.
    pub fn of(database: &Database) -> Self {
        let queue = |lane: usize| {
            // Bounded by the places.
            let (sender, waiting) = mpsc::unbounded_channel();
            tokio::spawn(write_sets(database.clone(), lane, waiting));
            sender
        };
        Self { database: database.clone(), lanes: (0..database.lanes()).map(queue).collect() }
    }

    /// Does `work` with what else waits in its lane, and returns when it is committed.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write(&self, work: W) -> Result<W::Done, Failure> {
        let place = self.database.place()?;
        self.done(work, place).await
    }

    /// Like [`Sets::write`], but waits if too much waits already: for work that continues an accepted call.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_in_turn(&self, work: W) -> Result<W::Done, Failure> {
        let place = self.database.place_in_turn().await?;
        self.done(work, place).await
    }

    async fn done(&self, work: W, place: OwnedSemaphorePermit) -> Result<W::Done, Failure> {
        let lane = &self.lanes[self.database.lane_of(work.lane())];
        let (answer, answered) = oneshot::channel();
        let member = Member { work: Arc::new(work), answer, place };
        lane.send(member).map_err(|_| Failure::Busy)?;
        answered.await.unwrap_or(Err(Failure::NotCommitted))
    }
}

async fn write_sets<W: InSets>(
    database: Database,
    lane: usize,
    mut waiting: mpsc::UnboundedReceiver<Member<W>>,
) {
    let mut members = Vec::new();
    while waiting.recv_many(&mut members, MAX_BATCH_SIZE).await > 0 {
        // Lets calls that are about to come do so now.
        let mut joined = 0;
        while joined < members.len() && members.len() < MAX_BATCH_SIZE {
            joined = members.len();
            tokio::task::yield_now().await;
            while members.len() < MAX_BATCH_SIZE
                && let Ok(member) = waiting.try_recv()
            {
                members.push(member);
            }
        }
        write_set(&database, lane, std::mem::take(&mut members)).await;
    }
}

async fn write_set<W: InSets>(database: &Database, lane: usize, members: Vec<Member<W>>) {
    let (mut works, mut answers, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for Member { work, answer, place } in members {
        works.push(work);
        answers.push(answer);
        places.push(place);
    }
    let done = match write_together(database, lane, places, &works).await {
        Ok(done) => done,
        Err(Failure::Busy) => return answer_all(answers, || Failure::Busy),
        Err(Failure::NotCommitted) => return answer_all(answers, || Failure::NotCommitted),
        Err(failure) => {
            tracing::debug!(?failure, "a set is written one by one");
            works.iter().map(|_| None).collect()
        }
    };
    for ((work, done), answer) in works.into_iter().zip(done).zip(answers) {
        match done {
            Some(done) => _ = answer.send(Ok(done)),
            // The next set does not wait for it.
            None => _ = tokio::spawn(write_alone(database.clone(), lane, work, answer)),
        }
    }
}

/// How often work is tried, if PostgreSQL undoes it because of another transaction.
const MAX_ATTEMPTS: u32 = 5;

async fn write_together<W: InSets>(
    database: &Database,
    lane: usize,
    mut places: Vec<OwnedSemaphorePermit>,
    works: &[Arc<W>],
) -> Result<Vec<Option<W::Done>>, Failure> {
    let mut attempts = 1;
    loop {
        let mut transaction = database.begin_in_lane(lane, std::mem::take(&mut places)).await?;
        match W::together(works, &mut transaction).await {
            Ok(done) => return transaction.commit().await.map(|()| done),
            Err(Failure::Conflict) if attempts < MAX_ATTEMPTS => attempts += 1,
            Err(failure) => return Err(failure),
        }
        database.count_conflict();
    }
}

fn answer_all<D>(answers: Vec<oneshot::Sender<Result<D, Failure>>>, failure: fn() -> Failure) {
    for answer in answers {
        // Fails if the caller has gone.
        _ = answer.send(Err(failure()));
    }
}

async fn write_alone<W: InSets>(
    database: Database,
    lane: usize,
    work: Arc<W>,
    answer: oneshot::Sender<Result<W::Done, Failure>>,
) {
    let mut attempts = 1;
    let done = loop {
        let written = async {
            let mut transaction = database.begin_in_lane(lane, Vec::new()).await?;
            let done = work.alone(&mut transaction).await?;
            transaction.commit().await?;
            Ok(done)
        };
        match written.await {
            Err(Failure::Conflict) if attempts < MAX_ATTEMPTS => attempts += 1,
            // Nothing was done, as when the database is unavailable.
            Err(Failure::Conflict) => break Err(Failure::Busy),
            done => break done,
        }
        database.count_conflict();
    };
    _ = answer.send(done);
}
