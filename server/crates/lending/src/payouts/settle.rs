//! Records the results of payouts. Results may arrive more than once, from several sources and in any order:
//! the first one settles the payout, later ones change nothing.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use tracing::Instrument;

use super::{
    ANSWER_TIMEOUT, PayoutStatus, Payouts, Record, Reply,
    idempotency::LockedKeys,
    records::{self, Locked},
};
use crate::{
    mobile_money::Verdict,
    notifications::{self, Later},
    outbox::{self, NewSms},
    world::Happened,
};
use base::{clock::UnixMillis, error::Failure, ids::TransactionId, phone::Msisdn, randomness::Randomness};
use store::{
    Connection, query,
    sets::{InSets, Written},
    version::DataCopy,
};

/// A payout as it is stored.
#[derive(Debug)]
pub struct Kept {
    pub(super) record: Record,
    /// The stored answer to the call that started the payout, if that call had a key that has not expired.
    pub(super) reply: Option<Reply>,
}

// The set is read once: a planner whose statistics say that few payouts are PENDING would read it for each of these.
const SETTLE: &str = "
    WITH asked AS MATERIALIZED (
        SELECT value ->> 'payout_id' AS id, value ->> 'status' AS status, value ->> 'receipt' AS receipt,
               value ->> 'result_code' AS result_code, value ->> 'error_message' AS error_message,
               CAST(value ->> 'at' AS BIGINT) AS at FROM json_each($1))
    UPDATE payout SET status = asked.status, receipt = asked.receipt, result_code = asked.result_code,
        error_message = asked.error_message, processed_at = asked.at
    FROM asked
    WHERE payout.payout_id = asked.id AND payout.status = 'PENDING'";

const DISBURSE_LOANS: &str = "
    WITH asked AS MATERIALIZED (
        SELECT value ->> 'loan_id' AS id, CAST(value ->> 'at' AS BIGINT) AS at
        FROM json_each($1) WHERE value ->> 'status' = 'COMPLETED')
    UPDATE loan SET status = 'DISBURSED', disbursed_at = asked.at, updated_at = asked.at
    FROM asked
    WHERE loan.loan_id = asked.id";

/// Settles the payout with this `transaction_id` in the data of `copy`. Returns `None` if there is no such payout, or if
/// other data has replaced `copy`: a result for the old data settles nothing in the new.
pub(super) async fn settle(
    payouts: &Payouts,
    transaction_id: TransactionId,
    copy: DataCopy,
    verdict: Verdict,
) -> Result<Option<Kept>, Failure> {
    let settling = keep(payouts, transaction_id, Some((copy, verdict)));
    let written = settling.instrument(traces::step!("settle")).await?;
    Ok(written.map(|(settled, is_first)| {
        if is_first {
            let Record { id, loan_id, status, result_code, .. } = &settled.record;
            tracing::info!(loan.id = %loan_id, payout.id = %id, ?status, "payout.settled");
            if settled.record.is_later() {
                payouts.outbox.wake();
            }
            let (status, result_code) = (status.to_string(), result_code.clone());
            payouts.world.tell(Happened::PayoutSettled { status, result_code });
        }
        settled
    }))
}

/// Stores the payout as it is now as the answer to its call, unless the call has an answer; `None` if the
/// payout does not exist.
pub(super) async fn accept(
    payouts: &Payouts,
    transaction_id: TransactionId,
) -> Result<Option<Kept>, Failure> {
    let kept = keep(payouts, transaction_id, None).instrument(traces::step!("accept")).await?;
    Ok(kept.map(|(kept, _)| kept))
}

async fn keep(
    payouts: &Payouts,
    transaction_id: TransactionId,
    result: Option<(DataCopy, Verdict)>,
) -> Result<Option<(Kept, bool)>, Failure> {
    let settlement = Settlement {
        transaction_id,
        result,
        now: payouts.world.clock.now(),
        randomness: payouts.world.randomness.clone(),
        brand: payouts.world.settings.brand.clone(),
        traceparent: traces::traceparent(),
    };
    payouts.settlements.write_in_turn(settlement).await
}

/// A result, or an answer without one, that waits to be recorded.
#[derive(Debug)]
pub struct Settlement {
    transaction_id: TransactionId,
    /// The result, and the copy of the data that it is about; `None` while it is not known.
    result: Option<(DataCopy, Verdict)>,
    now: UnixMillis,
    randomness: Randomness,
    brand: String,
    traceparent: Option<String>,
}

impl InSets for Settlement {
    /// The payout, and whether this has settled it.
    type Done = Option<(Kept, bool)>;

    async fn write(set: &[Arc<Self>], connection: &mut Connection) -> Written<Self::Done> {
        let copy = DataCopy::of(connection).await?;
        let is_current = |settlement: &Self| settlement.result.as_ref().is_none_or(|(of, _)| *of == copy);
        let current = set.iter().filter(|settlement| is_current(settlement));
        let ids: Vec<TransactionId> = current.map(|settlement| settlement.transaction_id.clone()).collect();
        let Locked { mut records, mut others } = records::lock_records(connection, &ids).await?;
        let keys = LockedKeys::of(connection, &records).await?;
        others.extend(
            records.extract_if(.., |record| keys.is_held(record)).map(|record| record.transaction_id),
        );
        let places: HashMap<TransactionId, usize> = records
            .iter()
            .enumerate()
            .map(|(place, record)| (record.transaction_id.clone(), place))
            .collect();
        let (mut settled, mut found) = (Vec::new(), Vec::new());
        for settlement in set {
            let place = places.get(&settlement.transaction_id).copied();
            found.push(match place.filter(|_| is_current(settlement)) {
                Some(place) => {
                    let is_first = settlement.settle(&mut records[place]);
                    if is_first {
                        settled.push((&**settlement, records[place].clone()));
                    }
                    Ok(Some((place, is_first)))
                }
                None if others.contains(&settlement.transaction_id) => Err(Failure::Conflict),
                None => Ok(None),
            });
        }
        write_settled(connection, &settled).await?;
        let answers = keys.answer(connection, &records).await?;
        let done = |(place, is_first): (usize, bool)| {
            let record = records[place].clone();
            let reply = answers.get(&record.id).cloned();
            (Kept { record, reply }, is_first)
        };
        Ok(found.into_iter().map(|found| found.map(|found| found.map(done))).collect())
    }
}

