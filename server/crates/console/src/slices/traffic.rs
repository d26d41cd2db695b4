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
        let columns = [
            first("Loaded by pages"),
            right("Share, last hour"),
            right("Loads, last hour"),
            right("Failed").label("Failed, last hour"),
            right("Median").label("Median, last hour"),
            right("Loads, last day"),
            right("Failed").label("Failed, last day"),
            right("Median").label("Median, last day"),
        ];
        Some(
            view! {
                {table(columns, rows)}
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

fn row(version: &str, of_hour: Option<&Counts>, of_day: &Counts, hour_loads: i64) -> [AnyView; 8] {
    let none = Counts::default();
    let of_hour = of_hour.unwrap_or(&none);
    let share = if hour_loads > 0 {
        format!("{}%", (of_hour.loads * 100 + hour_loads / 2) / hour_loads)
    } else {
        "–".to_owned()
    };
    cells![
        view! { <b>{version.to_owned()}</b> },
        share,
        number(of_hour.loads),
        number(of_hour.failed),
        median_text(of_hour.median_ms()),
        number(of_day.loads),
        number(of_day.failed),
        median_text(of_day.median_ms()),
    ]
}

fn median_text(ms: Option<u32>) -> String {
    ms.map_or_else(|| "–".to_owned(), |ms| format!("{} ms", number(ms)))
}
