//! The loans and payouts of the demo data.

use rand::{RngExt, rngs::ChaCha12Rng, seq::IndexedRandom};

use super::{
    ANSWERED_AFTER, DAY, Demo, DemoLoan, DemoPayout, Details, Noun,
    names::{LAST_NAMES, MEN, PURPOSES, RATES, TERMS, WOMEN},
};
use crate::{
    mobile_money::{Refusal, receipt},
    payouts::PayoutStatus,
};
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{CustomerId, LoanId, PayoutId, TransactionId},
    kes::Kes,
};
use store::{Connection, query};

const ADD_CUSTOMER: &str = "
    INSERT INTO customer (customer_id, first_name, last_name, phone_number, id_number, nickname, gender,
                          status, account_id, account_number, account_status, credit_score, risk_level)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'ACTIVE', $8, $9, 'ACTIVE', $10, $11)";

const APPROVE_LOAN: &str = "
    INSERT INTO loan (loan_id, customer_id, amount, interest_rate_bp, term_months, purpose, status,
                      remaining_balance, notes, approver_id, approver_name, approver_email, approved_at,
                      created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'APPROVED', $7, $8, $9, $10, $11, $12, $13, $12)";

pub(super) const DISBURSE_LOAN: &str =
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
        self.loans_made += 1;
        let number = self.loans_made;
        let phone_number = details.phone_number;
        let (customer_id, phone_number) = self.add_customer(db, number, phone_number).await?;
        let mut chances = self.chances_of(Noun::Loan, number);
        let drawn = amount(&mut chances);
        let amount = details.amount.unwrap_or(drawn);
        let loan_id = LoanId::from(format!("LN-{}-{number:05}", approved_at.in_nairobi().year()));
        let approver = match chances.random_range(0..6) {
            0 => None,
            1 | 2 => self.approvers.first(),
            _ => self.approvers.last(),
        };
        query(APPROVE_LOAN)
            .bind(&loan_id)
            .bind(&customer_id)
            .bind(amount)
            .bind(pick(&mut chances, &RATES))
            .bind(pick(&mut chances, &TERMS))
            .bind(chances.random_bool(0.85).then(|| pick(&mut chances, &PURPOSES)))
            .bind(amount)
            .bind(details.notes)
            .bind(approver.map(|staff| &staff.staff_id))
            .bind(approver.map(|staff| format!("{} {}", staff.first_name, staff.last_name)))
            .bind(approver.map(|staff| &staff.email))
            .bind(approved_at)
            .bind(approved_at.minus(DAY * chances.random_range(1..5)))
            .execute(db)
            .await?;
        Ok(DemoLoan { loan_id, phone_number, amount })
    }

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
        let receipt = match payout {
            DemoPayout::Refused(_) => None,
            DemoPayout::Completed | DemoPayout::Processing => Some(receipt(created_at, &self.ids)),
        };
        let (status, result_at) = match payout {
            DemoPayout::Completed => (PayoutStatus::Completed, created_at.plus(ANSWERED_AFTER)),
            DemoPayout::Refused(_) => (PayoutStatus::Failed, created_at.plus(ANSWERED_AFTER)),
            DemoPayout::Processing => (PayoutStatus::Pending, self.now.plus(DAY)),
        };
        let refusal = if let DemoPayout::Refused(refusal) = payout { Some(refusal) } else { None };
        let result_code = refusal.map_or("0", Refusal::code);
        let settled = status != PayoutStatus::Pending;
        let payer = if chances.random_bool(0.3) { self.payers.first() } else { self.payers.last() };
        let payout_id: PayoutId = self.ids.id(created_at);
        query(ADD_PAYOUT)
            .bind(&payout_id)
            .bind(&loan.loan_id)
            .bind(&transaction_id)
            .bind(loan.amount)
            .bind(&loan.phone_number)
            .bind(status)
            .bind(receipt.as_ref().filter(|_| settled))
            .bind(settled.then_some(result_code))
            .bind(refusal.map(Refusal::text))
            .bind(payer.map(|staff| &staff.staff_id))
            .bind(created_at)
            .bind(settled.then_some(result_at))
            .execute(&mut *db)
            .await?;
        query(ADD_PAYMENT)
            .bind(&transaction_id)
            .bind(&receipt)
            .bind(&loan.phone_number)
            .bind(loan.amount)
            .bind(result_code)
            .bind(created_at)
            .bind(result_at)
            .bind(&loan.loan_id)
            .execute(db)
            .await?;
        Ok(payout_id)
    }

    /// Adds a customer, with a phone number that is drawn unless one is `chosen`. Returns their id and phone number.
    async fn add_customer(
        &self,
        db: &mut Connection,
        number: u32,
        chosen: Option<&'static str>,
    ) -> Result<(CustomerId, String), Failure> {
        let mut chances = self.chances_of(Noun::Customer, number);
        let woman = chances.random_bool(0.5);
        let first_name = pick(&mut chances, if woman { &WOMEN } else { &MEN });
        let last_name = loop {
            let name = pick(&mut chances, &LAST_NAMES);
            if name != first_name {
                break name;
            }
        };
        let phone_number = format!("+2547{}", chances.random_range(10_000_000..99_999_999));
        let phone_number = chosen.map_or(phone_number, str::to_owned);
        let customer_id = CustomerId::from(format!("CUS-{number:05}"));
        let credit_score: i64 = chances.random_range(420..800);
        let risk_level = match credit_score {
            ..520 => "HIGH",
            520..640 => "MEDIUM",
            _ => "LOW",
        };
        query(ADD_CUSTOMER)
            .bind(&customer_id)
            .bind(first_name)
            .bind(last_name)
            .bind(&phone_number)
            .bind(chances.random_range(20_000_000..39_999_999).to_string())
            .bind(chances.random_bool(0.2).then(|| format!("Mama {first_name}")).filter(|_| woman))
            .bind(if woman { "Female" } else { "Male" })
            .bind(format!("ACC-{number:05}"))
            .bind(format!("0110{:08}", chances.random_range(1..99_999_999)))
            .bind(credit_score)
            .bind(risk_level)
            .execute(&mut *db)
            .await?;
        Ok((customer_id, phone_number))
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
