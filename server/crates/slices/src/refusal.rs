//! The refusals of slices and their builds, with their statuses.

use std::time::Duration;

use axum::http::StatusCode;

use base::error::{Failure, Refused};

/// A refusal of slices and their builds. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum SliceRefusal {
    /// The upload is not a valid build of a slice; the text says why.
    #[error("{0}.")]
    BadBuild(String),
    /// The archive or its content exceeds the limit.
    #[error("A build can have at most 16 MiB and 2,000 files.")]
    BuildTooLarge,
    /// As many builds as may be received at once are.
    #[error("Other builds are being received. Try again in a moment.")]
    TooManyUploads,
    /// The builds of a sandbox leave no room.
    #[error(
        "A sandbox has room for 64 MiB of builds. Remove the builds of a slice there, or use another sandbox."
    )]
    SandboxFull,
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
    /// Another slice or the shell has a menu entry that reads the same.
    #[error("{name} wants the menu entry {label:?}, which {owner} has.")]
    #[expect(missing_docs, reason = "the text says it")]
    LabelTaken { label: String, name: String, owner: String },
    /// No shell is live that could load the slice.
    #[error(
        "This portal has no shell yet: publish mfe-shell first, or set MKOPO_PORTAL_DIR to the built portal."
    )]
    NoPortal,
    /// A slice that browsers get was built for the shell that is live, and not for the one that would be.
    #[error(
        "{name} {version}, which is live, was built for mfe-kit {range}; mfe-shell {shell} has {kit}. Replace the \
         slice first."
    )]
    #[expect(missing_docs, reason = "the text says it")]
    ShellNeeded { name: String, version: String, range: String, shell: String, kit: String },
    /// The shell is to be given to some browsers only.
    #[error("The shell has one build for everybody: publish it without a percentage.")]
    ShellNotRolledOut,
    /// The shell is to be removed.
    #[error("The shell is the page itself, and can't be removed; activate another build of it.")]
    ShellStays,
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
    #[error("Only the portal's own pages can call this.")]
    NotFromPortal,
}

/// A build that can't be accepted, with the reason as a sentence without its full stop.
pub(super) fn bad(text: impl Into<String>) -> Failure {
    SliceRefusal::BadBuild(text.into()).into()
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
