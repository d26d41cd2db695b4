//! Faults injected into API calls: failures, delays, lost or broken responses, closed connections.
//!
//! Faults are stored in the database and cached in every server's memory, so that other calls cost nothing.
//! Hits depend on the seed of the fault and on a counter in the database: the same seed gives the same
//! sequence, whichever server handles the calls.

mod refusal;

pub use refusal::FaultRefusal;

use std::time::{Duration, Instant};

use axum::http::Method;
use parking_lot::{Mutex, RwLock};
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde::{Deserialize, Serialize};

use base::error::Failure;
use contract::{API, Operation};
use lending::{
    events::{Entry, EventKind, Trail},
    world::World,
};
use store::{Connection, query, query_as, query_scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// Returns a status.
    Status,
    /// Delays the call.
    Latency,
    /// Closes the connection without a response.
    Drop,
    /// Resets the connection without a response, as a crash or a firewall does.
    Reset,
    /// Sends half of the response body, then closes the connection.
    Truncate,
    /// Sends a body that is not valid JSON.
    Malformed,
}

store::stored_as_text!(FaultKind);

impl FaultKind {
    /// Returns whether it cuts the connection, so that there is no answer.
    pub fn cuts_connection(self) -> bool {
        matches!(self, Self::Drop | Self::Reset)
    }

    /// Returns whether it changes the body of the answer, so there must be one.
    pub fn changes_body(self) -> bool {
        matches!(self, Self::Truncate | Self::Malformed)
    }
}

/// When a fault applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultPhase {
    /// Before the call is processed. Unless the fault is a delay, the call is not processed at all.
    Before,
    /// After the call was processed; only the response is affected.
    After,
}

store::stored_as_text!(FaultPhase);

#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct Fault {
    #[sqlx(rename = "fault_id")]
    pub id: String,
    /// The method of the calls; `None` for all methods.
    pub method: Option<String>,
    /// The full path of the calls; `*` matches one segment.
    pub path: String,
    pub kind: FaultKind,
    #[serde(rename = "when")]
    #[sqlx(rename = "moment")]
    pub phase: FaultPhase,
    /// The status to return, for [`FaultKind::Status`].
    pub status: Option<i64>,
    /// The delay, for [`FaultKind::Latency`].
    pub ms: Option<i64>,
    /// The probability of a hit, in millionths.
    #[serde(rename = "probability", serialize_with = "fraction")]
    pub chance: i64,
    /// The maximum number of requests that it affects; `None` for no limit.
    pub times: Option<i64>,
    /// The seed of the random sequence.
    pub seed: i64,
    /// The number of requests that it has affected.
    pub hits: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
#[expect(clippy::cast_precision_loss, reason = "six digits")]
fn fraction<S: serde::Serializer>(millionths: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*millionths as f64 / 1e6)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFault {
    pub method: Option<String>,
    pub path: String,
    pub kind: FaultKind,
    pub when: Option<FaultPhase>,
    pub status: Option<i64>,
    pub ms: Option<i64>,
    pub probability: Option<f64>,
    pub times: Option<i64>,
    pub seed: Option<u32>,
}

/// The longest delay. Calls time out after 30 s.
const MAX_LATENCY_MS: i64 = 25_000;
const MAX_FAULTS: usize = 100;

/// The methods to which a fault can be limited.
pub const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

fn bad_field<T>(field: &'static str, text: &str) -> Result<T, Failure> {
    Err(Failure::bad_field(field, text))
}

impl NewFault {
    fn check_values(&self) -> Result<(), Failure> {
        match (self.kind, self.status) {
            (FaultKind::Status, Some(400..=599)) => {}
            (FaultKind::Status, _) => {
                return bad_field("status", "A fault of kind status needs a status from 400 to 599");
            }
            (_, Some(_)) => return bad_field("status", "Only a fault of kind status has a status"),
            (_, None) => {}
        }
        match (self.kind, self.ms) {
            (FaultKind::Latency, Some(1..=MAX_LATENCY_MS)) => Ok(()),
            (FaultKind::Latency, _) => bad_field("ms", "A fault of kind latency needs ms from 1 to 25000"),
            (_, Some(_)) => bad_field("ms", "Only a fault of kind latency has ms"),
            (_, None) => Ok(()),
        }
    }

