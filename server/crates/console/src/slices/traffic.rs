//! The reports of pages on a slice, as charts and in numbers.

use std::time::Duration;

use jiff::tz::TimeZone;
use leptos::prelude::*;
use semver::Version;

use crate::view::{
    chart::{Column, column_chart},
    prelude::*,
};
use base::{clock::UnixMillis, error::Failure};
use slices::reports::history::{Counts, History, history, sums};
use store::Connection;

/// A period of a chart.
struct Span {
    name: &'static str,
    length: Duration,
    slots: u32,
    begin: &'static str,
}

const HOUR: Span =
    Span { name: "last hour", length: Duration::from_mins(1), slots: 60, begin: "an hour ago" };
const DAY: Span =
    Span { name: "last day", length: Duration::from_mins(30), slots: 48, begin: "24 hours ago" };

/// The reports on a slice in the last hour and the last day.
pub struct Traffic {
    hour: History,
    day: History,
    now: UnixMillis,
}

impl Traffic {
    pub async fn read(connection: &mut Connection, name: &str, now: UnixMillis) -> Result<Self, Failure> {
        let hour = history(connection, name, HOUR.length, HOUR.slots, now).await?;
        let day = history(connection, name, DAY.length, DAY.slots, now).await?;
        Ok(Self { hour, day, now })
    }

    /// The charts and the numbers of slice `name`; nothing if no page reported anything.
    pub fn view(&self, name: &str, live: Option<&Version>, zone: &TimeZone) -> Option<AnyView> {
        let (of_hour, of_day) = (sums(&self.hour), sums(&self.day));
        if of_day.is_empty() {
            return None;
        }
        let live = live.map(ToString::to_string).unwrap_or_default();
        let charts =
            [(&HOUR, &self.hour, &of_hour), (&DAY, &self.day, &of_day)].map(|(span, history, sums)| {
                let all = sums.values().fold(Counts::default(), Counts::and);
                self.charts(name, &live, zone, span, history, &all)
            });
        let hour_loads: i64 = of_hour.values().map(|counts| counts.loads).sum();
        let rows = of_day
            .iter()
            .rev()
            .map(|(version, of_day)| row(version, of_hour.get(version), of_day, hour_loads));
        let heads = [
            Left("Loaded by pages"),
            Right("Share, last hour"),
            Right("Loads, last hour"),
            Right("Failed"),
            Right("Median"),
            Right("Loads, last day"),
            Right("Failed"),
            Right("Median"),
        ];
        Some(
            view! {
                {table(heads, rows)}
                <div class="in two even">{charts.into_iter().collect_view()}</div>
            }
            .into_any(),
        )
    }

    fn charts(
        &self,
        name: &str,
        live: &str,
        zone: &TimeZone,
        span: &Span,
        history: &History,
        all: &Counts,
    ) -> AnyView {
        let Span { name: of_span, length, slots, begin } = span;
        let (mut loads, mut times) = (Vec::new(), Vec::new());
        for (ago, by_version) in (0..*slots).rev().zip(history) {
            let at = self.now.minus(*length * ago).in_zone(zone).strftime("%H:%M").to_string();
            let works = |counts: &Counts| (counts.loads - counts.failed).max(0);
            let of_live = by_version.get(live).map_or(0, works);
            let working: i64 = by_version.values().map(works).sum();
            let sum = by_version.values().fold(Counts::default(), Counts::and);
            loads.push(Column {
                at: at.clone(),
                text: format!("{}, {} failed", count(sum.loads, "load"), sum.failed),
                parts: vec![("good", of_live), ("wait", working - of_live), ("bad", sum.failed)],
            });
            let median = sum.median_ms();
            times.push(Column {
                at,
                text: median_text(median),
                parts: vec![("good", median.unwrap_or(0).into())],
            });
        }
        let summary =
            format!("Loads of {name}, {of_span}: {}, {} failed", count(all.loads, "page"), all.failed);
        let median = format!("Median load time of {name}, {of_span}: {}", median_text(all.median_ms()));
        let axis = || [*begin, "now"].map(str::to_owned);
        view! {
            <div>
                <h3>{format!("Loads, {of_span}")}</h3>
                {column_chart(summary, axis(), |most| format!("up to {} loads", number(most)), loads)}
                <ul class="legend">
                    <li><i class="good" aria-hidden="true"></i>"Live build"</li>
                    <li><i class="wait" aria-hidden="true"></i>"Other builds"</li>
                    <li><i class="bad" aria-hidden="true"></i>"Failed"</li>
                </ul>
                <h3>{format!("Median load time, {of_span}")}</h3>
                {column_chart(median, axis(), |most| format!("up to {} ms", number(most)), times)}
            </div>
        }
        .into_any()
    }
}

fn row(version: &str, of_hour: Option<&Counts>, of_day: &Counts, hour_loads: i64) -> AnyView {
    let none = Counts::default();
    let of_hour = of_hour.unwrap_or(&none);
    let share = if hour_loads > 0 {
        format!("{}%", (of_hour.loads * 100 + hour_loads / 2) / hour_loads)
    } else {
        "–".to_owned()
    };
    view! {
        <tr>
            <td><b>{version.to_owned()}</b></td>
            <td class="more right num" data-label="Share, last hour">{share}</td>
            <td class="more right num" data-label="Loads, last hour">{number(of_hour.loads)}</td>
            <td class="more right num" data-label="Failed, last hour">{number(of_hour.failed)}</td>
            <td class="more right num" data-label="Median, last hour">{median_text(of_hour.median_ms())}</td>
            <td class="more right num" data-label="Loads, last day">{number(of_day.loads)}</td>
            <td class="more right num" data-label="Failed, last day">{number(of_day.failed)}</td>
            <td class="more right num" data-label="Median, last day">{median_text(of_day.median_ms())}</td>
        </tr>
    }
    .into_any()
}

fn median_text(ms: Option<u32>) -> String {
    ms.map_or_else(|| "–".to_owned(), |ms| format!("{} ms", number(ms)))
}
