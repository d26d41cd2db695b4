//! Makes a payout in the past, for tests that need a history.

use serde::Deserialize;

use base::{clock::UnixMillis, email::Email, error::Failure, ids::LoanId};
use lending::{
    demo,
    events::{Entry, EventKind, Trail},
    mobile_money::Outcome,
    payouts::{self, Record},
};
use store::Connection;
use worlds::sandboxes::Sandbox;

/// The given fields of a payout to make, named as in its record.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenPayout {
    pub loan_id: Option<LoanId>,
    pub outcome: Option<Outcome>,
    pub created_at: Option<UnixMillis>,
    pub user_email: Option<String>,
}

/// Makes a payout that settled in the past, with its payment in mobile money's books.
pub async fn make(sandbox: &Sandbox, given: GivenPayout, trail: &Trail) -> Result<Record, Failure> {
    let now = sandbox.clock.now();
    let chance = u64::from_be_bytes(sandbox.randomness.bytes());
    let payout = given.checked(now)?;
    let entry = Entry::of(EventKind::PayoutMade).about_some(payout.loan_id.as_deref());
    trail
        .write(sandbox.database.begin_alone().await?, [entry], async move |connection: &mut Connection| {
            let payout_id = demo::pay_in_the_past(connection, now, chance, payout).await?;
            payouts::record(connection, &payout_id).await
        })
        .await
}

impl GivenPayout {
    fn checked(self, now: UnixMillis) -> Result<demo::PastPayout, Failure> {
        let refusal = match self.outcome.unwrap_or(Outcome::Success) {
            Outcome::Success => None,
            Outcome::Refused(refusal) => Some(refusal),
            _ => {
                let text = "outcome must be success or a refusal, which are final";
                return Err(Failure::bad_field("outcome", text));
            }
        };
        let latest = now.minus(demo::ANSWERED_AFTER);
        let created_at = self.created_at.unwrap_or(latest);
        if created_at > latest {
            let text = "created_at must be at least 2 seconds in the past";
            return Err(Failure::bad_field("created_at", text));
        }
        let email = self.user_email.map(|given| {
            let text = "user_email must be an e-mail address";
            Email::parse(&given).ok_or_else(|| Failure::bad_field("user_email", text))
        });
        Ok(demo::PastPayout { created_at, loan_id: self.loan_id, email: email.transpose()?, refusal })
    }
}
