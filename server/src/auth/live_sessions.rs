//! A cache of sessions, so that a call does not have to read its session from the database.
//!
//! The cache holds sessions read at one version. Ending a session in any process increments the
//! version. A call passes the current version; sessions cached at an older one, or from another copy
//! of the data, are read again.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::session::Session;
use crate::{clock::UnixMillis, database::versions::Versions};

/// The sessions that were live at one version.
#[derive(Debug, Default)]
pub struct LiveSessions(RwLock<AtVersion>);

#[derive(Debug, Default)]
struct AtVersion {
    version: Version,
    /// By the signature of the token, which is a seventh of what would be hashed in every call.
    by_signature: HashMap<Box<str>, Live>,
}

/// The copy of the data, then the version of its sessions.
type Version = (u64, i64);

#[derive(Debug)]
struct Live {
    token: Box<str>,
    session: Arc<Session>,
    expires_at: UnixMillis,
}

/// The maximum number of cached sessions, of about 500 bytes each.
const MAX_SESSIONS: usize = 10_000;

impl LiveSessions {
    /// The session of `token`, if it is known to be live at `versions`.
    pub fn get(&self, token: &str, versions: Versions, now: UnixMillis) -> Option<Arc<Session>> {
        let version = (versions.copy, versions.sessions);
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let live = cached.by_signature.get(signature(token)).filter(|_| cached.version >= version)?;
        (*live.token == *token && live.expires_at > now).then(|| Arc::clone(&live.session))
    }

    /// Caches a session that was read after `versions` were.
    pub fn keep(&self, token: &str, versions: Versions, session: &Arc<Session>, expires_at: UnixMillis) {
        let version = (versions.copy, versions.sessions);
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if version < cached.version {
            // The session may have ended since.
            return;
        }
        if version > cached.version || cached.by_signature.len() >= MAX_SESSIONS {
            cached.by_signature.clear();
            cached.version = version;
        }
        let live = Live { token: token.into(), session: Arc::clone(session), expires_at };
        cached.by_signature.insert(signature(token).into(), live);
    }
}

/// The last part of a JWT.
fn signature(token: &str) -> &str {
    token.rsplit_once('.').map_or(token, |(_, signature)| signature)
}
