//! A cache of sessions, so that a call does not have to read its session from the database.
//!
//! The cache holds sessions read at one version. Ending a session in any process increments the
//! version. A call passes the current version; sessions cached at an older one are read again.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::session::Session;
use crate::clock::UnixMillis;

/// The sessions that were live at one version, by token.
#[derive(Debug, Default)]
pub struct LiveSessions(RwLock<AtVersion>);

#[derive(Debug, Default)]
struct AtVersion {
    version: i64,
    by_token: HashMap<Box<str>, Live>,
}

#[derive(Debug)]
struct Live {
    session: Arc<Session>,
    expires_at: UnixMillis,
}

/// The maximum number of cached sessions, of about 500 bytes each.
const MAX_SESSIONS: usize = 10_000;

impl LiveSessions {
    /// The session of `token`, if it is known to be live at `version`.
    pub fn get(&self, token: &str, version: i64, now: UnixMillis) -> Option<Arc<Session>> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let live = cached.by_token.get(token).filter(|_| cached.version >= version)?;
        (live.expires_at > now).then(|| Arc::clone(&live.session))
    }

    /// Caches a session that was read after `version` was.
    pub fn keep(&self, token: &str, version: i64, session: &Arc<Session>, expires_at: UnixMillis) {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if version < cached.version {
            // The session may have ended since.
            return;
        }
        if version > cached.version || cached.by_token.len() >= MAX_SESSIONS {
            cached.by_token.clear();
            cached.version = version;
        }
        cached.by_token.insert(token.into(), Live { session: Arc::clone(session), expires_at });
    }
}
