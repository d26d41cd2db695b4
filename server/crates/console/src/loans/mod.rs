//! Approves loans to pay out.

pub(super) mod api;
pub(super) mod page;

use serde::{Deserialize, Deserializer};

use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{AccountId, ApproverId, CustomerId, LoanId},
    kes::Kes,
    phone::Msisdn,
    text::is_plain,
};
use lending::{
    demo,
    events::{Entry, EventKind, Trail},
    loans::{self, PendingLoan},
};
use store::{Connection, query_as};
use worlds::sandboxes::Sandbox;

/// Maximum number of loans that one call approves.
const MAX_COUNT: u32 = 1000;

/// The largest amount of a loan, in KES: the sum of millions of them stays within 64 bits.
const MAX_AMOUNT: i64 = 1_000_000_000_000;

/// The given fields of a loan to approve; all others are generated as in the demo data. The names are the
/// same as in the pending list, whose rows are accepted unchanged.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::option_option, reason = "null is a value, and not the same as no field")]
pub struct GivenLoan {
    pub loan_id: Option<LoanId>,
    pub customer_id: Option<CustomerId>,
    pub customer_first_name: Option<String>,
    pub customer_last_name: Option<String>,
    pub customer_phone_number: Option<String>,
    pub customer_id_number: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub customer_nickname: Option<Option<String>>,
    #[serde(deserialize_with = "nullable")]
    pub customer_gender: Option<Option<String>>,
    pub customer_status: Option<String>,
    pub customer_account_id: Option<AccountId>,
    pub account_number: Option<String>,
    pub account_status: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub credit_score: Option<Option<i64>>,
    #[serde(deserialize_with = "nullable")]
    pub risk_level: Option<Option<String>>,
    pub total_loan_amount: Option<Kes>,
    pub interest_rate: Option<f64>,
    pub loan_status: Option<String>,
    pub disbursement_status: Option<String>,
    pub approved_at: Option<UnixMillis>,
    #[serde(deserialize_with = "nullable")]
    pub approver_id: Option<Option<ApproverId>>,
    #[serde(deserialize_with = "nullable")]
    pub approver_name: Option<Option<String>>,
    #[serde(deserialize_with = "nullable")]
    pub approver_email: Option<Option<String>>,
    pub remaining_balance: Option<Kes>,
    #[serde(deserialize_with = "nullable")]
    pub notes: Option<Option<String>>,
    pub loan_created_at: Option<UnixMillis>,
    pub loan_updated_at: Option<UnixMillis>,
    #[serde(deserialize_with = "nullable")]
    pub term: Option<Option<i64>>,
    #[serde(deserialize_with = "nullable")]
    pub purpose: Option<Option<String>>,
}

/// Distinguishes `null` from an absent field.
#[expect(clippy::option_option, reason = "absent, null or a value")]
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(field: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// Approves `count` loans with the `given` fields; all other fields are generated as in the demo data.
pub async fn approve(
    sandbox: &Sandbox,
    count: u32,
    given: GivenLoan,
    trail: &Trail,
) -> Result<Vec<PendingLoan>, Failure> {
    given.check(count)?;
    let now = sandbox.clock.now();
    let entry = Entry::of(EventKind::LoansApproved).with("count", count);
    let entry = entry.about_some(given.loan_id.as_deref());
    let approved = trail
        .write(sandbox.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let mut approved = Vec::new();
            for drawn in demo::draw_loans(connection, now, count).await? {
                let known = match &given.customer_id {
                    Some(id) => query_as(CUSTOMER).bind(id).fetch_optional(&mut *connection).await?,
                    None => None,
                };
                let drawn = known.into_iter().fold(drawn, |drawn, known: Customer| known.applied_to(drawn));
                let loan = given.applied_to(drawn)?;
                loans::add(connection, &loan, None).await?;
                approved.push(loan);
            }
            Ok(approved)
        })
        .await;
    approved.map_err(|failure| {
        if failure.is_unique_violation() {
            Failure::bad_field("loan_id", "A loan with this loan_id already exists")
        } else {
            failure
        }
    })
}

impl GivenLoan {
    /// Checks the fields that are given, for `count` loans.
    pub fn check(&self, count: u32) -> Result<(), Failure> {
        let wrong = |field, text: &str| Err(Failure::bad_field(field, text));
        if !(1..=MAX_COUNT).contains(&count) {
            return wrong("count", "count must be between 1 and 1000");
        }
        if self.loan_id.is_some() && count > 1 {
            return wrong("loan_id", "Only one loan can have a loan_id");
        }
        for (field, id) in
            [("loan_id", self.loan_id.as_deref()), ("customer_id", self.customer_id.as_deref())]
        {
            // Browsers resolve a dot, or two, in a path.
            let is_id =
                |id: &str| !id.trim_matches('.').is_empty() && id.chars().count() <= 64 && !id.contains('/');
            if id.is_some_and(|id| !is_id(id)) {
                let text =
                    "loan_id and customer_id must have 1 to 64 characters, no slash, and not only dots";
                return wrong(field, text);
            }
        }
        for (field, name) in [
            ("customer_first_name", self.customer_first_name.as_deref()),
            ("customer_last_name", self.customer_last_name.as_deref()),
            ("customer_nickname", self.customer_nickname.as_ref().and_then(Option::as_deref)),
            ("approver_name", self.approver_name.as_ref().and_then(Option::as_deref)),
        ] {
            if name.is_some_and(|name| !is_plain(name)) {
                return wrong(field, &format!("{field} must have no characters that can't be seen"));
            }
        }
        if self.total_loan_amount.is_some_and(|amount| !(1..=MAX_AMOUNT).contains(&amount.0)) {
            return wrong("total_loan_amount", "total_loan_amount must be between 1 and 1,000,000,000,000");
        }
        if self.remaining_balance.is_some_and(|balance| !(0..=MAX_AMOUNT).contains(&balance.0)) {
            return wrong("remaining_balance", "remaining_balance must be between 0 and 1,000,000,000,000");
        }
        if self.loan_status.as_deref().is_some_and(|status| status != "APPROVED") {
            return wrong("loan_status", "loan_status can only be APPROVED");
        }
        if self.disbursement_status.as_deref().is_some_and(|status| status != "NOT_STARTED") {
            return wrong("disbursement_status", "disbursement_status can only be NOT_STARTED");
        }
        if self.term.flatten().is_some_and(|months| !(1..=1200).contains(&months)) {
            return wrong("term", "term must be between 1 and 1200 months");
        }
        if self.interest_rate.is_some_and(|percent| !(0.0..=1000.0).contains(&percent)) {
            return wrong("interest_rate", "interest_rate must be between 0 and 1000 percent");
        }
        self.phone().map(drop)
    }

