//! The task that watches for all streams of a sandbox.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Seen;
use crate::{
    Sandbox,
    database::{Connection, query_as, query_scalar, versions::Versions},
    error::Failure,
    notifications::{self, Newest},
};

/// Poll interval for changes made by other servers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long nothing more is told after a change was: pages that read a list more often read it in vain.
const PAUSE: Duration = Duration::from_secs(1);

/// How often it is checked which sessions have expired.
const SESSIONS_INTERVAL: Duration = Duration::from_secs(15);

/// What was there at the last look.
#[derive(Default)]
struct Before {
    versions: Option<Versions>,
    screens: i64,
    newest: Newest,
    sessions_checked_at: Option<Instant>,
}

/// Watches until no stream is open, or the server stops. All streams end with it.
pub(super) async fn watch(sandbox: Sandbox, watching: CancellationToken) {
    let _ends_streams = watching.clone().drop_guard();
    let mut commits = sandbox.database.commits();
    let mut before = Before::default();
    loop {
        commits.mark_unchanged();
        let Some(open) = sandbox.updates.sessions_or_stop() else { return };
        let has_changed = look(&sandbox, &mut before, &open).await.unwrap_or_else(|failure| {
            tracing::warn!(?failure, "updates.not_watched");
            true
        });
        let pause = async {
            if has_changed {
                tokio::time::sleep(PAUSE).await;
            }
            _ = tokio::time::timeout(POLL_INTERVAL, commits.changed()).await;
        };
        tokio::select! {
            () = pause => {}
            () = sandbox.server.stopping.cancelled() => return,
        }
    }
}

const SCREENS: &str = "SELECT value FROM version WHERE name = 'screens'";

/// Looks once, and tells what has changed. Returns whether anything has.
async fn look(
    sandbox: &Sandbox,
    before: &mut Before,
    open: &[(Arc<str>, Arc<str>)],
) -> Result<bool, Failure> {
    let versions = sandbox.shared_read.versions().await?;
    sandbox.keep_up_with(versions).await?;
    let mut reader = sandbox.database.read().await?;
    let screens: i64 = query_scalar(SCREENS).fetch_one(&mut reader).await?;
    let is_first = before.versions.is_none();
    let is_same_copy = before.versions.is_some_and(|before| before.copy == versions.copy);
    let loans = before.versions.is_none_or(|before| !is_same_copy || before.loans != versions.loans);
    let sessions = before.versions.is_none_or(|before| !is_same_copy || before.sessions != versions.sessions);
    let settings = !is_same_copy || before.screens != screens;
    let is_due =
        before.sessions_checked_at.is_none_or(|checked_at| checked_at.elapsed() >= SESSIONS_INTERVAL);
    if sessions || is_due {
        end_sessions(sandbox, &mut reader, open).await?;
        before.sessions_checked_at = Some(Instant::now());
    }
    let mut told_to = HashSet::new();
    let mut told_all = settings;
    if loans || settings {
        let staff: Vec<&str> = open.iter().map(|(_, staff_id)| &**staff_id).collect();
        let newest = notifications::newest(&mut reader, &staff, sandbox.clock.now()).await?;
        told_all |= !newest.has_loan_of(&before.newest);
        told_to = newest.staff_unlike(&before.newest).map(Arc::from).collect();
        before.newest = newest;
    }
    before.versions = Some(versions);
    before.screens = screens;
    if is_first {
        // Streams begin now, and pages read everything then.
        sandbox.updates.tell(|seen| seen.latest += 1);
        return Ok(false);
    }
    if !(loans || settings) {
        return Ok(false);
    }
    sandbox.updates.tell(|seen| seen.add(loans, settings, told_all, told_to));
    Ok(true)
}

const STILL_OPEN: &str = "
    SELECT session_id FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE session_id IN (SELECT value ->> 'id' FROM json_each($1))
      AND ended_at IS NULL AND expires_at > $2 AND is_active";

/// Ends the streams of sessions that have ended.
async fn end_sessions(
    sandbox: &Sandbox,
    reader: &mut Connection,
    open: &[(Arc<str>, Arc<str>)],
) -> Result<(), Failure> {
    let asked: Vec<Value> = open.iter().map(|(session_id, _)| json!({ "id": &**session_id })).collect();
    let still_open: Vec<(String,)> = query_as(STILL_OPEN)
        .bind(Value::from(asked).to_string())
        .bind(sandbox.clock.now())
        .fetch_all(reader)
        .await?;
    let still_open: HashSet<&str> = still_open.iter().map(|(id,)| id.as_str()).collect();
    let asked: HashSet<&str> = open.iter().map(|(id, _)| &**id).collect();
    sandbox.updates.end(|id| asked.contains(id) && !still_open.contains(id));
    Ok(())
}

impl Seen {
    /// Adds a change.
    fn add(&mut self, loans: bool, settings: bool, notifications: bool, told_to: HashSet<Arc<str>>) {
        self.latest += 1;
        if loans {
            self.loans = self.latest;
        }
        if settings {
            self.settings = self.latest;
        }
        if notifications {
            self.notifications = self.latest;
            // Everybody was told later than anybody.
            self.notifications_of = HashMap::new();
        }
        for staff_id in told_to {
            self.notifications_of.insert(staff_id, self.latest);
        }
    }
}
