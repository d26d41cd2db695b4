//! Reports: the figures of a period compared with the period before, with their series and latest records.

pub mod api;
mod figures;
mod period;

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

pub use self::period::{Period, Unit};
use self::{
    figures::{Change, Figures},
    period::Times,
};
use crate::{
    payouts::{self, PayoutStatus, Record, Sum},
    preferences,
    world::World,
};
use base::{clock::UnixMillis, error::Failure, ids::StaffId};
use store::query_as;

/// The number of latest records in a report.
const LATEST: i64 = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// Completed payouts.
    #[default]
    Disbursements,
    /// Every payout.
    Transactions,
    /// Failed payouts and the success rate.
    Performance,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    period: Period,
    #[serde(rename = "type")]
    about: About,
    unit: Option<Unit>,
}

/// The payouts that were made in one unit of the period.
#[derive(Debug, Serialize)]
struct Bar {
    from: UnixMillis,
    completed: Sum,
    failed: Sum,
    pending: Sum,
}

#[derive(Debug, Serialize)]
pub struct Report {
    period: Period,
    #[serde(rename = "type")]
    about: About,
    time_zone: String,
    from: UnixMillis,
    to: UnixMillis,
    before_from: UnixMillis,
    before_to: UnixMillis,
    unit: Unit,
    figures: Figures,
    figures_before: Figures,
    change: Change,
    series: Vec<Bar>,
    latest: Vec<Record>,
}

/// Returns a report for `staff_id`, with days in their time zone.
pub async fn report(world: &World, staff_id: &StaffId, question: Question) -> Result<Report, Failure> {
    let Question { period, about, unit } = question;
    let unit = unit.unwrap_or(period.default_unit());
    if unit == Unit::Hour && period != Period::Today {
        return Err(Failure::BadParameter("unit can be hour only for period=today".to_owned()));
    }
    // One snapshot, so that the figures match the series.
    let mut reader = world.database.read_snapshot().await?;
    let zone = preferences::time_zone_of(world, &mut reader, staff_id).await?;
    let times = Times::of(period, world.clock.now(), &zone);
    let units = times.units(unit, &zone);
    let parts: Vec<Range<UnixMillis>> = units.iter().cloned().chain([times.before.clone()]).collect();
    let mut sums = payouts::sums(&mut reader, &parts).await?;
    let latest = query_as(match about {
        About::Disbursements => payouts::LATEST_COMPLETED,
        About::Transactions => payouts::LATEST_RECORDS,
        About::Performance => payouts::LATEST_FAILED,
    });
    let latest = latest.bind_all((times.now.start, times.now.end, LATEST)).fetch_all(&mut reader).await?;
    drop(reader);
    let before = sums.pop().unwrap_or_default();
    let series: Vec<Bar> = units.iter().zip(&sums).map(|(unit, sums)| Bar::of(unit.start, sums)).collect();
    let figures_before = Figures::of(&[Bar::of(times.before.start, &before)]);
    let figures = Figures::of(&series);
    Ok(Report {
        period,
        about,
        time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        from: times.now.start,
        to: times.until,
        before_from: times.before.start,
        before_to: times.before_until,
        unit,
        change: figures.change_since(&figures_before),
        figures,
        figures_before,
        series,
        latest,
    })
}

impl Bar {
    fn of(from: UnixMillis, sums: &BTreeMap<PayoutStatus, Sum>) -> Self {
        let sum = |status: PayoutStatus| sums.get(&status).copied().unwrap_or_default();
        Self {
            from,
            completed: sum(PayoutStatus::Completed),
            failed: sum(PayoutStatus::Failed),
            pending: sum(PayoutStatus::Pending),
        }
    }
}
