//! Adding a loan.

use super::PendingLoan;
use base::clock::UnixMillis;
use store::{Connection, query};

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

const ADD_LOAN: &str = "
    INSERT INTO loan (loan_id, customer_id, amount, interest_rate_bp, term_months, purpose, status,
                      remaining_balance, notes, approver_id, approver_name, approver_email, approved_at,
                      disbursed_at, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";

/// Adds `loan`, which was paid out at `disbursed_at` if it was, and its customer. A customer who is there already gets
/// what `loan` says.
pub async fn add(
    connection: &mut Connection,
    loan: &PendingLoan,
    disbursed_at: Option<UnixMillis>,
) -> Result<(), sqlx::Error> {
    query(WRITE_CUSTOMER)
        .bind_all((&loan.customer_id, &loan.customer_first_name, &loan.customer_last_name))
        .bind_all((&loan.customer_phone_number, &loan.customer_id_number, &loan.customer_nickname))
        .bind_all((&loan.customer_gender, &loan.customer_status, &loan.customer_account_id))
        .bind_all((&loan.account_number, &loan.account_status, loan.credit_score, &loan.risk_level))
        .execute(&mut *connection)
        .await?;
    query(ADD_LOAN)
        .bind_all((&loan.loan_id, &loan.customer_id, loan.total_loan_amount, loan.interest_rate_bp))
        .bind_all((loan.term, &loan.purpose, loan.loan_status, loan.remaining_balance))
        .bind_all((&loan.notes, &loan.approver_id, &loan.approver_name, &loan.approver_email))
        .bind_all((loan.approved_at, disbursed_at, loan.loan_created_at, loan.loan_updated_at))
        .run(connection)
        .await
}
