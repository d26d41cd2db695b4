//! The task that watches for all streams of a sandbox.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Seen, Updates};
use crate::rules::{self, PortalRules};
use base::error::Failure;
use store::{Connection, listed, query_as, query_scalar, version::Version};
use web::ready_body::Digest;

/// Poll interval for changes made by other servers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum time between two changes that are told, so that pages do not read the lists more often.
const PAUSE: Duration = Duration::from_secs(1);

/// The interval between checks for expired sessions.
const SESSIONS_INTERVAL: Duration = Duration::from_secs(15);

/// The state of the data at the last look.
#[derive(Default)]
struct Before {
    version: Option<Version>,
    lists: Option<[Digest; 2]>,
    settings: Option<(PortalRules, String)>,
    accounts: HashMap<Arc<str>, String>,
    sessions_checked_at: Option<Instant>,
}

/// Watches until no stream is open, or the server stops. All streams end with it.
pub(super) async fn watch(updates: Updates, watching: CancellationToken) {
    let _ends_streams = watching.clone().drop_guard();
    let mut commits = updates.0.world.database.commits();
    let mut before = Before::default();
    loop {
        commits.mark_unchanged();
        let Some(open) = updates.sessions_or_stop() else { return };
        let has_changed = look(&updates, &mut before, &open).await.unwrap_or_else(|failure| {
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
            () = updates.0.stopping.cancelled() => return,
        }
    }
}

/// Looks once, and tells the changes. Returns whether anything has changed.
async fn look(
    updates: &Updates,
    before: &mut Before,
    open: &[(Arc<str>, Arc<str>)],
) -> Result<bool, Failure> {
    let version = updates.0.world.shared_read.version().await?;
    let mut reader = updates.0.world.database.read().await?;
    let has_new_version = before.version != Some(version);
    if has_new_version {
        updates.0.world.load_clock().await?;
    }
    let is_due =
        before.sessions_checked_at.is_none_or(|checked_at| checked_at.elapsed() >= SESSIONS_INTERVAL);
    if has_new_version || is_due {
        end_sessions(updates, &mut reader, open).await?;
        before.sessions_checked_at = Some(Instant::now());
    }
    if !has_new_version {
        return Ok(false);
    }
    let (pending, records) = (updates.0.pending.body_since(version), updates.0.records.body_since(version));
    let lists = [pending.await?.digest(), records.await?.digest()];
    let loans = before.lists != Some(lists);
    let portal_rules = rules::all(&updates.0.world, &mut reader).await?;
    let settings_now = Some((portal_rules, query_scalar(PREFERENCES).fetch_one(&mut reader).await?));
    let settings = before.settings != settings_now;
    let accounts: Vec<(String, String)> = query_as(ACCOUNTS).fetch_all(&mut reader).await?;
    let accounts = accounts.into_iter().map(|(id, account)| (id.into(), account)).collect();
    let changed_accounts = unlike(&accounts, &before.accounts);
    let is_first = before.version.is_none();
    *before = Before {
        version: Some(version),
        lists: Some(lists),
        settings: settings_now,
        accounts,
        sessions_checked_at: before.sessions_checked_at,
    };
    if is_first {
        // Streams begin now, and pages read everything then.
        updates.tell(|seen| seen.latest += 1);
        return Ok(false);
    }
    if !(loans || settings || !changed_accounts.is_empty()) {
        return Ok(false);
    }
    updates.tell(|seen| seen.add(loans, settings, changed_accounts));
    Ok(true)
}

/// All preferences and read notifications, as one text.
const PREFERENCES: &str = "
    SELECT concat_ws(' ',
        (SELECT string_agg(concat_ws(' ', staff_id, language, time_zone, notify_by_email, notify_by_sms), ' ')
         FROM (SELECT * FROM preference ORDER BY staff_id) AS preferences),
        (SELECT string_agg(concat_ws(' ', staff_id, read_until), ' ')
         FROM (SELECT * FROM notification_read ORDER BY staff_id) AS marks))";

/// What pages show of each account. Of all, because a page that comes back is told what it missed.
const ACCOUNTS: &str = "
    SELECT staff_id, concat_ws(' ', role, first_name, last_name, email, phone_number, sign_in_code_required)
    FROM staff";

/// Returns the users whose account is not as it was `before`.
fn unlike(accounts: &HashMap<Arc<str>, String>, before: &HashMap<Arc<str>, String>) -> Vec<Arc<str>> {
    let changed = accounts.iter().filter(|(id, account)| before.get(*id) != Some(account));
    changed.map(|(id, _)| Arc::clone(id)).collect()
}

const STILL_OPEN: &str = "
    SELECT session_id FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE session_id IN (SELECT value ->> 'id' FROM json_each($1))
      AND ended_at IS NULL AND expires_at > $2 AND is_active";

/// Ends the streams of sessions that have ended.
async fn end_sessions(
    updates: &Updates,
    reader: &mut Connection,
    open: &[(Arc<str>, Arc<str>)],
) -> Result<(), Failure> {
    let asked = listed(open.iter().map(|(session_id, _)| &**session_id));
    let still_open: Vec<String> =
        query_scalar(STILL_OPEN).bind_all((asked, updates.0.world.clock.now())).fetch_all(reader).await?;
    let still_open: HashSet<String> = still_open.into_iter().collect();
    updates.end(open.iter().map(|(id, _)| &**id).filter(|id| !still_open.contains(*id)));
    Ok(())
}

impl Seen {
    fn add(&mut self, loans: bool, settings: bool, accounts: Vec<Arc<str>>) {
        self.latest += 1;
        if loans {
            self.loans = self.latest;
        }
        if settings {
            self.settings = self.latest;
        }
        for staff_id in accounts {
            self.accounts.insert(staff_id, self.latest);
        }
    }
}
