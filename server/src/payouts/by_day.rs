//! Payouts per day.

use super::PayoutStatus;
use crate::{
    clock::UnixMillis,
    database::{Connection, query_as},
};

/// The payouts of one day with the same status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTotal {
    /// The start of the day: midnight in Nairobi.
    pub day: UnixMillis,
    /// The status of the payouts.
    pub status: PayoutStatus,
    /// The number of payouts.
    pub payouts: i64,
    /// The total amount in KES.
    pub amount: i64,
}

/// Days in Nairobi start three hours before days in UTC.
const BY_DAY: &str = "
    SELECT (created_at + 10800000) / 86400000, status, count(*), CAST(COALESCE(sum(amount), 0) AS BIGINT)
    FROM payout WHERE created_at >= $1 GROUP BY 1, 2 ORDER BY 1, 2";

/// The payouts since the midnight in Nairobi at or before `since`.
pub async fn by_day(connection: &mut Connection, since: UnixMillis) -> Result<Vec<DayTotal>, sqlx::Error> {
    let totals: Vec<(i64, PayoutStatus, i64, i64)> =
        query_as(BY_DAY).bind(since.nairobi_midnight()).fetch_all(connection).await?;
    let total = |(day, status, payouts, amount)| DayTotal {
        day: UnixMillis(day * 86_400_000 - 10_800_000),
        status,
        payouts,
        amount,
    };
    Ok(totals.into_iter().map(total).collect())
}
