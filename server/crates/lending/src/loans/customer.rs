//! The customer of a loan.

use super::PendingLoan;
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

/// Adds or overwrites the customer of `loan`.
pub async fn write_customer(connection: &mut Connection, loan: &PendingLoan) -> Result<(), sqlx::Error> {
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
        .execute(connection)
        .await?;
    Ok(())
}
