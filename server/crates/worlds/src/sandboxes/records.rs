//! The rows of sandboxes in the store of `main`, for all servers on that store.

use std::time::Duration;

use super::{Name, SandboxRefusal};
use base::{clock::UnixMillis, error::Failure, ids::LinkId};
use settings::Screens;
use store::{Connection, Database, query, query_as, query_scalar};

/// A sandbox that exists.
#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub struct Record {
    /// The id, which names its data.
    #[sqlx(rename = "sandbox_id")]
    pub id: String,
    pub name: Name,
    /// The fingerprint of the token that opens its console.
    pub token: String,
    pub created_at: UnixMillis,
    /// When it was last used, as stored.
    pub last_used_at: UnixMillis,
    /// The time without use after which it expires, in ms.
    pub(super) expires_in_ms: i64,
    /// The number of calls, as stored.
    pub calls: i64,
    pub(super) due_at: Option<UnixMillis>,
    /// Its screens; `None` if they are those of the deployment.
    pub(super) live_screens: Option<bool>,
    /// The link that made it, if one did.
    pub link_id: Option<LinkId>,
    /// When it goes; `None` if only by not being used.
    pub ends_at: Option<UnixMillis>,
    /// `true` once its end was put off.
    pub(super) kept: bool,
}

/// The link that made a sandbox, and the time at which the sandbox goes, whether it is used or not.
#[derive(Clone, Debug)]
pub struct OfLink {
    pub link_id: LinkId,
    pub ends_at: UnixMillis,
}

impl Record {
    /// Returns whether its end can be put off.
    pub fn may_keep(&self) -> bool {
        self.link_id.is_some() && !self.kept
    }

    /// Its screens; `None` if they are those of the deployment.
    pub fn screens(&self) -> Option<Screens> {
        self.live_screens.map(|live| if live { Screens::Live } else { Screens::Specified })
    }

    pub fn expires_in(&self) -> Duration {
        Duration::from_millis(self.expires_in_ms.unsigned_abs())
    }

    /// When it expires if it was last used at `last_used_at`.
    pub fn expires_at(&self, last_used_at: UnixMillis) -> UnixMillis {
        let unused = last_used_at.plus(self.expires_in());
        self.ends_at.map_or(unused, |ends_at| ends_at.min(unused))
    }
}

/// Selects the columns of [`Record`]; each query appends its own conditions.
macro_rules! select_records {
    ($rest:literal) => {
        concat!(
            "SELECT sandbox_id, name, token, created_at, last_used_at, expires_in_ms, calls, due_at,
                    live_screens, link_id, ends_at, kept
             FROM sandbox ",
            $rest
        )
    };
}

const ALL: &str = select_records!("ORDER BY last_used_at DESC, sandbox_id");

/// All sandboxes, the most recently used first.
pub async fn all(connection: &mut Connection) -> Result<Vec<Record>, sqlx::Error> {
    query_as(ALL).fetch_all(connection).await
}

const FIND: &str = select_records!("WHERE name = $1");

pub async fn find(connection: &mut Connection, name: &Name) -> Result<Option<Record>, sqlx::Error> {
    query_as(FIND).bind(name).fetch_optional(connection).await
}

const COUNT: &str = "SELECT count(*) FROM sandbox";

const INSERT: &str = "
    INSERT INTO sandbox (sandbox_id, name, token, created_at, last_used_at, expires_in_ms, live_screens,
        link_id, ends_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (name) DO NOTHING";

/// Inserts `record`, if there are fewer sandboxes than `limit`.
pub async fn insert(connection: &mut Connection, record: &Record, limit: u32) -> Result<(), Failure> {
    check_room(connection, limit).await?;
    let inserted = query(INSERT)
        .bind_all((&record.id, &record.name, &record.token, record.created_at, record.last_used_at))
        .bind_all((record.expires_in_ms, record.live_screens, &record.link_id, record.ends_at))
        .execute(connection)
        .await?;
    if inserted == 0 { Err(SandboxRefusal::SandboxExists(record.name.to_string()).into()) } else { Ok(()) }
}

/// Succeeds if there are fewer sandboxes than `limit`.
pub async fn check_room(connection: &mut Connection, limit: u32) -> Result<(), Failure> {
    let existing: i64 = query_scalar(COUNT).fetch_one(connection).await?;
    if existing >= i64::from(limit) { Err(SandboxRefusal::TooManySandboxes(limit).into()) } else { Ok(()) }
}

const DELETE: &str = "DELETE FROM sandbox WHERE sandbox_id = $1";

/// Deletes the row. Returns `false` if there was none.
pub async fn delete(connection: &mut Connection, id: &str) -> Result<bool, sqlx::Error> {
    Ok(query(DELETE).bind(id).execute(connection).await? == 1)
}

/// The use of a sandbox, which a server stores from time to time.
#[derive(Clone, Debug)]
pub struct Use {
    pub id: String,
    pub last_used_at: UnixMillis,
    /// The number of calls since its use was stored last.
    pub new_calls: i64,
    pub due_at: Option<UnixMillis>,
}

const STORE_USE: &str = "
    UPDATE sandbox SET last_used_at = CASE WHEN last_used_at < $2 THEN $2 ELSE last_used_at END,
        calls = calls + $3, due_at = $4
    WHERE sandbox_id = $1";

pub async fn store_uses(connection: &mut Connection, uses: &[Use]) -> Result<(), sqlx::Error> {
    for used in uses {
        query(STORE_USE)
            .bind_all((&used.id, used.last_used_at, used.new_calls, used.due_at))
            .execute(connection)
            .await?;
    }
    Ok(())
}

const PUT_OFF: &str = "
    UPDATE sandbox SET ends_at = $2, kept = $3 WHERE sandbox_id = $1 AND link_id IS NOT NULL AND kept <> $3";

/// Puts the end of a sandbox off, once. Returns `false` if it can't be.
pub async fn put_off_end(database: &Database, id: &str, ends_at: UnixMillis) -> Result<bool, Failure> {
    Ok(database.execute(query(PUT_OFF).bind(id).bind(ends_at).bind(true)).await? == 1)
}

const SOON_DUE: &str = "UPDATE sandbox SET due_at = $1 WHERE due_at > $1";

/// Makes all stored work due now: an earlier process of this server may have left some.
pub async fn make_due(database: &Database, now: UnixMillis) -> Result<(), Failure> {
    database.execute_in_turn(query(SOON_DUE).bind(now)).await?;
    Ok(())
}
