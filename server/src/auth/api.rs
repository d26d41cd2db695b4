//! The sign-in calls.

use axum::{
    Json as Answer, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    Role, Staff,
    client_address::ClientAddress,
    otp::{self, Otp, Purpose},
    password::MAXIMUM_LENGTH,
    password_reset::{self, PasswordReset},
    session,
    session::Session,
    sign_in::{Credentials, sign_in},
};
use crate::{Sandbox, clock::UnixMillis, email::Email, error::Failure, http::extract::Json};

/// The calls that start a session, and so need none.
pub fn public() -> Router<Sandbox> {
    Router::new()
        .route("/auth/login", post(login))
        .route("/auth/request-signin-otp", post(request_signin_otp))
        .route("/auth/verify-signin-otp", post(verify_signin_otp))
        .route("/auth/request-password-reset", post(request_password_reset))
        .route("/auth/reset-password", post(reset_password))
}

/// The calls that need a session.
pub fn signed_in() -> Router<Sandbox> {
    Router::new().route("/auth/me", get(me)).route("/auth/logout", post(logout))
}

/// A password that is short enough to hash.
struct Password(SecretString);

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let password = SecretString::deserialize(deserializer)?;
        if password.expose_secret().chars().count() > MAXIMUM_LENGTH {
            return Err(de::Error::custom(format!("a password has at most {MAXIMUM_LENGTH} characters")));
        }
        Ok(Self(password))
    }
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
    email: Email,
    role: Role,
}

#[derive(Deserialize)]
struct Login {
    email: Email,
    password: Password,
}

async fn login(
    State(sandbox): State<Sandbox>,
    from: ClientAddress,
    Json(Login { email, password }): Json<Login>,
) -> Result<Answer<SignedInUser>, Failure> {
    signed_in_user(&sandbox, from, Credentials { email, password: password.0, otp: None }).await
}

#[derive(Deserialize)]
struct LoginWithOtp {
    email: Email,
    password: Password,
    otp: Otp,
}

async fn verify_signin_otp(
    State(sandbox): State<Sandbox>,
    from: ClientAddress,
    Json(LoginWithOtp { email, password, otp }): Json<LoginWithOtp>,
) -> Result<Answer<SignedInUser>, Failure> {
    signed_in_user(&sandbox, from, Credentials { email, password: password.0, otp: Some(otp) }).await
}

async fn signed_in_user(
    sandbox: &Sandbox,
    from: ClientAddress,
    credentials: Credentials,
) -> Result<Answer<SignedInUser>, Failure> {
    let signed_in = sign_in(sandbox, from, credentials).await?;
    let name = signed_in.staff.name();
    let Staff { staff_id: id, username, email, role, .. } = signed_in.staff;
    Ok(Answer(SignedInUser { user: TokenUser { token: signed_in.token, id, username, name, email, role } }))
}

#[derive(Deserialize)]
struct EmailOnly {
    email: Email,
}

#[derive(Serialize)]
struct Done {
    message: &'static str,
}

async fn request_signin_otp(
    State(sandbox): State<Sandbox>,
    from: ClientAddress,
    Json(EmailOnly { email }): Json<EmailOnly>,
) -> Result<Answer<Done>, Failure> {
    otp::send(&sandbox, from, email, Purpose::SignIn).await?;
    Ok(Answer(Done { message: "A verification code was sent to your email." }))
}

async fn request_password_reset(
    State(sandbox): State<Sandbox>,
    from: ClientAddress,
    Json(EmailOnly { email }): Json<EmailOnly>,
) -> Result<Answer<Done>, Failure> {
    otp::send(&sandbox, from, email, Purpose::PasswordReset).await?;
    Ok(Answer(Done { message: "A password reset code was sent to your phone." }))
}

#[derive(Deserialize)]
struct ResetRequest {
    email: Email,
    otp: Otp,
    new_password: Password,
}

async fn reset_password(
    State(sandbox): State<Sandbox>,
    from: ClientAddress,
    Json(ResetRequest { email, otp, new_password }): Json<ResetRequest>,
) -> Result<Answer<Done>, Failure> {
    let request = PasswordReset { email, otp, new_password: new_password.0 };
    password_reset::reset(&sandbox, from, request).await?;
    Ok(Answer(Done { message: "Your password was reset. Sign in with the new one." }))
}

#[derive(Serialize)]
struct CurrentUser {
    id: String,
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

async fn logout(State(sandbox): State<Sandbox>, session: Session) -> Result<StatusCode, Failure> {
    session::end(&sandbox.database, session.session_id, sandbox.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
