//! The loans and payouts of the demo data.

use rand::{RngExt, rngs::ChaCha12Rng, seq::IndexedRandom};

use super::{
    ANSWERED_AFTER, DAY, Demo, DemoLoan, DemoPayout, Details, Noun,
    names::{LAST_NAMES, MEN, PURPOSES, RATES, TERMS, WOMEN},
};
use crate::{
    loans::{self, DisbursementStatus, LoanStatus, PendingLoan},
    mobile_money::{Refusal, receipt},
    payouts::PayoutStatus,
};
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{PayoutId, TransactionId},
    kes::Kes,
};
use store::{Connection, query};

const DISBURSE_LOAN: &str =
    "UPDATE loan SET status = 'DISBURSED', disbursed_at = $2, updated_at = $2 WHERE loan_id = $1";

pub(super) const ADD_PAYOUT: &str = "
    INSERT INTO payout (payout_id, loan_id, transaction_id, amount, phone_number, status, receipt,
                        result_code, error_message, staff_id, agent_id, created_at, processed_at, check_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '1', $11, $12, $11)";

pub(super) const ADD_PAYMENT: &str = "
    INSERT INTO mobile_money_payment (originator_id, receipt, phone_number, amount, result_code, requested_at,
                                      result_at, reference)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

impl Demo {
    pub(super) async fn approve(
        &mut self,
        db: &mut Connection,
        approved_at: UnixMillis,
        details: Details,
    ) -> Result<DemoLoan, Failure> {
        let loan = self.draw(approved_at, details);
        loans::add(db, &loan, None).await?;
        let PendingLoan { loan_id, customer_phone_number, total_loan_amount, .. } = loan;
        Ok(DemoLoan { loan_id, phone_number: customer_phone_number, amount: total_loan_amount })
    }

    /// Draws the next loan and its customer, without adding them.
    pub(super) fn draw(&mut self, approved_at: UnixMillis, details: Details) -> PendingLoan {
        self.loans_made += 1;
        let number = self.loans_made;
        let customer = Customer::draw(&mut self.chances_of(Noun::Customer, number));
        let mut chances = self.chances_of(Noun::Loan, number);
        let drawn = amount(&mut chances);
        let amount = details.amount.unwrap_or(drawn);
        let approver = match chances.random_range(0..6) {
            0 => None,
            1 | 2 => self.approvers.first(),
            _ => self.approvers.last(),
        };
        let (rate, term) = (pick(&mut chances, &RATES), pick(&mut chances, &TERMS));
        let purpose = chances.random_bool(0.85).then(|| pick(&mut chances, &PURPOSES).to_owned());
        PendingLoan {
            loan_id: format!("LN-{}-{number:05}", approved_at.in_nairobi().year()).into(),
            customer_id: format!("CUS-{number:05}").into(),
            customer_first_name: customer.first_name.to_owned(),
            customer_last_name: customer.last_name.to_owned(),
            customer_phone_number: details.phone_number.map_or(customer.phone_number, str::to_owned),
            customer_id_number: customer.id_number,
            customer_nickname: customer.nickname,
            customer_gender: Some(customer.gender.to_owned()),
            customer_status: "ACTIVE".to_owned(),
            customer_account_id: format!("ACC-{number:05}").into(),
            account_number: customer.account_number,
            account_status: "ACTIVE".to_owned(),
            credit_score: Some(customer.credit_score),
            risk_level: Some(customer.risk_level.to_owned()),
            total_loan_amount: amount,
            interest_rate_bp: rate,
            loan_status: LoanStatus::Approved,
            disbursement_status: DisbursementStatus::NotStarted,
            approved_at,
            approver_id: approver.map(|staff| staff.staff_id.to_string().into()),
            approver_name: approver.map(|staff| format!("{} {}", staff.first_name, staff.last_name)),
            approver_email: approver.map(|staff| staff.email.clone()),
            remaining_balance: amount,
            notes: details.notes.map(str::to_owned),
            loan_created_at: approved_at.minus(DAY * chances.random_range(1..5)),
            loan_updated_at: approved_at,
            term: Some(term),
            purpose,
        }
    }

