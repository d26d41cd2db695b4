//! Payouts per day.

use super::PayoutStatus;
use base::{clock::UnixMillis, kes::Kes};
use store::{Connection, query_as};

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

const OF_DAY: &str = "
    SELECT status, count(*), CAST(COALESCE(sum(amount), 0) AS BIGINT)
    FROM payout WHERE created_at >= $1 AND created_at < $2 GROUP BY status ORDER BY status";

/// The payouts of each day between `midnights`, as [`UnixMillis::midnights`] returns them: a day can have
/// 23 or 25 hours.
pub async fn by_day(
    connection: &mut Connection,
    midnights: &[UnixMillis],
) -> Result<Vec<DayTotal>, sqlx::Error> {
    let mut totals = Vec::new();
    for day in midnights.windows(2) {
        let of_day: Vec<(PayoutStatus, i64, Kes)> =
            query_as(OF_DAY).bind(day[0]).bind(day[1]).fetch_all(&mut *connection).await?;
        let total = |(status, payouts, amount)| DayTotal { day: day[0], status, payouts, amount };
        totals.extend(of_day.into_iter().map(total));
    }
    Ok(totals)
}
