//! Every failure, its status and its body, chosen here and nowhere else.

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::value::RawValue;

/// What can go wrong while answering. The text is for a person; [`Failure::status_and_code`] for a program.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    // Who is asking
    /// No token, a token that is not ours, or a session that ended.
    #[error("You are not signed in, or your session has ended.")]
    NoSession,
    /// The console's token did not come, or another one did.
    #[error("The console needs its token, as `Authorization: Bearer <token>`.")]
    NoConsoleToken,
    /// No account has this e-mail address.
    #[error("user not found")]
    UserNotFound,
    /// The password is not this account's.
    #[error("invalid password")]
    InvalidPassword,
    /// The account was deactivated.
    #[error("account is inactive")]
    AccountInactive,

    /// No such code was sent to them, or it has been used, replaced, tried too often or expired.
    #[error("invalid or expired code")]
    InvalidCode,
    /// The new password has fewer than 6 characters.
    #[error("Password must be at least 6 characters long.")]
    PasswordTooShort,
    /// This e-mail address, or this network address, was wrong too often.
    #[error("Too many tries. Try again in {}.", minutes_or_seconds(*wait))]
    #[expect(missing_docs, reason = "the text says it")]
    TooManyTries { wait: Duration },
    /// Another code can't be sent yet.
    #[error("A code was sent a moment ago. Another can be sent in {}.", minutes_or_seconds(*wait))]
    #[expect(missing_docs, reason = "the text says it")]
    CodeSentAlready { wait: Duration },
    /// So many sign in that this one's password could not be checked in time.
    #[error("Too many people are signing in. Try again in {}.", minutes_or_seconds(*wait))]
    #[expect(missing_docs, reason = "the text says it")]
    SignInsWait { wait: Duration },

    // Paying out
    /// No loan has this id.
    #[error("There is no loan {0}.")]
    LoanNotFound(String),
    /// The loan's money went out before; with the record of that payout.
    #[error("This loan has been disbursed already.")]
    AlreadyDisbursed(Box<RawValue>),
    /// A payout of the loan has not settled yet; with its record.
    #[error("A disbursement of this loan is in progress.")]
    InProgress(Box<RawValue>),
    /// The loan is neither approved nor disbursed.
    #[error("This loan is not approved for disbursement.")]
    NotApproved,
    /// The amount is not the loan's.
    #[error("The amount is not the loan's amount of KES {0}.")]
    AmountMismatch(i64),
    /// The phone number is not the customer's.
    #[error("The phone number is not the customer's.")]
    PhoneMismatch,
    /// Mobile money said no; no money went out.
    #[error("{text}")]
    MobileMoneyRefused {
        /// Mobile money's code; none when the request never reached it.
        result_code: Option<String>,
        /// Mobile money's text for it.
        text: String,
        /// The failed payout.
        record: Box<RawValue>,
    },

    /// The `Idempotency-Key` is not one.
    #[error("The Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare.")]
    BadIdempotencyKey,
    /// The key came before, with another call.
    #[error("This Idempotency-Key was sent with another request before.")]
    IdempotencyKeyReused,
    /// The first call with this key has not been answered yet.
    #[error("The first request with this Idempotency-Key is still running.")]
    IdempotencyKeyInUse,

    // The console
    /// What only demo mode has was asked of a service with real data.
    #[error("This service is not in demo mode: its data can't be replaced by demo data.")]
    NotInDemoMode,
    /// A fault that was asked for.
    #[error("This call was failed on purpose, by a fault that is set in the console.")]
    Injected(StatusCode),
    /// No fault has this id.
    #[error("There is no fault {0}.")]
    FaultNotFound(String),
    /// No snapshot has this name.
    #[error("There is no snapshot {0}.")]
    SnapshotNotFound(String),

    // Slices
    /// What came is no build of a slice; the text says why.
    #[error("{0}.")]
    BadBuild(String),
    /// The archive, or what is in it, is over the limit.
    #[error("A build has at most 16 MiB and 2,000 files.")]
    BuildTooLarge,
    /// A build came with another media type.
    #[error("A build must be sent as application/octet-stream: the archive of its folder.")]
    NoArchive,
    /// The version is another build already.
    #[error("This version was published before, with other files. Give the build another version.")]
    BuildExists,
    /// A newer version is there.
    #[error("Version {version} is below {newest}, which is there already. To go back, roll back.")]
    #[expect(missing_docs, reason = "the text says it")]
    BuildOutdated { version: String, newest: String },
    /// The portal's shell is none that the build was made for.
    #[error("It was built for mfe-kit {range}; this portal has {kit}.")]
    #[expect(missing_docs, reason = "the text says it")]
    WrongShell { range: String, kit: String },
    /// There is no shell here that slices could be for.
    #[error("There is no portal here that a slice could be for; set MKOPO_PORTAL_DIR to the built one.")]
    NoPortal,
    /// No slice has this name.
    #[error("There is no slice {0}.")]
    SliceNotFound(String),
    /// The slice has no build of this version.
    #[error("There is no build {version} of {name}.")]
    #[expect(missing_docs, reason = "the text says it")]
    BuildNotFound { name: String, version: String },
    /// No older build is there.
    #[error("There is no older build to roll back to.")]
    NoPreviousBuild,

    // Requests that can't be answered
    /// The body is not JSON.
    #[error("The body is not valid JSON: {0}.")]
    MalformedJson(String),
    /// The JSON is not what the call takes.
    #[error("The body is not what this call takes: {0}.")]
    InvalidRequest(String),
    /// A value is not one that this call takes; the text says which ones it does.
    #[error("{0}.")]
    BadValue(String),
    /// A field's value is not one that this call takes; the text says which ones it does.
    #[error("{text}.")]
    #[expect(missing_docs, reason = "the text says it")]
    BadField { field: &'static str, text: String },
    /// The body has another media type.
    #[error("The body must be sent as application/json.")]
    UnsupportedMediaType,
    /// The body is over the limit.
    #[error("The body is larger than 64 KiB.")]
    BodyTooLarge,
    /// The body came too slowly.
    #[error("The body did not come within 10 seconds.")]
    BodyTooSlow,
    /// A part of the path or the query is not what the call takes.
    #[error("This call can't be answered: {0}.")]
    BadParameter(String),
    /// The path is unknown.
    #[error("There is nothing at this path.")]
    NotFound,
    /// The path is known, the method is not.
    #[error("This path does not take this method.")]
    MethodNotAllowed,

    // Our own
    /// The call took longer than any should.
    #[error("This took too long and was given up. It may have been done all the same.")]
    TookTooLong,
    /// Too much waits already, or the store is away.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Busy,
    /// The store failed so that it is not known what it kept.
    #[error(
        "Something went wrong on our side, and it is not known whether this was done. Ask again to find out."
    )]
    NotCommitted,
    /// The store refused a statement.
    #[error("Something went wrong on our side.")]
    Storage(#[source] sqlx::Error),
    /// A fault of the program.
    #[error("Something went wrong on our side.")]
    Internal(String),
}

