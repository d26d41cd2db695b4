//! Formats money, times and statuses.

use std::time::Duration;

use jiff::tz::TimeZone;
use leptos::prelude::*;

use super::icon::Icon;
use base::{clock::UnixMillis, kes::Kes};

/// `KES 25,000`.
pub fn kes(amount: Kes) -> String {
    format!("KES {}", number(amount.0))
}

/// `25,000`.
pub fn number(number: impl TryInto<i64>) -> String {
    match number.try_into().unwrap_or(i64::MAX) {
        small @ -999..=999 => small.to_string(),
        large => format!("{},{:03}", self::number(large / 1000), (large % 1000).abs()),
    }
}

/// `1 message`, `2 messages`, `2 stories`, `2 sandboxes`.
pub fn count(n: impl TryInto<i64>, one: &str) -> String {
    let n = n.try_into().unwrap_or(i64::MAX);
    let (stem, ending) = match one.strip_suffix('y') {
        _ if n == 1 => (one, ""),
        Some(stem) => (stem, "ies"),
        None => (one, if one.ends_with('x') { "es" } else { "s" }),
    };
    format!("{} {stem}{ending}", number(n))
}

/// `14 Nov 2026, 12:00:00`.
pub fn date_and_time(at: UnixMillis, zone: &TimeZone) -> String {
    at.in_zone(zone).strftime("%-d %b %Y, %H:%M:%S").to_string()
}

/// A `<time>` element, in the time zone that the page provides as context.
pub fn timestamp(at: UnixMillis) -> AnyView {
    let zone = use_context::<TimeZone>().unwrap_or(TimeZone::UTC);
    view! { <time class="nowrap" datetime=at.to_string()>{date_and_time(at, &zone)}</time> }.into_any()
}

/// `1 min 30 s`, `2 h 30 min`, `1 d`: the two largest units.
pub fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let shown: Vec<String> = parts
        .into_iter()
        .skip_while(|part| part.0 == 0)
        .take(2)
        .filter(|part| part.0 > 0)
        .map(|(n, unit)| format!("{n} {unit}"))
        .collect();
    if shown.is_empty() { "0 s".to_owned() } else { shown.join(" ") }
}

/// The meaning of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Wait,
    Bad,
    Plain,
}

impl Tone {
    /// The CSS class of its color, and the icon that conveys the meaning without color.
    pub fn class_and_icon(self) -> (&'static str, Option<AnyView>) {
        let (class, icon) = match self {
            Self::Good => ("good", Some(Icon::SUCCESS)),
            Self::Wait => ("wait", Some(Icon::CLOCK)),
            Self::Bad => ("bad", Some(Icon::FAILURE)),
            Self::Plain => ("plain", None),
        };
        (class, icon.map(Icon::view))
    }
}

pub fn tag(tone: Tone, label: impl Into<String>) -> AnyView {
    let (class, icon) = tone.class_and_icon();
    view! { <span class=format!("tag {class}")>{icon}{label.into()}</span> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_grouped_by_thousands() {
        for (amount, text) in
            [(0, "KES 0"), (999, "KES 999"), (25_000, "KES 25,000"), (-1_234_567, "KES -1,234,567")]
        {
            assert_eq!(kes(Kes(amount)), text);
        }
    }

    #[test]
    fn a_duration_shows_its_two_largest_units() {
        for (seconds, text) in
            [(0, "0 s"), (90, "1 min 30 s"), (86_400, "1 d"), (86_399, "23 h 59 min"), (90_061, "1 d 1 h")]
        {
            assert_eq!(duration_text(Duration::from_secs(seconds)), text);
        }
    }
}
