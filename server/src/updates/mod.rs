//! Tells open pages what has changed, so that they read it again: one stream of server-sent events for each tab.
//!
//! One task watches for all streams of a sandbox, while there are any. It compares the versions of the data, and
//! says which topics have changed, never what is in them: each page reads that by its usual calls, with their
//! access and their caches.

pub(super) mod api;
mod stream;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus::IntGauge;
use tokio::sync::watch::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use crate::{Sandbox, auth::session::Session, error::Failure};

/// How many streams one session may have open: one for each tab.
const MAX_PER_SESSION: u32 = 10;

/// How many streams one person may have open, in all sessions.
const MAX_PER_PERSON: u32 = 100;

/// How many streams one server may have open.
const MAX_STREAMS: i64 = 4096;

/// Something that may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Topic {
    /// The pending list, the records, and with them reports.
    Loans,
    /// The notifications of the stream's user.
    Notifications,
    /// Preferences or settings.
    Settings,
}

/// What the watching task has seen, in changes counted since it began.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Names the watching task: another one counts other changes.
    watch_id: Arc<str>,
    /// The latest change.
    latest: u64,
    /// The latest changes of topics that are everybody's.
    loans: u64,
    settings: u64,
    /// The latest change to everybody's notifications, and to those of one user.
    notifications: u64,
    notifications_of: HashMap<Arc<str>, u64>,
}

/// The open streams of a sandbox. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Updates(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    seen: Sender<Arc<Seen>>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    sessions: HashMap<Arc<str>, OpenSession>,
    /// Ends the watching task and with it all streams; `None` while nothing is watched.
    watching: Option<CancellationToken>,
}

/// A session with open streams.
#[derive(Debug)]
struct OpenSession {
    staff_id: Arc<str>,
    streams: u32,
    /// Ends its streams.
    end: CancellationToken,
}

/// An open stream; dropping it closes it.
#[derive(Debug)]
struct Place {
    updates: Updates,
    session_id: Arc<str>,
    staff_id: Arc<str>,
    end: CancellationToken,
    seen: Receiver<Arc<Seen>>,
    gauge: IntGauge,
}

impl Updates {
    /// A place for another stream of `session`, with the watching task running.
    fn open(&self, sandbox: &Sandbox, session: &Session) -> Result<Place, Failure> {
        let gauge = sandbox.server.metrics.event_streams().clone();
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let session_id: Arc<str> = session.session_id.as_str().into();
        let streams = open.sessions.get(&session_id).map_or(0, |session| session.streams);
        let own = open.sessions.values().filter(|open| *open.staff_id == *session.staff.staff_id);
        let of_person: u32 = own.map(|open| open.streams).sum();
        if streams >= MAX_PER_SESSION || of_person >= MAX_PER_PERSON || gauge.get() >= MAX_STREAMS {
            return Err(Failure::TooManyStreams);
        }
        let watching = match &open.watching {
            Some(watching) if !watching.is_cancelled() => watching.clone(),
            _ => {
                let watching = CancellationToken::new();
                open.sessions.clear();
                open.watching = Some(watching.clone());
                let watch_id = sandbox.server.randomness.id(sandbox.clock.unset_now()).into();
                self.0.seen.send_replace(Arc::new(Seen { watch_id, ..Seen::default() }));
                sandbox.tasks.spawn_background(watch::watch(sandbox.clone(), watching.clone()));
                watching
            }
        };
        let session = open.sessions.entry(Arc::clone(&session_id)).or_insert_with(|| OpenSession {
            staff_id: session.staff.staff_id.as_str().into(),
            streams: 0,
            end: watching.child_token(),
        });
        session.streams += 1;
        gauge.inc();
        Ok(Place {
            updates: self.clone(),
            staff_id: Arc::clone(&session.staff_id),
            end: session.end.clone(),
            session_id,
            seen: self.0.seen.subscribe(),
            gauge,
        })
    }

    /// The sessions with open streams, with their users; `None`, and nothing is watched any more, if there
    /// are none.
    fn sessions_or_stop(&self) -> Option<Vec<(Arc<str>, Arc<str>)>> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.sessions.is_empty() {
            open.watching = None;
            return None;
        }
        let of = |(id, session): (&Arc<str>, &OpenSession)| (Arc::clone(id), Arc::clone(&session.staff_id));
        Some(open.sessions.iter().map(of).collect())
    }

    /// Tells all streams of a change to what is seen.
    fn tell(&self, change: impl FnOnce(&mut Seen)) {
        self.0.seen.send_modify(|seen| change(Arc::make_mut(seen)));
    }

    /// Ends the streams of the sessions for which `has_ended`.
    fn end(&self, has_ended: impl Fn(&str) -> bool) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.sessions.retain(|id, session| {
            let ends = has_ended(id);
            if ends {
                session.end.cancel();
            }
            !ends
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.gauge.dec();
        let mut open = self.updates.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        // The session may have ended, and its streams are gone from the books, or it has new ones.
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
    fn topics_since(&self, number: u64, staff_id: &str) -> Vec<&'static str> {
        let own = self.notifications_of.get(staff_id).copied().unwrap_or_default();
        [
            (self.loans, Topic::Loans),
            (self.notifications.max(own), Topic::Notifications),
            (self.settings, Topic::Settings),
        ]
        .into_iter()
        .filter(|(changed, _)| *changed > number)
        .map(|(_, topic)| topic.name())
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

impl Topic {
    const ALL: [Self; 3] = [Self::Loans, Self::Notifications, Self::Settings];

    fn name(self) -> &'static str {
        match self {
            Self::Loans => "loans",
            Self::Notifications => "notifications",
            Self::Settings => "settings",
        }
    }
}
