//! The sign-in calls.

use axum::{
    Json as Answer, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{Role, Staff, session, session::Session, sign_in};
use crate::{Sandbox, clock::UnixMillis, edge::Json, error::Failure};

/// The calls that need no session, because they are how one begins.
pub fn public() -> Router<Sandbox> {
    Router::new().route("/auth/login", post(login))
}

/// The calls about the session one has.
pub fn signed_in() -> Router<Sandbox> {
    Router::new().route("/auth/me", get(me)).route("/auth/logout", post(logout))
}

#[derive(Deserialize)]
struct Credentials {
    email: String,
    password: SecretString,
}

#[derive(Serialize)]
struct SignedInUser {
    user: TokenUser,
}

#[derive(Serialize)]
struct TokenUser {
    token: String,
    id: String,
    username: String,
    name: String,
    email: String,
    role: Role,
}

async fn login(
    State(sandbox): State<Sandbox>,
    Json(credentials): Json<Credentials>,
) -> Result<Answer<SignedInUser>, Failure> {
    let signed_in = sign_in::by_password(&sandbox, &credentials.email, credentials.password).await?;
    let name = signed_in.staff.name();
    let Staff { staff_id: id, username, email, role, .. } = signed_in.staff;
    Ok(Answer(SignedInUser { user: TokenUser { token: signed_in.token, id, username, name, email, role } }))
}

#[derive(Serialize)]
struct CurrentUser {
    id: String,
    username: String,
    name: String,
    email: String,
    role: Role,
    phone_number: String,
    created_at: UnixMillis,
}

async fn me(session: Session) -> Answer<CurrentUser> {
    let name = session.staff.name();
    let Staff { staff_id: id, username, email, role, phone_number, created_at, .. } = session.staff;
    Answer(CurrentUser { id, username, name, email, role, phone_number, created_at })
}

async fn logout(State(sandbox): State<Sandbox>, session: Session) -> Result<StatusCode, Failure> {
    session::end(&sandbox.database, session.session_id, sandbox.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
