//! Records the result of a payout. Payments that were made are recorded in sets, other results alone. Results may arrive more than once, from several sources and in
//! any order: the first one settles the payout, later ones change nothing.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};

use super::{ANSWER_TIMEOUT, PayoutStatus, Record, Reply, idempotency, records};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_scalar, sets::InSets, version::Generation},
    error::Failure,
    mobile_money::{Answer, Refusal},
    notifications::{self, Later},
    outbox::{self, NewSms},
    phone::Msisdn,
    randomness::Randomness,
};

/// The result of a payout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The money was sent, with this receipt.
    Paid(String),
    Refused(Refusal),
    /// The request never reached mobile money, and never will.
    NotReceived,
}

impl Verdict {
    /// The result in an answer; `None` if the answer does not contain one.
    pub(super) fn of(answer: Answer) -> Option<Self> {
        match answer {
            Answer::Paid { receipt } => Some(Self::Paid(receipt)),
            Answer::Refused(refusal) => Some(Self::Refused(refusal)),
            Answer::Void => Some(Self::NotReceived),
            Answer::DuplicateOriginator | Answer::DataReplaced => None,
        }
    }
}

/// A payout that is settled.
#[derive(Debug)]
pub struct Settled {
    pub(super) record: Record,
    /// The answer to the call that started it, if that call had a key.
    pub(super) reply: Option<Reply>,
}

const FIND: &str = "
    SELECT payout.payout_id FROM payout JOIN loan ON loan.loan_id = payout.loan_id
    WHERE payout.transaction_id = $1 AND (SELECT value FROM generation) = $2";

const COMPLETE_ALL: &str = "
    UPDATE payout SET status = 'COMPLETED', receipt = asked.receipt, result_code = '0', processed_at = asked.at
    FROM (SELECT value ->> 'payout_id' AS id, value ->> 'receipt' AS receipt,
                 CAST(value ->> 'at' AS BIGINT) AS at FROM json_each($1)) AS asked
    WHERE payout.payout_id = asked.id AND payout.status = 'PENDING'";

const DISBURSE_LOANS: &str = "
    UPDATE loan SET status = 'DISBURSED', disbursed_at = asked.at, updated_at = asked.at
    FROM (SELECT value ->> 'loan_id' AS id, CAST(value ->> 'at' AS BIGINT) AS at FROM json_each($1)) AS asked
    WHERE loan.loan_id = asked.id";

const COMPLETE: &str = "
    UPDATE payout SET status = 'COMPLETED', receipt = $2, result_code = '0', processed_at = $3
    WHERE payout_id = $1 AND status = 'PENDING'";

const FAIL: &str = "
    UPDATE payout SET status = 'FAILED', result_code = $2, error_message = $3, processed_at = $4
    WHERE payout_id = $1 AND status = 'PENDING'";

const DISBURSE_LOAN: &str = "
    UPDATE loan SET status = 'DISBURSED', disbursed_at = $2, updated_at = $2 WHERE loan_id = $1";

/// Settles the payout with this `transaction_id` in the data of `generation`; `None` if it does not
/// exist, or other data has been put in its place: a result says nothing about a restored copy. `may_have_key`:
/// the call that started it may have had a key.
pub(super) async fn settle(
    sandbox: &Sandbox,
    transaction_id: String,
    generation: Generation,
    verdict: Verdict,
    may_have_key: bool,
) -> Result<Option<Settled>, Failure> {
    let settlement = Settlement {
        transaction_id,
        generation,
        verdict,
        may_have_key,
        now: sandbox.clock.now(),
        randomness: sandbox.randomness.clone(),
        brand: sandbox.settings.brand.clone(),
    };
    let written = sandbox.payouts.settlements.write_in_turn(settlement).await?;
    Ok(written.map(|(settled, is_first)| {
        if is_first && settled.record.is_later() {
            sandbox.outbox.wake();
        }
        if is_first && sandbox.is_main() {
            sandbox
                .server
                .metrics
                .payout_settled(settled.record.status, settled.record.result_code.as_deref());
        }
        settled
    }))
}

