//! Setting the one clock: sessions, codes, limits, receipts and dates move with it.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use serde::Serialize;

use crate::{
    Sandbox,
    clock::{Setting, UnixMillis},
    console,
    database::{Connection, query, query_as},
    error::Failure,
};

/// What the clock shows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Face {
    /// The time.
    pub now: UnixMillis,
    /// How far that is from the machine's time, in ms.
    pub offset_ms: i64,
    /// Whether it stands.
    pub frozen: bool,
}

/// What is to change, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// The time that it is to be, earlier or later.
    pub now: Option<UnixMillis>,
    /// How much later it is to be, in ms.
    pub advance_ms: Option<i64>,
    /// Whether it is to stand.
    pub frozen: Option<bool>,
}

/// Receipts have letters for these years; and every date of ours is written with four digits.
const EARLIEST: UnixMillis = UnixMillis(1_136_073_600_000);
const LATEST: UnixMillis = UnixMillis(4_102_444_800_000);

/// What the clock shows now.
pub fn face(sandbox: &Sandbox) -> Face {
    let (now, unset) = (sandbox.clock.now(), sandbox.clock.unset_now());
    let Setting { offset_ms, frozen_at } = sandbox.clock.setting();
    let offset_ms = if frozen_at.is_some() { now.0.saturating_sub(unset.0) } else { offset_ms };
    Face { now, offset_ms, frozen: frozen_at.is_some() }
}

/// Sets the clock, here at once and wherever else the same data is served.
///
/// # Errors
/// [`Failure::BadValue`] for a time outside the years 2006 to 2099.
pub async fn set(sandbox: &Sandbox, change: Change) -> Result<Face, Failure> {
    let unset = sandbox.clock.unset_now();
    let base = unset.0;
    sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                let setting = changed(stored(connection).await?, base, change)?;
                store(connection, setting).await?;
                Ok(())
            })
        })
        .await?;
    console::take_over(sandbox).await?;
    Ok(face(sandbox))
}

fn changed(setting: Setting, base: i64, change: Change) -> Result<Setting, Failure> {
    let shown = setting.frozen_at.map_or(base.saturating_add(setting.offset_ms), |at| at.0);
    let now =
        UnixMillis(change.now.map_or(shown, |now| now.0).saturating_add(change.advance_ms.unwrap_or(0)));
    if !(EARLIEST..LATEST).contains(&now) {
        return Err(Failure::BadValue("The clock can be set to the years 2006 to 2099".to_owned()));
    }
    let frozen = change.frozen.unwrap_or(setting.frozen_at.is_some());
    Ok(Setting { offset_ms: now.0 - base, frozen_at: frozen.then_some(now) })
}

/// A length of time such as `90s`, `15m`, `2d` or `1h30m`; days have 24 hours.
///
/// # Errors
/// [`Failure::BadValue`].
pub fn duration(text: &str) -> Result<Duration, Failure> {
    let wrong = || Failure::BadValue(format!("{text:?} is no length of time such as 90s, 15m, 12h or 2d"));
    let span: Span = text.parse().map_err(|_| wrong())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    length.try_into().map_err(|_| wrong())
}

const STORED: &str = "SELECT offset_ms, frozen_at FROM clock_setting WHERE clock_id = 'sandbox'";

/// How the clock is set in the database.
pub async fn stored(connection: &mut Connection) -> Result<Setting, sqlx::Error> {
    let (offset_ms, frozen_at) = query_as(STORED).fetch_one(connection).await?;
    Ok(Setting { offset_ms, frozen_at })
}

const STORE: &str = "UPDATE clock_setting SET offset_ms = $1, frozen_at = $2 WHERE clock_id = 'sandbox'";

/// Puts `setting` into the database.
pub async fn store(connection: &mut Connection, setting: Setting) -> Result<(), sqlx::Error> {
    query(STORE).bind(setting.offset_ms).bind(setting.frozen_at).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("12h", 43_200), ("2d", 172_800), ("1h30m", 5_400)]
        {
            assert_eq!(duration(text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for text in ["", "10", "soon", "-5m", "1mo", "1y"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
