//! Sessions: a database row, and a token that identifies it.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{extract::FromRequestParts, http::request::Parts};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};

use super::{Auth, AuthRefusal, Staff, browser::Browser, hs256};
use crate::world::World;
use base::{
    clock::{Clock, UnixMillis},
    error::Failure,
    ids::{SessionId, StaffId},
};
use store::{Connection, Database, query, query_scalar, sweep};

const ISSUER: &str = "mkopo";
const AUDIENCE: &str = "mkopo-portal";

/// The session of a call. A handler that takes one can't be called without it.
#[derive(Clone, Debug)]
pub struct Session {
    pub session_id: SessionId,
    pub staff: Staff,
}

/// Signs and verifies tokens (JWT with HS256 only).
#[derive(Clone)]
pub struct Tokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: String,
    /// The id of the user.
    pub(super) sub: String,
    /// The id of the session.
    pub(super) jti: String,
    iat: i64,
    /// The end, in seconds.
    pub(super) exp: i64,
}

impl Tokens {
    /// `secret` must have at least 32 bytes.
    pub fn new(secret: &SecretSlice<u8>) -> Self {
        hs256::install();
        Self {
            encoding: EncodingKey::from_secret(secret.expose_secret()),
            decoding: DecodingKey::from_secret(secret.expose_secret()),
        }
    }

    fn sign(&self, claims: &Claims) -> Result<String, Failure> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.encoding)
            .map_err(Failure::internal)
    }

    /// The claims of `token`, if it was signed by this service and has not expired.
    pub(super) fn read(&self, token: &str, now: UnixMillis) -> Option<Claims> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.set_issuer(&[ISSUER]);
        rules.set_audience(&[AUDIENCE]);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub", "jti"]);
        // The library would use the system time, which may differ from the service's clock.
        rules.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(token, &self.decoding, &rules).ok()?.claims;
        (claims.exp.saturating_mul(1000) > now.0).then_some(claims)
    }
}

const OPEN: &str = "
    INSERT INTO session (session_id, staff_id, created_at, expires_at, address, device)
    VALUES ($1, $2, $3, $4, $5, $6)";

const SESSION_MINUTES: &str = "SELECT session_minutes FROM portal_rules";

/// Returns the length of a new session: the deployment's, or the shorter one that an administrator has set.
pub async fn length(world: &World, connection: &mut Connection) -> Result<Duration, sqlx::Error> {
    let longest = world.settings.session_length();
    if !world.settings.has_live_screens() {
        return Ok(longest);
    }
    let minutes: Option<i64> = query_scalar(SESSION_MINUTES).fetch_one(connection).await?;
    let set = minutes.and_then(|minutes| u64::try_from(minutes).ok()).map(Duration::from_mins);
    Ok(set.map_or(longest, |set| set.min(longest)))
}

/// Returns the session id in `token`, if this service signed it and it had not expired at `now`.
pub fn id_named_by(auth: &Auth, token: &str, now: UnixMillis) -> Option<SessionId> {
    auth.tokens.read(token, now).map(|claims| claims.jti.into())
}

/// A session that is not stored yet.
pub struct NewSession {
    session_id: SessionId,
    staff_id: StaffId,
    created_at: UnixMillis,
    expires_at: UnixMillis,
    address: IpAddr,
    browser: Browser,
}

/// Creates a session for `staff` that lasts for `length`, opened from `address` by `browser`, and its token, which
/// is valid once the session is stored.
pub fn prepare(
    auth: &Auth,
    staff: &Staff,
    length: Duration,
    address: IpAddr,
    browser: Browser,
) -> Result<(NewSession, String), Failure> {
    let created_at = auth.world.clock.now();
    let expires_at = created_at.plus(length);
    let session = NewSession {
        session_id: auth.world.randomness.id(created_at),
        staff_id: staff.staff_id.clone(),
        created_at,
        expires_at,
        address,
        browser,
    };
    let token = auth.tokens.sign(&Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        sub: session.staff_id.to_string(),
        jti: session.session_id.to_string(),
        iat: created_at.0 / 1000,
        exp: expires_at.0 / 1000,
    })?;
    Ok((session, token))
}

impl NewSession {
    pub async fn insert(self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        query(OPEN)
            .bind_all((self.session_id, self.staff_id, self.created_at, self.expires_at))
            .bind_all((self.address.to_string(), self.browser.0))
            .run(connection)
            .await
    }
}

// Skips expired sessions: there may be millions.
const END_ALL: &str = "
    UPDATE session SET ended_at = $2
    WHERE staff_id = $1 AND ended_at IS NULL AND expires_at > $3 AND session_id <> $4";

/// Ends the sessions of `staff_id`, except `kept`, and returns their number.
pub async fn end_all(
    connection: &mut Connection,
    staff_id: &StaffId,
    kept: Option<&SessionId>,
    clock: &Clock,
) -> Result<u64, sqlx::Error> {
    let kept = kept.map_or("", SessionId::as_str);
    query(END_ALL).bind_all((staff_id, clock.now(), clock.earliest(), kept)).execute(connection).await
}

const END_BATCH: &str = "
    UPDATE session SET ended_at = $2 WHERE session_id IN
        (SELECT session_id FROM session
         WHERE staff_id = $1 AND ended_at IS NULL AND expires_at > $3 LIMIT 500)";

/// Ends the sessions of `staff_id` that expire after `earliest`, in batches with a transaction each, and
/// returns their number.
pub async fn end_all_in_batches(
    database: &Database,
    staff_id: StaffId,
    now: UnixMillis,
    earliest: UnixMillis,
) -> Result<u64, Failure> {
    let end = move || query(END_BATCH).bind(&staff_id).bind(now).bind(earliest);
    sweep::in_batches(database, end).await
}

const DELETE_BATCH: &str = "
    DELETE FROM session WHERE session_id IN
        (SELECT session_id FROM session WHERE COALESCE(ended_at, expires_at) <= $1
         ORDER BY COALESCE(ended_at, expires_at) LIMIT 500)";

/// Deletes the sessions that ended before `oldest`.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}

const IS_OPEN: &str = "SELECT session_id FROM session WHERE session_id = $1 AND ended_at IS NULL";

/// Fails with [`AuthRefusal::NoSession`] if the session has ended since its call arrived, or all data was
/// replaced. The session can't end before the transaction does.
pub async fn check_open(connection: &mut Connection, session_id: &SessionId) -> Result<(), Failure> {
    let open: Option<String> =
        query_scalar(IS_OPEN).bind(session_id).locking("FOR SHARE").fetch_optional(connection).await?;
    open.map(|_| ()).ok_or(AuthRefusal::NoSession.into())
}

const LIVE_STAFF_ID: &str = "
    SELECT staff.staff_id FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE session_id = $1 AND ended_at IS NULL AND expires_at > $2 AND is_active";

/// Returns the id of the session's user; `None` unless the session is live at `now`.
pub async fn live_staff_id(
    connection: &mut Connection,
    session_id: &SessionId,
    now: UnixMillis,
) -> Result<Option<StaffId>, sqlx::Error> {
    query_scalar(LIVE_STAFF_ID).bind(session_id).bind(now).fetch_optional(connection).await
}

impl<S: Send + Sync> FromRequestParts<S> for Session {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let session = parts.extensions.get::<Arc<Self>>().ok_or(AuthRefusal::NoSession)?;
        Ok(Self::clone(session))
    }
}
