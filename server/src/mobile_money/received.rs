//! What phones received on a day, for the daily limit.

use serde_json::{Value, json};

use super::DAILY_LIMIT;
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_scalar, sweep},
    error::Failure,
};

/// Adds the amounts of day `$2`, which ends at `$3`, and returns the phones that stay within limit `$4`. A row
/// that does not exist is made from the books; the limit is in the condition of both.
const ADD: &str = "
    INSERT INTO mobile_money_received (phone_number, day, received, latest)
    SELECT asked.phone_number, $2, asked.amount + asked.received, asked.amount
    FROM (SELECT value ->> 'phone_number' AS phone_number, CAST(value ->> 'amount' AS BIGINT) AS amount,
                 (SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM mobile_money_payment AS payment
                  WHERE payment.phone_number = value ->> 'phone_number' AND payment.requested_at >= $2
                  AND payment.requested_at < $3 AND payment.result_code = '0') AS received
          FROM json_each($1)) AS asked
    WHERE asked.amount + asked.received <= $4
    ORDER BY asked.phone_number
    ON CONFLICT (phone_number, day) DO UPDATE
    SET received = mobile_money_received.received + excluded.latest, latest = excluded.latest
    WHERE mobile_money_received.received + excluded.latest <= $4
    RETURNING phone_number";

/// Adds `amounts` to what the phones received on the day between `midnights`. Returns the phones whose limit
/// allows it; for the others, nothing is added. Each phone may be there once.
pub(super) async fn add(
    connection: &mut Connection,
    midnights: &[UnixMillis],
    amounts: impl Iterator<Item = (&str, i64)>,
    is_limited: bool,
) -> Result<Vec<String>, sqlx::Error> {
    let asked: Vec<Value> =
        amounts.map(|(phone, amount)| json!({ "phone_number": phone, "amount": amount })).collect();
    query_scalar(ADD)
        .bind(Value::from(asked).to_string())
        .bind(midnights[0])
        // The clock may have been ahead: payments of a later day are not of today.
        .bind(midnights[1])
        .bind(if is_limited { DAILY_LIMIT } else { i64::MAX })
        .fetch_all(connection)
        .await
}

const TAKE_BACK: &str = "
    UPDATE mobile_money_received SET received = received - $3 WHERE phone_number = $1 AND day = $2";

/// Takes back what was added for a payment that is refused.
pub(super) async fn take_back(
    connection: &mut Connection,
    day: UnixMillis,
    phone: &str,
    amount: i64,
) -> Result<(), sqlx::Error> {
    query(TAKE_BACK).bind(phone).bind(day).bind(amount).execute(connection).await?;
    Ok(())
}

const DELETE_BATCH: &str = "
    DELETE FROM mobile_money_received WHERE (phone_number, day) IN
        (SELECT phone_number, day FROM mobile_money_received WHERE day <= $1 ORDER BY day LIMIT 500)";

/// Deletes the sums of days that began before `oldest`. One that is needed again is made from the books.
///
/// # Errors
/// When the database fails; earlier batches stay deleted.
pub async fn delete_old_sums(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}
