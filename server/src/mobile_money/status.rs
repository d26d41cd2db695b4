//! What became of a payment.

use super::{MobileMoney, Refusal};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, query_as},
    error::Failure,
};

/// What mobile money knows of an originator id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The money went out.
    Paid {
        /// Proof of it.
        receipt: String,
    },
    /// No money went out, and none will.
    Refused(Refusal),
    /// It is being worked on; ask again.
    Processing,
    /// No request with this id has come.
    Unknown,
}

const STATUS: &str = "
    SELECT receipt, result_code, result_at FROM mobile_money_payment WHERE originator_id = $1";

impl MobileMoney {
    /// What became of the payment asked for under `originator_id`.
    ///
    /// It is answered in turn with the payments themselves: a request that is being entered while
    /// this is asked is either seen here, or sees a clock no earlier than this did. So once
    /// 'unknown' is heard after the request's time has run out, it will never be paid.
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
                .ok_or_else(|| Failure::Internal(format!("stored result code {code}")))?,
        ),
    })
}
