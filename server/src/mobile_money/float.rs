//! The float: the money that payments are made from.
//!
//! On PostgreSQL, where several transactions pay at the same time, it stands in several rows: each takes from a
//! row of its own what it needs, and an advance from the main row when its own is short. All rows together
//! are the float.

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

const MAIN_ROW: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts'";

const ADD_TO_PART: &str = "
    INSERT INTO mobile_money_account (account_id, float) VALUES ($1, $2)
    ON CONFLICT (account_id) DO UPDATE SET float = mobile_money_account.float + excluded.float";

/// In the order in which rows are always locked: the main row is the last one.
const ALL_ROWS: &str = "SELECT account_id, float FROM mobile_money_account ORDER BY account_id DESC";

const SET_ALL: &str =
    "UPDATE mobile_money_account SET float = CASE account_id WHEN 'payouts' THEN $1 ELSE 0 END";

/// Takes `amount` from the float, from the row that `key` chooses if possible. Returns whether there was
/// enough; if not, nothing is taken.
pub(super) async fn spend(connection: &mut Connection, amount: i64, key: &str) -> Result<bool, sqlx::Error> {
    let row = row_for(connection, key);
    if query(SPEND).bind(amount).bind(&row).execute(&mut *connection).await? == 1 {
        return Ok(true);
    }
    // A row is locked only where there is enough, so that those who take from all lock them in their order.
    let main: i64 = query_scalar(MAIN_ROW).fetch_one(&mut *connection).await?;
    let advance = (main - amount).max(0) / ADVANCE;
    let is_part = row != MAIN;
    if is_part && query(SPEND).bind(amount + advance).bind(MAIN).execute(&mut *connection).await? == 1 {
        query(ADD_TO_PART).bind(&row).bind(advance).execute(connection).await?;
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

fn row_for(connection: &Connection, key: &str) -> String {
    match connection {
        Connection::Sqlite(_) => MAIN.to_owned(),
        Connection::Postgres(_) => {
            let sum = key.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            format!("{MAIN}/{}", sum % PARTS)
        }
    }
}
