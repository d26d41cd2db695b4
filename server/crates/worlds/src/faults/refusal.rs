//! The refusals of acts on faults, with their statuses.

use axum::http::StatusCode;

use base::error::Refused;

/// A refusal of an act on faults. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum FaultRefusal {
    /// No fault has this id.
    #[error("There is no fault {0}.")]
    FaultNotFound(String),
}

impl Refused for FaultRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::FaultNotFound(_) => (StatusCode::NOT_FOUND, "fault_not_found"),
        }
    }
}
