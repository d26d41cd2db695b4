//! The reports on a slice over time.

use std::{collections::BTreeMap, time::Duration};

use super::minute;
use crate::waiting::Outcome;
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query_as};

/// Totals of the reports on builds in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of times that a page loaded a build, or tried to.
    pub loads: i64,
    /// The number of failed loads and of crashed screens.
    pub failed: i64,
    /// The number of failed calls that screens made.
    pub failed_calls: i64,
    /// The number of loads by duration in ms.
    took: BTreeMap<u32, i64>,
}

impl Counts {
    /// The median duration of a load, in ms; `None` if nothing was loaded.
    pub fn median_ms(&self) -> Option<u32> {
        let half = (self.took.values().sum::<i64>() + 1) / 2;
        let mut counted = 0;
        self.took.iter().find_map(|(ms, times)| {
            counted += times;
            (counted >= half).then_some(*ms)
        })
    }

    pub fn and(mut self, other: &Self) -> Self {
        self.loads += other.loads;
        self.failed += other.failed;
        self.failed_calls += other.failed_calls;
        for (ms, times) in &other.took {
            *self.took.entry(*ms).or_default() += times;
        }
        self
    }

    fn add(&mut self, outcome: Outcome, detail: &str, times: i64) {
        match outcome {
            Outcome::Loaded => {
                self.loads += times;
                if let Ok(ms) = detail.parse() {
                    *self.took.entry(ms).or_default() += times;
                }
            }
            Outcome::NotLoaded => {
                self.loads += times;
                self.failed += times;
            }
            Outcome::Crashed => self.failed += times,
            Outcome::CallFailed => self.failed_calls += times,
        }
    }
}

/// Consecutive periods of equal length, the oldest first: in each, the totals by version.
pub type History = Vec<BTreeMap<String, Counts>>;

const READ: &str = "
    SELECT version, (minute - $2) / $3 AS slot, outcome, detail, CAST(sum(times) AS BIGINT) AS times
    FROM slice_report WHERE name = $1 AND minute >= $2 AND minute < $4
    GROUP BY version, slot, outcome, detail";

/// Reads the last `slots` periods until `now`. Their `length` must be whole minutes.
pub async fn history(
    connection: &mut Connection,
    name: &str,
    length: Duration,
    slots: u32,
    now: UnixMillis,
) -> Result<History, Failure> {
    let end = minute(now).plus(Duration::from_mins(1));
    let length_ms = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
    let read = query_as(READ).bind_all((name, end.minus(length * slots), length_ms, end));
    let rows: Vec<(String, i64, Outcome, String, i64)> = read.fetch_all(connection).await?;
    let mut history = vec![BTreeMap::<String, Counts>::new(); slots as usize];
    for (version, slot, outcome, detail, times) in rows {
        let slot = usize::try_from(slot).ok().and_then(|slot| history.get_mut(slot));
        if let Some(slot) = slot {
            slot.entry(version).or_default().add(outcome, &detail, times);
        }
    }
    Ok(history)
}

/// The totals of all periods, by version.
pub fn sums(history: &History) -> BTreeMap<String, Counts> {
    let mut sums: BTreeMap<String, Counts> = BTreeMap::new();
    for (version, counts) in history.iter().flatten() {
        let sum = sums.remove(version).unwrap_or_default();
        sums.insert(version.clone(), sum.and(counts));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_loads_took_at_most_the_median() {
        let mut counts = Counts::default();
        assert_eq!(counts.median_ms(), None);
        for (ms, times) in [("100", 3), ("400", 1), ("7000", 2)] {
            counts.add(Outcome::Loaded, ms, times);
        }
        assert_eq!(counts.median_ms(), Some(100));
        counts.add(Outcome::Loaded, "400", 2);
        assert_eq!(counts.median_ms(), Some(400));
    }
}
