//! Sending money to a phone.

use super::{DAILY_LIMIT, MAXIMUM, MINIMUM, Refusal, receipt::receipt};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, Database},
    error::Failure,
    phone::Msisdn,
    randomness::Randomness,
};

/// The service, as one who is its customer reaches it.
#[derive(Clone, Debug)]
pub struct MobileMoney {
    database: Database,
    clock: Clock,
    randomness: Randomness,
}

/// What is asked of it.
#[derive(Clone, Debug)]
pub struct Payment {
    /// Chosen by who asks, never used twice.
    pub originator_id: String,
    /// Who receives.
    pub phone_number: Msisdn,
    /// How much, in KES.
    pub amount: i64,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The money went out.
    Paid {
        /// Proof of it.
        receipt: String,
    },
    /// No money went out.
    Refused(Refusal),
    /// This originator id was used before; ask for its status instead.
    DuplicateOriginator,
}

const FLOAT: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts'";

const RECEIVED_SINCE: &str = "
    SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM mobile_money_payment
    WHERE phone_number = $1 AND requested_at >= $2 AND result_code = '0'";

const ENTER: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at)
    VALUES ($1, $2, $3, $4, $5, $6)";

const SPEND: &str = "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = 'payouts'";

impl MobileMoney {
    /// The service with its books in `database`.
    pub fn new(database: Database, clock: Clock, randomness: Randomness) -> Self {
        Self { database, clock, randomness }
    }

    /// Sends money, or says why not. The same originator id never sends twice.
    pub async fn pay(&self, payment: Payment) -> Result<Answer, Failure> {
        let now = self.clock.now();
        let receipt = receipt(now, &self.randomness);
        let entered = self
            .database
            .write(move |connection: &mut Connection| Box::pin(enter(connection, payment, now, receipt)))
            .await;
        match entered {
            Err(failure) if failure.is_unique_violation() => Ok(Answer::DuplicateOriginator),
            entered => entered,
        }
    }
}

async fn enter(
    connection: &mut Connection,
    payment: Payment,
    now: UnixMillis,
    receipt: String,
) -> Result<Answer, Failure> {
    let refusal = refusal(connection, &payment, now).await?;
    sqlx::query(ENTER)
        .bind(&payment.originator_id)
        .bind(refusal.is_none().then_some(&receipt))
        .bind(&payment.phone_number)
        .bind(payment.amount)
        .bind(refusal.map_or("0", Refusal::code))
        .bind(now)
        .execute(&mut *connection)
        .await?;
    if let Some(refusal) = refusal {
        return Ok(Answer::Refused(refusal));
    }
    sqlx::query(SPEND).bind(payment.amount).execute(connection).await?;
    Ok(Answer::Paid { receipt })
}

async fn refusal(
    connection: &mut Connection,
    payment: &Payment,
    now: UnixMillis,
) -> Result<Option<Refusal>, Failure> {
    if payment.amount < MINIMUM {
        return Ok(Some(Refusal::BelowMinimum));
    }
    if payment.amount > MAXIMUM {
        return Ok(Some(Refusal::AboveMaximum));
    }
    let received: i64 = sqlx::query_scalar(RECEIVED_SINCE)
        .bind(&payment.phone_number)
        .bind(now.nairobi_midnight())
        .fetch_one(&mut *connection)
        .await?;
    if received + payment.amount > DAILY_LIMIT {
        return Ok(Some(Refusal::DailyLimit));
    }
    let float: i64 = sqlx::query_scalar(FLOAT).fetch_one(connection).await?;
    Ok((payment.amount > float).then_some(Refusal::InsufficientFunds))
}
