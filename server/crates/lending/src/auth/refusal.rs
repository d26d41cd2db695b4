//! The refusals of signing in and of accounts, with their statuses.

use std::time::Duration;

use axum::http::StatusCode;

use base::{
    error::{Refused, in_words},
    ids::SessionId,
};

/// A refusal of signing in and of accounts. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum AuthRefusal {
    /// The token is missing or invalid, or the session has ended.
    #[error("You are not signed in, or your session has ended.")]
    NoSession,
    /// No account has this e-mail address.
    #[error("user not found")]
    UserNotFound,
    /// The password is wrong.
    #[error("invalid password")]
    InvalidPassword,
    /// The account is deactivated.
    #[error("account is inactive")]
    AccountInactive,
    /// The password is correct, but the account signs in with a code too.
    #[error("This account signs in with a password and a code. Sign in with a code.")]
    CodeRequired,
    /// The user's role does not include this.
    #[error("Your role does not allow this.")]
    RoleNotAllowed,
    /// The user's role does not include setting this field.
    #[error("Your role does not allow {0} to be set.")]
    FieldNotAllowed(&'static str),
    /// The session, the user or the server has too many open streams.
    #[error("Too many pages are open. Close some of them.")]
    TooManyStreams,
    /// The user has no open session with this id.
    #[error("You have no open session {0}.")]
    SessionNotFound(SessionId),
    /// The code is wrong, used, replaced or expired, or had too many wrong attempts.
    #[error("invalid or expired code")]
    InvalidCode,
    /// The new password has fewer than 6 characters.
    #[error("Password must be at least 6 characters long.")]
    PasswordTooShort,
    /// The new password is common, the user's e-mail address or the brand.
    #[error(
        "Password is too easy to guess. Choose one that is not common, and not your email address or the \
         name of this portal."
    )]
    PasswordTooEasy,
    /// This e-mail address or network address had too many wrong attempts.
    #[error("Too many attempts. Try again in {}.", in_words(*wait))]
    TooManyTries { wait: Duration },
    /// It is too early to send another code.
    #[error("A code was sent a moment ago. Another can be sent in {}.", in_words(*wait))]
    CodeSentAlready { wait: Duration },
    /// Too many concurrent sign-ins to check the password in time.
    #[error("Too many people are signing in. Try again in {}.", in_words(*wait))]
    SignInsWait { wait: Duration },
}

impl Refused for AuthRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NoSession => (StatusCode::UNAUTHORIZED, "no_session"),
            Self::UserNotFound => (StatusCode::NOT_FOUND, "user_not_found"),
            Self::InvalidPassword => (StatusCode::BAD_REQUEST, "invalid_password"),
            Self::AccountInactive => (StatusCode::FORBIDDEN, "account_inactive"),
            Self::CodeRequired => (StatusCode::FORBIDDEN, "code_required"),
            Self::RoleNotAllowed | Self::FieldNotAllowed(_) => (StatusCode::FORBIDDEN, "role_not_allowed"),
            Self::TooManyStreams => (StatusCode::TOO_MANY_REQUESTS, "too_many_streams"),
            Self::SessionNotFound(_) => (StatusCode::NOT_FOUND, "session_not_found"),
            Self::InvalidCode => (StatusCode::BAD_REQUEST, "invalid_code"),
            Self::PasswordTooShort => (StatusCode::UNPROCESSABLE_ENTITY, "password_too_short"),
            Self::PasswordTooEasy => (StatusCode::UNPROCESSABLE_ENTITY, "password_too_easy"),
            Self::TooManyTries { .. } | Self::CodeSentAlready { .. } | Self::SignInsWait { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests")
            }
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::FieldNotAllowed(field) => Some(field),
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooManyTries { wait } | Self::CodeSentAlready { wait } | Self::SignInsWait { wait } => {
                Some(*wait)
            }
            _ => None,
        }
    }
}
