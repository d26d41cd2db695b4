//! How many sandboxes may be open at once: each has files open.

/// How many may be open at once, if the process may have that many files.
const MAX_OPEN: usize = 1000;

/// The fewest that may be open at once.
const MIN_OPEN: usize = 16;

/// The files that everything else has open, and those of one open sandbox.
const OTHER_FILES: u64 = 2000;
const FILES_EACH: u64 = 14;

/// Raises the number of files that this process may have open, as far as it is allowed to: many systems begin
/// with 1,024.
#[cfg(unix)]
pub fn allow_more() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    let wanted = OTHER_FILES + FILES_EACH * u64::try_from(MAX_OPEN).unwrap_or_default();
    let Some(current) = limit.current else { return };
    let allowed = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if current < allowed {
        limit.current = Some(allowed);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(%error, "open_files.not_raised");
        }
    }
}

/// Nothing, where processes have no such limit.
#[cfg(not(unix))]
pub fn allow_more() {}

/// How many sandboxes may be open at once.
pub(super) fn max_open() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None;
    let Some(files) = files else { return MAX_OPEN };
    let room = usize::try_from(files.saturating_sub(OTHER_FILES) / FILES_EACH).unwrap_or(MAX_OPEN);
    room.clamp(MIN_OPEN, MAX_OPEN)
}
