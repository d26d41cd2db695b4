//! The live sessions in memory, so that a call does not have to read its session from the database.
//!
//! All were read at one version of the data. A call passes the current version. If that is later, each
//! session is read again, once for all calls that wait for it.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::OnceCell;

use super::session::Session;
use base::{clock::UnixMillis, error::Failure};
use store::version::Version;

/// The sessions that were live at one version.
#[derive(Debug, Default)]
pub struct LiveSessions(Mutex<AtVersion>);

#[derive(Debug, Default)]
struct AtVersion {
    version: Version,
    by_token: HashMap<Box<str>, Arc<OnceCell<Live>>>,
}

#[derive(Clone, Debug)]
pub struct Live {
    pub session: Arc<Session>,
    pub expires_at: UnixMillis,
}

/// The maximum number of sessions in memory, of about 500 bytes each.
const MAX_SESSIONS: usize = 10_000;

impl LiveSessions {
    /// The session of `token` at `version` or later. If it is not in memory, checks the token by `claims` and
    /// reads its session by `read`, unless another call is already reading it.
    pub async fn get_or_read<C>(
        &self,
        token: &str,
        version: Version,
        claims: impl FnOnce() -> Result<C, Failure>,
        read: impl AsyncFnOnce(C) -> Result<Live, Failure>,
    ) -> Result<Live, Failure> {
        let known = self.at_least(version).by_token.get(token).map(Arc::clone);
        if let Some(live) = known.as_ref().and_then(|cell| cell.get()) {
            return Ok(live.clone());
        }
        // Only tokens that this service signed take memory.
        let claims = claims()?;
        let cell = known.unwrap_or_else(|| self.cell(token, version));
        cell.get_or_try_init(async || read(claims).await).await.cloned()
    }

    fn at_least(&self, version: Version) -> MutexGuard<'_, AtVersion> {
        let mut all = self.0.lock();
        if version > all.version {
            *all = AtVersion { version, by_token: HashMap::new() };
        }
        all
    }

    fn cell(&self, token: &str, version: Version) -> Arc<OnceCell<Live>> {
        let mut all = self.at_least(version);
        if all.by_token.len() >= MAX_SESSIONS {
            all.by_token.clear();
        }
        Arc::clone(all.by_token.entry(token.into()).or_default())
    }
}