    fn path(&self) -> Result<String, Failure> {
        let is_segment = |segment: &str| {
            segment == "*"
                || !segment.is_empty() && !segment.contains(['*', '?', '#', '%']) && segment.is_ascii()
        };
        let segments = self.path.strip_prefix(API).and_then(|rest| rest.strip_prefix('/'));
        let is_path = segments.is_some_and(|rest| rest.split('/').all(is_segment)) && self.path.len() <= 200;
        if !is_path || self.methods_of_path().is_empty() {
            return bad_field(
                "path",
                "path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as \
                 /api/v1/disbursements/*/disburse",
            );
        }
        Ok(self.path.clone())
    }

    /// The methods of the calls that the path stands for.
    fn methods_of_path(&self) -> Vec<&'static str> {
        METHODS.into_iter().filter(|method| Operation::is_at(method, &self.path)).collect()
    }

    fn method(&self) -> Result<Option<String>, Failure> {
        let Some(method) = &self.method else { return Ok(None) };
        let (method, methods) = (method.to_ascii_uppercase(), self.methods_of_path());
        if !methods.contains(&method.as_str()) {
            let methods = methods.join(" or ");
            return bad_field(
                "method",
                &format!("method must be {methods} for this path; omit it for all methods"),
            );
        }
        Ok(Some(method))
    }

    /// The probability in millionths.
    fn chance(&self) -> Result<i64, Failure> {
        let probability = self.probability.unwrap_or(1.0);
        if !(0.000_001..=1.0).contains(&probability) {
            return bad_field("probability", "probability must be above 0 and at most 1");
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
        Ok((probability * 1e6).round() as i64)
    }

    fn phase(&self) -> Result<FaultPhase, Failure> {
        match self.when {
            Some(FaultPhase::Before) if self.kind.changes_body() => bad_field(
                "when",
                "A fault of kind truncate or malformed changes the response, so when must be after",
            ),
            Some(phase) => Ok(phase),
            None if matches!(self.kind, FaultKind::Status | FaultKind::Latency) => Ok(FaultPhase::Before),
            None => Ok(FaultPhase::After),
        }
    }

    pub fn check(&self) -> Result<(), Failure> {
        self.clone().into_fault(String::new(), 0).map(drop)
    }

    fn into_fault(self, id: String, random_seed: u32) -> Result<Fault, Failure> {
        let (path, method) = (self.path()?, self.method()?);
        self.check_values()?;
        let chance = self.chance()?;
        if self.times.is_some_and(|times| !(1..=1_000_000).contains(&times)) {
            return bad_field("times", "times must be between 1 and 1000000");
        }
        let phase = self.phase()?;
        Ok(Fault {
            id,
            method,
            path,
            kind: self.kind,
            phase,
            status: self.status,
            ms: self.ms,
            chance,
            times: self.times,
            seed: i64::from(self.seed.unwrap_or(random_seed)),
            hits: 0,
        })
    }
}

/// The time within which a browser repeats a call by itself.
const REPEAT_TIME: Duration = Duration::from_secs(1);

/// The active faults, cached in memory.
#[derive(Debug, Default)]
pub struct Faults {
    active: RwLock<Vec<Fault>>,
    /// Calls whose connections were cut, each with the time.
    cut: Mutex<Vec<(String, Instant)>>,
}

impl Faults {
    /// The faults that match a call to `path` of the API.
    pub fn matching(&self, method: &Method, path: &str) -> Vec<Fault> {
        self.active.read().iter().filter(|fault| fault.matches(method, path)).cloned().collect()
    }

    pub fn set(&self, faults: Vec<Fault>) {
        *self.active.write() = faults;
    }

    /// Remembers a call whose connection is cut.
    pub fn remember_cut(&self, call: String) {
        let mut cut = self.cut.lock();
        cut.retain(|(_, at)| at.elapsed() < REPEAT_TIME);
        cut.push((call, Instant::now()));
    }

    /// Returns whether the connection of this call has just been cut.
    pub fn was_cut(&self, call: &str) -> bool {
        self.cut.lock().iter().any(|(other, at)| other == call && at.elapsed() < REPEAT_TIME)
    }
}

impl Fault {
    fn matches(&self, method: &Method, path: &str) -> bool {
        let own = self.path.strip_prefix(API).unwrap_or(&self.path);
        self.method.as_deref().is_none_or(|own| own == method.as_str())
            && own.split('/').count() == path.split('/').count()
            && own.split('/').zip(path.split('/')).all(|(own, segment)| own == "*" || own == segment)
    }
}

