//! The sign-in calls.

use axum::{
    Extension, Json as Answer, Router,
    extract::FromRequestParts,
    http::{HeaderName, HeaderValue, StatusCode, header, request::Parts},
    middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post, put},
};
use serde::{Deserialize, Serialize};

use super::{
    Auth, AuthRefusal, Role, Staff,
    browser::Browser,
    change_password::change_password,
    client_address::ClientAddress,
    device::DeviceCookie,
    otp::{self, Otp, Purpose},
    own_sessions::{OwnSession, end_own_session, own_sessions},
    password::Password,
    password_reset::{self, ResetRequest},
    profile::{Profile, ProfileChange, change_profile, profile},
    required_code::set_required_code,
    session::Session,
    sign_in::{Credentials, SignedIn, sign_in},
};
use crate::world::World;
use base::{
    clock::UnixMillis,
    email::Email,
    error::Failure,
    ids::{SessionId, StaffId},
};
use web::extract::{Json, Path};

/// The calls that need no session, such as sign-in.
pub fn public() -> Router {
    Router::new()
        .route("/auth/login", post(login))
        .route("/auth/request-signin-otp", post(request_signin_otp))
        .route("/auth/verify-signin-otp", post(verify_signin_otp))
        .route("/auth/request-password-reset", post(request_password_reset))
        .route("/auth/reset-password", post(reset_password))
        .route_layer(middleware::map_response(no_store))
}

async fn no_store(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl<S: Send + Sync> FromRequestParts<S> for DeviceCookie {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let world = World::of(parts)?;
        Ok(Self::find(&parts.headers, world.settings.behind_tls))
    }
}

pub fn signed_in() -> Router {
    Router::new().route("/auth/me", get(me)).route("/auth/logout", post(logout))
}

/// The calls about the user's own account, for the live screens. All need a session.
pub fn live() -> Router {
    Router::new()
        .route("/profile", get(own_profile).put(put_profile))
        .route("/profile/password", put(put_password))
        .route("/profile/sign-in-code", put(put_sign_in_code))
        .route("/sessions", get(sessions))
        .route("/sessions/{id}", delete(end_session))
}

#[derive(Deserialize)]
struct Login {
    email: Email,
    password: Password,
}

async fn login(
    Extension(auth): Extension<Auth>,
    from: ClientAddress,
    device: DeviceCookie,
    browser: Browser,
    Json(Login { email, password }): Json<Login>,
) -> Result<SignedIn, Failure> {
    sign_in(&auth, from, Credentials { email, password: password.0, otp: None, device, browser }).await
}

#[derive(Deserialize)]
struct LoginWithOtp {
    email: Email,
    password: Password,
    otp: Otp,
}

async fn verify_signin_otp(
    Extension(auth): Extension<Auth>,
    from: ClientAddress,
    device: DeviceCookie,
    browser: Browser,
    Json(LoginWithOtp { email, password, otp }): Json<LoginWithOtp>,
) -> Result<SignedIn, Failure> {
    sign_in(&auth, from, Credentials { email, password: password.0, otp: Some(otp), device, browser }).await
}

#[derive(Deserialize)]
struct EmailOnly {
    email: Email,
}

#[derive(Serialize)]
struct Done {
    message: &'static str,
}

#[derive(Deserialize)]
struct CodeRequest {
    email: Email,
    password: Option<Password>,
}

async fn request_signin_otp(
    Extension(auth): Extension<Auth>,
    from: ClientAddress,
    device: DeviceCookie,
    Json(CodeRequest { email, password }): Json<CodeRequest>,
) -> Result<Answer<Done>, Failure> {
    let password = password.map(|password| password.0);
    otp::send(&auth, from, &device, email, Purpose::SignIn, password).await?;
    Ok(Answer(Done { message: "A verification code was sent to your email." }))
}

async fn request_password_reset(
    Extension(auth): Extension<Auth>,
    from: ClientAddress,
    device: DeviceCookie,
    Json(EmailOnly { email }): Json<EmailOnly>,
) -> Result<Answer<Done>, Failure> {
    otp::send(&auth, from, &device, email, Purpose::PasswordReset, None).await?;
    Ok(Answer(Done { message: "A password reset code was sent to your phone." }))
}

async fn reset_password(
    Extension(auth): Extension<Auth>,
    from: ClientAddress,
    device: DeviceCookie,
    Json(request): Json<ResetRequest>,
) -> Result<Answer<Done>, Failure> {
    password_reset::reset(&auth, from, &device, request).await?;
    Ok(Answer(Done { message: "Your password was reset. Sign in with the new one." }))
}

#[derive(Serialize)]
struct CurrentUser {
    id: StaffId,
    username: String,
    name: String,
    email: Email,
    role: Role,
    phone_number: String,
    created_at: UnixMillis,
}

async fn me(session: Session) -> Answer<CurrentUser> {
    let name = session.staff.name();
    let Staff { staff_id: id, username, email, role, phone_number, created_at, .. } = session.staff;
    Answer(CurrentUser { id, username, name, email, role, phone_number, created_at })
}

async fn logout(
    Extension(auth): Extension<Auth>,
    ClientAddress(address): ClientAddress,
    session: Session,
) -> Result<Response, Failure> {
    let own = session.session_id.clone();
    match end_own_session(&auth, session, address, own).await {
        // It has ended meanwhile.
        Err(failure) if matches!(failure.refusal(), Some(AuthRefusal::SessionNotFound(_))) => {}
        ended => ended?,
    }
    Ok((StatusCode::NO_CONTENT, [("clear-site-data", "\"cache\"")]).into_response())
}

async fn own_profile(Extension(auth): Extension<Auth>, session: Session) -> Result<Answer<Profile>, Failure> {
    Ok(Answer(profile(&auth.world, &session).await?))
}

async fn put_profile(
    Extension(auth): Extension<Auth>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(change): Json<ProfileChange>,
) -> Result<Answer<Profile>, Failure> {
    change_profile(&auth, session.clone(), address, change).await?;
    profile(&auth.world, &session).await.map(Answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasswordChange {
    current_password: Password,
    new_password: Password,
}

async fn put_password(
    Extension(auth): Extension<Auth>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(PasswordChange { current_password, new_password }): Json<PasswordChange>,
) -> Result<(StatusCode, [(HeaderName, HeaderValue); 1]), Failure> {
    let (current, new) = (current_password.0, new_password.0);
    let device_cookie = change_password(&auth, session, address, current, new).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, device_cookie)]))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInCodeChange {
    required: bool,
    password: Password,
}

async fn put_sign_in_code(
    Extension(auth): Extension<Auth>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(SignInCodeChange { required, password }): Json<SignInCodeChange>,
) -> Result<Answer<Profile>, Failure> {
    set_required_code(&auth, &session, address, password.0, required).await?;
    profile(&auth.world, &session).await.map(Answer)
}

async fn sessions(
    Extension(auth): Extension<Auth>,
    session: Session,
) -> Result<Answer<Vec<OwnSession>>, Failure> {
    Ok(Answer(own_sessions(&auth.world, &session).await?))
}

async fn end_session(
    Extension(auth): Extension<Auth>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Path(session_id): Path<SessionId>,
) -> Result<StatusCode, Failure> {
    end_own_session(&auth, session, address, session_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
