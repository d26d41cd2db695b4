//! The audit: compares our books with mobile money's in one query.

use serde::Serialize;

use base::{error::Failure, ids::LoanId, kes::Kes};
use store::{Connection, query_as};

/// The result of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invariant {
    /// Money out equals completed for every payout, and no loan was paid twice.
    pub ok: bool,
    /// KES sent according to mobile money's books, excluding pending payouts.
    pub money_out: Kes,
    /// KES of all COMPLETED payouts.
    pub completed: Kes,
    /// Loans that were paid more than once.
    pub double_paid: Vec<LoanId>,
    /// Receipts of payments without a payout, 100 at most.
    pub without_payout: Vec<String>,
    /// The number of payouts that have not settled yet.
    pub pending: i64,
}

/// The maximum number of payments without a payout that are named.
const MAX_NAMED: usize = 100;

/// Money out is the sum of mobile money's payments, except for payouts that are PENDING in our books.
/// Disagreements are payouts where the books differ: COMPLETED but not paid with the same details, FAILED but
/// paid, PENDING and paid with other details, or COMPLETED with a loan that is not DISBURSED; payments
/// without a payout; and loans that are DISBURSED without a COMPLETED payout.
const AUDIT: &str = "
    WITH paid AS (
        SELECT payment.originator_id, payment.amount, payment.receipt, payment.phone_number, payment.reference,
               payout.status, payout.loan_id
        FROM mobile_money_payment AS payment
        LEFT JOIN payout ON payout.transaction_id = payment.originator_id
        WHERE payment.result_code = '0'
    ),
    total AS (
        SELECT
            (SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM paid
             WHERE COALESCE(status, 'NONE') <> 'PENDING') AS money_out,
            (SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM payout
             WHERE status = 'COMPLETED') AS completed,
            (SELECT count(*) FROM payout WHERE status = 'PENDING') AS pending,
            (SELECT count(*) FROM payout
             JOIN loan ON loan.loan_id = payout.loan_id
             LEFT JOIN paid ON paid.originator_id = payout.transaction_id
             WHERE payout.status = 'FAILED' AND paid.originator_id IS NOT NULL
                OR payout.status <> 'FAILED' AND (
                    paid.amount <> payout.amount OR paid.phone_number <> payout.phone_number)
                OR payout.status = 'COMPLETED' AND (
                    paid.originator_id IS NULL OR paid.receipt <> payout.receipt
                    OR loan.status <> 'DISBURSED'))
            + (SELECT count(*) FROM paid WHERE loan_id IS NULL)
            + (SELECT count(*) FROM loan WHERE status = 'DISBURSED' AND NOT EXISTS
                  (SELECT 1 FROM payout WHERE payout.loan_id = loan.loan_id AND payout.status = 'COMPLETED'))
            AS disagreements
    ),
    named AS (
        SELECT 'twice' AS what, COALESCE(loan_id, reference) AS name FROM paid
        WHERE COALESCE(loan_id, reference) IS NOT NULL
        GROUP BY COALESCE(loan_id, reference) HAVING count(*) > 1
        UNION ALL
        SELECT 'without_payout', receipt FROM paid WHERE loan_id IS NULL
    )
    SELECT money_out, completed, pending, disagreements, what, name
    FROM total LEFT JOIN named ON TRUE
    ORDER BY what, name";

/// The totals, with one of what is named, if anything is.
#[derive(sqlx_macros::FromRow)]
struct Row {
    money_out: Kes,
    completed: Kes,
    pending: i64,
    disagreements: i64,
    what: Option<String>,
    name: Option<String>,
}

/// Compares our books with mobile money's.
pub async fn invariant(connection: &mut Connection) -> Result<Invariant, Failure> {
    let rows: Vec<Row> = query_as(AUDIT).fetch_all(connection).await?;
    let &Row { money_out, completed, pending, disagreements, .. } =
        rows.first().ok_or_else(|| Failure::Internal("the audit returned no row".to_owned()))?;
    let (mut double_paid, mut without_payout) = (Vec::new(), Vec::new());
    for Row { what, name, .. } in rows {
        match (what.as_deref(), name) {
            (Some("twice"), Some(loan_id)) => double_paid.push(LoanId::from(loan_id)),
            (_, Some(receipt)) if without_payout.len() < MAX_NAMED => without_payout.push(receipt),
            _ => {}
        }
    }
    let ok = money_out == completed && disagreements == 0 && double_paid.is_empty();
    Ok(Invariant { ok, money_out, completed, double_paid, without_payout, pending })
}
