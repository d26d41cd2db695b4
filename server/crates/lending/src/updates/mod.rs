//! Tells open pages about changes, so that they read again: one stream of server-sent events for each visible page.
//!
//! One task watches for all streams of a sandbox, while there are any. It compares the versions of the data,
//! and tells which topics have changed, but not their content: each page reads it by its usual calls, with
//! their access rules and caches.

pub mod api;
mod stream;
mod watch;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use crate::{
    auth::{AuthRefusal, session::Session},
    lists::List,
    loans::PendingLoan,
    payouts::Record,
    world::World,
};
use base::error::Failure;

/// The maximum number of open streams of one session: without TLS, each visible tab may have one.
const MAX_PER_SESSION: u32 = 10;

/// The maximum number of open streams of one person, in all sessions.
const MAX_PER_PERSON: u32 = 100;

/// The maximum number of open streams of one server.
const MAX_STREAMS: i64 = 4096;

/// Something that may have changed.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Topic {
    /// The pending list, the records, and with them reports.
    Loans,
    /// The notifications of the stream's user.
    Notifications,
    /// Preferences or settings.
    Settings,
    /// The account of the stream's user, such as its role and name.
    Session,
}

impl Topic {
    const ALL: [Self; 4] = [Self::Loans, Self::Notifications, Self::Settings, Self::Session];
}

/// The changes that the watching task has seen, numbered since it began.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The id of the watching task: another task numbers other changes.
    watch_id: Arc<str>,
    latest: u64,
    /// The latest changes of the topics that everybody shares.
    loans: u64,
    settings: u64,
    /// The latest change to the accounts of single users.
    accounts: HashMap<Arc<str>, u64>,
}

/// The open streams of a sandbox. Clones share them.
#[derive(Clone)]
pub struct Updates(Arc<Inner>);

struct Inner {
    world: World,
    pending: List<PendingLoan>,
    records: List<Record>,
    /// Cancelled when the process is asked to stop.
    stopping: CancellationToken,
    /// The open streams of the process.
    streams: Arc<AtomicI64>,
    seen: Sender<Arc<Seen>>,
    open: Mutex<OpenStreams>,
}

#[derive(Debug, Default)]
struct OpenStreams {
    sessions: HashMap<Arc<str>, OpenSession>,
    /// Ends the watching task and with it all streams; `None` while nothing is watched.
    watching: Option<CancellationToken>,
}

#[derive(Debug)]
struct OpenSession {
    staff_id: Arc<str>,
    streams: u32,
    /// Ends the streams of the session.
    end: CancellationToken,
}

/// An open stream; dropping it closes it.
struct Place {
    updates: Updates,
    session_id: Arc<str>,
    staff_id: Arc<str>,
    end: CancellationToken,
    seen: Receiver<Arc<Seen>>,
}

impl Updates {
    /// The streams of `world`, which tell about changes to these lists.
    pub fn new(
        world: World,
        pending: List<PendingLoan>,
        records: List<Record>,
        stopping: CancellationToken,
        streams: Arc<AtomicI64>,
    ) -> Self {
        let (seen, open) = (Sender::default(), Mutex::default());
        Self(Arc::new(Inner { world, pending, records, stopping, streams, seen, open }))
    }

    /// Returns a place for another stream of `session`, and starts the watching task if needed.
    fn open(&self, session: &Session) -> Result<Place, Failure> {
        let Inner { world, streams: of_process, .. } = &*self.0;
        let mut open = self.0.open.lock();
        let session_id: Arc<str> = session.session_id.as_str().into();
        let streams = open.sessions.get(&session_id).map_or(0, |session| session.streams);
        let own = open.sessions.values().filter(|open| *open.staff_id == *session.staff.staff_id);
        let of_person: u32 = own.map(|open| open.streams).sum();
        if streams >= MAX_PER_SESSION
            || of_person >= MAX_PER_PERSON
            || of_process.load(Relaxed) >= MAX_STREAMS
        {
            return Err(AuthRefusal::TooManyStreams.into());
        }
        let watching = match &open.watching {
            Some(watching) if !watching.is_cancelled() => watching.clone(),
            _ => {
                let watching = CancellationToken::new();
                open.sessions.clear();
                open.watching = Some(watching.clone());
                let watch_id = world.randomness.id(world.clock.unset_now());
                self.0.seen.send_replace(Arc::new(Seen { watch_id, ..Seen::default() }));
                world.tasks.spawn_background(watch::watch(self.clone(), watching.clone()));
                watching
            }
        };
        let session = open.sessions.entry(Arc::clone(&session_id)).or_insert_with(|| OpenSession {
            staff_id: session.staff.staff_id.as_str().into(),
            streams: 0,
            end: watching.child_token(),
        });
        session.streams += 1;
        of_process.fetch_add(1, Relaxed);
        Ok(Place {
            updates: self.clone(),
            staff_id: Arc::clone(&session.staff_id),
            end: session.end.clone(),
            session_id,
            seen: self.0.seen.subscribe(),
        })
    }

    /// Returns the sessions with open streams, with their users. If there are none, stops watching and
    /// returns `None`.
    fn sessions_or_stop(&self) -> Option<Vec<(Arc<str>, Arc<str>)>> {
        let mut open = self.0.open.lock();
        if open.sessions.is_empty() {
            open.watching = None;
            return None;
        }
        let of = |(id, session): (&Arc<str>, &OpenSession)| (Arc::clone(id), Arc::clone(&session.staff_id));
        Some(open.sessions.iter().map(of).collect())
    }

    /// Tells all streams about a change.
    fn tell(&self, change: impl FnOnce(&mut Seen)) {
        self.0.seen.send_modify(|seen| change(Arc::make_mut(seen)));
    }

    fn end<'a>(&self, session_ids: impl Iterator<Item = &'a str>) {
        let mut open = self.0.open.lock();
        for session in session_ids.filter_map(|id| open.sessions.remove(id)) {
            session.end.cancel();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.updates.0.streams.fetch_sub(1, Relaxed);
        let mut open = self.updates.0.open.lock();
        // The session may have ended, with its streams already removed, or it may have new ones.
        let Some(session) = open.sessions.get_mut(&self.session_id) else { return };
        if session.end.is_cancelled() {
            return;
        }
        session.streams = session.streams.saturating_sub(1);
        if session.streams == 0 {
            open.sessions.remove(&self.session_id);
        }
    }
}

impl Seen {
    /// The topics that have changed for `staff_id` since change `number`.
    fn topics_since(&self, number: u64, staff_id: &str) -> Vec<Topic> {
        [
            (self.loans, Topic::Loans),
            // They are derived from the lists, and their read marks are told as settings.
            (self.loans.max(self.settings), Topic::Notifications),
            (self.settings, Topic::Settings),
            (self.accounts.get(staff_id).copied().unwrap_or_default(), Topic::Session),
        ]
        .into_iter()
        .filter(|(changed, _)| *changed > number)
        .map(|(_, topic)| topic)
        .collect()
    }

    /// The id of an event that tells everything until now.
    fn event_id(&self) -> String {
        format!("{}.{}", self.watch_id, self.latest)
    }

    /// The change that the event with this id told; `None` if it is of another watching task.
    fn change_of(&self, event_id: &str) -> Option<u64> {
        let (watch_id, number) = event_id.rsplit_once('.')?;
        number.parse().ok().filter(|number| watch_id == &*self.watch_id && *number <= self.latest)
    }
}
