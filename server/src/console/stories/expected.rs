//! Checks the conditions that a step expects.

use super::file::{Expect, ExpectedMessage, ExpectedRecord};
use crate::sandboxes::Sandbox;
use base::{email::Email, error::Failure, phone::Msisdn};
use lending::payouts;
use store::query_scalar;

const STATUS: &str = "
    SELECT status FROM payout WHERE loan_id = $1 ORDER BY created_at DESC, payout_id DESC LIMIT 1";

const MESSAGES: &str = "SELECT count(*) FROM outbox_message WHERE recipient = $1";

const SESSIONS: &str = "
    SELECT count(*) FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE staff.email = $1 AND session.ended_at IS NULL AND session.expires_at > $2";

/// Something that is expected.
#[derive(Clone, Copy, Debug)]
enum One<'e> {
    Record(&'e ExpectedRecord),
    Message(&'e ExpectedMessage),
    Session(&'e Email),
    Books,
}

fn each(expect: &Expect) -> impl Iterator<Item = One<'_>> {
    let Expect { record, message, session, books } = expect;
    [
        record.as_ref().map(One::Record),
        message.as_ref().map(One::Message),
        session.as_ref().map(One::Session),
        books.then_some(One::Books),
    ]
    .into_iter()
    .flatten()
}

/// The conditions, one sentence each.
pub fn sentences(expect: &Expect) -> Vec<String> {
    each(expect).map(One::sentence).collect()
}

/// The state found in place of each condition that does not hold yet, one sentence each; empty if all hold.
pub async fn unmet(sandbox: &Sandbox, expect: &Expect) -> Result<Vec<String>, Failure> {
    let mut unmet = Vec::new();
    for one in each(expect) {
        unmet.extend(one.found(sandbox).await?);
    }
    Ok(unmet)
}

impl One<'_> {
    fn sentence(self) -> String {
        match self {
            Self::Record(ExpectedRecord { loan, status }) => {
                format!("The latest record of loan {} is {}.", loan.as_str(), status.name())
            }
            Self::Message(ExpectedMessage { to, times: Some(times) }) => {
                format!("The number of messages to {to} is {times}.")
            }
            Self::Message(ExpectedMessage { to, times: None }) => format!("A message went to {to}."),
            Self::Session(email) => format!("{email} is signed in."),
            Self::Books => "Every shilling is accounted for.".to_owned(),
        }
    }

    /// The state found in place of the condition, as a sentence; `None` if the condition holds.
    async fn found(self, sandbox: &Sandbox) -> Result<Option<String>, Failure> {
        let mut reader = sandbox.database.read().await?;
        match self {
            Self::Record(ExpectedRecord { loan, status }) => {
                let found: Option<String> =
                    query_scalar(STATUS).bind(loan).fetch_optional(&mut reader).await?;
                Ok(match found {
                    Some(found) if found == status.name() => None,
                    Some(found) => Some(format!("The latest record of loan {} is {found}.", loan.as_str())),
                    None => Some(format!("Loan {} has no record.", loan.as_str())),
                })
            }
            Self::Message(ExpectedMessage { to, times }) => {
                let recipient =
                    Msisdn::parse(to).map_or_else(|| to.to_lowercase(), |phone| phone.as_str().to_owned());
                let count: i64 = query_scalar(MESSAGES).bind(recipient).fetch_one(&mut reader).await?;
                let is_so = times.map_or(count > 0, |times| count == i64::from(times));
                Ok((!is_so).then(|| format!("The number of messages to {to} is {count}.")))
            }
            Self::Session(email) => {
                let now = sandbox.clock.now();
                let count: i64 = query_scalar(SESSIONS).bind(email).bind(now).fetch_one(&mut reader).await?;
                Ok((count == 0).then(|| format!("{email} is not signed in.")))
            }
            Self::Books => {
                let is_so = payouts::invariant(&mut reader).await?.ok;
                Ok((!is_so).then(|| "The books differ: see the page Payouts.".to_owned()))
            }
        }
    }
}
