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
    pub payouts: i64,
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

/// The sums by status of each of `parts`.
pub async fn sums(
    connection: &mut Connection,
    parts: &[Range<UnixMillis>],
) -> Result<Vec<BTreeMap<PayoutStatus, Sum>>, sqlx::Error> {
    let asked = parts.iter().enumerate();
    let asked =
        asked.map(|(part, Range { start, end })| json!({ "part": part, "begins": start.0, "ends": end.0 }));
    let rows: Vec<(i64, PayoutStatus, i64, Kes)> =
        query_as(OF_PARTS).bind(asked.collect::<Value>().to_string()).fetch_all(connection).await?;
    let mut sums = vec![BTreeMap::new(); parts.len()];
    for (part, status, payouts, amount) in rows {
        if let Some(sums) = usize::try_from(part).ok().and_then(|part| sums.get_mut(part)) {
            sums.insert(status, Sum { payouts, amount });
        }
    }
    Ok(sums)
}
