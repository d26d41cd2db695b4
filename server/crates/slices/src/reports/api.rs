//! The API that receives the reports of pages.

use axum::{Router, extract::Request, http::StatusCode, routing::post};
use semver::Version;
use serde::{Deserialize, Serialize};

use super::rounded;
use crate::{
    archive,
    build::SliceName,
    of_world::Slices,
    page_call::{self, MaxSize},
    waiting::{CrashReport, Dropped, Outcome, Position, Received, Report},
};
use base::{error::Failure, ids::SessionId};
use lending::auth::{client_address::ClientAddress, session};

const MAX_SIZE: MaxSize = (8 * 1024, "8 KiB");

/// Maximum number of reports in a call.
const MAX_REPORTS: usize = 20;

/// Maximum number of failed calls in a report.
const MAX_TIMES: u32 = 1000;

/// Maximum number of positions in a report of a crash.
const MAX_PLACES: usize = 20;

/// Maximum length of an error's name.
const MAX_ERROR: usize = 64;

/// The name of an error that has none of the usual form.
const ANY_ERROR: &str = "Error";

/// The routes on the portal's listener.
pub fn routes() -> Router {
    Router::new().route("/slice-reports", post(receive))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    /// The token of the session, which `sendBeacon` can't send in a header.
    session: Option<String>,
    reports: Vec<Reported>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reported {
    slice: String,
    version: String,
    outcome: Outcome,
    ms: Option<u32>,
    reason: Option<Reason>,
    route: Option<String>,
    status: Option<u16>,
    times: Option<u32>,
    error: Option<String>,
    places: Option<Vec<Position>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    /// Its code is not on the server.
    Missing,
    /// Its code is not the published one.
    Changed,
    /// It needs another shell.
    Shell,
    /// The load timed out, or the connection failed.
    Network,
    /// Anything else.
    Other,
}

store::stored_as_text!(Reason);

async fn receive(slices: Slices, address: ClientAddress, request: Request) -> Result<StatusCode, Failure> {
    let reports = &slices.shared.reports;
    let now = slices.clock.unset_now();
    let Sent { session, reports: sent } =
        page_call::read(&reports.limit, MAX_SIZE, &slices.settings, address, now, request).await?;
    if sent.is_empty() || sent.len() > MAX_REPORTS {
        return Err(Failure::BadValue(format!("A call has 1 to {MAX_REPORTS} reports")));
    }
    let session_id = session.and_then(|token| session::id_named_by(&slices.auth, &token, slices.clock.now()));
    let received: Result<Vec<_>, Failure> =
        sent.into_iter().map(|reported| reported.check(session_id.clone())).collect();
    let mut received = received?;
    // Builds are watched in `main` only.
    if slices.are_of_main() {
        if session_id.is_none() {
            let crashes = received.iter_mut().filter_map(|report| report.crash.take());
            let positions = crashes.map(|crash| crash.positions.len()).sum();
            slices.shared.count_dropped(Dropped::NoSession, positions);
        }
        slices.shared.count_dropped(Dropped::TooManyWaiting, reports.add(received));
    }
    Ok(StatusCode::NO_CONTENT)
}

impl Reported {
    /// Checks that the fields fit the outcome, and returns the report.
    fn check(self, session_id: Option<SessionId>) -> Result<Received, Failure> {
        let Self { slice, version, outcome, ms, reason, route, status, times, error, places } = self;
        let detail = match (outcome, ms, reason, status) {
            (Outcome::Loaded, Some(ms), None, None) => rounded(ms).to_string(),
            (Outcome::NotLoaded, None, Some(reason), None) => reason.to_string(),
            (Outcome::Crashed, None, None, None) => route.clone().unwrap_or_default(),
            (Outcome::CallFailed, None, None, Some(status @ (0 | 400..=599))) => status.to_string(),
            _ => {
                return Err(invalid(
                    "a report has `ms`, `reason`, `route` or `status`, as its outcome needs",
                ));
            }
        };
        let is_call = outcome == Outcome::CallFailed;
        if route.is_some() && is_call || times.is_some() && !is_call {
            return Err(invalid("`times` is of failed calls, and `route` of all other reports"));
        }
        let crash = match outcome {
            Outcome::Crashed => Some(crash(error, places)?),
            _ if error.is_none() && places.is_none() => None,
            _ => return Err(invalid("`error` and `places` are of crashes")),
        };
        let is_named = SliceName::parse(&slice).is_some() && Version::parse(&version).is_ok();
        let times = times.unwrap_or(1);
        if !is_named || !(1..=MAX_TIMES).contains(&times) {
            return Err(invalid("it names no slice and version, or too many calls"));
        }
        let (report, screen) = (Report { slice, version, outcome, detail }, route.unwrap_or_default());
        Ok(Received { report, times, screen, session_id, crash })
    }
}

/// The crash of a screen, by the name of its error and the positions in its stack.
fn crash(error: Option<String>, places: Option<Vec<Position>>) -> Result<CrashReport, Failure> {
    let error = error.unwrap_or_else(|| ANY_ERROR.to_owned());
    let is_name = error.len() <= MAX_ERROR
        && error.starts_with(|first: char| first.is_ascii_uppercase())
        && error.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name {
        return Err(invalid("`error` is not the name of an error"));
    }
    if places.as_ref().is_some_and(|places| places.is_empty() || places.len() > MAX_PLACES) {
        return Err(Failure::BadValue(format!("A crash has 1 to {MAX_PLACES} places")));
    }
    let places = places.unwrap_or_default();
    if !places.iter().all(|place| archive::is_safe(&place.file) && place.line > 0 && place.column > 0) {
        return Err(invalid("a place is not of a file in a build"));
    }
    Ok(CrashReport { error, positions: places })
}

fn invalid(text: &str) -> Failure {
    Failure::InvalidRequest(text.to_owned())
}
