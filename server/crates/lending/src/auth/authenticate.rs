//! Finds the session of a call, and lets only calls with one through.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    Auth, AuthRefusal, Role, Staff,
    live_sessions::Live,
    session::{Claims, Session},
};
use base::{clock::UnixMillis, error::Failure};
use store::{query_as, version::Version};
use web::accept;

/// Lets only calls with a live session through.
pub async fn require(auth: &Auth, mut request: Request, next: Next) -> Response {
    let version = request.extensions().get::<Version>().copied();
    let mut response = match authenticate(auth, request.headers(), version).await {
        Ok(session) => {
            request.extensions_mut().insert(Arc::clone(&session));
            let mut response = next.run(request).await;
            // The traffic recorder reads the session from the response.
            response.extensions_mut().insert(session);
            response
        }
        Err(failure) => failure.into_response(),
    };
    // Whoever uses the browser after a sign-out must find nothing in its cache.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Lets only administrators through. Must run inside [`require`].
pub async fn require_admin(session: Session, request: Request, next: Next) -> Result<Response, Failure> {
    match session.staff.role {
        Role::Admin => Ok(next.run(request).await),
        Role::Agent | Role::Supervisor => Err(AuthRefusal::RoleNotAllowed.into()),
    }
}

#[derive(sqlx_macros::FromRow)]
struct Found {
    expires_at: UnixMillis,
    #[sqlx(flatten)]
    staff: Staff,
}

const FIND: &str = "
    SELECT expires_at, staff.staff_id, email, username, first_name, last_name, phone_number, role,
           password_hash, is_active, sign_in_code_required, staff.created_at
    FROM session JOIN staff ON staff.staff_id = session.staff_id
    WHERE session_id = $1 AND staff.staff_id = $2 AND ended_at IS NULL AND expires_at > $3 AND is_active";

/// The live session whose token is among `headers`, at `version` or later.
async fn authenticate(
    auth: &Auth,
    headers: &HeaderMap,
    version: Option<Version>,
) -> Result<Arc<Session>, Failure> {
    let token = accept::bearer(headers).ok_or(AuthRefusal::NoSession)?;
    let (version, now) = (version.ok_or(Failure::Busy)?, auth.world.clock.now());
    let claims = || auth.tokens.read(token, now).ok_or(AuthRefusal::NoSession.into());
    let live = auth
        .live_sessions
        .get_or_read(token, version, claims, async |claims: Claims| {
            let mut reader = auth.world.database.read().await?;
            let found: Option<Found> =
                query_as(FIND).bind_all((&claims.jti, &claims.sub, now)).fetch_optional(&mut reader).await?;
            let Found { expires_at, staff } = found.ok_or(AuthRefusal::NoSession)?;
            let expires_at = expires_at.min(UnixMillis(claims.exp.saturating_mul(1000)));
            Ok(Live { session: Arc::new(Session { session_id: claims.jti.into(), staff }), expires_at })
        })
        .await?;
    if live.expires_at > now { Ok(live.session) } else { Err(AuthRefusal::NoSession.into()) }
}
