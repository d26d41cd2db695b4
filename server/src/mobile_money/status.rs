//! The status of a payment.

use super::{MobileMoney, Refusal};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, query_as},
    error::Failure,
};

/// The status of an originator id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The money was sent.
    Paid {
        /// The receipt of the payment.
        receipt: String,
    },
    /// No money was sent, and none will be.
    Refused(Refusal),
    /// The payment is being processed; query it again.
    Processing,
    /// No request with this id has arrived.
    Unknown,
}

const STATUS: &str = "
    SELECT receipt, result_code, result_at FROM mobile_money_payment WHERE originator_id = $1";

impl MobileMoney {
    /// The status of the payment that was requested under `originator_id`.
    ///
    /// Status queries are serialized with payments: a concurrent request is either visible here, or
    /// reads a clock that is no earlier than the one read here. So if the status is still unknown
    /// after the request has expired, it will never be paid.
    pub async fn status(&self, originator_id: &str) -> Result<Status, Failure> {
        let originator_id = originator_id.to_owned();
        let clock = self.clock.clone();
        self.database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move { look_up(connection, &originator_id, &clock).await })
            })
            .await
    }
}

async fn look_up(connection: &mut Connection, originator_id: &str, clock: &Clock) -> Result<Status, Failure> {
    let known: Option<(Option<String>, String, UnixMillis)> =
        query_as(STATUS).bind(originator_id).fetch_optional(connection).await?;
    Ok(match known {
        None => Status::Unknown,
        Some((_, _, result_at)) if clock.now() < result_at => Status::Processing,
        Some((Some(receipt), _, _)) => Status::Paid { receipt },
        Some((None, code, _)) => Status::Refused(
            Refusal::from_code(&code)
                .ok_or_else(|| Failure::Internal(format!("unknown stored result code {code}")))?,
        ),
    })
}
