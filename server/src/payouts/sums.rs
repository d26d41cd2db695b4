//! The number and the amount of payouts in any times, from sums that triggers keep.
//!
//! There is a sum for each quarter of an hour and status. Times that begin or end within a quarter are added up
//! from its payouts, so every result is exact.

use std::{collections::BTreeMap, ops::Range};

use serde::Serialize;
use serde_json::{Value, json};

use super::PayoutStatus;
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_as, query_scalar},
    error::Failure,
};

/// A quarter of an hour in ms.
const QUARTER: i64 = 15 * 60 * 1000;

/// How many changes may wait to be added to the sums when they are read.
const MAX_CHANGES: i64 = 1000;

/// Payouts with the same status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// Their number.
    pub payouts: i64,
    /// Their total amount in KES.
    pub amount: i64,
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.payouts += other.payouts;
        self.amount += other.amount;
    }
}

/// Adds up the quarters from `begins` until `ends` for each element of `$1`.
const OF_QUARTERS: &str = "
    SELECT part, status,
           CAST(COALESCE((SELECT sum(payouts) FROM payout_sum
                          WHERE status = asked.status AND quarter >= begins AND quarter < ends), 0)
              + COALESCE((SELECT sum(payouts) FROM payout_sum_change
                          WHERE status = asked.status AND quarter >= begins AND quarter < ends), 0) AS BIGINT),
           CAST(COALESCE((SELECT sum(amount) FROM payout_sum
                          WHERE status = asked.status AND quarter >= begins AND quarter < ends), 0)
              + COALESCE((SELECT sum(amount) FROM payout_sum_change
                          WHERE status = asked.status AND quarter >= begins AND quarter < ends), 0) AS BIGINT)
    FROM (SELECT CAST(value ->> 'part' AS BIGINT) AS part, value ->> 'status' AS status,
                 CAST(value ->> 'begins' AS BIGINT) AS begins, CAST(value ->> 'ends' AS BIGINT) AS ends
          FROM json_each($1)) AS asked";

const OF_PAYOUTS: &str = "
    SELECT status, count(*), CAST(COALESCE(sum(amount), 0) AS BIGINT)
    FROM payout WHERE created_at >= $1 AND created_at < $2 GROUP BY status";

/// The sums by status of each of `parts`, in a transaction that reads one snapshot.
///
/// # Errors
/// When the database can't be read.
pub async fn sums(
    connection: &mut Connection,
    parts: &[Range<UnixMillis>],
) -> Result<Vec<BTreeMap<&'static str, Sum>>, sqlx::Error> {
    let mut found = vec![BTreeMap::new(); parts.len()];
    let mut asked = Vec::new();
    for (part, times) in parts.iter().enumerate() {
        let Range { start: UnixMillis(start), end: UnixMillis(end) } = *times;
        // The whole quarters between; none if both are in the same one.
        let begins =
            start.div_euclid(QUARTER) * QUARTER + if start.rem_euclid(QUARTER) == 0 { 0 } else { QUARTER };
        let ends = (end.div_euclid(QUARTER) * QUARTER).max(begins);
        for status in PayoutStatus::ALL {
            asked.push(json!({ "part": part, "status": status.name(), "begins": begins, "ends": ends }));
        }
        for (from, to) in [(start, begins.min(end)), (ends.max(start), end)] {
            if from < to {
                let rows: Vec<(PayoutStatus, i64, i64)> =
                    query_as(OF_PAYOUTS).bind(from).bind(to).fetch_all(&mut *connection).await?;
                for (status, payouts, amount) in rows {
                    *found[part].entry(status.name()).or_default() += Sum { payouts, amount };
                }
            }
        }
    }
    let rows: Vec<(i64, PayoutStatus, i64, i64)> =
        query_as(OF_QUARTERS).bind(Value::from(asked).to_string()).fetch_all(connection).await?;
    for (part, status, payouts, amount) in rows {
        if let Some(sums) = usize::try_from(part).ok().and_then(|part| found.get_mut(part)) {
            *sums.entry(status.name()).or_default() += Sum { payouts, amount };
        }
    }
    Ok(found)
}

const WAITING: &str = "SELECT count(*) FROM (SELECT 1 FROM payout_sum_change LIMIT $1) AS waiting";

/// Those of at most a thousand quarters: a load of old payouts leaves very many.
const TAKE: &str = "
    DELETE FROM payout_sum_change
    WHERE quarter IN (SELECT DISTINCT quarter FROM payout_sum_change ORDER BY quarter LIMIT 1000)
    RETURNING status, quarter, payouts, amount";

const ADD: &str = "
    INSERT INTO payout_sum (status, quarter, payouts, amount)
    SELECT value ->> 'status', CAST(value ->> 'quarter' AS BIGINT), CAST(value ->> 'payouts' AS BIGINT),
           CAST(value ->> 'amount' AS BIGINT)
    FROM json_each($1) WHERE true
    ON CONFLICT (status, quarter) DO UPDATE SET
        payouts = payout_sum.payouts + excluded.payouts, amount = payout_sum.amount + excluded.amount";

/// Adds changes that wait to the sums, once there are too many to read with them. Returns whether there were.
///
/// # Errors
/// [`Failure::Busy`], [`Failure::NotCommitted`].
pub async fn add_changes(database: &Database) -> Result<bool, Failure> {
    let waiting: i64 =
        query_scalar(WAITING).bind(MAX_CHANGES + 1).fetch_one(&mut *database.read().await?).await?;
    if waiting <= MAX_CHANGES {
        return Ok(false);
    }
    database
        .write_in_turn(|connection: &mut Connection| {
            Box::pin(async move {
                let taken: Vec<(String, i64, i64, i64)> = query_as(TAKE).fetch_all(&mut *connection).await?;
                let mut sums: BTreeMap<(String, i64), Sum> = BTreeMap::new();
                for (status, quarter, payouts, amount) in taken {
                    *sums.entry((status, quarter)).or_default() += Sum { payouts, amount };
                }
                let rows: Vec<Value> = sums
                    .into_iter()
                    .map(|((status, quarter), Sum { payouts, amount })| {
                        json!({ "status": status, "quarter": quarter, "payouts": payouts, "amount": amount })
                    })
                    .collect();
                query(ADD).bind(Value::from(rows).to_string()).execute(connection).await?;
                Ok(true)
            })
        })
        .await
}