    fn phone(&self) -> Result<Option<Msisdn>, Failure> {
        let Some(phone) = &self.customer_phone_number else { return Ok(None) };
        Msisdn::parse(phone).map(Some).ok_or_else(|| {
            let text = "customer_phone_number must be a Kenyan mobile number such as +254712345678";
            Failure::bad_field("customer_phone_number", text)
        })
    }

    fn applied_to(&self, drawn: PendingLoan) -> Result<PendingLoan, Failure> {
        let given = self.clone();
        let phone = given.phone()?.map(|phone| phone.as_str().to_owned());
        #[expect(clippy::cast_possible_truncation, reason = "at most 100,000")]
        let interest_rate_bp = given.interest_rate.map(|percent| (percent * 100.0).round() as i64);
        let has_approver =
            given.approver_id.is_some() || given.approver_name.is_some() || given.approver_email.is_some();
        // Never mix fields of two approvers.
        let (approver_id, approver_name, approver_email) = if has_approver {
            (given.approver_id.flatten(), given.approver_name.flatten(), given.approver_email.flatten())
        } else {
            (drawn.approver_id, drawn.approver_name, drawn.approver_email)
        };
        Ok(PendingLoan {
            loan_id: given.loan_id.unwrap_or(drawn.loan_id),
            customer_id: given.customer_id.unwrap_or(drawn.customer_id),
            customer_first_name: given.customer_first_name.unwrap_or(drawn.customer_first_name),
            customer_last_name: given.customer_last_name.unwrap_or(drawn.customer_last_name),
            customer_phone_number: phone.unwrap_or(drawn.customer_phone_number),
            customer_id_number: given.customer_id_number.unwrap_or(drawn.customer_id_number),
            customer_nickname: given.customer_nickname.unwrap_or(drawn.customer_nickname),
            customer_gender: given.customer_gender.unwrap_or(drawn.customer_gender),
            customer_status: given.customer_status.unwrap_or(drawn.customer_status),
            customer_account_id: given.customer_account_id.unwrap_or(drawn.customer_account_id),
            account_number: given.account_number.unwrap_or(drawn.account_number),
            account_status: given.account_status.unwrap_or(drawn.account_status),
            credit_score: given.credit_score.unwrap_or(drawn.credit_score),
            risk_level: given.risk_level.unwrap_or(drawn.risk_level),
            total_loan_amount: given.total_loan_amount.unwrap_or(drawn.total_loan_amount),
            interest_rate_bp: interest_rate_bp.unwrap_or(drawn.interest_rate_bp),
            approved_at: given.approved_at.unwrap_or(drawn.approved_at),
            approver_id,
            approver_name,
            approver_email,
            remaining_balance: given
                .remaining_balance
                .or(given.total_loan_amount)
                .unwrap_or(drawn.remaining_balance),
            notes: given.notes.unwrap_or(drawn.notes),
            loan_created_at: given.loan_created_at.unwrap_or(drawn.loan_created_at),
            loan_updated_at: given.loan_updated_at.unwrap_or(drawn.loan_updated_at),
            term: given.term.unwrap_or(drawn.term),
            purpose: given.purpose.unwrap_or(drawn.purpose),
            ..drawn
        })
    }
}

const CUSTOMER: &str = "
    SELECT first_name, last_name, phone_number, id_number, nickname, gender, status, account_id, account_number,
           account_status, credit_score, risk_level
    FROM customer WHERE customer_id = $1";

/// A customer who is there already.
#[derive(sqlx_macros::FromRow)]
struct Customer {
    first_name: String,
    last_name: String,
    phone_number: String,
    id_number: String,
    nickname: Option<String>,
    gender: Option<String>,
    status: String,
    account_id: AccountId,
    account_number: String,
    account_status: String,
    credit_score: Option<i64>,
    risk_level: Option<String>,
}

impl Customer {
    /// `loan`, as one of this customer.
    fn applied_to(self, loan: PendingLoan) -> PendingLoan {
        PendingLoan {
            customer_first_name: self.first_name,
            customer_last_name: self.last_name,
            customer_phone_number: self.phone_number,
            customer_id_number: self.id_number,
            customer_nickname: self.nickname,
            customer_gender: self.gender,
            customer_status: self.status,
            customer_account_id: self.account_id,
            account_number: self.account_number,
            account_status: self.account_status,
            credit_score: self.credit_score,
            risk_level: self.risk_level,
            ..loan
        }
    }
}