const ALL: &str = "
    SELECT fault_id, method, path, kind, moment, status, ms, chance, times, seed, hits
    FROM fault ORDER BY position";

/// All faults, in the order in which they are tried.
pub async fn all(connection: &mut Connection) -> Result<Vec<Fault>, Failure> {
    Ok(query_as(ALL).fetch_all(connection).await?)
}

const ADD: &str = "
    INSERT INTO fault (fault_id, method, path, kind, moment, status, ms, chance, times, seed)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// Adds a fault, as the last in order.
pub async fn add(world: &World, fault: NewFault, trail: &Trail) -> Result<Fault, Failure> {
    let id = world.randomness.id(world.clock.now());
    let fault = fault.into_fault(id, world.randomness.below(1_000_000))?;
    let added = fault.clone();
    let entry = Entry::of(EventKind::FaultAdded).with("kind", fault.kind).with_some("status", fault.status);
    let entry = entry.with_some("ms", fault.ms).with_some("times", fault.times);
    trail
        .write(world.database.begin().await?, [entry], async move |connection: &mut Connection| {
            if all(connection).await?.len() >= MAX_FAULTS {
                return Err(Failure::BadValue(format!(
                    "There are already {MAX_FAULTS} faults; remove some first"
                )));
            }
            query(ADD)
                .bind_all((fault.id, fault.method, fault.path, fault.kind, fault.phase))
                .bind_all((fault.status, fault.ms, fault.chance, fault.times, fault.seed))
                .run(connection)
                .await?;
            Ok(added)
        })
        .await
}

const REMOVE: &str = "DELETE FROM fault WHERE CAST($1 AS TEXT) IS NULL OR fault_id = $1";

/// Removes one fault, or all of them.
pub async fn remove(world: &World, id: Option<String>, trail: &Trail) -> Result<(), Failure> {
    if let Some(id) = id.as_ref().filter(|id| id.contains('\0')) {
        return Err(FaultRefusal::FaultNotFound(id.clone()).into());
    }
    let entry = Entry::of(EventKind::FaultsRemoved).about_some(id.as_deref());
    trail
        .write(world.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let removed = query(REMOVE).bind(&id).execute(connection).await?;
            match id {
                Some(id) if removed == 0 => Err(FaultRefusal::FaultNotFound(id).into()),
                _ => Ok(()),
            }
        })
        .await
}

const DRAW: &str = "
    UPDATE fault SET drawn = drawn + 1 WHERE fault_id = $1 AND (times IS NULL OR hits < times)
    RETURNING drawn";

const HIT: &str = "UPDATE fault SET hits = hits + 1 WHERE fault_id = $1";

/// Selects the faults that hit a call: any number of delays, then at most one other fault, the first in
/// order.
pub async fn draw(world: &World, faults: Vec<Fault>) -> Result<Vec<Fault>, Failure> {
    world
        .database
        .write_in_turn(async move |connection: &mut Connection| {
            let mut hit = Vec::new();
            for fault in faults {
                let drawn: Option<i64> =
                    query_scalar(DRAW).bind(&fault.id).fetch_optional(&mut *connection).await?;
                let Some(drawn) = drawn else { continue };
                if !is_hit(fault.seed, drawn, fault.chance) {
                    continue;
                }
                query(HIT).bind(&fault.id).execute(&mut *connection).await?;
                let is_last = fault.kind != FaultKind::Latency;
                hit.push(fault);
                if is_last {
                    break;
                }
            }
            Ok(hit)
        })
        .await
}

/// Returns `true` if draw number `drawn` of the sequence of `seed` is a hit.
fn is_hit(seed: i64, drawn: i64, chance: i64) -> bool {
    let mut rng = ChaCha12Rng::seed_from_u64(seed.unsigned_abs());
    rng.set_stream(drawn.unsigned_abs());
    rng.random_range(0..1_000_000) < chance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_hits_the_same_calls() {
        let hits = |seed| (1..200).filter(|&drawn| is_hit(seed, drawn, 300_000)).collect::<Vec<_>>();
        assert_eq!(hits(7), hits(7));
        assert_ne!(hits(7), hits(8));
        assert!((40..80).contains(&hits(7).len()), "{}", hits(7).len());
    }
}
