//! Approving loans, so that there is something to pay out.

pub(super) mod api;
pub(super) mod page;

use serde::{Deserialize, Deserializer};

use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_scalar},
    demo,
    error::Failure,
    loans::{PendingLoan, pending_loan},
    payouts::LARGEST_INTEGER,
    phone::Msisdn,
};

/// How many loans one call may approve.
const AT_ONCE: u32 = 1000;

/// What is known of a loan to be approved, by the names of the pending list; what is not is made
/// up as for a demo. A row of that list can be sent as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct GivenLoan {
    pub loan_id: Option<String>,
    pub customer_id: Option<String>,
    pub customer_first_name: Option<String>,
    pub customer_last_name: Option<String>,
    pub customer_phone_number: Option<String>,
    pub customer_id_number: Option<String>,
    #[serde(deserialize_with = "or_null")]
    pub customer_nickname: Option<Option<String>>,
    #[serde(deserialize_with = "or_null")]
    pub customer_gender: Option<Option<String>>,
    pub customer_status: Option<String>,
    pub customer_account_id: Option<String>,
    pub account_number: Option<String>,
    pub account_status: Option<String>,
    #[serde(deserialize_with = "or_null")]
    pub credit_score: Option<Option<i64>>,
    #[serde(deserialize_with = "or_null")]
    pub risk_level: Option<Option<String>>,
    pub total_loan_amount: Option<i64>,
    pub interest_rate: Option<f64>,
    pub loan_status: Option<String>,
    pub disbursement_status: Option<String>,
    pub approved_at: Option<String>,
    #[serde(deserialize_with = "or_null")]
    pub approver_id: Option<Option<String>>,
    #[serde(deserialize_with = "or_null")]
    pub approver_name: Option<Option<String>>,
    #[serde(deserialize_with = "or_null")]
    pub approver_email: Option<Option<String>>,
    pub remaining_balance: Option<i64>,
    #[serde(deserialize_with = "or_null")]
    pub notes: Option<Option<String>>,
    pub loan_created_at: Option<String>,
    pub loan_updated_at: Option<String>,
    #[serde(deserialize_with = "or_null")]
    pub term: Option<Option<i64>>,
    #[serde(deserialize_with = "or_null")]
    pub purpose: Option<Option<String>>,
}

/// A field that is there is given, as null too.
#[expect(clippy::option_option, reason = "not given, given as null, given")]
fn or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(field: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// Approves `count` loans that are as `given` says, and otherwise like those of a demo.
///
/// # Errors
/// [`Failure::BadValue`].
pub async fn approve(sandbox: &Sandbox, count: u32, given: GivenLoan) -> Result<Vec<PendingLoan>, Failure> {
    given.check(count)?;
    let now = sandbox.clock.now();
    let chance = u64::from_be_bytes(sandbox.randomness.bytes());
    let approved = sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let mut approved = Vec::new();
                for made in demo::approve(connection, now, chance, count).await? {
                    if let Some(customer_id) = &given.customer_id {
                        give_to_known(connection, &made, customer_id).await?;
                    }
                    let loan = given.laid_over(pending_loan(connection, &made).await?)?;
                    write(connection, &made, &loan).await?;
                    approved.push(pending_loan(connection, &loan.loan_id).await?);
                }
                Ok(approved)
            })
        })
        .await;
    approved.map_err(|failure| {
        let is_taken = failure.is_unique_violation();
        if is_taken {
            let text = "There is a loan of that loan_id already".to_owned();
            Failure::BadField { field: "loan_id", text }
        } else {
            failure
        }
    })
}

