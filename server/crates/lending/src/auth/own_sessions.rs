//! The user's own sessions: listing them, and ending single ones.

use std::net::IpAddr;

use serde::Serialize;

use super::{Auth, AuthRefusal, session::Session};
use crate::{
    events::{self, EventKind, NewEvent},
    world::World,
};
use base::{clock::UnixMillis, error::Failure, ids::SessionId};
use store::{Connection, query, query_as};

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

/// At most the latest 100 sessions.
const OPEN: &str = "
    SELECT session_id AS id, created_at, expires_at, address, device, session_id = $2 AS is_current
    FROM session WHERE staff_id = $1 AND ended_at IS NULL AND expires_at > $3
    ORDER BY created_at DESC, session_id DESC LIMIT 100";

/// The open sessions of `session`'s user, the newest first.
pub(super) async fn own_sessions(world: &World, session: &Session) -> Result<Vec<OwnSession>, Failure> {
    let mut reader = world.database.read().await?;
    let found = query_as(OPEN)
        .bind_all((&session.staff.staff_id, &session.session_id, world.clock.now()))
        .fetch_all(&mut reader);
    Ok(found.await?)
}

const END: &str = "
    UPDATE session SET ended_at = $3
    WHERE session_id = $1 AND staff_id = $2 AND ended_at IS NULL AND expires_at > $3";

pub(super) async fn end_own_session(
    auth: &Auth,
    session: Session,
    address: IpAddr,
    session_id: SessionId,
) -> Result<(), Failure> {
    let world = &auth.world;
    // PostgreSQL can't store NUL characters.
    if session_id.contains('\0') {
        return Err(AuthRefusal::SessionNotFound(session_id).into());
    }
    let now = world.clock.now();
    let is_current = session.session_id == session_id;
    let kind = if is_current { EventKind::SignedOut } else { EventKind::SessionsEnded };
    let staff = session.staff;
    let event = NewEvent::new(world.clock.unset_now(), kind, staff.email.as_str(), Some(address))
        .of_account(&auth.fingerprints.of_account(&staff.email));
    let event = if is_current { event } else { event.about(staff.email.as_str()).details("one session") };
    events::write(&world.database, async move |connection: &mut Connection| {
        let ended = query(END).bind_all((&session_id, &staff.staff_id, now)).execute(connection).await?;
        if ended == 0 {
            return Err(AuthRefusal::SessionNotFound(session_id).into());
        }
        Ok(((), event))
    })
    .await
}
