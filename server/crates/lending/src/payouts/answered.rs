//! The answers about payouts that this server gave lately, so that it can say which of them another copy of the
//! data does not have: after a failover of PostgreSQL that lost commits, for example.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    time::Duration,
};

use parking_lot::Mutex;

use super::{PayoutStatus, Payouts, Reply, records};
use crate::{
    events::{EventKind, NewEvent},
    world::Happened,
};
use base::{
    error::Failure,
    ids::{LoanId, PayoutId},
};
use store::{Connection, version::DataCopy};

/// The number of answers that are remembered: what a server answers in some seconds under load.
const MAX_ANSWERS: usize = 1000;

/// The wait before a comparison that failed is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The author of the event.
const BY: &str = "this server";

/// The latest answers, oldest first.
#[derive(Debug, Default)]
pub(super) struct Answered(Mutex<VecDeque<Answer>>);

/// The answer to a call about its payout.
#[derive(Clone, Debug)]
struct Answer {
    payout_id: PayoutId,
    loan_id: LoanId,
    status: PayoutStatus,
    /// The generation it was given in. Answers from before a reset are not missed: a reset removes payouts on purpose.
    generation: i64,
}

impl Answered {
    /// Remembers that a call was told of its payout.
    pub(super) fn add(&self, payout_id: PayoutId, loan_id: LoanId, reply: &Reply, generation: i64) {
        let status = match reply.status {
            200 => PayoutStatus::Completed,
            202 => PayoutStatus::Pending,
            _ => PayoutStatus::Failed,
        };
        let mut answers = self.0.lock();
        if answers.len() == MAX_ANSWERS {
            answers.pop_front();
        }
        answers.push_back(Answer { payout_id, loan_id, status, generation });
    }

    fn all(&self) -> Vec<Answer> {
        self.0.lock().iter().cloned().collect()
    }

    /// Forgets answers, so that they are named once.
    fn remove(&self, named: &[Answer]) {
        self.0.lock().retain(|answer| named.iter().all(|named| named.payout_id != answer.payout_id));
    }
}

/// Compares what was answered with each other copy of the data, for as long as the future is polled.
pub(super) async fn keep_comparing(payouts: Payouts) {
    let mut copies = payouts.world.shared_read.copies();
    while copies.changed().await.is_ok() {
        while let Err(failure) = compare(&payouts).await {
            tracing::debug!(?failure, "data_copy.not_compared");
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }
}

/// Says once in the log, in an event and to the listener which answers the data does not have.
async fn compare(payouts: &Payouts) -> Result<(), Failure> {
    let answers = payouts.answered.all();
    let at = payouts.world.clock.unset_now();
    let write = async move |connection: &mut Connection| {
        let DataCopy { generation, timeline } = DataCopy::of(connection).await?;
        let ids: Vec<PayoutId> = answers.iter().map(|answer| answer.payout_id.clone()).collect();
        let there = records::records(connection, &ids).await?;
        let there: HashMap<PayoutId, PayoutStatus> =
            there.into_iter().map(|record| (record.id, record.status)).collect();
        let is_missing = |answer: &&Answer| {
            let now = there.get(&answer.payout_id);
            answer.generation == generation
                && now.is_none_or(|now| answer.status != PayoutStatus::Pending && *now != answer.status)
        };
        let missing: Vec<Answer> = answers.iter().filter(is_missing).cloned().collect();
        let loans: BTreeSet<&str> = missing.iter().map(|answer| &*answer.loan_id).collect();
        let loans = loans.into_iter().collect::<Vec<_>>().join(", ");
        let details = match missing.len() {
            0 => format!("timeline {timeline}; the last {} answers about payouts are in it", answers.len()),
            many => {
                format!("timeline {timeline}; answers about payouts that are not in it: {many}, for {loans}")
            }
        };
        let event = NewEvent::new(at, EventKind::DataCopyFound, BY, None).details(&details);
        event.add(connection).await?;
        Ok((missing, event))
    };
    let (missing, event) = payouts.world.database.write_in_turn(write).await?;
    event.log();
    payouts.answered.remove(&missing);
    let missing = missing.len();
    if missing > 0 {
        tracing::error!(missing, "data_copy.answers_missing");
    }
    payouts.world.tell(Happened::DataCopyFound { missing });
    Ok(())
}
