//! Approving loans, so that there is something to pay out.

use serde::Deserialize;

use crate::{
    Sandbox,
    clock::UnixMillis,
    database::Connection,
    demo,
    error::Failure,
    loans::{PendingLoan, pending_loan},
    phone::Msisdn,
};

/// How many loans one call may approve.
const AT_ONCE: u32 = 1000;
/// The largest integer that JSON carries between all programs.
const LARGEST: i64 = 9_007_199_254_740_991;

/// What is known of a loan to be approved, by the names of the pending list; what is not is made
/// up as for a demo. A row of that list can be sent as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct GivenLoan {
    pub loan_id: Option<String>,
    pub customer_id: Option<String>,
    pub customer_first_name: Option<String>,
    pub customer_last_name: Option<String>,
    pub customer_phone_number: Option<String>,
    pub customer_id_number: Option<String>,
    pub customer_nickname: Option<String>,
    pub customer_gender: Option<String>,
    pub customer_status: Option<String>,
    pub customer_account_id: Option<String>,
    pub account_number: Option<String>,
    pub account_status: Option<String>,
    pub credit_score: Option<i64>,
    pub risk_level: Option<String>,
    pub total_loan_amount: Option<i64>,
    pub interest_rate: Option<f64>,
    pub loan_status: Option<String>,
    pub disbursement_status: Option<String>,
    pub approved_at: Option<String>,
    pub approver_id: Option<String>,
    pub approver_name: Option<String>,
    pub approver_email: Option<String>,
    pub remaining_balance: Option<i64>,
    pub notes: Option<String>,
    pub loan_created_at: Option<String>,
    pub loan_updated_at: Option<String>,
    pub term: Option<i64>,
    pub purpose: Option<String>,
}

/// A [`GivenLoan`] that can be one.
#[derive(Clone)]
struct Checked {
    given: GivenLoan,
    phone: Option<Msisdn>,
    rate_bp: Option<i64>,
    approved_at: Option<UnixMillis>,
    created_at: Option<UnixMillis>,
    updated_at: Option<UnixMillis>,
}

fn check(given: GivenLoan, count: u32) -> Result<Checked, Failure> {
    let wrong = |what: &str| Err(Failure::BadValue(what.to_owned()));
    if !(1..=AT_ONCE).contains(&count) {
        return wrong("count must be between 1 and 1000");
    }
    if given.loan_id.is_some() && count > 1 {
        return wrong("Only one loan can have a loan_id");
    }
    let ids = [&given.loan_id, &given.customer_id];
    if ids.into_iter().flatten().any(|id| !(1..=64).contains(&id.chars().count()) || id.contains('/')) {
        return wrong("loan_id and customer_id must have 1 to 64 characters, and no slash");
    }
    let amounts = [given.total_loan_amount, given.remaining_balance.map(|balance| balance.saturating_add(1))];
    if amounts.into_iter().flatten().any(|amount| !(1..=LARGEST).contains(&amount)) {
        return wrong(
            "total_loan_amount must be at least 1 and remaining_balance at least 0, both below 2^53",
        );
    }
    if given.loan_status.as_deref().is_some_and(|status| status != "APPROVED") {
        return wrong("loan_status can only be APPROVED");
    }
    if given.disbursement_status.as_deref().is_some_and(|status| status != "NOT_STARTED") {
        return wrong("disbursement_status can only be NOT_STARTED");
    }
    if given.term.is_some_and(|months| !(1..=1200).contains(&months)) {
        return wrong("term must be between 1 and 1200 months");
    }
    let rate_bp = given.interest_rate.map(|percent| (percent * 100.0).round());
    if rate_bp.is_some_and(|rate| !(0.0..=100_000.0).contains(&rate)) {
        return wrong("interest_rate must be between 0 and 1000 percent");
    }
    let phone = given.customer_phone_number.as_deref().map(|text| {
        Msisdn::parse(text).ok_or_else(|| {
            Failure::BadValue(
                "customer_phone_number must be a Kenyan mobile number such as +254712345678".to_owned(),
            )
        })
    });
    let moment = |text: &Option<String>| {
        text.as_deref().map(str::parse::<UnixMillis>).transpose().map_err(Failure::BadValue)
    };
    Ok(Checked {
        phone: phone.transpose()?,
        #[expect(clippy::cast_possible_truncation, reason = "0 to 100,000")]
        rate_bp: rate_bp.map(|rate| rate as i64),
        approved_at: moment(&given.approved_at)?,
        created_at: moment(&given.loan_created_at)?,
        updated_at: moment(&given.loan_updated_at)?,
        given,
    })
}

/// Approves `count` loans that are as `given` says, and otherwise like those of a demo.
///
/// # Errors
/// [`Failure::BadValue`].
pub async fn approve(sandbox: &Sandbox, count: u32, given: GivenLoan) -> Result<Vec<PendingLoan>, Failure> {
    let checked = check(given, count)?;
    let now = sandbox.clock.now();
    let chance = u64::from_be_bytes(sandbox.randomness.bytes());
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let made = demo::approve(connection, now, chance, count).await?;
                let mut approved = Vec::new();
                for loan_id in made {
                    let loan_id = checked.make_true(connection, loan_id).await?;
                    approved.push(pending_loan(connection, &loan_id).await?);
                }
                Ok(approved)
            })
        })
        .await
}

