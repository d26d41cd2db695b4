//! Builds of slices, and which of them are live. Published builds are stored in the database, so that
//! every server on it serves them; the portal requests the list of live builds. The build that is bundled with the
//! portal is live until another is published.
//!
//! A sandbox has the builds of `main`, of which the same is live, until it chooses another or one is published in it.
//! Builds that are published in a sandbox are stored in its own database: they exist nowhere else, and go with it.

// The builds and the reports of a world, and the calls that pages make with them.
mod of_world;
pub mod page_call;
mod waiting;

// The parts of a build.
pub mod archive;
mod brings;
mod build;
mod fits;
mod range;
mod refusal;
pub mod shell_build;
mod source_map;

// The builds of a world, and which of them browsers get.
mod builds;
mod file;
mod listed;
pub mod rollout;
mod trail;
mod watched;

// The acts on them.
mod activate;
mod breaking;
mod compress;
mod delete_old;
mod publish;
mod remove;
pub mod roll_out;
mod sandbox_bound;

// The work without a call.
mod crashes;
pub mod reports;
mod taken_back;
pub mod watch;

// The calls.
pub mod api;
pub mod deploy;
pub mod files;

pub use self::{
    activate::{activate, roll_back},
    breaking::publish_breaking,
    brings::{Brings, MenuEntry, Screen, Shell, SliceFailures},
    build::{Build, MANIFEST, SHELL, SliceName},
    builds::{Origin, SLICES_FOLDER, SliceBuild, SliceBuilds, all, live_shell},
    crashes::{CrashPlace, crash_places},
    delete_old::delete_old,
    listed::{Listed, listed},
    of_world::{Shared, Slices},
    publish::{Publication, publish},
    refusal::SliceRefusal,
    remove::remove,
    rollout::{Bucket, Rollout, Share},
    taken_back::rule as taken_back_rule,
    trail::{Mark, SliceAction, SliceEvent, trail},
    waiting::{Dropped, Outcome, Report, Reports},
};
