//! The only clock. A lint ensures that nothing else in this crate reads the system time, so tests
//! and the console can stop and move the clock, and all dates move with it.

use std::{
    mem,
    time::{Duration, Instant},
};

use jiff::{
    Span, SpanRelativeTo, Timestamp,
    tz::{Offset, TimeZone},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use tokio::sync::watch;

use crate::error::Failure;

/// A point in time: ms since 1970 in UTC. Serialized as RFC 3339 with milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx_macros::Type)]
#[sqlx(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Parses a browser's `datetime-local` value in `zone`, or a time with an offset. An error has no full stop.
    pub fn local(text: &str, zone: &TimeZone) -> Result<Self, String> {
        let local = || {
            let time = text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(zone.clone()).ok()?;
            Some(Self(time.timestamp().as_millisecond()))
        };
        text.parse()
            .ok()
            .or_else(local)
            .ok_or_else(|| format!("{text:?} is not a date and time such as 2026-11-14T12:00"))
    }

    /// Parses a time that a sandbox's clock can be set to. A failure names the field `now`.
    pub fn settable(text: &str) -> Result<Self, Failure> {
        let at: Self = text.parse().map_err(|text: String| Failure::bad_field("now", text))?;
        if at.is_settable() { Ok(at) } else { Err(Failure::bad_field("now", SETTABLE)) }
    }

    /// Returns whether a sandbox's clock can be set to this time: M-Pesa's receipts encode years from 2006,
    /// and dates have four-digit years.
    pub fn is_settable(self) -> bool {
        (Self(1_136_073_600_000)..Self(4_102_444_800_000)).contains(&self)
    }

    /// The time elapsed since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The date and time in Nairobi, which has kept UTC+3 all year since 1942: M-Pesa's.
    pub fn in_nairobi(self) -> jiff::civil::DateTime {
        const EAST_AFRICA: Offset = Offset::constant(3);
        EAST_AFRICA.to_datetime(self.timestamp())
    }

    pub fn in_zone(self, zone: &TimeZone) -> jiff::civil::DateTime {
        zone.to_datetime(self.timestamp())
    }

    /// The starts of the last `days` days in `zone`, of which the last is the day of this time, and the
    /// start of the next day.
    pub fn midnights(self, zone: &TimeZone, days: u32) -> Vec<Self> {
        let today = self.in_zone(zone).date();
        let starts = (0..=i64::from(days)).map(|index| {
            let date = today.saturating_sub(Span::new().days(i64::from(days) - 1 - index));
            date.to_zoned(zone.clone()).map_or(self, |start| Self(start.timestamp().as_millisecond()))
        });
        starts.collect()
    }

    /// Formats the time for HTTP's `Date` header (RFC 9110, 5.6.7).
    pub fn http_date(self) -> String {
        self.timestamp().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

/// In ms since 1970.
const YEARS_1_TO_9998: std::ops::Range<i64> = -62_135_596_800_000..253_370_764_800_000;

impl std::str::FromStr for UnixMillis {
    type Err = String;

    /// Parses RFC 3339 with any offset. In another zone, the time has four digits for its year, too.
    fn from_str(text: &str) -> Result<Self, String> {
        let moment = text.parse().map(|moment: Timestamp| Self(moment.as_millisecond()));
        moment.ok().filter(|moment| YEARS_1_TO_9998.contains(&moment.0)).ok_or_else(|| {
            format!("{text:?} is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z")
        })
    }
}

impl std::fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3}", self.timestamp())
    }
}

impl Serialize for UnixMillis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnixMillis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

pub const SETTABLE: &str = "The clock can be set to the years 2006 to 2099";

/// The clock of a sandbox. Clones share the same time.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The base time, shared by all sandboxes of a process.
    base: watch::Sender<Base>,
    setting: watch::Sender<Setting>,
    zone: TimeZone,
}

/// The console's setting of a clock, on top of the base time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    pub offset_ms: i64,
    /// The time at which the clock is frozen, regardless of the offset; `None` while it runs.
    pub frozen_at: Option<UnixMillis>,
}

