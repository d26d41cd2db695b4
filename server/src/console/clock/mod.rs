//! Setting the one clock: sessions, codes, limits, receipts and dates move with it.

pub(super) mod api;
pub(super) mod page;

use serde::Serialize;

use crate::{
    Sandbox,
    clock::{Setting, UnixMillis},
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
    Face::of(sandbox.clock.setting(), sandbox.clock.unset_now())
}

impl Face {
    /// What a clock that is set so shows when it would be `unset` had nothing been set.
    fn of(setting: Setting, unset: UnixMillis) -> Self {
        let Setting { offset_ms, frozen_at } = setting;
        let now = frozen_at.unwrap_or(UnixMillis(unset.0.saturating_add(offset_ms)));
        Self { now, offset_ms: now.0.saturating_sub(unset.0), frozen: frozen_at.is_some() }
    }
}

/// Sets the clock wherever the same data is served.
///
/// # Errors
/// [`Failure::BadValue`] for a time outside the years 2006 to 2099.
pub async fn set(sandbox: &Sandbox, change: Change) -> Result<Face, Failure> {
    let unset = sandbox.clock.unset_now();
    let base = unset.0;
    let setting = sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                let setting = changed(stored(connection).await?, base, change)?;
                store(connection, setting).await?;
                Ok(setting)
            })
        })
        .await?;
    Ok(Face::of(setting, unset))
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
