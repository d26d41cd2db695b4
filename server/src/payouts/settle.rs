//! Records the result of a payout. Results may arrive more than once, from several sources and in
//! any order: the first one settles the payout, later ones change nothing.

use super::{PayoutStatus, Record, Reply, idempotency, records};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_scalar, versions::Generation},
    error::Failure,
    mobile_money::{Answer, Refusal},
    outbox,
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
pub(super) struct Settled {
    pub record: Record,
    /// The answer to the call that started it, if that call had a key.
    pub reply: Option<Reply>,
}

const FIND: &str = "
    SELECT payout_id FROM payout
    WHERE transaction_id = $1 AND (SELECT value FROM version WHERE name = 'generation') = $2";

const COMPLETE: &str = "
    UPDATE payout SET status = 'COMPLETED', receipt = $2, result_code = '0', processed_at = $3
    WHERE payout_id = $1 AND status = 'PENDING'";

const FAIL: &str = "
    UPDATE payout SET status = 'FAILED', result_code = $2, error_message = $3, processed_at = $4
    WHERE payout_id = $1 AND status = 'PENDING'";

const DISBURSE_LOAN: &str = "
    UPDATE loan SET status = 'DISBURSED', disbursed_at = $2, updated_at = $2 WHERE loan_id = $1";

/// Settles the payout with this `transaction_id` in the data of `generation`; `None` if it does not
/// exist, or other data has been put in its place: a result says nothing about a restored copy.
pub(super) async fn settle(
    sandbox: &Sandbox,
    transaction_id: String,
    generation: Generation,
    verdict: Verdict,
) -> Result<Option<Settled>, Failure> {
    let settling = Settling {
        verdict,
        now: sandbox.clock.now(),
        randomness: sandbox.randomness.clone(),
        brand: sandbox.settings.brand.clone(),
    };
    let written = sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let found: Option<String> = query_scalar(FIND)
                    .bind(transaction_id)
                    .bind(generation)
                    .fetch_optional(&mut *connection)
                    .await?;
                let Some(payout_id) = found else { return Ok(None) };
                let (record, is_first) = settling.record_result(connection, &payout_id).await?;
                let reply = idempotency::answer(connection, record.clone()).await?;
                Ok(Some((Settled { record, reply }, is_first)))
            })
        })
        .await?;
    Ok(written.map(|(settled, is_first)| {
        if is_first && sandbox.is_main() {
            sandbox
                .server
                .metrics
                .payout_settled(settled.record.status, settled.record.result_code.as_deref());
        }
        settled
    }))
}

struct Settling {
    verdict: Verdict,
    now: UnixMillis,
    randomness: Randomness,
    brand: String,
}

impl Settling {
    /// Returns the current record, and whether this call settled it.
    async fn record_result(
        self,
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
        if let Verdict::Paid(receipt) = &self.verdict {
            query(DISBURSE_LOAN).bind(&record.loan_id).bind(self.now).execute(&mut *connection).await?;
            self.notify_customer(connection, &record, receipt).await?;
        }
        tracing::info!(
            loan.id = record.loan_id,
            payout.id = record.id,
            status = ?record.status,
            "payout.settled"
        );
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

    async fn notify_customer(
        &self,
        connection: &mut Connection,
        record: &Record,
        receipt: &str,
    ) -> Result<(), Failure> {
        let phone = Msisdn::parse(&record.phone)
            .ok_or_else(|| Failure::Internal("the stored phone number is invalid".to_owned()))?;
        let text = format!(
            "{receipt} Confirmed. Dear {}, your loan of KES {} from {} has been sent to {}.",
            record.customer_first_name,
            record.amount,
            self.brand,
            phone.local(),
        );
        outbox::sms(connection, &self.randomness, self.now, &phone, &text, None).await?;
        Ok(())
    }
}