/// A result that waits to be recorded.
#[derive(Debug)]
pub struct Settlement {
    transaction_id: String,
    generation: Generation,
    verdict: Verdict,
    may_have_key: bool,
    now: UnixMillis,
    randomness: Randomness,
    brand: String,
}

impl InSets for Settlement {
    type Done = Option<(Settled, bool)>;

    fn lane(&self) -> &str {
        &self.transaction_id
    }

    async fn together(
        set: &[Arc<Self>],
        connection: &mut Connection,
    ) -> Result<Vec<Option<Self::Done>>, Failure> {
        let Some(generation) = set.first().map(|settlement| settlement.generation) else {
            return Ok(Vec::new());
        };
        // Of several results for one payout, the first one.
        let mut paid: HashMap<&str, (&Self, &str)> = HashMap::new();
        for settlement in set {
            if let Verdict::Paid(receipt) = &settlement.verdict
                && settlement.generation == generation
            {
                paid.entry(&settlement.transaction_id).or_insert((settlement, receipt));
            }
        }
        let open = match paid.len() {
            0 => Vec::new(),
            _ => records::lock_open_records(connection, paid.keys().copied(), generation).await?,
        };
        if open.is_empty() {
            return Ok(set.iter().map(|_| None).collect());
        }
        let mut settled = Vec::new();
        for mut record in open {
            let Some((settlement, receipt)) = paid.get(record.transaction_id.as_str()) else { continue };
            record.status = PayoutStatus::Completed;
            record.mpesa_ref = Some((*receipt).to_owned());
            record.result_code = Some("0".to_owned());
            record.processed_at = Some(settlement.now);
            settled.push((*settlement, record));
        }
        write_completed(connection, &settled).await?;
        let replies = store_replies(connection, &settled).await?;
        let mut done: HashMap<*const Self, Settled> = HashMap::new();
        for ((settlement, record), reply) in settled.into_iter().zip(replies) {
            record.log_settled();
            done.insert(std::ptr::from_ref(settlement), Settled { record, reply });
        }
        let mut done_of = |settlement: &Arc<Self>| Some(Some((done.remove(&Arc::as_ptr(settlement))?, true)));
        Ok(set.iter().map(&mut done_of).collect())
    }

    async fn alone(&self, connection: &mut Connection) -> Result<Self::Done, Failure> {
        let found: Option<String> = query_scalar(FIND)
            .bind(&self.transaction_id)
            .bind(self.generation)
            .locking("FOR NO KEY UPDATE OF loan")
            .fetch_optional(&mut *connection)
            .await?;
        let Some(payout_id) = found else { return Ok(None) };
        let (record, is_first) = self.record_result(connection, &payout_id).await?;
        let reply = idempotency::answer(connection, record.clone()).await?;
        Ok(Some((Settled { record, reply }, is_first)))
    }
}

/// Writes completed payouts, their loans and the messages to their customers.
///
/// # Errors
/// When one of them has been settled meanwhile: each then goes alone.
async fn write_completed(
    connection: &mut Connection,
    settled: &[(&Settlement, Record)],
) -> Result<(), Failure> {
    let rows: Vec<Value> = settled
        .iter()
        .map(|(settlement, record)| {
            json!({
                "payout_id": record.id,
                "loan_id": record.loan_id,
                "receipt": record.mpesa_ref,
                "at": settlement.now.0,
            })
        })
        .collect();
    let rows = Value::from(rows).to_string();
    let completed = query(COMPLETE_ALL).bind(&rows).execute(&mut *connection).await?;
    if completed != settled.len() as u64 {
        return Err(Failure::Internal("a payout of the set is settled".to_owned()));
    }
    query(DISBURSE_LOANS).bind(&rows).execute(&mut *connection).await?;
    let messages: Result<Vec<NewSms>, Failure> =
        settled.iter().map(|(settlement, record)| settlement.message(record)).collect();
    outbox::sms_to_all(connection, &messages?).await?;
    tell(connection, settled).await
}

