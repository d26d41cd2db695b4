//! The sessions kept in memory, so that a call need not read its own.
//!
//! Each was read at some version of the sessions, which every end of one moves, in whatever
//! process. A call brings the version as it is now; sessions read before it are read again.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::session::Session;
use crate::clock::UnixMillis;

/// The sessions that were live at one version, by their tokens.
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

/// How many are kept at most: some 500 bytes each.
const KEPT_AT_MOST: usize = 10_000;

impl LiveSessions {
    /// The session of `token`, when it is known to be live at `version` of the sessions.
    pub fn get(&self, token: &str, version: i64, now: UnixMillis) -> Option<Arc<Session>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let live = kept.by_token.get(token).filter(|_| kept.version >= version)?;
        (live.expires_at > now).then(|| Arc::clone(&live.session))
    }

    /// Keeps a session that was read after `version` of the sessions was.
    pub fn keep(&self, token: &str, version: i64, session: &Arc<Session>, expires_at: UnixMillis) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if version < kept.version {
            // It may have ended between the two.
            return;
        }
        if version > kept.version || kept.by_token.len() >= KEPT_AT_MOST {
            kept.by_token.clear();
            kept.version = version;
        }
        kept.by_token.insert(token.into(), Live { session: Arc::clone(session), expires_at });
    }
}
