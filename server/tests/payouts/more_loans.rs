//! Loans to pay, as many as a long test or a benchmark needs: copies of one of the demo's, each with its own customer.

use store::{Connection, Database, query};

/// The largest number that is added in one transaction.
const BATCH: i64 = 1000;

/// No phone number is magic.
const MORE_CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < $2)
    INSERT INTO customer
        (customer_id, first_name, last_name, phone_number, id_number, nickname, gender, status, account_id,
         account_number, account_status, credit_score, risk_level)
    SELECT 'CUS-X' || n, first_name, last_name, '+2547' || (20000000 + n), id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

/// Nor is an amount.
const MORE_LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < $2)
    INSERT INTO loan
        (loan_id, customer_id, amount, interest_rate_bp, term_months, purpose, status, remaining_balance, notes,
         approver_id, approver_name, approver_email, approved_at, disbursed_at, created_at, updated_at)
    SELECT 'LN-X' || n, 'CUS-X' || n, 1000 + n % 80000, interest_rate_bp, term_months, purpose, 'APPROVED',
           1000 + n % 80000, notes, approver_id, approver_name, approver_email, approved_at, NULL, created_at,
           updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

/// Adds the loans `LN-X1`, `LN-X2` and so on.
pub async fn add(loans: usize, database: &Database) {
    let loans = i64::try_from(loans).unwrap();
    let mut first = 1;
    while first <= loans {
        let last = loans.min(first + BATCH - 1);
        let add = database.write(async move |connection: &mut Connection| {
            query(MORE_CUSTOMERS).bind(first).bind(last).execute(&mut *connection).await?;
            Ok(query(MORE_LOANS).bind(first).bind(last).run(connection).await?)
        });
        add.await.unwrap();
        first = last + 1;
    }
}

/// The amount of a loan in KES, and its customer's phone number.
pub fn amount_and_phone(loan: usize) -> (usize, String) {
    (1000 + loan % 80_000, format!("+2547{}", 20_000_000 + loan))
}
