//! The reports of pages that wait to be written.

mod limit;

use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

pub use self::limit::Limit;
use base::ids::SessionId;

/// Maximum number of reports that wait to be written; more are dropped.
const MAX_WAITING: usize = 10_000;

/// The outcome of loading or using a build on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was loaded.
    Loaded,
    /// It could not be loaded.
    NotLoaded,
    /// One of its screens has stopped working.
    Crashed,
    /// A call that one of its screens made failed.
    CallFailed,
}

store::stored_as_text!(Outcome);

impl Outcome {
    /// Its name, in the contract, the database and the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::NotLoaded => "not_loaded",
            Self::Crashed => "crashed",
            Self::CallFailed => "call_failed",
        }
    }
}

/// A report from one page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    /// The name of the slice.
    pub slice: String,
    /// The version of its build.
    pub version: String,
    /// What happened.
    pub outcome: Outcome,
    /// The duration, the reason, the screen or the status, as the outcome has.
    pub detail: String,
}

/// A report as a page sent it.
#[derive(Clone, Debug)]
pub struct Received {
    pub report: Report,
    /// The number of times that it happened.
    pub times: u32,
    /// The path pattern of the screen that was shown; empty if none was.
    pub screen: String,
    /// The session whose page it is.
    pub session_id: Option<SessionId>,
}

/// The reports that wait to be written, and the limit on reports by address.
#[derive(Debug, Default)]
pub struct Reports {
    waiting: Mutex<Vec<Received>>,
    /// Limits the number of calls from one address to this server.
    pub limit: Limit,
    /// Held while reports are written and builds are judged, so that rounds in this process do not overlap.
    pub looking: tokio::sync::Mutex<()>,
}

impl Reports {
    pub(crate) fn add(&self, reports: Vec<Received>) {
        let mut waiting = self.waiting.lock();
        let room = MAX_WAITING.saturating_sub(waiting.len());
        waiting.extend(reports.into_iter().take(room));
    }

    pub(crate) fn take(&self) -> Vec<Received> {
        std::mem::take(&mut *self.waiting.lock())
    }
}

impl Report {
    /// The duration of the load, if it succeeded.
    pub fn took(&self) -> Option<Duration> {
        let ms = (self.outcome == Outcome::Loaded).then(|| self.detail.parse().ok());
        ms.flatten().map(Duration::from_millis)
    }
}