/// Tells those who made the payouts, if they settled after their calls were answered.
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

/// Stores the answers to the calls that started `settled`. Returns the first answer of each that had a key.
async fn store_replies(
    connection: &mut Connection,
    settled: &[(&Settlement, Record)],
) -> Result<Vec<Option<Reply>>, Failure> {
    let mut replies = Vec::new();
    let mut answers = Vec::new();
    for (settlement, record) in settled {
        let reply = settlement.may_have_key.then(|| Reply::paid(record.clone())).transpose()?;
        answers.extend(reply.as_ref().map(|reply| json!({ "payout_id": record.id, "body": reply.body })));
        replies.push(reply);
    }
    let first = idempotency::answer_all(connection, answers).await?;
    for ((_, record), reply) in settled.iter().zip(&mut replies) {
        if reply.is_some() && !first.contains(&record.id) {
            *reply = idempotency::stored_answer(connection, &record.id).await?;
        }
    }
    Ok(replies)
}

impl Settlement {
    /// Returns the current record, and whether this call settled it.
    async fn record_result(
        &self,
        connection: &mut Connection,
        payout_id: &str,
    ) -> Result<(Record, bool), Failure> {
        let settled = match &self.verdict {
            Verdict::Paid(receipt) => {
                query(COMPLETE).bind(payout_id).bind(receipt).bind(self.now).execute(&mut *connection)
            }
            Verdict::Refused(refusal) => query(FAIL)
                .bind(payout_id)
                .bind(refusal.code())
                .bind(refusal.text())
                .bind(self.now)
                .execute(&mut *connection),
            Verdict::NotReceived => query(FAIL)
                .bind(payout_id)
                .bind(None::<&str>)
                .bind("The payment request was not received by mobile money.")
                .bind(self.now)
                .execute(&mut *connection),
        }
        .await?;
        let record = records::record(connection, payout_id).await?;
        if settled == 0 {
            self.check_agrees(&record);
            return Ok((record, false));
        }
        if let Verdict::Paid(_) = &self.verdict {
            query(DISBURSE_LOAN).bind(&record.loan_id).bind(self.now).execute(&mut *connection).await?;
            outbox::sms_to_all(connection, &[self.message(&record)?]).await?;
        }
        tell(connection, &[(self, record.clone())]).await?;
        record.log_settled();
        Ok((record, true))
    }

    /// Logs an error if a later result contradicts the first one. The audit reports it too.
    fn check_agrees(&self, record: &Record) {
        let agrees = match &self.verdict {
            Verdict::Paid(receipt) => record.mpesa_ref.as_ref() == Some(receipt),
            Verdict::Refused(_) | Verdict::NotReceived => record.status == PayoutStatus::Failed,
        };
        if !agrees {
            tracing::error!(payout.id = record.id, verdict = ?self.verdict, "payout.contradicted");
        }
    }

    /// Tells the customer of the payment.
    fn message(&self, record: &Record) -> Result<NewSms, Failure> {
        let to = Msisdn::parse(&record.phone)
            .ok_or_else(|| Failure::Internal("the stored phone number is invalid".to_owned()))?;
        let body = format!(
            "{} Confirmed. Dear {}, your loan of KES {} from {} has been sent to {}.",
            record.mpesa_ref.as_deref().unwrap_or_default(),
            record.customer_first_name,
            record.amount,
            self.brand,
            to.local(),
        );
        Ok(NewSms { message_id: self.randomness.id(self.now), to, body, at: self.now })
    }
}

impl Record {
    /// Whether it settled after its call was answered.
    fn is_later(&self) -> bool {
        self.processed_at.is_some_and(|settled_at| settled_at.since(self.created_at) >= ANSWER_TIMEOUT)
    }

    fn log_settled(&self) {
        tracing::info!(loan.id = self.loan_id, payout.id = self.id, status = ?self.status, "payout.settled");
    }
}