impl Setting {
    /// Returns the setting for a clock that shows `now`, or else the base time `base`, and may be frozen.
    pub fn at(now: Option<UnixMillis>, is_frozen: bool, base: UnixMillis) -> Self {
        let now = now.unwrap_or(base);
        Self { offset_ms: now.0 - base.0, frozen_at: is_frozen.then_some(now) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    base: Base,
    setting: Setting,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Base {
    /// The time at which the clock is held; `None` if it shows the machine's time.
    held_at: Option<UnixMillis>,
    /// The time by which the machine is ahead of the right time; zero except in tests.
    machine_ahead_ms: i64,
    /// The correction that is added to the machine's time to get the right one.
    correction_ms: i64,
    advanced_ms: i64,
}

impl Clock {
    pub fn system() -> Self {
        Self::ahead_by(0)
    }

    /// The time of a machine that is this many ms ahead of the right time, or behind if negative: for
    /// tests.
    pub fn ahead_by(ms: i64) -> Self {
        Self::on(Base { machine_ahead_ms: ms, ..Base::default() })
    }

    pub fn held_at(moment: UnixMillis) -> Self {
        Self::on(Base { held_at: Some(moment), ..Base::default() })
    }

    fn on(base: Base) -> Self {
        Self { base: watch::Sender::new(base), setting: watch::Sender::default(), zone: TimeZone::UTC }
    }

    /// The clock of another sandbox in this process, with the same base time and its own setting.
    pub fn of_another_sandbox(&self) -> Self {
        Self { setting: watch::Sender::default(), ..self.clone() }
    }

    fn reading(&self) -> Reading {
        Reading { base: *self.base.borrow(), setting: self.setting() }
    }

    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    pub fn now(&self) -> UnixMillis {
        self.reading().now()
    }

    /// The current base time, without the console's setting.
    pub fn unset_now(&self) -> UnixMillis {
        self.base.borrow().now()
    }

    /// The earlier of this clock's time and base time: what has expired by then has expired, whatever the console sets.
    pub fn earliest(&self) -> UnixMillis {
        self.now().min(self.unset_now())
    }

    pub fn setting(&self) -> Setting {
        *self.setting.borrow()
    }

    /// Changes the setting of all clones.
    pub fn set(&self, setting: Setting) {
        self.setting.send_if_modified(|before| mem::replace(before, setting) != setting);
    }

    /// Advances the base time, held or running.
    pub fn advance(&self, by: Duration) {
        self.base.send_modify(|base| base.advanced_ms = UnixMillis(base.advanced_ms).plus(by).0);
    }

    /// The machine's time; `None` for a clock that is held.
    pub fn machine_now(&self) -> Option<UnixMillis> {
        let base = *self.base.borrow();
        base.held_at.is_none().then(|| base.machine_now())
    }

    pub fn correction_ms(&self) -> i64 {
        self.base.borrow().correction_ms
    }

    /// Sets the correction that is added to the machine's time, in ms. A held clock does not change.
    pub fn correct_by(&self, ms: i64) {
        self.base.send_modify(|base| {
            if base.held_at.is_none() {
                base.correction_ms = ms;
            }
        });
    }

    /// Waits until `duration` has passed on this clock. Moving the clock forward shortens the wait;
    /// moving it back does not lengthen it, and correcting it changes nothing. The wait continues while
    /// the clock is frozen, so that callers are still answered.
    pub async fn sleep(&self, duration: Duration) {
        let mut left = duration;
        let (mut base_moved, mut set) = (self.base.subscribe(), self.setting.subscribe());
        let mut reading =
            Reading { base: *base_moved.borrow_and_update(), setting: *set.borrow_and_update() };
        while !left.is_zero() {
            let began = Instant::now();
            let moved = async {
                tokio::select! { _ = base_moved.changed() => {}, _ = set.changed() => {} }
            };
            let passed = if reading.base.held_at.is_some() {
                moved.await;
                Duration::ZERO
            } else {
                _ = tokio::time::timeout(left, moved).await;
                began.elapsed()
            };
            let before = reading;
            reading = Reading { base: *base_moved.borrow_and_update(), setting: *set.borrow_and_update() };
            left = left.saturating_sub(passed).saturating_sub(before.jump_to(reading));
        }
    }
}

impl Reading {
    fn now(self) -> UnixMillis {
        self.setting
            .frozen_at
            .unwrap_or_else(|| UnixMillis(self.base.now().0.saturating_add(self.setting.offset_ms)))
    }

    /// Returns the time by which the clock was moved ahead between this reading and `next`.
    fn jump_to(self, next: Self) -> Duration {
        let (before, after) = (self.uncorrected(), next.uncorrected());
        if before.base == after.base {
            after.now().since(before.now())
        } else {
            after.base.now().since(before.base.now())
        }
    }

    fn uncorrected(mut self) -> Self {
        self.base.correction_ms = 0;
        self
    }
}

impl Base {
    fn now(self) -> UnixMillis {
        let from = self.held_at.unwrap_or_else(|| self.machine_now());
        UnixMillis(from.0.saturating_add(self.correction_ms).saturating_add(self.advanced_ms))
    }

    fn machine_now(self) -> UnixMillis {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        let now = Timestamp::now().as_millisecond();
        UnixMillis(now.saturating_add(self.machine_ahead_ms))
    }
}

/// Parses a duration such as `90s`, `15m`, `2d` or `1h30m`. Days have 24 hours.
pub fn duration(text: &str) -> Result<Duration, Failure> {
    let wrong = || Failure::BadValue(format!("{text:?} is not a duration such as 90s, 15m, 12h or 2d"));
    let span: Span = text.parse().map_err(|_| wrong())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    length.try_into().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinHandle;

    use super::*;

    const NOON: UnixMillis = UnixMillis(1_795_262_400_000);

    #[test]
    fn a_time_prints_as_rfc_3339_with_milliseconds() {
        assert_eq!(NOON.to_string(), "2026-11-21T12:00:00.000Z");
    }

    #[test]
    fn days_begin_at_midnight_in_the_time_zone() {
        let midnights = |zone: &str, at: UnixMillis, days| {
            let zone = TimeZone::get(zone).unwrap();
            at.midnights(&zone, days).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            midnights("Africa/Nairobi", NOON, 1),
            ["2026-11-20T21:00:00.000Z", "2026-11-21T21:00:00.000Z"]
        );
        let noon: UnixMillis = "2026-03-29T12:00:00Z".parse().unwrap();
        assert_eq!(
            midnights("Europe/Berlin", noon, 2),
            ["2026-03-27T23:00:00.000Z", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
            "the day on which summer time begins has 23 hours"
        );
    }

    /// A task that has begun to sleep.
    async fn sleeper(clock: &Clock, duration: Duration) -> JoinHandle<()> {
        let clock = clock.clone();
        let sleeper = tokio::spawn(async move { clock.sleep(duration).await });
        tokio::task::yield_now().await;
        sleeper
    }

    #[tokio::test]
    async fn a_sleeper_wakes_when_a_held_clock_is_moved_past_its_time() {
        let clock = Clock::held_at(NOON);
        let sleeper = sleeper(&clock, Duration::from_secs(8)).await;
        clock.advance(Duration::from_secs(7));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance(Duration::from_secs(1));
        sleeper.await.unwrap();
        assert_eq!(clock.now(), NOON.plus(Duration::from_secs(8)));
    }

    #[tokio::test]
    async fn a_sleeper_is_not_held_up_by_a_clock_that_is_moved_back_or_frozen() {
        let clock = Clock::held_at(NOON);
        let sleeper = sleeper(&clock, Duration::from_secs(8)).await;
        clock.set(Setting { offset_ms: -3_600_000, frozen_at: None });
        tokio::task::yield_now().await;
        clock.set(Setting { offset_ms: 0, frozen_at: Some(NOON.minus(Duration::from_hours(1))) });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(7));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance(Duration::from_secs(1));
        sleeper.await.unwrap();
        assert_eq!(clock.now(), NOON.minus(Duration::from_hours(1)));
    }

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_is_set_past_its_time() {
        let clock = Clock::system();
        let sleeper = sleeper(&clock, Duration::from_hours(1)).await;
        clock.set(Setting { offset_ms: 3_600_000, frozen_at: None });
        sleeper.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_correction_is_no_time_that_passes() {
        let clock = Clock::ahead_by(-3_600_000);
        let sleeper = sleeper(&clock, Duration::from_mins(1)).await;
        let before = clock.now();
        clock.correct_by(3_600_000);
        assert!(clock.now().since(before) >= Duration::from_hours(1));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        sleeper.abort();
    }

    #[test]
    fn durations_are_parsed() {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("12h", 43_200), ("2d", 172_800), ("1h30m", 5_400)]
        {
            assert_eq!(duration(text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for text in ["", "10", "soon", "-5m", "1mo", "1y"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
