//! The refusals of the provider that calls are forwarded to, with their statuses.

use axum::http::StatusCode;

use base::error::Refused;

/// A refusal of the provider that calls are forwarded to. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum ProviderRefusal {
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
}

impl Refused for ProviderRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::ProviderAway => (StatusCode::BAD_GATEWAY, "provider_away"),
            Self::ProviderBroke => (StatusCode::BAD_GATEWAY, "provider_broke"),
            Self::ProviderAnswer(_) => (StatusCode::BAD_GATEWAY, "provider_answer"),
            Self::ProviderSlow => (StatusCode::GATEWAY_TIMEOUT, "provider_slow"),
        }
    }
}