/// Writes settled payouts, the loans of completed ones, and the messages to customers.
///
/// # Errors
/// [`Failure::Conflict`] if one of the payouts has been settled meanwhile.
async fn write_settled(
    connection: &mut Connection,
    settled: &[(&Settlement, Record)],
) -> Result<(), Failure> {
    if settled.is_empty() {
        return Ok(());
    }
    let rows = settled.iter().map(|(settlement, record)| {
        json!({
            "payout_id": record.id,
            "loan_id": record.loan_id,
            "status": record.status,
            "receipt": record.mpesa_ref,
            "result_code": record.result_code,
            "error_message": record.error_message,
            "at": settlement.now.0,
        })
    });
    let rows = rows.collect::<Value>().to_string();
    let written = query(SETTLE).bind(&rows).execute(&mut *connection).await?;
    if written != settled.len() as u64 {
        return Err(Failure::Conflict);
    }
    let completed: Vec<_> =
        settled.iter().filter(|(_, record)| record.status == PayoutStatus::Completed).collect();
    if !completed.is_empty() {
        query(DISBURSE_LOANS).bind(&rows).execute(&mut *connection).await?;
        let messages = completed.iter().filter_map(|(settlement, record)| settlement.message(record));
        outbox::sms_to_all(connection, &messages.collect::<Vec<_>>()).await?;
    }
    tell(connection, settled).await
}

/// Notifies the users of payouts that settled after their calls were answered.
async fn tell(connection: &mut Connection, settled: &[(&Settlement, Record)]) -> Result<(), Failure> {
    let Some((settlement, _)) = settled.first() else { return Ok(()) };
    let later: Vec<Later<'_>> = settled
        .iter()
        .filter(|(_, record)| record.is_later())
        .map(|(_, record)| Later {
            staff_id: &record.user_id,
            loan_id: &record.loan_id,
            amount: record.amount,
            outcome: match &record.mpesa_ref {
                Some(receipt) => Ok(receipt.as_str()),
                None => Err(record.error_message.as_deref().unwrap_or_default()),
            },
        })
        .collect();
    let Settlement { randomness, brand, now, .. } = settlement;
    Ok(notifications::tell(connection, randomness, brand, *now, &later).await?)
}

impl Settlement {
    /// Puts the result in `record`, unless the record has one. Returns whether it is settled by that.
    fn settle(&self, record: &mut Record) -> bool {
        let Some((_, verdict)) = &self.result else { return false };
        if record.status != PayoutStatus::Pending {
            check_agrees(verdict, record);
            return false;
        }
        record.processed_at = Some(self.now);
        match verdict {
            Verdict::Paid(receipt) => {
                record.status = PayoutStatus::Completed;
                record.mpesa_ref = Some(receipt.clone());
                record.result_code = Some("0".to_owned());
            }
            Verdict::Refused(refusal) => {
                record.status = PayoutStatus::Failed;
                record.result_code = Some(refusal.code().to_owned());
                record.error_message = Some(refusal.text().to_owned());
            }
            Verdict::NotReceived => {
                record.status = PayoutStatus::Failed;
                record.error_message =
                    Some("The payment request was not received by mobile money.".to_owned());
            }
        }
        true
    }

    /// Returns the SMS that tells the customer about the payment; `None` if a recording has a phone number that is none.
    fn message(&self, record: &Record) -> Option<NewSms> {
        let to = Msisdn::parse(&record.phone)?;
        let body = format!(
            "{} Confirmed. Dear {}, your loan of {} from {} has been sent to {}.",
            record.mpesa_ref.as_deref().unwrap_or_default(),
            outbox::name(&record.customer_first_name),
            record.amount,
            self.brand,
            to.local(),
        );
        Some(NewSms {
            message_id: self.randomness.id(self.now),
            to,
            body,
            at: self.now,
            traceparent: self.traceparent.clone(),
        })
    }
}

/// Logs an error if a later result contradicts the one in `record`. The audit reports it too.
fn check_agrees(verdict: &Verdict, record: &Record) {
    let agrees = match verdict {
        Verdict::Paid(receipt) => record.mpesa_ref.as_ref() == Some(receipt),
        Verdict::Refused(_) | Verdict::NotReceived => record.status == PayoutStatus::Failed,
    };
    if !agrees {
        tracing::error!(payout.id = %record.id, ?verdict, "payout.contradicted");
    }
}

impl Record {
    /// Returns whether the payout settled after its call was answered.
    fn is_later(&self) -> bool {
        self.processed_at.is_some_and(|settled_at| settled_at.since(self.created_at) >= ANSWER_TIMEOUT)
    }
}
