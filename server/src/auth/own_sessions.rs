//! One's own sessions: where one is signed in, and signing out elsewhere.

use std::net::IpAddr;

use serde::Serialize;

use super::session::Session;
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_as},
    error::Failure,
    events::{Kind, NewEvent},
};

/// A session, as its owner sees it.
#[derive(Debug, Serialize, sqlx_macros::FromRow)]
pub(super) struct OwnSession {
    id: String,
    created_at: UnixMillis,
    expires_at: UnixMillis,
    address: Option<String>,
    device: Option<String>,
    is_current: bool,
}

/// The latest hundred.
const OPEN: &str = "
    SELECT session_id AS id, created_at, expires_at, address, device, session_id = $2 AS is_current
    FROM session WHERE staff_id = $1 AND ended_at IS NULL AND expires_at > $3
    ORDER BY created_at DESC, session_id DESC LIMIT 100";

/// The open sessions of `session`'s user, the newest first.
///
/// # Errors
/// When the database fails.
pub(super) async fn own_sessions(sandbox: &Sandbox, session: &Session) -> Result<Vec<OwnSession>, Failure> {
    let mut reader = sandbox.database.read().await?;
    let found = query_as(OPEN)
        .bind(&session.staff.staff_id)
        .bind(&session.session_id)
        .bind(sandbox.clock.now())
        .fetch_all(&mut reader);
    Ok(found.await?)
}

const END: &str = "
    UPDATE session SET ended_at = $3
    WHERE session_id = $1 AND staff_id = $2 AND ended_at IS NULL AND expires_at > $3";

/// Ends one session of `session`'s user.
///
/// # Errors
/// [`Failure::SessionNotFound`] if they have no open session with this id.
pub(super) async fn end_own_session(
    sandbox: &Sandbox,
    session: Session,
    address: IpAddr,
    session_id: String,
) -> Result<(), Failure> {
    // PostgreSQL can't store it.
    if session_id.contains('\0') {
        return Err(Failure::SessionNotFound(session_id));
    }
    let now = sandbox.clock.now();
    let is_current = session.session_id == session_id;
    let kind = if is_current { Kind::SignedOut } else { Kind::SessionsEnded };
    let staff = session.staff;
    let event = NewEvent::new(sandbox.clock.unset_now(), kind, staff.email.as_str(), Some(address));
    let event = if is_current { event } else { event.about(staff.email.as_str()).details("one session") };
    let written = event.clone();
    sandbox
        .database
        .write(async move |connection: &mut Connection| {
            let ended = query(END)
                .bind(&session_id)
                .bind(&staff.staff_id)
                .bind(now)
                .execute(&mut *connection)
                .await?;
            if ended == 0 {
                return Err(Failure::SessionNotFound(session_id));
            }
            written.add(connection).await?;
            Ok(())
        })
        .await?;
    event.log();
    Ok(())
}
