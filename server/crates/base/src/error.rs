//! All failures, with their status and body.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    ids::{LoanId, SessionId},
    kes::Kes,
};

/// A failed call. The text is for people; the code of [`Failure::status_and_code`] is for programs.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    // Authentication
    /// The token is missing or invalid, or the session has ended.
    #[error("You are not signed in, or your session has ended.")]
    NoSession,
    /// The console's token is missing or wrong.
    #[error("The console requires its token: send `Authorization: Bearer <token>`.")]
    NoConsoleToken,
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
    #[expect(missing_docs, reason = "the text says it")]
    TooManyTries { wait: Duration },
    /// It is too early to send another code.
    #[error("A code was sent a moment ago. Another can be sent in {}.", in_words(*wait))]
    #[expect(missing_docs, reason = "the text says it")]
    CodeSentAlready { wait: Duration },
    /// Too many concurrent sign-ins to check the password in time.
    #[error("Too many people are signing in. Try again in {}.", in_words(*wait))]
    #[expect(missing_docs, reason = "the text says it")]
    SignInsWait { wait: Duration },

    // Paying out
    /// No loan has this id.
    #[error("There is no loan {0}.")]
    LoanNotFound(LoanId),
    /// The loan has already been paid out; with the record of that payout.
    #[error("This loan has already been disbursed.")]
    AlreadyDisbursed(Box<RawValue>),
    /// A payout of the loan has not settled yet; with its record.
    #[error("A disbursement of this loan is in progress.")]
    InProgress(Box<RawValue>),
    /// The loan is neither approved nor disbursed.
    #[error("This loan is not approved for disbursement.")]
    NotApproved,
    /// The amount differs from the loan's.
    #[error("The amount is not the loan's amount of {0}.")]
    AmountMismatch(Kes),
    /// The loan's amount is above the maximum that an administrator has set.
    #[error("A payout may have at most {0}. An administrator can change this in Settings.")]
    AboveMaximum(Kes),
    /// The phone number differs from the customer's.
    #[error("The phone number is not the customer's.")]
    PhoneMismatch,
    /// Mobile money refused the payment; no money was sent.
    #[error("{text}")]
    MobileMoneyRefused {
        /// Mobile money's result code; `None` if the request never reached it.
        result_code: Option<String>,
        /// Mobile money's text for the code.
        text: String,
        /// The failed payout.
        record: Box<RawValue>,
    },

    /// The `Idempotency-Key` is invalid.
    #[error("The Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare.")]
    BadIdempotencyKey,
    /// The key was used with a different call.
    #[error("This Idempotency-Key was already used with a different request.")]
    IdempotencyKeyReused,
    /// The first call with this key has not been answered yet.
    #[error("The first request with this Idempotency-Key is still running.")]
    IdempotencyKeyInUse,

    // The console
    /// The tools of the console are off.
    #[error("This tool is off: it is available in demo mode, and where MKOPO_TOOLS is true.")]
    ToolsOff,
    /// The tool would change this service, but the portal's calls go to another provider.
    #[error(
        "Not available here: the portal's calls are forwarded to another provider, and this would neither \
         show nor change anything there."
    )]
    NotWithProvider,
    /// A page of another origin made the request with somebody's browser.
    #[error("Pages of other sites can't use the console.")]
    CrossSite,
    /// The call is only available in demo mode.
    #[error("This service is not in demo mode: its data can't be replaced by demo data.")]
    NotInDemoMode,
    /// An injected fault.
    #[error("This call failed on purpose because of a fault that is set in the console.")]
    Injected(StatusCode),
    /// No fault has this id.
    #[error("There is no fault {0}.")]
    FaultNotFound(String),
    /// The address already has an account.
    #[error("{0} already has an account.")]
    AccountExists(String),
    /// No snapshot has this name.
    #[error("There is no snapshot {0}.")]
    SnapshotNotFound(String),

    // Sandboxes
    /// No sandbox has this name.
    #[error("There is no sandbox {0}.")]
    SandboxNotFound(String),
    /// The sandbox's data is on another server of the deployment.
    #[error("The sandbox {0} is on another server of this deployment. Send its calls there.")]
    SandboxElsewhere(String),
    /// The name is taken.
    #[error("There is already a sandbox {0}.")]
    SandboxExists(String),
    /// There is already the maximum number of sandboxes.
    #[error("There are already {0} sandboxes, as many as MKOPO_SANDBOXES allows. Remove one first.")]
    TooManySandboxes(u32),
    /// The sandbox `main` can't be removed.
    #[error("The sandbox main is the deployment itself, and can't be removed.")]
    MainSandbox,
    /// The disk is full.
    #[error("There is no room on the server's disk. Nothing was made.")]
    NoRoom,

    // Slices
    /// The upload is not a valid build of a slice; the text says why.
    #[error("{0}.")]
    BadBuild(String),
    /// The archive or its content exceeds the limit.
    #[error("A build can have at most 16 MiB and 2,000 files.")]
    BuildTooLarge,
    /// A build was sent with a different media type.
    #[error("A build must be sent as application/octet-stream, as an archive of its folder.")]
    NoArchive,
    /// The version is already published with different files.
    #[error("This version was already published with different files. Give the build another version.")]
    BuildExists,
    /// A newer version is live.
    #[error(
        "Version {version} is lower than {live}, which is live. To go back to an existing build, roll back; \
         to publish this one, use --force (in the API, force=true)."
    )]
    #[expect(missing_docs, reason = "the text says it")]
    BuildOutdated { version: String, live: String },
    /// The build does not support the version of a library that the portal's shell shares.
    #[error("It was built for {library} {range}; this shell has {carried}.")]
    #[expect(missing_docs, reason = "the text says it")]
    WrongShell { library: String, range: String, carried: String },
    /// The deploy token is missing, wrong or revoked.
    #[error("This needs a valid deploy token: send `Authorization: Bearer <token>`.")]
    NoDeployToken,
    /// The deploy token has expired.
    #[error("The deploy token {name} of {slice} has expired; `mkopo slice token add` makes another.")]
    #[expect(missing_docs, reason = "the text says it")]
    DeployTokenExpired { slice: String, name: String },
    /// The deploy token is another slice's.
    #[error("This token deploys {token}, and not {slice}.")]
    #[expect(missing_docs, reason = "the text says it")]
    WrongSlice { token: String, slice: String },
    /// The slice has a deploy token of that name.
    #[error("{slice} has a deploy token {name} already; revoke it first, or use another name.")]
    #[expect(missing_docs, reason = "the text says it")]
    DeployTokenExists { slice: String, name: String },
    /// The slice has no deploy token of that name.
    #[error("{slice} has no deploy token {name}.")]
    #[expect(missing_docs, reason = "the text says it")]
    DeployTokenNotFound { slice: String, name: String },
    /// Another slice, the shell or the server already has a path of the build.
    #[error("{name} wants the path {path}, which {owner} has.")]
    #[expect(missing_docs, reason = "the text says it")]
    PathTaken { path: String, name: String, owner: String },
    /// The server does not serve a portal.
    #[error("This server has no portal to publish slices to; set MKOPO_PORTAL_DIR to the built portal.")]
    NoPortal,
    /// No slice has this name.
    #[error("There is no slice {0}.")]
    SliceNotFound(String),
    /// The slice has no build of this version.
    #[error("There is no build {version} of {name}.")]
    #[expect(missing_docs, reason = "the text says it")]
    BuildNotFound { name: String, version: String },
    /// The slice has no published build to remove.
    #[error("{0} has no published build; the one that is bundled with the portal can't be removed.")]
    NothingPublished(String),
    /// No older build exists.
    #[error("There is no older build to roll back to.")]
    NoPreviousBuild,
    /// A rollout of the slice runs, and this would change the live build.
    #[error("The rollout of {name} {version} runs, at {percent}%. Promote or abort it first.")]
    #[expect(missing_docs, reason = "the text says it")]
    RolloutRuns { name: String, version: String, percent: u8 },
    /// No rollout of the slice runs.
    #[error("There is no rollout of {0}.")]
    NoRollout(String),
    /// The build to roll out is live.
    #[error("{name} {version} is live already.")]
    #[expect(missing_docs, reason = "the text says it")]
    AlreadyLive { name: String, version: String },
    /// A rollout in a sandbox besides `main`.
    #[error("A sandbox has one build of a slice for everybody: publish without a percentage, or to main.")]
    NotInSandbox,

    /// A page of another origin, or no page, reported on a slice.
    #[error("Reports are accepted from the portal's own pages only.")]
    NotFromPortal,

    // Invalid requests
    /// The body is not JSON.
    #[error("The body is not valid JSON: {0}.")]
    MalformedJson(String),
    /// The JSON does not have the fields of this call.
    #[error("The request body is invalid: {0}.")]
    InvalidRequest(String),
    /// A value is not valid for this call; the text says which values are.
    #[error("{0}.")]
    BadValue(String),
    /// A field's value is not valid for this call; the text says which values are.
    #[error("{text}.")]
    #[expect(missing_docs, reason = "the text says it")]
    BadField { field: &'static str, text: String },
    /// The body has the wrong media type.
    #[error("The body must be sent as application/json.")]
    UnsupportedMediaType,
    /// The body exceeds the limit.
    #[error("The body is larger than {0}.")]
    BodyTooLarge(&'static str),
    /// The body arrived too slowly.
    #[error("The body was not received within 10 seconds.")]
    BodyTooSlow,
    /// A part of the path or the query is invalid.
    #[error("The request is invalid: {0}.")]
    BadParameter(String),
    /// The URI is longer than 1 KiB.
    #[error("The address is longer than 1 KiB.")]
    UriTooLong,
    /// The path is unknown.
    #[error("There is nothing at this path.")]
    NotFound,
    /// The path exists, but not with this method.
    #[error("This path does not support this method.")]
    MethodNotAllowed,

    // The provider that calls are forwarded to
    /// No connection to the provider could be made.
    #[error("The provider can't be reached. Nothing was done; try again in a moment.")]
    ProviderAway,
    /// The provider closed the connection before its answer was complete.
    #[error("The provider broke the connection off before it had answered. It may still have been done.")]
    ProviderBroke,
    /// The provider's answer can't be passed on; the text says why.
    #[error("The provider's answer can't be passed on: {0}. What was asked for may still have been done.")]
    ProviderAnswer(String),
    /// The provider took too long.
    #[error("The provider did not answer in time. It may still have been done.")]
    ProviderSlow,

    // Server errors
    /// The call timed out.
    #[error("This took too long and was cancelled. It may still have been done.")]
    TookTooLong,
    /// The write queue is full, or the database is unavailable.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Busy,
    /// PostgreSQL undid the write because of another one: a deadlock, or a failed serialization.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Conflict,
    /// The database failed, and it is unknown whether the transaction was committed.
    #[error(
        "Something went wrong on our side, and it is unknown whether this was done. Ask again to find out."
    )]
    NotCommitted,
    /// The database rejected a statement.
    #[error("Something went wrong on our side.")]
    Storage(#[source] sqlx::Error),
    /// A bug.
    #[error("Something went wrong on our side.")]
    Internal(String),
}