    /// Adds a payout of `loan`, with its payment, and returns its id. A loan that is paid is disbursed.
    pub(super) async fn pay(
        &mut self,
        db: &mut Connection,
        loan: &DemoLoan,
        created_at: UnixMillis,
        payout: DemoPayout,
    ) -> Result<PayoutId, Failure> {
        self.payouts_made += 1;
        let mut chances = self.chances_of(Noun::Payout, self.payouts_made);
        let transaction_id: TransactionId = self.ids.id(created_at);
        let refusal = if let DemoPayout::Refused(refusal) = payout { Some(refusal) } else { None };
        let receipt = refusal.is_none().then(|| receipt(created_at, &self.ids));
        let (status, result_at) = match payout {
            DemoPayout::Completed => (PayoutStatus::Completed, created_at.plus(ANSWERED_AFTER)),
            DemoPayout::Refused(_) => (PayoutStatus::Failed, created_at.plus(ANSWERED_AFTER)),
            DemoPayout::Processing => (PayoutStatus::Pending, self.now.plus(DAY)),
        };
        let result_code = refusal.map_or("0", Refusal::code);
        let settled = status != PayoutStatus::Pending;
        let payer = if chances.random_bool(0.3) { self.payers.first() } else { self.payers.last() };
        let payout_id: PayoutId = self.ids.id(created_at);
        query(ADD_PAYOUT)
            .bind_all((&payout_id, &loan.loan_id, &transaction_id, loan.amount))
            .bind_all((&loan.phone_number, status, receipt.as_ref().filter(|_| settled)))
            .bind_all((settled.then_some(result_code), refusal.map(Refusal::text)))
            .bind_all((payer.map(|staff| &staff.staff_id), created_at, settled.then_some(result_at)))
            .execute(&mut *db)
            .await?;
        query(ADD_PAYMENT)
            .bind_all((&transaction_id, &receipt, &loan.phone_number, loan.amount))
            .bind_all((result_code, created_at, result_at, &loan.loan_id))
            .execute(&mut *db)
            .await?;
        if status == PayoutStatus::Completed {
            query(DISBURSE_LOAN).bind(&loan.loan_id).bind(created_at).execute(db).await?;
        }
        Ok(payout_id)
    }
}

struct Customer {
    first_name: &'static str,
    last_name: &'static str,
    gender: &'static str,
    nickname: Option<String>,
    phone_number: String,
    id_number: String,
    account_number: String,
    credit_score: i64,
    risk_level: &'static str,
}

impl Customer {
    fn draw(chances: &mut ChaCha12Rng) -> Self {
        let is_woman = chances.random_bool(0.5);
        let first_name = pick(chances, if is_woman { &WOMEN } else { &MEN });
        let last_name = loop {
            let name = pick(chances, &LAST_NAMES);
            if name != first_name {
                break name;
            }
        };
        let phone_number = format!("+2547{}", chances.random_range(10_000_000..99_999_999));
        let credit_score: i64 = chances.random_range(420..800);
        let risk_level = match credit_score {
            ..520 => "HIGH",
            520..640 => "MEDIUM",
            _ => "LOW",
        };
        let id_number = chances.random_range(20_000_000..39_999_999).to_string();
        let nickname = chances.random_bool(0.2).then(|| format!("Mama {first_name}")).filter(|_| is_woman);
        let account_number = format!("0110{:08}", chances.random_range(1..99_999_999));
        let gender = if is_woman { "Female" } else { "Male" };
        Self {
            first_name,
            last_name,
            gender,
            nickname,
            phone_number,
            id_number,
            account_number,
            credit_score,
            risk_level,
        }
    }
}

/// A random amount, in multiples of 500: mostly small, sometimes large.
fn amount(chances: &mut ChaCha12Rng) -> Kes {
    let top = match chances.random_range(0..10) {
        0..4 => 50,
        4..8 => 150,
        _ => 420,
    };
    Kes(chances.random_range(10..=top) * 500)
}

pub(super) fn pick<T: Copy, const N: usize>(rng: &mut ChaCha12Rng, from: &[T; N]) -> T {
    *from.choose(rng).unwrap_or(&from[0])
}
