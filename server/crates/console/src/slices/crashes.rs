//! The places at which the builds of a slice crashed.

use std::cmp::Reverse;

use leptos::prelude::*;
use semver::Version;

use crate::view::prelude::*;
use slices::{CrashPlace, SliceBuilds};

const MAX_SHOWN: usize = 100;

/// The places, those of the builds that browsers get first, then those of newer builds; nothing if no build crashed.
pub fn table_of(slice: &SliceBuilds, mut places: Vec<CrashPlace>) -> Option<AnyView> {
    if places.is_empty() {
        return None;
    }
    let served: Vec<String> = slice.served().map(ToString::to_string).collect();
    // Within a build, they stay in their order.
    places.sort_by_cached_key(|CrashPlace { version, .. }| {
        (!served.contains(version), Reverse(Version::parse(version).ok()))
    });
    places.truncate(MAX_SHOWN);
    let columns = [
        first("Crashed in"),
        left("Error"),
        left("Place"),
        right("Crashes"),
        right("People"),
        left("Last seen"),
    ];
    Some(table(columns, places.into_iter().map(row)))
}

fn row(CrashPlace { version, error, place, times, people, seen_at }: CrashPlace) -> [AnyView; 6] {
    cells![
        view! { <b>{version}</b> },
        error,
        view! { <code>{place}</code> },
        number(times),
        number(people),
        timestamp(seen_at),
    ]
}
