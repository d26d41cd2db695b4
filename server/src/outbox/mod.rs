//! Every e-mail and SMS that goes out: a row, written in the transaction that it tells of.

use crate::{clock::UnixMillis, database::Connection, phone::Msisdn, randomness::Randomness};

const ENQUEUE: &str = "
    INSERT INTO outbox_message (message_id, channel, recipient, subject, body, code, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// Puts an SMS into the outbox.
pub async fn sms(
    connection: &mut Connection,
    randomness: &Randomness,
    now: UnixMillis,
    to: &Msisdn,
    body: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(ENQUEUE)
        .bind(randomness.id(now))
        .bind("sms")
        .bind(to)
        .bind(None::<&str>)
        .bind(body)
        .bind(None::<&str>)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}
