//! Sets the sandbox's clock, which determines sessions, codes, limits, receipts and dates.

pub(super) mod api;
pub(super) mod page;

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use base::{
    clock::{SETTABLE, Setting, UnixMillis, duration},
    error::Failure,
};
use lending::{
    events::{Entry, EventKind, Trail},
    world::{store_clock, stored_clock},
};
use store::Connection;
use worlds::sandboxes::Sandbox;

#[derive(Clone, Copy, Debug, Serialize)]
pub struct ClockState {
    pub now: UnixMillis,
    /// The offset from the real time, in ms.
    pub offset_ms: i64,
    pub frozen: bool,
}

/// A change of the clock, applied in this order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// The new time, which can be in the past.
    pub now: Option<UnixMillis>,
    pub advance: Option<Duration>,
    /// `true` to stop the clock, `false` to start it.
    pub frozen: Option<bool>,
}

/// A change of the clock, as it is written in a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockChange {
    now: Option<String>,
    advance: Option<String>,
    frozen: Option<bool>,
}

impl ClockChange {
    /// The change.
    ///
    /// # Errors
    /// [`Failure::BadValue`] for what is no duration, [`Failure::BadField`] for what is no time or not one that a clock can
    /// be set to.
    pub fn checked(self) -> Result<Change, Failure> {
        let now = self.now.as_deref().map(UnixMillis::settable).transpose()?;
        let advance = self.advance.as_deref().map(duration).transpose()?;
        Ok(Change { now, advance, frozen: self.frozen })
    }
}

pub fn state(sandbox: &Sandbox) -> ClockState {
    ClockState::of(sandbox.clock.setting(), sandbox.clock.unset_now())
}

impl ClockState {
    fn of(setting: Setting, real: UnixMillis) -> Self {
        let Setting { offset_ms, frozen_at } = setting;
        let now = frozen_at.unwrap_or(UnixMillis(real.0.saturating_add(offset_ms)));
        Self { now, offset_ms: now.0.saturating_sub(real.0), frozen: frozen_at.is_some() }
    }
}

/// Sets the clock of all servers on the same database.
///
/// # Errors
/// [`Failure::BadValue`] for a time outside the years 2006 to 2099.
pub async fn set(sandbox: &Sandbox, change: Change, trail: &Trail) -> Result<ClockState, Failure> {
    let real = sandbox.clock.unset_now();
    let advance_ms = change.advance.map(|by| i64::try_from(by.as_millis()).unwrap_or(i64::MAX));
    let advance = advance_ms.map(|ms| format!("{:#}", SignedDuration::from_millis(ms)));
    let entry = Entry::of(EventKind::ClockSet).with_some("now", change.now).with_some("advance", advance);
    let entry = entry.with_some("frozen", change.frozen);
    let setting = trail
        .write(sandbox.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let setting = changed(stored_clock(connection).await?, real, change)?;
            store_clock(connection, setting).await?;
            Ok(setting)
        })
        .await?;
    Ok(ClockState::of(setting, real))
}

fn changed(setting: Setting, real: UnixMillis, change: Change) -> Result<Setting, Failure> {
    let shown = ClockState::of(setting, real);
    let now = change.now.unwrap_or(shown.now).plus(change.advance.unwrap_or_default());
    if !now.is_settable() {
        return Err(Failure::BadValue(SETTABLE.to_owned()));
    }
    Ok(Setting::at(Some(now), change.frozen.unwrap_or(shown.frozen), real))
}