impl Failure {
    /// The status and the name of this failure, as the contract lists them.
    pub fn status_and_code(&self) -> (StatusCode, &'static str) {
        use Failure as F;
        match self {
            F::NoSession => (StatusCode::UNAUTHORIZED, "no_session"),
            F::NoConsoleToken => (StatusCode::UNAUTHORIZED, "no_console_token"),
            F::UserNotFound => (StatusCode::NOT_FOUND, "user_not_found"),
            F::InvalidPassword => (StatusCode::BAD_REQUEST, "invalid_password"),
            F::AccountInactive => (StatusCode::FORBIDDEN, "account_inactive"),
            F::InvalidCode => (StatusCode::BAD_REQUEST, "invalid_code"),
            F::PasswordTooShort => (StatusCode::UNPROCESSABLE_ENTITY, "password_too_short"),
            F::TooManyTries { .. } | F::CodeSentAlready { .. } | F::SignInsWait { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests")
            }
            F::LoanNotFound(_) => (StatusCode::NOT_FOUND, "loan_not_found"),
            F::AlreadyDisbursed(_) => (StatusCode::CONFLICT, "already_disbursed"),
            F::InProgress(_) => (StatusCode::CONFLICT, "in_progress"),
            F::NotApproved => (StatusCode::CONFLICT, "not_approved"),
            F::AmountMismatch(_) => (StatusCode::UNPROCESSABLE_ENTITY, "amount_mismatch"),
            F::PhoneMismatch => (StatusCode::UNPROCESSABLE_ENTITY, "phone_mismatch"),
            F::MobileMoneyRefused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "mobile_money_refused"),
            F::BadIdempotencyKey => (StatusCode::BAD_REQUEST, "bad_idempotency_key"),
            F::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            F::IdempotencyKeyInUse => (StatusCode::CONFLICT, "idempotency_key_in_use"),
            F::NotInDemoMode => (StatusCode::CONFLICT, "not_in_demo_mode"),
            F::Injected(status) => (*status, "injected_fault"),
            F::FaultNotFound(_) => (StatusCode::NOT_FOUND, "fault_not_found"),
            F::SnapshotNotFound(_) => (StatusCode::NOT_FOUND, "snapshot_not_found"),
            F::BadBuild(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_build"),
            F::BuildTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "build_too_large"),
            F::BuildExists => (StatusCode::CONFLICT, "build_exists"),
            F::BuildOutdated { .. } => (StatusCode::CONFLICT, "build_outdated"),
            F::WrongShell { .. } => (StatusCode::CONFLICT, "wrong_shell"),
            F::NoPortal => (StatusCode::CONFLICT, "no_portal"),
            F::SliceNotFound(_) => (StatusCode::NOT_FOUND, "slice_not_found"),
            F::BuildNotFound { .. } => (StatusCode::NOT_FOUND, "build_not_found"),
            F::NoPreviousBuild => (StatusCode::CONFLICT, "no_previous_build"),
            F::MalformedJson(_) => (StatusCode::BAD_REQUEST, "malformed_json"),
            F::InvalidRequest(_) | F::BadValue(_) | F::BadField { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request")
            }
            F::UnsupportedMediaType | F::NoArchive => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            F::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            F::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "body_too_slow"),
            F::TookTooLong => (StatusCode::SERVICE_UNAVAILABLE, "took_too_long"),
            F::BadParameter(_) => (StatusCode::BAD_REQUEST, "bad_parameter"),
            F::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            F::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            F::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            F::NotCommitted => (StatusCode::SERVICE_UNAVAILABLE, "not_known"),
            F::Storage(_) | F::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// The field that it is about, where it is about one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadField { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Whether the database refused a row because another one has its key.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Storage(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy
            | Self::NotCommitted
            | Self::TookTooLong
            | Self::Injected(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => Some(1),
            Self::TooManyTries { wait } | Self::CodeSentAlready { wait } | Self::SignInsWait { wait } => {
                Some(whole_seconds(*wait))
            }
            _ => None,
        }
    }

    /// What the caller hears.
    pub fn body(self) -> FailureBody {
        let (status, code) = self.status_and_code();
        let text = self.to_string();
        let (result_code, record) = match self {
            Self::AlreadyDisbursed(record) | Self::InProgress(record) => (None, Some(record)),
            Self::MobileMoneyRefused { result_code, record, .. } => (result_code, Some(record)),
            _ => (None, None),
        };
        FailureBody { status, code, text, result_code, record }
    }
}

