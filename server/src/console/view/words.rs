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
    let number = number.try_into().unwrap_or(i64::MAX);
    let digits = number.unsigned_abs().to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        grouped.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 message`, `2 messages`.
pub fn count(n: impl TryInto<i64>, one: &str) -> String {
    let n = n.try_into().unwrap_or(i64::MAX);
    let many = if n == 1 { "" } else { "s" };
    format!("{} {one}{many}", number(n))
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
    /// The CSS class of its color.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wait => "wait",
            Self::Bad => "bad",
            Self::Plain => "plain",
        }
    }

    /// The icon that conveys the meaning without color.
    pub fn icon(self) -> Option<Icon> {
        match self {
            Self::Good => Some(Icon::Success),
            Self::Wait => Some(Icon::Clock),
            Self::Bad => Some(Icon::Failure),
            Self::Plain => None,
        }
    }
}

/// A status with icon and color.
pub fn tag(tone: Tone, label: impl Into<String>) -> AnyView {
    let class = format!("tag {}", tone.class());
    view! { <span class=class>{tone.icon().map(Icon::view)}{label.into()}</span> }.into_any()
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
