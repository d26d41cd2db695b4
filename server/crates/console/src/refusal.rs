//! The refusals of the console, with their statuses.

use std::time::Duration;

use axum::http::StatusCode;

use base::error::Refused;

/// A refusal of the console. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleRefusal {
    /// The console's token is missing or wrong.
    #[error("The console's token is missing or wrong: send `Authorization: Bearer <token>`.")]
    NoConsoleToken,
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
    /// The address already has an account.
    #[error("{0} already has an account.")]
    AccountExists(String),
    /// No snapshot has this name.
    #[error("There is no snapshot {0}.")]
    SnapshotNotFound(String),
    /// The sandbox tells no story.
    #[error("This sandbox tells no story.")]
    NoStory,
    /// The code of a guest is wrong.
    #[error("This address does not lead to a sandbox any more.")]
    NoEntry,
    /// No link has this id, or it was revoked.
    #[error("There is no such link.")]
    LinkNotFound,
    /// There are as many links as there may be.
    #[error("There are 200 links that work: revoke some first.")]
    TooManyLinks,
}

impl Refused for ConsoleRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NoConsoleToken => (StatusCode::UNAUTHORIZED, "no_console_token"),
            Self::ToolsOff => (StatusCode::FORBIDDEN, "tools_off"),
            Self::NotWithProvider => (StatusCode::FORBIDDEN, "not_with_provider"),
            Self::CrossSite => (StatusCode::FORBIDDEN, "cross_site"),
            Self::NotInDemoMode => (StatusCode::CONFLICT, "not_in_demo_mode"),
            Self::Injected(status) => (*status, "injected_fault"),
            Self::AccountExists(_) => (StatusCode::CONFLICT, "account_exists"),
            Self::SnapshotNotFound(_) => (StatusCode::NOT_FOUND, "snapshot_not_found"),
            Self::NoStory => (StatusCode::NOT_FOUND, "no_story"),
            Self::NoEntry => (StatusCode::NOT_FOUND, "no_entry"),
            Self::LinkNotFound => (StatusCode::NOT_FOUND, "link_not_found"),
            Self::TooManyLinks => (StatusCode::TOO_MANY_REQUESTS, "too_many_links"),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Injected(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
                Some(Duration::from_secs(1))
            }
            _ => None,
        }
    }
}