impl Failure {
    /// The status and code of this failure, as listed in the contract.
    pub fn status_and_code(&self) -> (StatusCode, &'static str) {
        use Failure as F;
        match self {
            F::NoSession => (StatusCode::UNAUTHORIZED, "no_session"),
            F::NoConsoleToken => (StatusCode::UNAUTHORIZED, "no_console_token"),
            F::ToolsOff => (StatusCode::FORBIDDEN, "tools_off"),
            F::NotWithProvider => (StatusCode::FORBIDDEN, "not_with_provider"),
            F::CrossSite | F::NotFromPortal => (StatusCode::FORBIDDEN, "cross_site"),
            F::UserNotFound => (StatusCode::NOT_FOUND, "user_not_found"),
            F::InvalidPassword => (StatusCode::BAD_REQUEST, "invalid_password"),
            F::AccountInactive => (StatusCode::FORBIDDEN, "account_inactive"),
            F::CodeRequired => (StatusCode::FORBIDDEN, "code_required"),
            F::RoleNotAllowed | F::FieldNotAllowed(_) => (StatusCode::FORBIDDEN, "role_not_allowed"),
            F::TooManyStreams => (StatusCode::TOO_MANY_REQUESTS, "too_many_streams"),
            F::SessionNotFound(_) => (StatusCode::NOT_FOUND, "session_not_found"),
            F::InvalidCode => (StatusCode::BAD_REQUEST, "invalid_code"),
            F::PasswordTooShort => (StatusCode::UNPROCESSABLE_ENTITY, "password_too_short"),
            F::PasswordTooEasy => (StatusCode::UNPROCESSABLE_ENTITY, "password_too_easy"),
            F::TooManyTries { .. } | F::CodeSentAlready { .. } | F::SignInsWait { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests")
            }
            F::LoanNotFound(_) => (StatusCode::NOT_FOUND, "loan_not_found"),
            F::AlreadyDisbursed(_) => (StatusCode::CONFLICT, "already_disbursed"),
            F::InProgress(_) => (StatusCode::CONFLICT, "in_progress"),
            F::NotApproved => (StatusCode::CONFLICT, "not_approved"),
            F::AmountMismatch(_) => (StatusCode::UNPROCESSABLE_ENTITY, "amount_mismatch"),
            F::AboveMaximum(_) => (StatusCode::UNPROCESSABLE_ENTITY, "amount_above_maximum"),
            F::PhoneMismatch => (StatusCode::UNPROCESSABLE_ENTITY, "phone_mismatch"),
            F::MobileMoneyRefused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "mobile_money_refused"),
            F::BadIdempotencyKey => (StatusCode::BAD_REQUEST, "bad_idempotency_key"),
            F::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            F::IdempotencyKeyInUse => (StatusCode::CONFLICT, "idempotency_key_in_use"),
            F::NotInDemoMode => (StatusCode::CONFLICT, "not_in_demo_mode"),
            F::Injected(status) => (*status, "injected_fault"),
            F::FaultNotFound(_) => (StatusCode::NOT_FOUND, "fault_not_found"),
            F::AccountExists(_) => (StatusCode::CONFLICT, "account_exists"),
            F::SnapshotNotFound(_) => (StatusCode::NOT_FOUND, "snapshot_not_found"),
            F::SandboxNotFound(_) => (StatusCode::NOT_FOUND, "sandbox_not_found"),
            F::SandboxElsewhere(_) => (StatusCode::MISDIRECTED_REQUEST, "sandbox_elsewhere"),
            F::SandboxExists(_) => (StatusCode::CONFLICT, "sandbox_exists"),
            F::TooManySandboxes(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_sandboxes"),
            F::MainSandbox => (StatusCode::FORBIDDEN, "main_sandbox"),
            F::NoRoom => (StatusCode::INSUFFICIENT_STORAGE, "no_room"),
            F::BadBuild(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_build"),
            F::BuildTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "build_too_large"),
            F::BuildExists => (StatusCode::CONFLICT, "build_exists"),
            F::BuildOutdated { .. } => (StatusCode::CONFLICT, "build_outdated"),
            F::WrongShell { .. } => (StatusCode::CONFLICT, "wrong_shell"),
            F::NoDeployToken => (StatusCode::UNAUTHORIZED, "no_deploy_token"),
            F::DeployTokenExpired { .. } => (StatusCode::UNAUTHORIZED, "deploy_token_expired"),
            F::WrongSlice { .. } => (StatusCode::FORBIDDEN, "wrong_slice"),
            F::DeployTokenExists { .. } => (StatusCode::CONFLICT, "deploy_token_exists"),
            F::DeployTokenNotFound { .. } => (StatusCode::NOT_FOUND, "deploy_token_not_found"),
            F::PathTaken { .. } => (StatusCode::CONFLICT, "path_taken"),
            F::NoPortal => (StatusCode::CONFLICT, "no_portal"),
            F::SliceNotFound(_) => (StatusCode::NOT_FOUND, "slice_not_found"),
            F::BuildNotFound { .. } => (StatusCode::NOT_FOUND, "build_not_found"),
            F::NothingPublished(_) => (StatusCode::CONFLICT, "nothing_published"),
            F::NoPreviousBuild => (StatusCode::CONFLICT, "no_previous_build"),
            F::RolloutRuns { .. } => (StatusCode::CONFLICT, "rollout_runs"),
            F::NoRollout(_) => (StatusCode::CONFLICT, "no_rollout"),
            F::AlreadyLive { .. } => (StatusCode::CONFLICT, "already_live"),
            F::NotInSandbox => (StatusCode::CONFLICT, "not_in_sandbox"),
            F::MalformedJson(_) => (StatusCode::BAD_REQUEST, "malformed_json"),
            F::InvalidRequest(_) | F::BadValue(_) | F::BadField { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request")
            }
            F::UnsupportedMediaType | F::NoArchive => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            F::BodyTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            F::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "body_too_slow"),
            F::TookTooLong => (StatusCode::SERVICE_UNAVAILABLE, "took_too_long"),
            F::BadParameter(_) => (StatusCode::BAD_REQUEST, "bad_parameter"),
            F::UriTooLong => (StatusCode::URI_TOO_LONG, "uri_too_long"),
            F::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            F::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            F::ProviderAway => (StatusCode::BAD_GATEWAY, "provider_away"),
            F::ProviderBroke => (StatusCode::BAD_GATEWAY, "provider_broke"),
            F::ProviderAnswer(_) => (StatusCode::BAD_GATEWAY, "provider_answer"),
            F::ProviderSlow => (StatusCode::GATEWAY_TIMEOUT, "provider_slow"),
            F::Busy | F::Conflict => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            F::NotCommitted => (StatusCode::SERVICE_UNAVAILABLE, "not_known"),
            F::Storage(_) | F::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// The field that the failure is about, if any.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadField { field, .. } | Self::FieldNotAllowed(field) => Some(field),
            _ => None,
        }
    }

    /// Returns whether the database rejected a row because its key already exists.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Storage(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy
            | Self::Conflict
            | Self::NotCommitted
            | Self::TookTooLong
            | Self::Injected(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => Some(1),
            Self::TooManyTries { wait } | Self::CodeSentAlready { wait } | Self::SignInsWait { wait } => {
                Some(whole_seconds(*wait))
            }
            _ => None,
        }
    }

    /// The body of the answer.
    pub fn body(self) -> FailureBody {
        let (status, code) = self.status_and_code();
        let text = self.to_string();
        let field = self.field();
        let (result_code, record) = match self {
            Self::AlreadyDisbursed(record) | Self::InProgress(record) => (None, Some(record)),
            Self::MobileMoneyRefused { result_code, record, .. } => (result_code, Some(record)),
            _ => (None, None),
        };
        FailureBody { status, code, field, text, result_code, record }
    }
}

