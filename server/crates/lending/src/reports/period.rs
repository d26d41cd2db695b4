//! The times of a report.

use std::{ops::Range, time::Duration};

use jiff::{
    Span, ToSpan,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde::{Deserialize, Serialize};

use base::clock::UnixMillis;

/// A period that reaches until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// Since midnight.
    Today,
    /// Since midnight seven days ago, as on the dashboard.
    #[default]
    Week,
    /// Since the first of the month.
    Month,
    /// Since the first of January, April, July or October.
    Quarter,
    /// Since the first of January.
    Year,
}

/// A unit that a period is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Hour,
    Day,
    /// A week, from Monday.
    Week,
    Month,
}

/// The times of a period and of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub now: Range<UnixMillis>,
    /// The last moment of the period.
    pub until: UnixMillis,
    pub before: Range<UnixMillis>,
    /// The last moment of the period before.
    pub before_until: UnixMillis,
}

const HOUR: Duration = Duration::from_hours(1);
const MOMENT: Duration = Duration::from_millis(1);

impl Period {
    pub fn default_unit(self) -> Unit {
        match self {
            Self::Today => Unit::Hour,
            Self::Week | Self::Month => Unit::Day,
            Self::Quarter => Unit::Week,
            Self::Year => Unit::Month,
        }
    }

    fn first_day(self, today: Date) -> Date {
        match self {
            Self::Today => today,
            Self::Week => today.saturating_sub(7.days()),
            Self::Month => today.first_of_month(),
            Self::Quarter => {
                let in_quarter = (today.month() - 1) % 3;
                today.saturating_sub(i64::from(in_quarter).months()).first_of_month()
            }
            Self::Year => today.first_of_year(),
        }
    }

    /// Returns the distance to the period before. A week has 8 days, the last of which is not over yet.
    fn to_the_one_before(self) -> Span {
        match self {
            Self::Today => 1.day(),
            Self::Week => 8.days(),
            Self::Month => 1.month(),
            Self::Quarter => 3.months(),
            Self::Year => 1.year(),
        }
    }
}

impl Times {
    /// Returns the times of `period` in `zone`, including `now`.
    pub fn of(period: Period, now: UnixMillis, zone: &TimeZone) -> Self {
        let wall_clock = now.in_zone(zone);
        let first_day = period.first_day(wall_clock.date());
        let away = period.to_the_one_before();
        let start = start_of(first_day, zone, now);
        let before_until = moment_of(wall_clock.saturating_sub(away), zone, now).min(start.minus(MOMENT));
        Self {
            now: start..now.plus(MOMENT),
            until: now,
            before: start_of(first_day.saturating_sub(away), zone, now)..before_until.plus(MOMENT),
            before_until,
        }
    }

    /// The units of the period, the last of which may not be over.
    pub fn units(&self, unit: Unit, zone: &TimeZone) -> Vec<Range<UnixMillis>> {
        let mut units = Vec::new();
        let mut start = self.now.start;
        while start < self.now.end {
            let day = start.in_zone(zone).date();
            let next = match unit {
                Unit::Hour => start.plus(HOUR),
                Unit::Day => start_of(day.saturating_add(1.day()), zone, self.now.end),
                Unit::Week => {
                    let to_monday = 7 - i64::from(day.weekday().to_monday_zero_offset());
                    start_of(day.saturating_add(to_monday.days()), zone, self.now.end)
                }
                Unit::Month => start_of(day.first_of_month().saturating_add(1.month()), zone, self.now.end),
            };
            // Guarantees progress, whatever the time zone does.
            let next = if next > start { next.min(self.now.end) } else { self.now.end };
            units.push(start..next);
            start = next;
        }
        units
    }
}

fn start_of(day: Date, zone: &TimeZone, otherwise: UnixMillis) -> UnixMillis {
    moment_of(day.to_datetime(jiff::civil::Time::midnight()), zone, otherwise)
}

fn moment_of(wall_clock: DateTime, zone: &TimeZone, otherwise: UnixMillis) -> UnixMillis {
    let zoned = wall_clock.to_zoned(zone.clone());
    zoned.map_or(otherwise, |zoned| UnixMillis(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).unwrap()
    }

    fn at(text: &str) -> UnixMillis {
        text.parse().unwrap()
    }

    #[test]
    fn periods_begin_at_midnight_and_end_now() {
        // Saturday, 14 November 2026, noon in Nairobi.
        let now = at("2026-11-14T09:00:00Z");
        for (period, from, before_from, before_to) in [
            (Period::Today, "2026-11-13T21:00:00Z", "2026-11-12T21:00:00Z", "2026-11-13T09:00:00Z"),
            (Period::Week, "2026-11-06T21:00:00Z", "2026-10-29T21:00:00Z", "2026-11-06T09:00:00Z"),
            (Period::Month, "2026-10-31T21:00:00Z", "2026-09-30T21:00:00Z", "2026-10-14T09:00:00Z"),
            (Period::Quarter, "2026-09-30T21:00:00Z", "2026-06-30T21:00:00Z", "2026-08-14T09:00:00Z"),
            (Period::Year, "2025-12-31T21:00:00Z", "2024-12-31T21:00:00Z", "2025-11-14T09:00:00Z"),
        ] {
            let times = Times::of(period, now, &zone("Africa/Nairobi"));
            assert_eq!(times.now, at(from)..now.plus(MOMENT), "{period:?}");
            assert_eq!(
                (times.before.start, times.before_until),
                (at(before_from), at(before_to)),
                "{period:?}"
            );
        }
    }

    #[test]
    fn the_period_before_never_reaches_into_the_period() {
        // The 31st, after a month of 28 days.
        let times = Times::of(Period::Month, at("2026-03-31T12:00:00Z"), &zone("UTC"));
        assert_eq!(times.before, at("2026-02-01T00:00:00Z")..at("2026-02-28T12:00:00.001Z"));
        for day in 0..800 {
            let now = at("2025-01-01T22:30:00Z").plus(Duration::from_hours(24 * day));
            for period in [Period::Today, Period::Week, Period::Month, Period::Quarter, Period::Year] {
                for zone in ["Africa/Nairobi", "UTC", "America/New_York", "Asia/Kathmandu"].map(zone) {
                    let times = Times::of(period, now, &zone);
                    assert!(times.before.start < times.before.end && times.before.end <= times.now.start);
                }
            }
        }
    }

    #[test]
    fn units_are_without_gaps_and_overlaps_also_where_clocks_change() {
        let now = at("2026-11-14T09:00:00Z");
        for name in ["Africa/Nairobi", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"] {
            let zone = zone(name);
            for period in [Period::Today, Period::Week, Period::Month, Period::Quarter, Period::Year] {
                let times = Times::of(period, now, &zone);
                for unit in [Unit::Hour, Unit::Day, Unit::Week, Unit::Month] {
                    let units = times.units(unit, &zone);
                    assert_eq!(units.first().unwrap().start, times.now.start);
                    assert_eq!(units.last().unwrap().end, times.now.end);
                    assert!(units.windows(2).all(|pair| pair[0].end == pair[1].start));
                }
            }
        }
        let week = Times::of(Period::Week, now, &zone("Africa/Nairobi"));
        assert_eq!(week.units(Unit::Day, &zone("Africa/Nairobi")).len(), 8);
        let year = Times::of(Period::Year, now, &zone("Africa/Nairobi"));
        assert_eq!(year.units(Unit::Month, &zone("Africa/Nairobi")).len(), 11);
    }
}
