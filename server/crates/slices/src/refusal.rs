//! The refusals of slices and their builds, with their statuses.

use std::time::Duration;

use axum::http::StatusCode;

use base::{
    error::{Failure, Refused},
    text::shown,
};

/// A refusal of slices and their builds. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum SliceRefusal {
    /// The upload is not a valid build of a slice; the text says why.
    #[error("{0}.")]
    BadBuild(String),
    /// The archive or its content exceeds the limit.
    #[error("A build can have at most 16 MiB and 2,000 files.")]
    BuildTooLarge,
    #[error("Other builds are being received. Try again in a moment.")]
    TooManyUploads,
    #[error(
        "A sandbox has room for 64 MiB of builds. Remove the builds of a slice there, or use another sandbox."
    )]
    SandboxFull,
    #[error("A build must be sent as application/octet-stream, as an archive of its folder.")]
    NoArchive,
    #[error("This version was already published with different files. Give the build another version.")]
    BuildExists,
    #[error(
        "Version {version} is lower than {live}, which is live. To go back to an existing build, roll back; \
         to publish this one, use --force (in the API, force=true)."
    )]
    BuildOutdated { version: String, live: String },
    /// The build does not support the version of a library that the portal's shell shares.
    #[error("It was built for {library} {range}; this shell has {carried}.")]
    WrongShell { library: String, range: String, carried: String },
    /// The deploy token is missing, wrong or revoked.
    #[error("This needs a valid deploy token: send `Authorization: Bearer <token>`.")]
    NoDeployToken,
    #[error("The deploy token {name} of {slice} has expired; `mkopo slice token add` makes another.")]
    DeployTokenExpired { slice: String, name: String },
    #[error("This token deploys {token}, and not {slice}.")]
    WrongSlice { token: String, slice: String },
    #[error("{slice} has a deploy token {name} already; revoke it first, or use another name.")]
    DeployTokenExists { slice: String, name: String },
    #[error("{slice} has no deploy token {name}.")]
    DeployTokenNotFound { slice: String, name: String },
    /// Another slice, the shell or the server already has a path of the build.
    #[error("{name} wants the path {path}, which {owner} has.")]
    PathTaken { path: String, name: String, owner: String },
    /// Another slice or the shell has a menu entry that reads the same.
    #[error("{name} wants the menu entry {label:?}, which {owner} has.")]
    LabelTaken { label: String, name: String, owner: String },
    /// No shell is live that could load the slice.
    #[error(
        "This portal has no shell yet: publish mfe-shell first, or set MKOPO_PORTAL_DIR to the built portal."
    )]
    NoPortal,
    /// A slice that browsers get was built for the shell that is live, and not for the one that would be.
    #[error(
        "{name} {version}, which is live, was built for {library} {range}; mfe-shell {shell} has {carried}. Replace \
         the slice first."
    )]
    ShellNeeded {
        name: String,
        version: String,
        library: String,
        range: String,
        shell: String,
        carried: String,
    },
    /// The shell is to be given to some browsers only.
    #[error("The shell has one build for everybody: publish it without a percentage.")]
    ShellNotRolledOut,
    #[error("The shell is the page itself, and can't be removed; activate another build of it.")]
    ShellStays,
    #[error("There is no slice {0}.")]
    SliceNotFound(String),
    #[error("There is no build {version} of {name}.")]
    BuildNotFound { name: String, version: String },
    #[error("{0} has no published build; the one that is bundled with the portal can't be removed.")]
    NothingPublished(String),
    #[error("There is no build to roll back to.")]
    NoPreviousBuild,
    /// A rollout of the slice runs, and this would change the live build.
    #[error("The rollout of {name} {version} runs, at {percent}%. Promote or abort it first.")]
    RolloutRuns { name: String, version: String, percent: u8 },
    /// An act on a version would by now be done with another. Only the forms of the console say which one they mean.
    #[error("{0} has changed meanwhile. Nothing was done; look again.")]
    Changed(String),
    #[error("There is no rollout of {0}.")]
    NoRollout(String),
    #[error("{name} {version} is live already.")]
    AlreadyLive { name: String, version: String },
    /// A rollout in a sandbox besides `main`.
    #[error("A sandbox has one build of a slice for everybody: publish without a percentage, or to main.")]
    NotInSandbox,
    /// A page of another origin, or no page, reported on a slice.
    #[error("Only the portal's own pages can call this.")]
    NotFromPortal,
}

/// A build that can't be accepted, with the reason as a sentence without its full stop.
pub(super) fn bad(text: impl Into<String>) -> Failure {
    SliceRefusal::BadBuild(text.into()).into()
}

/// The beginning of what a build says, in quotation marks: it may be of any length.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shown(text, 100))
}

/// The beginning of why a file can't be read: the reason may quote a part of the file, of any length.
pub(super) fn reason(error: &serde_json::Error) -> String {
    shown(&error.to_string(), 200)
}

impl Refused for SliceRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::BadBuild(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad_build"),
            Self::BuildTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "build_too_large"),
            Self::TooManyUploads => (StatusCode::TOO_MANY_REQUESTS, "too_many_uploads"),
            Self::SandboxFull => (StatusCode::CONFLICT, "sandbox_full"),
            Self::NoArchive => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::BuildExists => (StatusCode::CONFLICT, "build_exists"),
            Self::BuildOutdated { .. } => (StatusCode::CONFLICT, "build_outdated"),
            Self::WrongShell { .. } => (StatusCode::CONFLICT, "wrong_shell"),
            Self::NoDeployToken => (StatusCode::UNAUTHORIZED, "no_deploy_token"),
            Self::DeployTokenExpired { .. } => (StatusCode::UNAUTHORIZED, "deploy_token_expired"),
            Self::WrongSlice { .. } => (StatusCode::FORBIDDEN, "wrong_slice"),
            Self::DeployTokenExists { .. } => (StatusCode::CONFLICT, "deploy_token_exists"),
            Self::DeployTokenNotFound { .. } => (StatusCode::NOT_FOUND, "deploy_token_not_found"),
            Self::PathTaken { .. } => (StatusCode::CONFLICT, "path_taken"),
            Self::LabelTaken { .. } => (StatusCode::CONFLICT, "label_taken"),
            Self::NoPortal => (StatusCode::CONFLICT, "no_portal"),
            Self::ShellNeeded { .. } => (StatusCode::CONFLICT, "shell_needed"),
            Self::ShellNotRolledOut => (StatusCode::CONFLICT, "shell_not_rolled_out"),
            Self::ShellStays => (StatusCode::CONFLICT, "shell_stays"),
            Self::SliceNotFound(_) => (StatusCode::NOT_FOUND, "slice_not_found"),
            Self::BuildNotFound { .. } => (StatusCode::NOT_FOUND, "build_not_found"),
            Self::NothingPublished(_) => (StatusCode::CONFLICT, "nothing_published"),
            Self::NoPreviousBuild => (StatusCode::CONFLICT, "no_previous_build"),
            Self::RolloutRuns { .. } => (StatusCode::CONFLICT, "rollout_runs"),
            Self::Changed(_) => (StatusCode::CONFLICT, "slice_changed"),
            Self::NoRollout(_) => (StatusCode::CONFLICT, "no_rollout"),
            Self::AlreadyLive { .. } => (StatusCode::CONFLICT, "already_live"),
            Self::NotInSandbox => (StatusCode::CONFLICT, "not_in_sandbox"),
            Self::NotFromPortal => (StatusCode::FORBIDDEN, "cross_site"),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        matches!(self, Self::TooManyUploads).then_some(Duration::from_secs(1))
    }
}
