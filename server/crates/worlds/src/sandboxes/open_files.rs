//! The numbers of sandboxes and connections that may be open at once, as limited by their open files.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Maximum number of open sandboxes, if the process may open enough files.
const MAX_OPEN: usize = 1000;

/// Number of open sandboxes that is always allowed.
const MIN_OPEN: usize = 16;

/// The number of open files besides those of sandboxes, and the number for each open sandbox.
const OTHER_FILES: u64 = 2000;
const FILES_EACH: u64 = 14;

/// Raises the limit on open files of this process, as far as the system allows: many systems start
/// processes with 1,024.
pub fn allow_more() {
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

/// The number of sandboxes that may be open at once.
pub(super) fn max_open() -> usize {
    let Some(files) = limit() else { return MAX_OPEN };
    let room = usize::try_from(files.saturating_sub(OTHER_FILES) / FILES_EACH).unwrap_or(MAX_OPEN);
    room.clamp(MIN_OPEN, MAX_OPEN)
}

/// The number of connections, at most `max`, that each of two listeners may have open: half of all files are left for
/// the rest.
pub fn connections(max: usize) -> usize {
    limit().and_then(|files| usize::try_from(files / 4).ok()).map_or(max, |room| room.min(max))
}

/// The number of files that this process may have open; `None` for any number.
fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
