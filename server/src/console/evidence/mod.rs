//! What happened in a sandbox, in one file for bug reports that `mkopo replay` plays again.
//!
//! Everything in a demo sandbox is made up, so bodies are whole. Passwords, codes and tokens are not in it:
//! [`stand_ins`] says in their place which one it was.

pub(super) mod acts;
pub(super) mod api;
pub(super) mod page;
mod stand_ins;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use self::stand_ins::StandIns;
use super::{
    clock,
    faults::{Fault, Kind},
    traffic::{Recorded, What},
};
use crate::{
    Sandbox,
    clock::UnixMillis,
    demo::{Beginning, World},
    error::Failure,
    mobile_money::Scenario,
    slices::{self, Bundled},
};

/// The version of the file's format.
pub const VERSION: u32 = 1;

/// What happened in a sandbox.
#[derive(Debug, Serialize)]
pub struct Evidence {
    version: u32,
    sandbox: String,
    /// The version of the contract.
    contract: &'static str,
    replayable: bool,
    /// Why not, in sentences.
    reasons: Vec<String>,
    start: Option<Start>,
    /// Where it ended.
    clock: Clock,
    faults: Vec<Fault>,
    scenario: Scenario,
    /// The live version of each slice.
    slices: BTreeMap<String, Option<String>>,
    /// How many payouts got their result.
    settled: u64,
    entries: Vec<Entry>,
}

/// What the sandbox began with, as the call that makes one takes it.
#[derive(Debug, Serialize)]
struct Start {
    seed: Value,
    now: UnixMillis,
    frozen: bool,
    chance: String,
}

#[derive(Debug, Serialize)]
struct Clock {
    now: UnixMillis,
    frozen: bool,
}

/// A call, an act or a form.
#[derive(Debug, Serialize)]
struct Entry {
    number: u64,
    kind: &'static str,
    began: u64,
    ended: u64,
    at: UnixMillis,
    frozen: bool,
    settled: u64,
    request: Sent,
    response: Got,
    ms: u64,
}

#[derive(Debug, Serialize)]
struct Sent {
    method: String,
    path: String,
    query: Option<String>,
    headers: BTreeMap<String, String>,
    user: Option<String>,
    /// Which token it had.
    token: Option<String>,
    body: Value,
}

#[derive(Debug, Serialize)]
struct Got {
    status: Option<u16>,
    fault: Option<Kind>,
    body: Value,
}

/// What happened in `sandbox` since it began, as far as this server has kept it.
///
/// # Errors
/// [`Failure::ToolsOff`], [`Failure::NotWithProvider`] and [`Failure::NotInDemoMode`] where something in it may be
/// real.
pub async fn of(sandbox: &Sandbox) -> Result<Evidence, Failure> {
    if sandbox.provider.is_some() {
        return Err(Failure::NotWithProvider);
    }
    if !sandbox.settings.allows_tools() {
        return Err(Failure::ToolsOff);
    }
    if !sandbox.settings.demo {
        return Err(Failure::NoEvidence);
    }
    let (state, recorded, settled) = sandbox.traffic.recorded();
    let mut stand_ins = StandIns::of(sandbox, &state, &recorded);
    if state.beginning.is_none() {
        stand_ins.cannot(
            "The start is not known: the data was there before this server was started, was copied from elsewhere, or \
             was made on another server. Reset it to begin again."
                .to_owned(),
        );
    }
    if state.dropped > 0 {
        stand_ins.cannot(format!(
            "The first {} of the calls and acts are missing: there was no more room for them.",
            state.dropped
        ));
    }
    if !sandbox.server.lease.is_alone().await? {
        stand_ins.cannot("Other servers run on the same data, and have calls of their own.".to_owned());
    }
    let mut numbers = state.dropped..;
    let entries =
        recorded.into_iter().zip(numbers.by_ref()).map(|(one, before)| stand_ins.entry(one, before + 1));
    let entries: Vec<Entry> = entries.collect();
    let mut reader = sandbox.database.read().await?;
    let faults = super::faults::all(&mut reader).await?;
    drop(reader);
    let bundled = Bundled::of(sandbox).await?;
    let slices = slices::all(&mut *sandbox.server.database.read().await?, &bundled).await?;
    let live = |slice: slices::SliceBuilds| (slice.name, slice.live.map(|live| live.to_string()));
    let clock = clock::state(sandbox);
    let reasons = stand_ins.reasons();
    Ok(Evidence {
        version: VERSION,
        sandbox: sandbox.name.to_string(),
        contract: env!("CARGO_PKG_VERSION"),
        replayable: reasons.is_empty(),
        reasons,
        start: state.beginning.map(Start::of),
        clock: Clock { now: clock.now, frozen: clock.frozen },
        faults,
        scenario: sandbox.mobile_money.scenario().await?,
        slices: slices.into_iter().map(live).collect(),
        settled,
        entries,
    })
}

impl Start {
    fn of(Beginning { world, now, is_frozen, chance }: Beginning) -> Self {
        let seed = match world {
            World::Seeded(seed) => json!(seed),
            World::Empty => json!("empty"),
            World::Nothing => Value::Null,
        };
        Self { seed, now, frozen: is_frozen, chance: chance.to_string() }
    }
}

impl StandIns<'_> {
    fn entry(&mut self, one: Recorded, number: u64) -> Entry {
        self.begin(number, &one);
        // In this order: a later one may refer to an earlier one.
        let (token, body) = (self.token(&one), self.request(&one));
        let response = Got { status: one.status, fault: one.fault, body: self.response(&one) };
        let kind = match one.what {
            What::Call => "call",
            What::Act => "act",
            What::Form => "form",
        };
        let headers = one.headers.iter().map(|(name, value)| self.header(name, value)).collect();
        Entry {
            number,
            kind,
            began: one.began,
            ended: one.ended,
            at: one.at,
            frozen: one.is_frozen,
            settled: one.settled,
            request: Sent {
                method: one.method.to_string(),
                path: one.path,
                query: one.query,
                headers,
                user: one.session.map(|session| session.staff.email.to_string()),
                token,
                body,
            },
            response,
            ms: one.ms,
        }
    }
}