const IS_LOAN: &str = "SELECT count(*) FROM loan WHERE loan_id = $1";

const IS_CUSTOMER: &str = "SELECT count(*) FROM customer WHERE customer_id = $1";

const CUSTOMER_OF: &str = "SELECT customer_id FROM loan WHERE loan_id = $1";

const GIVE_TO: &str = "UPDATE loan SET customer_id = $2 WHERE loan_id = $1";

const COPY_CUSTOMER: &str = "
    INSERT INTO customer (customer_id, first_name, last_name, phone_number, id_number, nickname, gender,
                          status, account_id, account_number, account_status, credit_score, risk_level)
    SELECT $2, first_name, last_name, phone_number, id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM customer WHERE customer_id = $1";

const FORGET_CUSTOMER: &str = "DELETE FROM customer WHERE customer_id = $1";

const CHANGE_CUSTOMER: &str = "
    UPDATE customer SET
        first_name = COALESCE($2, first_name), last_name = COALESCE($3, last_name),
        phone_number = COALESCE($4, phone_number), id_number = COALESCE($5, id_number),
        nickname = COALESCE($6, nickname), gender = COALESCE($7, gender), status = COALESCE($8, status),
        account_id = COALESCE($9, account_id), account_number = COALESCE($10, account_number),
        account_status = COALESCE($11, account_status), credit_score = COALESCE($12, credit_score),
        risk_level = COALESCE($13, risk_level)
    WHERE customer_id = $1";

const CHANGE_LOAN: &str = "
    UPDATE loan SET
        loan_id = COALESCE($2, loan_id), amount = COALESCE($3, amount),
        remaining_balance = COALESCE($4, $3, remaining_balance),
        interest_rate_bp = COALESCE($5, interest_rate_bp), term_months = COALESCE($6, term_months),
        purpose = COALESCE($7, purpose), notes = COALESCE($8, notes),
        approved_at = COALESCE($9, approved_at), created_at = COALESCE($10, created_at),
        updated_at = COALESCE($11, updated_at)
    WHERE loan_id = $1";

const CHANGE_APPROVER: &str =
    "UPDATE loan SET approver_id = $2, approver_name = $3, approver_email = $4 WHERE loan_id = $1";

impl Checked {
    /// Makes `made` what it is to be, and says which loan that is.
    async fn make_true(&self, db: &mut Connection, made: String) -> Result<String, Failure> {
        let given = &self.given;
        if let Some(customer_id) = &given.customer_id {
            self.belong_to(db, &made, customer_id).await?;
        }
        let customer_id: String = sqlx::query_scalar(CUSTOMER_OF).bind(&made).fetch_one(&mut *db).await?;
        sqlx::query(CHANGE_CUSTOMER)
            .bind(customer_id)
            .bind(&given.customer_first_name)
            .bind(&given.customer_last_name)
            .bind(&self.phone)
            .bind(&given.customer_id_number)
            .bind(&given.customer_nickname)
            .bind(&given.customer_gender)
            .bind(&given.customer_status)
            .bind(&given.customer_account_id)
            .bind(&given.account_number)
            .bind(&given.account_status)
            .bind(given.credit_score)
            .bind(&given.risk_level)
            .execute(&mut *db)
            .await?;
        if let Some(loan_id) = &given.loan_id
            && sqlx::query_scalar::<_, i64>(IS_LOAN).bind(loan_id).fetch_one(&mut *db).await? > 0
        {
            return Err(Failure::BadValue(format!("There is a loan {loan_id} already")));
        }
        if given.approver_id.is_some() || given.approver_name.is_some() || given.approver_email.is_some() {
            sqlx::query(CHANGE_APPROVER)
                .bind(&made)
                .bind(&given.approver_id)
                .bind(&given.approver_name)
                .bind(&given.approver_email)
                .execute(&mut *db)
                .await?;
        }
        sqlx::query(CHANGE_LOAN)
            .bind(&made)
            .bind(&given.loan_id)
            .bind(given.total_loan_amount)
            .bind(given.remaining_balance)
            .bind(self.rate_bp)
            .bind(given.term)
            .bind(&given.purpose)
            .bind(&given.notes)
            .bind(self.approved_at)
            .bind(self.created_at)
            .bind(self.updated_at)
            .execute(db)
            .await?;
        Ok(given.loan_id.clone().unwrap_or(made))
    }

    /// Gives the loan to the customer of that id, who may be there already.
    async fn belong_to(&self, db: &mut Connection, loan_id: &str, customer_id: &str) -> Result<(), Failure> {
        let made: String = sqlx::query_scalar(CUSTOMER_OF).bind(loan_id).fetch_one(&mut *db).await?;
        let known: i64 = sqlx::query_scalar(IS_CUSTOMER).bind(customer_id).fetch_one(&mut *db).await?;
        if known == 0 {
            sqlx::query(COPY_CUSTOMER).bind(&made).bind(customer_id).execute(&mut *db).await?;
        }
        sqlx::query(GIVE_TO).bind(loan_id).bind(customer_id).execute(&mut *db).await?;
        sqlx::query(FORGET_CUSTOMER).bind(made).execute(db).await?;
        Ok(())
    }
}
