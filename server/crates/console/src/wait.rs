//! The time that a call of the API waits for its result.

use std::time::Duration;

use base::{clock::duration, error::Failure};

/// The longest wait, which is shorter than the timeout of a call.
const MAX_WAIT: Duration = Duration::from_secs(25);

/// Parses the parameter `wait`; without it, a call does not wait.
///
/// # Errors
/// [`Failure::BadValue`] if it is not a duration, or too long.
pub fn wait(given: Option<&str>) -> Result<Duration, Failure> {
    let wait = given.map_or(Ok(Duration::ZERO), duration)?;
    if wait > MAX_WAIT {
        return Err(Failure::BadValue(format!("The longest wait is {}s", MAX_WAIT.as_secs())));
    }
    Ok(wait)
}
