//! The float: the money that payments are made from.
//!
//! On PostgreSQL, where several transactions pay at the same time, it stands in several rows: each takes what it
//! needs from a row that no other one has locked, and an advance from the main row when there is none. All rows
//! together are the float.

use crate::database::{Connection, query, query_as, query_scalar};

/// The account, and the row that is left when the others are empty.
const MAIN: &str = "payouts";

/// How many further rows there are, on PostgreSQL.
const PARTS: u64 = 32;

/// An advance is this part of what is in the main row.
const ADVANCE: i64 = 8;

const SPEND: &str =
    "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = $2 AND float >= $1";

const SPEND_ALWAYS: &str = "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = 'payouts'";

const FREE_PART: &str = "
    SELECT account_id FROM mobile_money_account WHERE account_id <> 'payouts' AND float >= $1 LIMIT 1";

/// The main row, if there is enough in it.
const MAIN_ROW: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts' AND float >= $1";

const ADD_TO_PART: &str = "
    INSERT INTO mobile_money_account (account_id, float) VALUES ($1, $2)
    ON CONFLICT (account_id) DO UPDATE SET float = mobile_money_account.float + excluded.float";

/// In the order in which rows are always locked: the main row is the last one.
const ALL_ROWS: &str = "SELECT account_id, float FROM mobile_money_account ORDER BY account_id DESC";

const SET_ALL: &str =
    "UPDATE mobile_money_account SET float = CASE account_id WHEN 'payouts' THEN $1 ELSE 0 END";

/// Takes `amount` from the float. Returns whether there was enough; if not, nothing is taken. `key` chooses the
/// row that gets an advance.
pub(super) async fn spend(connection: &mut Connection, amount: i64, key: &str) -> Result<bool, sqlx::Error> {
    let is_spent = match connection {
        Connection::Sqlite(_) => spend_from(connection, MAIN, amount).await?,
        Connection::Postgres(_) => {
            spend_part(connection, amount).await? || advance(connection, amount, key).await?
        }
    };
    if is_spent {
        return Ok(true);
    }
    let rows: Vec<(String, i64)> =
        query_as(ALL_ROWS).locking("FOR UPDATE").fetch_all(&mut *connection).await?;
    let float: i64 = rows.iter().map(|(_, float)| float).sum();
    if float < amount {
        return Ok(false);
    }
    query(SET_ALL).bind(float - amount).execute(connection).await?;
    Ok(true)
}

async fn spend_from(connection: &mut Connection, row: &str, amount: i64) -> Result<bool, sqlx::Error> {
    Ok(query(SPEND).bind(amount).bind(row).execute(connection).await? == 1)
}

/// Takes `amount` from a part that nobody else uses.
async fn spend_part(connection: &mut Connection, amount: i64) -> Result<bool, sqlx::Error> {
    let free: Option<String> = query_scalar(FREE_PART)
        .bind(amount)
        .locking("FOR UPDATE SKIP LOCKED")
        .fetch_optional(&mut *connection)
        .await?;
    match free {
        Some(part) => spend_from(connection, &part, amount).await,
        None => Ok(false),
    }
}

/// Takes `amount` from the main row, and an advance for the part that `key` chooses. The row is locked only if
/// there is enough in it, so that those who take from all rows lock them in their order.
async fn advance(connection: &mut Connection, amount: i64, key: &str) -> Result<bool, sqlx::Error> {
    let main: Option<i64> =
        query_scalar(MAIN_ROW).bind(amount).locking("FOR UPDATE").fetch_optional(&mut *connection).await?;
    let Some(main) = main else { return Ok(false) };
    let advance = (main - amount) / ADVANCE;
    query(SPEND).bind(amount + advance).bind(MAIN).execute(&mut *connection).await?;
    query(ADD_TO_PART).bind(part_for(key)).bind(advance).execute(connection).await?;
    Ok(true)
}

/// Takes `amount` from the float, even below zero.
pub(super) async fn spend_always(connection: &mut Connection, amount: i64) -> Result<(), sqlx::Error> {
    query(SPEND_ALWAYS).bind(amount).execute(connection).await?;
    Ok(())
}

/// Sets the float.
pub(super) async fn set(connection: &mut Connection, float: i64) -> Result<(), sqlx::Error> {
    let _: Vec<(String, i64)> = query_as(ALL_ROWS).locking("FOR UPDATE").fetch_all(&mut *connection).await?;
    query(SET_ALL).bind(float).execute(connection).await?;
    Ok(())
}

fn part_for(key: &str) -> String {
    let sum = key.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{MAIN}/{}", sum % PARTS)
}