impl GivenLoan {
    fn check(&self, count: u32) -> Result<(), Failure> {
        let wrong = |field, what: &str| Err(Failure::BadField { field, text: what.to_owned() });
        if !(1..=AT_ONCE).contains(&count) {
            return wrong("count", "count must be between 1 and 1000");
        }
        if self.loan_id.is_some() && count > 1 {
            return wrong("loan_id", "Only one loan can have a loan_id");
        }
        let mut ids = [&self.loan_id, &self.customer_id].into_iter().flatten();
        if ids.any(|id| !(1..=64).contains(&id.chars().count()) || id.contains('/')) {
            return wrong("loan_id", "loan_id and customer_id must have 1 to 64 characters, and no slash");
        }
        if self.total_loan_amount.is_some_and(|amount| !(1..=LARGEST_INTEGER).contains(&amount)) {
            return wrong("total_loan_amount", "total_loan_amount must be at least 1 and below 2^53");
        }
        if self.remaining_balance.is_some_and(|balance| !(0..=LARGEST_INTEGER).contains(&balance)) {
            return wrong("remaining_balance", "remaining_balance must be at least 0 and below 2^53");
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
        Ok(())
    }

    /// `made`, with what is given in its place.
    fn laid_over(&self, mut made: PendingLoan) -> Result<PendingLoan, Failure> {
        fn set<T: Clone>(field: &mut T, given: Option<&T>) {
            if let Some(given) = given {
                field.clone_from(given);
            }
        }
        fn moment(field: &mut UnixMillis, given: Option<&str>) -> Result<(), Failure> {
            if let Some(given) = given {
                *field = given.parse().map_err(Failure::BadValue)?;
            }
            Ok(())
        }
        set(&mut made.loan_id, self.loan_id.as_ref());
        set(&mut made.customer_id, self.customer_id.as_ref());
        set(&mut made.customer_first_name, self.customer_first_name.as_ref());
        set(&mut made.customer_last_name, self.customer_last_name.as_ref());
        set(&mut made.customer_id_number, self.customer_id_number.as_ref());
        set(&mut made.customer_nickname, self.customer_nickname.as_ref());
        set(&mut made.customer_gender, self.customer_gender.as_ref());
        set(&mut made.customer_status, self.customer_status.as_ref());
        set(&mut made.customer_account_id, self.customer_account_id.as_ref());
        set(&mut made.account_number, self.account_number.as_ref());
        set(&mut made.account_status, self.account_status.as_ref());
        set(&mut made.credit_score, self.credit_score.as_ref());
        set(&mut made.risk_level, self.risk_level.as_ref());
        set(&mut made.total_loan_amount, self.total_loan_amount.as_ref());
        set(&mut made.remaining_balance, self.remaining_balance.or(self.total_loan_amount).as_ref());
        set(&mut made.notes, self.notes.as_ref());
        set(&mut made.term, self.term.as_ref());
        set(&mut made.purpose, self.purpose.as_ref());
        if self.approver_id.is_some() || self.approver_name.is_some() || self.approver_email.is_some() {
            // Half of one approver and half of another would be nobody.
            made.approver_id = self.approver_id.clone().flatten();
            made.approver_name = self.approver_name.clone().flatten();
            made.approver_email = self.approver_email.clone().flatten();
        }
        if let Some(text) = &self.customer_phone_number {
            let phone = Msisdn::parse(text).ok_or_else(|| {
                let wanted = "customer_phone_number must be a Kenyan mobile number such as +254712345678";
                Failure::BadField { field: "customer_phone_number", text: wanted.to_owned() }
            })?;
            phone.as_str().clone_into(&mut made.customer_phone_number);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 100,000")]
        if let Some(percent) = self.interest_rate {
            made.interest_rate_bp = (percent * 100.0).round() as i64;
        }
        moment(&mut made.approved_at, self.approved_at.as_deref())?;
        moment(&mut made.loan_created_at, self.loan_created_at.as_deref())?;
        moment(&mut made.loan_updated_at, self.loan_updated_at.as_deref())?;
        Ok(made)
    }
}

const CUSTOMER_OF: &str = "SELECT customer_id FROM loan WHERE loan_id = $1";

const WRITE_CUSTOMER: &str = "
    INSERT INTO customer (customer_id, first_name, last_name, phone_number, id_number, nickname, gender,
                          status, account_id, account_number, account_status, credit_score, risk_level)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (customer_id) DO UPDATE SET
        first_name = excluded.first_name, last_name = excluded.last_name,
        phone_number = excluded.phone_number, id_number = excluded.id_number,
        nickname = excluded.nickname, gender = excluded.gender, status = excluded.status,
        account_id = excluded.account_id, account_number = excluded.account_number,
        account_status = excluded.account_status, credit_score = excluded.credit_score,
        risk_level = excluded.risk_level";

const IS_CUSTOMER: &str = "SELECT count(*) FROM customer WHERE customer_id = $1";

const GIVE_TO: &str = "UPDATE loan SET customer_id = $2 WHERE loan_id = $1";

const FORGET_CUSTOMER: &str = "DELETE FROM customer WHERE customer_id = $1";

const WRITE_LOAN: &str = "
    UPDATE loan SET loan_id = $2, customer_id = $3, amount = $4, remaining_balance = $5,
        interest_rate_bp = $6, term_months = $7, purpose = $8, notes = $9, approver_id = $10,
        approver_name = $11, approver_email = $12, approved_at = $13, created_at = $14, updated_at = $15
    WHERE loan_id = $1";

/// Gives the loan that was `made` to that customer, if there is one.
async fn give_to_known(db: &mut Connection, made: &str, customer_id: &str) -> Result<(), Failure> {
    let made_for: String = query_scalar(CUSTOMER_OF).bind(made).fetch_one(&mut *db).await?;
    let known: i64 = query_scalar(IS_CUSTOMER).bind(customer_id).fetch_one(&mut *db).await?;
    if known > 0 && made_for != customer_id {
        query(GIVE_TO).bind(made).bind(customer_id).execute(&mut *db).await?;
        query(FORGET_CUSTOMER).bind(made_for).execute(db).await?;
    }
    Ok(())
}

/// Makes the loan that was `made` what `loan` says.
async fn write(db: &mut Connection, made: &str, loan: &PendingLoan) -> Result<(), Failure> {
    let made_for: String = query_scalar(CUSTOMER_OF).bind(made).fetch_one(&mut *db).await?;
    query(WRITE_CUSTOMER)
        .bind(&loan.customer_id)
        .bind(&loan.customer_first_name)
        .bind(&loan.customer_last_name)
        .bind(&loan.customer_phone_number)
        .bind(&loan.customer_id_number)
        .bind(&loan.customer_nickname)
        .bind(&loan.customer_gender)
        .bind(&loan.customer_status)
        .bind(&loan.customer_account_id)
        .bind(&loan.account_number)
        .bind(&loan.account_status)
        .bind(loan.credit_score)
        .bind(&loan.risk_level)
        .execute(&mut *db)
        .await?;
    query(WRITE_LOAN)
        .bind(made)
        .bind(&loan.loan_id)
        .bind(&loan.customer_id)
        .bind(loan.total_loan_amount)
        .bind(loan.remaining_balance)
        .bind(loan.interest_rate_bp)
        .bind(loan.term)
        .bind(&loan.purpose)
        .bind(&loan.notes)
        .bind(&loan.approver_id)
        .bind(&loan.approver_name)
        .bind(&loan.approver_email)
        .bind(loan.approved_at)
        .bind(loan.loan_created_at)
        .bind(loan.loan_updated_at)
        .execute(&mut *db)
        .await?;
    if made_for != loan.customer_id {
        query(FORGET_CUSTOMER).bind(made_for).execute(db).await?;
    }
    Ok(())
}
