//! Reports: the figures of a period against those of the period before, and how they came about.

pub(super) mod api;
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
    Sandbox,
    clock::UnixMillis,
    error::Failure,
    payouts::{self, Latest, Record, Sum},
    preferences,
};

/// How many of the latest records a report has.
const LATEST: u32 = 10;

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// What was paid out.
    #[default]
    Disbursements,
    /// Every payout.
    Transactions,
    /// How often payouts succeed.
    Performance,
}

/// What a report is asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    #[serde(default)]
    period: Period,
    #[serde(default, rename = "type")]
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

/// A report.
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

/// A report for `staff_id`, whose days are those of their time zone.
///
/// # Errors
/// [`Failure::BadParameter`].
pub async fn report(sandbox: &Sandbox, staff_id: &str, question: Question) -> Result<Report, Failure> {
    let Question { period, about, unit } = question;
    let unit = unit.unwrap_or(period.default_unit());
    if unit == Unit::Hour && period != Period::Today {
        return Err(Failure::BadParameter("unit can be hour only for period=today".to_owned()));
    }
    // One snapshot, so that the figures are those of the series.
    let mut reader = sandbox.database.read_snapshot().await?;
    let zone = preferences::time_zone_of(sandbox, &mut reader, staff_id).await?;
    let times = Times::of(period, sandbox.clock.now(), &zone);
    let units = times.units(unit, &zone);
    let parts: Vec<Range<UnixMillis>> = units.iter().cloned().chain([times.before.clone()]).collect();
    let mut sums = payouts::sums(&mut reader, &parts).await?;
    let which = match about {
        About::Disbursements => Latest::Completed,
        About::Transactions => Latest::All,
        About::Performance => Latest::Failed,
    };
    let latest = payouts::latest_records(&mut reader, times.now.clone(), which, LATEST).await?;
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
    fn of(from: UnixMillis, sums: &BTreeMap<&'static str, Sum>) -> Self {
        let sum = |status: &str| sums.get(status).copied().unwrap_or_default();
        Self { from, completed: sum("COMPLETED"), failed: sum("FAILED"), pending: sum("PENDING") }
    }
}