/// How a caller is told of a failure.
#[derive(Clone, Debug)]
pub struct FailureFormat {
    /// Names the request.
    pub request_id: Arc<str>,
    /// As RFC 9457 has it.
    pub problem: bool,
}

/// Rounded up: whoever comes again after so many seconds does not come too early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1)
}

fn minutes_or_seconds(wait: Duration) -> String {
    match whole_seconds(wait) {
        1 => "1 second".to_owned(),
        seconds @ ..=90 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds.div_ceil(60)),
    }
}

/// What a failed answer says, until [`crate::http::edge`] writes it in the form the caller asked for.
#[derive(Clone, Debug)]
pub struct FailureBody {
    status: StatusCode,
    code: &'static str,
    text: String,
    result_code: Option<String>,
    record: Option<Box<RawValue>>,
}

impl FailureBody {
    /// What went wrong, for a person.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The body as JSON: ours, or with the fields of RFC 9457 when `problem`.
    pub fn to_json(&self, request_id: &str, problem: bool) -> Vec<u8> {
        #[derive(Serialize)]
        struct Problem<'a> {
            r#type: &'static str,
            title: &'static str,
            status: u16,
            detail: &'a str,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            #[serde(flatten)]
            problem: Option<Problem<'a>>,
            error: &'a str,
            message: &'a str,
            code: &'static str,
            request_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            result_code: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            record: Option<&'a RawValue>,
        }
        let problem = problem.then(|| Problem {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            detail: &self.text,
        });
        serde_json::to_vec(&Body {
            problem,
            error: &self.text,
            message: &self.text,
            code: self.code,
            request_id,
            result_code: self.result_code.as_deref(),
            record: self.record.as_deref(),
        })
        .unwrap_or_default()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = ?self, "failed");
        } else {
            tracing::debug!(code, "refused");
        }
        let retry_after = self.retry_after_seconds();
        let mut response = status.into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self.body());
        response
    }
}
