//! Checks the conditions that a step expects.

use super::{
    file::{Expect, ExpectedMessage, ExpectedRecord},
    scalar::Checked,
};
use base::{error::Failure, phone::Msisdn};
use lending::payouts::{self, PayoutStatus};
use store::query_scalar;
use worlds::sandboxes::Sandbox;

// Others were made before, whatever the clock said.
const STATUS: &str = "
    SELECT status FROM payout WHERE loan_id = $1 ORDER BY status = 'FAILED' LIMIT 1";

const MESSAGES: &str = "SELECT count(*) FROM outbox_message WHERE recipient = $1";

const SESSIONS: &str = "
    SELECT count(*) FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE staff.email = $1 AND session.ended_at IS NULL AND session.expires_at > $2";

pub fn sentences(Expect { record, message, session, books }: &Expect) -> Vec<String> {
    let record = record.as_ref().map(|ExpectedRecord { loan, status }| {
        format!("The latest record of loan {} is {status}.", loan.as_str())
    });
    let message = message.as_ref().map(|ExpectedMessage { to, times }| match times {
        Some(times) => format!("The number of messages to {to} is {times}."),
        None => format!("A message went to {to}."),
    });
    let session = session.as_ref().map(|email| format!("{} is signed in.", email.0));
    let books = books.then(|| "Every shilling is accounted for.".to_owned());
    [record, message, session, books].into_iter().flatten().collect()
}

/// The state found in place of each condition that does not hold yet, one sentence each; empty if all hold.
pub async fn unmet(
    sandbox: &Sandbox,
    Expect { record, message, session, books }: &Expect,
) -> Result<Vec<String>, Failure> {
    let mut reader = sandbox.database.read().await?;
    let mut unmet = Vec::new();
    if let Some(ExpectedRecord { loan, status }) = record {
        let found: Option<PayoutStatus> = query_scalar(STATUS).bind(loan).fetch_optional(&mut reader).await?;
        match found {
            Some(found) if found == *status => {}
            Some(found) => unmet.push(format!("The latest record of loan {} is {found}.", loan.as_str())),
            None => unmet.push(format!("Loan {} has no record.", loan.as_str())),
        }
    }
    if let Some(ExpectedMessage { to, times }) = message {
        let recipient =
            Msisdn::parse(to).map_or_else(|| to.to_lowercase(), |phone| phone.as_str().to_owned());
        let count: i64 = query_scalar(MESSAGES).bind(recipient).fetch_one(&mut reader).await?;
        if !times.map_or(count > 0, |times| count == i64::from(times)) {
            unmet.push(format!("The number of messages to {to} is {count}."));
        }
    }
    if let Some(Checked(email)) = session {
        let now = sandbox.clock.now();
        let count: i64 = query_scalar(SESSIONS).bind(email).bind(now).fetch_one(&mut reader).await?;
        if count == 0 {
            unmet.push(format!("{email} is not signed in."));
        }
    }
    if *books && !payouts::invariant(&mut reader).await?.ok {
        unmet.push("The books differ: see the page Payouts.".to_owned());
    }
    Ok(unmet)
}
