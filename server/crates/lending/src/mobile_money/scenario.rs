//! The scenario of the simulation. It is stored in the database, so that it is the same in every
//! process and after every restart.

use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::{MobileMoney, Outcome};
use crate::events::{Entry, EventKind, Trail};
use base::{error::Failure, kes::Kes};
use store::{Connection, query, query_as, query_scalar};
use web::extract::LARGEST_INTEGER;

/// The behaviour of mobile money for payments without a magic number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// The outcome of a payment when `next` is empty.
    pub default: Outcome,
    pub latency_ms: i64,
    /// The spread of response times around it, in percent: with 0 there is none; with 45, one in twenty takes twice as
    /// long.
    pub spread_percent: i64,
    /// The balance of the account that payouts are paid from, in KES.
    pub float: Kes,
    /// The seed of the response times.
    pub seed: i64,
    /// The outcomes of the next payments, one each.
    pub next: Vec<Outcome>,
}

impl Scenario {
    /// Returns whether all payments succeed at once, as in a new database.
    pub fn is_plain(&self) -> bool {
        self.default == Outcome::Success && self.latency_ms == 0 && self.next.is_empty()
    }
}

/// A change to a [`Scenario`]; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioChange {
    pub default: Option<Outcome>,
    pub latency_ms: Option<u32>,
    pub spread_percent: Option<u8>,
    pub float: Option<Kes>,
    pub seed: Option<u32>,
    pub next: Option<Vec<Outcome>>,
    /// The outcomes to add to `next`.
    #[serde(skip)]
    pub add: Vec<Outcome>,
}

impl ScenarioChange {
    /// Resets every field to its value in a new database.
    pub fn back_to_start() -> Self {
        Self {
            default: Some(Outcome::Success),
            latency_ms: Some(0),
            spread_percent: Some(0),
            float: Some(Kes(50_000_000)),
            seed: Some(1),
            next: Some(Vec::new()),
            add: Vec::new(),
        }
    }
}

/// The largest response time. A payout stays pending for that long, and its loan with it.
const MAX_LATENCY_MS: u32 = 600_000;

/// The largest spread: one latency in twenty is over five times the median.
const MAX_SPREAD_PERCENT: u8 = 100;

const SCENARIO: &str = "
    SELECT default_outcome, latency_ms, spread_percent, seed,
           (SELECT float FROM mobile_money_account WHERE account_id = 'payouts')
    FROM mobile_money_scenario WHERE scenario_id = 'payouts'";

const NEXT: &str = "SELECT outcome FROM mobile_money_next_outcome ORDER BY position";

const SET: &str = "
    UPDATE mobile_money_scenario SET default_outcome = COALESCE($1, default_outcome),
        latency_ms = COALESCE($2, latency_ms), seed = COALESCE($3, seed),
        drawn = CASE WHEN CAST($3 AS BIGINT) IS NULL THEN drawn ELSE 0 END,
        spread_percent = COALESCE($4, spread_percent)
    WHERE scenario_id = 'payouts'";

const CLEAR_NEXT: &str = "DELETE FROM mobile_money_next_outcome";

const ADD_NEXT: &str = "
    INSERT INTO mobile_money_next_outcome (position, outcome)
    SELECT COALESCE(max(position), 0) + 1, CAST($1 AS TEXT) FROM mobile_money_next_outcome";

pub(super) const SET_FLOAT: &str = "UPDATE mobile_money_account SET float = $1 WHERE account_id = 'payouts'";

impl MobileMoney {
    pub async fn scenario(&self) -> Result<Scenario, Failure> {
        read(&mut self.database.read().await?).await
    }

    /// Changes the scenario from the next payment on.
    pub async fn change_scenario(&self, change: ScenarioChange, trail: &Trail) -> Result<Scenario, Failure> {
        change.check()?;
        let entry = Entry::of(EventKind::ScenarioChanged);
        trail
            .write(self.database.begin().await?, [entry], async move |connection: &mut Connection| {
                change.apply(connection).await?;
                read(connection).await
            })
            .await
    }
}

impl ScenarioChange {
    pub fn check(&self) -> Result<(), Failure> {
        if self.float.is_some_and(|float| !(0..=LARGEST_INTEGER).contains(&float.0)) {
            return Err(Failure::bad_field("float", "float must be between 0 and 2^53 - 1"));
        }
        if self.latency_ms.is_some_and(|latency| latency > MAX_LATENCY_MS) {
            let text = format!("latency_ms must be between 0 and {MAX_LATENCY_MS}");
            return Err(Failure::bad_field("latency_ms", text));
        }
        if self.spread_percent.is_some_and(|spread| spread > MAX_SPREAD_PERCENT) {
            let text = format!("spread_percent must be between 0 and {MAX_SPREAD_PERCENT}");
            return Err(Failure::bad_field("spread_percent", text));
        }
        Ok(())
    }

    pub async fn apply(self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        // In the order in which payments lock the rows.
        if let Some(float) = self.float {
            query(SET_FLOAT).bind(float).execute(&mut *connection).await?;
        }
        query(SET)
            .bind_all((self.default, self.latency_ms.map(i64::from)))
            .bind_all((self.seed.map(i64::from), self.spread_percent.map(i64::from)))
            .execute(&mut *connection)
            .await?;
        if self.next.is_some() {
            query(CLEAR_NEXT).execute(&mut *connection).await?;
        }
        for outcome in self.next.into_iter().flatten().chain(self.add) {
            query(ADD_NEXT).bind(outcome).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

async fn read(connection: &mut Connection) -> Result<Scenario, Failure> {
    let (default, latency_ms, spread_percent, seed, float) =
        query_as(SCENARIO).fetch_one(&mut *connection).await?;
    let next = query_scalar(NEXT).fetch_all(connection).await?;
    Ok(Scenario { default, latency_ms, spread_percent, float, seed, next })
}

/// The latency of the `drawn`th answer. With a spread, latencies are log-normally distributed, as those of real
/// services are: half of them are below `median_ms`.
pub(super) fn latency(median_ms: i64, spread_percent: i64, seed: i64, drawn: i64) -> Duration {
    let median = Duration::from_millis(median_ms.unsigned_abs());
    if spread_percent == 0 {
        return median;
    }
    let mut rng = ChaCha12Rng::seed_from_u64(seed.unsigned_abs());
    rng.set_stream(drawn.unsigned_abs());
    let normal: f64 = rng.sample(StandardNormal);
    #[expect(clippy::cast_precision_loss, reason = "at most 100")]
    let spread = spread_percent as f64 / 100.0;
    median.mul_f64((spread * normal).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_latencies() {
        let draw = |seed| (1..5).map(|n| latency(800, 45, seed, n)).collect::<Vec<_>>();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn latencies_spread_around_the_median() {
        let mut times: Vec<_> = (0..1000).map(|n| latency(800, 45, 1, n).as_millis()).collect();
        times.sort_unstable();
        assert!((750..850).contains(&times[500]), "median {}", times[500]);
        assert!((1500..2000).contains(&times[950]), "one in twenty {}", times[950]);
    }

    #[test]
    fn without_a_spread_the_latency_is_the_one_that_was_set() {
        assert!((0..1000).all(|n| latency(2500, 0, 1, n) == Duration::from_millis(2500)));
        assert_eq!(latency(0, 45, 1, 1), Duration::ZERO);
    }
}
