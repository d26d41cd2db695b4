//! The reports of pages that wait to be written.

mod limit;

use std::{fmt, time::Duration};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

pub use self::limit::Limit;
use base::ids::SessionId;

/// Maximum number of reports that wait to be written; more are dropped.
const MAX_WAITING: usize = 10_000;

/// Maximum number of positions of crashes in the reports that wait; more are dropped.
const MAX_POSITIONS: usize = 10_000;

/// The outcome of loading or using a build on a page. Its name in the metrics is that of the contract and the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Loaded,
    NotLoaded,
    /// One of its screens has stopped working.
    Crashed,
    /// A call that one of its screens made failed.
    CallFailed,
}

store::stored_as_text!(Outcome);

/// A report from one page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    pub slice: String,
    pub version: String,
    pub outcome: Outcome,
    /// The duration, the reason, the screen or the status, as the outcome has.
    pub detail: String,
}

/// A position in a file of a build, counted from 1, as pages send it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The path of the file in the build.
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An error that a screen crashed with.
#[derive(Clone, Debug)]
pub struct CrashReport {
    pub error: String,
    /// Where it was thrown, from the innermost call outwards.
    pub positions: Vec<Position>,
}

/// Data for finding the places of crashes that was published or reported, and is not used. It is displayed by its
/// name in the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// A source map that is larger than a build's may be.
    MapTooLarge,
    /// A source map that is none.
    MapUnreadable,
    /// A position that was reported without a session.
    NoSession,
    /// A position in a file that does not exist.
    UnknownFile,
    /// A position while too many wait to be written.
    TooManyWaiting,
    /// A crash at a place beyond those that are kept of a build.
    TooManyPlaces,
}

store::serde_plain::derive_display_from_serialize!(Dropped);

/// A report as a page sent it.
#[derive(Clone, Debug)]
pub struct Received {
    pub report: Report,
    pub times: u32,
    /// The path pattern of the screen that was shown; empty if none was.
    pub screen: String,
    pub session_id: Option<SessionId>,
    /// The crash, if it is one of a page with a session.
    pub crash: Option<CrashReport>,
}

impl Received {
    fn positions(&self) -> usize {
        self.crash.as_ref().map_or(0, |crash| crash.positions.len())
    }
}

/// The reports that wait to be written, and the limit on reports by address.
#[derive(Debug, Default)]
pub struct Reports {
    waiting: Mutex<Waiting>,
    /// Limits the number of calls from one address to this server.
    pub limit: Limit,
    /// Held while reports are written and builds are judged, so that rounds in this process do not overlap.
    pub looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Waiting {
    reports: Vec<Received>,
    /// The number of positions in them.
    positions: usize,
}

impl Reports {
    /// Keeps the reports until they are written. Returns how many positions of crashes were too many.
    pub(crate) fn add(&self, reports: Vec<Received>) -> usize {
        let mut waiting = self.waiting.lock();
        let mut dropped = 0;
        for mut report in reports {
            let positions = report.positions();
            if waiting.reports.len() >= MAX_WAITING {
                dropped += positions;
                continue;
            }
            if waiting.positions + positions > MAX_POSITIONS {
                dropped += positions;
                report.crash = None;
            }
            waiting.positions += report.positions();
            waiting.reports.push(report);
        }
        dropped
    }

    pub(crate) fn take(&self) -> Vec<Received> {
        std::mem::take(&mut *self.waiting.lock()).reports
    }
}

impl Report {
    /// The duration of the load, if it succeeded.
    pub fn took(&self) -> Option<Duration> {
        let ms = (self.outcome == Outcome::Loaded).then(|| self.detail.parse().ok());
        ms.flatten().map(Duration::from_millis)
    }
}
