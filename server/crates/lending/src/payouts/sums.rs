//! The number and the amount of payouts in given times, such as days.

use std::{collections::BTreeMap, ops::Range};

use serde::Serialize;
use serde_json::{Value, json};

use super::PayoutStatus;
use base::{clock::UnixMillis, kes::Kes};
use store::{Connection, query_as};

/// Payouts with the same status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// The number of payouts.
    pub payouts: i64,
    /// The total amount in KES.
    pub amount: Kes,
}

/// Adds up the payouts from `begins` until `ends` for each element of `$1`.
const OF_PARTS: &str = "
    SELECT part, payout.status, count(*), CAST(sum(payout.amount) AS BIGINT)
    FROM (SELECT CAST(value ->> 'part' AS BIGINT) AS part, CAST(value ->> 'begins' AS BIGINT) AS begins,
                 CAST(value ->> 'ends' AS BIGINT) AS ends
          FROM json_each($1)) AS asked
    CROSS JOIN payout
    WHERE payout.created_at >= asked.begins AND payout.created_at < asked.ends
    GROUP BY part, payout.status ORDER BY part, payout.status";

/// The sums of `parts`, each with the index of its part and its status.
async fn of_parts(
    connection: &mut Connection,
    parts: &[Range<UnixMillis>],
) -> Result<Vec<(usize, PayoutStatus, Sum)>, sqlx::Error> {
    let asked = parts.iter().enumerate();
    let asked =
        asked.map(|(part, Range { start, end })| json!({ "part": part, "begins": start.0, "ends": end.0 }));
    let rows: Vec<(i64, PayoutStatus, i64, Kes)> =
        query_as(OF_PARTS).bind(asked.collect::<Value>().to_string()).fetch_all(connection).await?;
    let sums = rows.into_iter().filter_map(|(part, status, payouts, amount)| {
        Some((usize::try_from(part).ok()?, status, Sum { payouts, amount }))
    });
    Ok(sums.collect())
}

/// The sums by status of each of `parts`.
pub async fn sums(
    connection: &mut Connection,
    parts: &[Range<UnixMillis>],
) -> Result<Vec<BTreeMap<PayoutStatus, Sum>>, sqlx::Error> {
    let mut found = vec![BTreeMap::new(); parts.len()];
    for (part, status, sum) in of_parts(connection, parts).await? {
        found[part].insert(status, sum);
    }
    Ok(found)
}

/// The payouts of one day with the same status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTotal {
    /// The start of the day.
    pub day: UnixMillis,
    /// The status of the payouts.
    pub status: PayoutStatus,
    /// The number of payouts.
    pub payouts: i64,
    /// The total amount in KES.
    pub amount: Kes,
}

/// The payouts of each day between `midnights`, as [`UnixMillis::midnights`] returns them: a day can have
/// 23 or 25 hours.
pub async fn by_day(
    connection: &mut Connection,
    midnights: &[UnixMillis],
) -> Result<Vec<DayTotal>, sqlx::Error> {
    let days: Vec<Range<UnixMillis>> = midnights.windows(2).map(|day| day[0]..day[1]).collect();
    let sums = of_parts(connection, &days).await?.into_iter();
    let total = |(day, status, Sum { payouts, amount }): (usize, PayoutStatus, Sum)| DayTotal {
        day: midnights[day],
        status,
        payouts,
        amount,
    };
    Ok(sums.map(total).collect())
}
