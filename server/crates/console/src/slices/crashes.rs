//! The places at which the builds of a slice crashed.

use std::cmp::Reverse;

use leptos::prelude::*;
use semver::Version;

use crate::view::prelude::*;
use slices::{CrashPlace, SliceBuilds};

/// Maximum number of places that are shown of a slice.
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
    let heads = [
        Left("Crashed in"),
        Left("Error"),
        Left("Place"),
        Right("Crashes"),
        Right("People"),
        Left("Last seen"),
    ];
    Some(table(heads, places.into_iter().map(row)))
}

fn row(CrashPlace { version, error, place, times, people, seen_at }: CrashPlace) -> AnyView {
    view! {
        <tr>
            <td><b>{version}</b></td>
            <td class="more" data-label="Error">{error}</td>
            <td class="more" data-label="Place"><code>{place}</code></td>
            <td class="more right num" data-label="Crashes">{number(times)}</td>
            <td class="more right num" data-label="People">{number(people)}</td>
            <td class="more" data-label="Last seen">{timestamp(seen_at)}</td>
        </tr>
    }
    .into_any()
}