/// The format of a failure in an answer.
#[derive(Clone, Debug)]
pub struct FailureFormat {
    /// The id of the request.
    pub request_id: Arc<str>,
    /// Whether to use the format of RFC 9457.
    pub problem: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for FailureFormat {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let format = parts.extensions.get::<Self>().cloned();
        format.ok_or_else(|| Failure::Internal("the request has no id".to_owned()))
    }
}

/// Returns `wait` in seconds, rounded up so that a retry is not too early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1)
}

fn in_words(wait: Duration) -> String {
    match whole_seconds(wait) {
        1 => "1 second".to_owned(),
        seconds @ ..=90 => format!("{seconds} seconds"),
        seconds @ ..=7200 => format!("{} minutes", seconds.div_ceil(60)),
        seconds => format!("{} hours", seconds.div_ceil(3600)),
    }
}

/// The content of a failed answer. The edge of the program writes it in the requested format.
#[derive(Clone, Debug)]
pub struct FailureBody {
    status: StatusCode,
    code: &'static str,
    field: Option<&'static str>,
    text: String,
    result_code: Option<String>,
    record: Option<Box<RawValue>>,
}

impl FailureBody {
    /// The text for people.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The body as JSON, with the fields of RFC 9457 if `problem`.
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
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'static str>,
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
            field: self.field,
            request_id,
            result_code: self.result_code.as_deref(),
            record: self.record.as_deref(),
        })
        .unwrap_or_default()
    }
}

/// What caused a 500, as an extension of the response. It is not sent: tests in the same process show it.
#[derive(Clone, Debug)]
pub struct Cause(pub String);

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
        if matches!(self, Self::Storage(_) | Self::Internal(_)) {
            response.extensions_mut().insert(Cause(format!("{self:?}")));
        }
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

/// The media type of RFC 9457.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// The media type of a failure: JSON, or problem+json (RFC 9457) if `problem`.
pub fn failure_media_type(problem: bool) -> HeaderValue {
    HeaderValue::from_static(if problem { PROBLEM_JSON } else { "application/json" })
}
