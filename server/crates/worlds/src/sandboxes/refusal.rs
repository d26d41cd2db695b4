//! The refusals of sandboxes, with their statuses.

use axum::http::StatusCode;

use base::error::Refused;

/// A refusal of sandboxes. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum SandboxRefusal {
    /// No sandbox has this name.
    #[error("There is no sandbox {0}.")]
    SandboxNotFound(String),
    /// The sandbox's data is on another server of the deployment.
    #[error("The sandbox {0} is on another server of this deployment. Send its calls there.")]
    SandboxElsewhere(String),
    /// The request is for a host that the server is not known by.
    #[error(
        "This server is not known as {0}. Set MKOPO_PUBLIC_URL to the address that people use, and \
         MKOPO_CONSOLE_PUBLIC_URL for the console."
    )]
    UnknownHost(String),
    /// The name is taken.
    #[error("There is already a sandbox {0}.")]
    SandboxExists(String),
    /// There is already the maximum number of sandboxes.
    #[error("There are already {0} sandboxes, as many as MKOPO_SANDBOXES allows. Remove one first.")]
    TooManySandboxes(u32),
    /// The sandbox `main` can't be removed.
    #[error("The sandbox main is the deployment itself, and can't be removed.")]
    MainSandbox,
}

impl Refused for SandboxRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::SandboxNotFound(_) => (StatusCode::NOT_FOUND, "sandbox_not_found"),
            Self::SandboxElsewhere(_) => (StatusCode::MISDIRECTED_REQUEST, "sandbox_elsewhere"),
            Self::UnknownHost(_) => (StatusCode::MISDIRECTED_REQUEST, "unknown_host"),
            Self::SandboxExists(_) => (StatusCode::CONFLICT, "sandbox_exists"),
            Self::TooManySandboxes(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_sandboxes"),
            Self::MainSandbox => (StatusCode::FORBIDDEN, "main_sandbox"),
        }
    }

    fn field(&self) -> Option<&'static str> {
        matches!(self, Self::SandboxExists(_)).then_some("name")
    }
}
