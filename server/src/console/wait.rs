//! How long a call of the API waits for what it asks for.

use std::time::Duration;

use crate::{clock::duration, error::Failure};

/// Shorter than the timeout of a call.
const MAX_WAIT: Duration = Duration::from_secs(25);

/// The `wait` of a query; a call without one does not wait.
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
