//! The status of a payment, and making it final.

use super::{MobileMoney, Refusal, Verdict};
use base::{
    clock::{Clock, UnixMillis},
    error::Failure,
    ids::TransactionId,
    kes::Kes,
    phone::Msisdn,
};
use store::{Connection, query, query_as, version::DataCopy};

/// The result code of a request that was voided before it arrived.
pub(super) const VOID: &str = "VOID";

const STATUS: &str = "
    SELECT receipt, result_code, requested_at, result_at, result_by FROM mobile_money_payment
    WHERE originator_id = $1";

/// The `result_by` of payments whose result is due by the console's clock only.
const NO_TIME: UnixMillis = UnixMillis(9_007_199_254_740_991);

#[derive(sqlx_macros::FromRow)]
struct Entered {
    receipt: Option<String>,
    result_code: String,
    requested_at: UnixMillis,
    result_at: UnixMillis,
    result_by: UnixMillis,
}

impl Entered {
    /// Whether the result is still to come: by the console's clock and by base time, with no more than the whole delay
    /// left.
    fn is_processing(&self, clock: &Clock) -> bool {
        let now = clock.unset_now();
        // If base time was ahead too, more than the whole delay is left.
        let delay = self.result_at.since(self.requested_at);
        let is_plausible = self.result_by == NO_TIME || self.result_by.since(now) <= delay;
        clock.now() < self.result_at && now < self.result_by && is_plausible
    }
}

const INSERT_VOID: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at, result_by)
    SELECT $1, NULL, $2, $3, $4, $5, $5, $6
    FROM data_copy WHERE generation = $7 AND timeline = $8
    ON CONFLICT (originator_id) DO NOTHING";

impl MobileMoney {
    /// The result of the payment that was requested under `originator_id`; `None` while it is being processed, or if no
    /// such request has arrived, which one still may: query it again.
    pub async fn status(&self, originator_id: &TransactionId) -> Result<Option<Verdict>, Failure> {
        look_up(&mut self.database.read().await?, originator_id, &self.clock).await
    }

    /// The status of a request that has expired, made final: if no request has arrived, the id is voided, and
    /// a request that arrives later is refused. Waits for a request that is being entered. `copy` is the data
    /// that the request was made for.
    ///
    /// So a payout that is recorded as not received can never be paid, whatever the callers' clocks. With a
    /// service that has no such call, a payout stays PENDING until the service itself reports a failure.
    pub async fn void(
        &self,
        originator_id: TransactionId,
        phone_number: Msisdn,
        amount: Kes,
        copy: DataCopy,
    ) -> Result<Option<Verdict>, Failure> {
        let clock = self.clock.clone();
        self.database
            .write_in_turn(async move |connection: &mut Connection| {
                query(INSERT_VOID)
                    .bind_all((&originator_id, &phone_number, amount, VOID))
                    .bind_all((clock.now(), clock.unset_now(), copy.generation, copy.timeline))
                    .execute(&mut *connection)
                    .await?;
                look_up(connection, &originator_id, &clock).await
            })
            .await
    }
}

async fn look_up(
    connection: &mut Connection,
    originator_id: &TransactionId,
    clock: &Clock,
) -> Result<Option<Verdict>, Failure> {
    let entered: Option<Entered> = query_as(STATUS).bind(originator_id).fetch_optional(connection).await?;
    let Some(entered) = entered.filter(|entered| !entered.is_processing(clock)) else { return Ok(None) };
    Ok(Some(match entered.receipt {
        Some(receipt) => Verdict::Paid(receipt),
        None if entered.result_code == VOID => Verdict::NotReceived,
        None => Verdict::Refused(Refusal::from_code(&entered.result_code).ok_or_else(|| {
            Failure::Internal(format!("unknown stored result code {}", entered.result_code))
        })?),
    }))
}
