//! The audit trail.

use axum::response::Response;
use leptos::prelude::*;

use super::filter::GivenFilter;
use crate::{traces, view::prelude::*};
use base::error::Failure;
use lending::events::{self, Event, EventKind};

const PAGE_SIZE: u32 = 100;
const REFRESH_MS: u32 = 2000;

const FILTERS: [&str; 5] = ["kind", "who", "address", "since", "until"];

pub async fn show(mut visit: Visit) -> Result<Response, Failure> {
    let found = search(&visit).await;
    let found = visit.found(found)?;
    let shown = count(found.len(), "event");
    let is_first = visit.query.given("before").is_none();
    let has_more = found.len() == PAGE_SIZE as usize;
    let heading = match (is_first, has_more) {
        (true, true) => format!("The latest {shown}"),
        (true, false) => shown,
        (false, _) => format!("{shown} before"),
    };
    let frame = Frame::of(Page::Events).count(heading);
    let frame = if is_first { frame.live(REFRESH_MS) } else { frame };
    Ok(visit.page(frame, || {
        let list = if !found.is_empty() {
            let last = found.last().filter(|_| has_more).map(|last| last.id.to_string());
            let older = last.map(|last| {
                let filters = FILTERS.iter().filter_map(|name| Some((*name, visit.query.given(name)?)));
                older_link(Page::Events, filters.chain([("before", last.as_str())]))
            });
            view! { {listed(found)} {older} }.into_any()
        } else if !is_first || FILTERS.iter().any(|name| visit.query.given(name).is_some()) {
            empty_state(Icon::EMPTY, "No matching events", "Try another filter, or clear it.")
        } else {
            empty_state(Icon::EVENTS, "No events yet", "Sign-ins and changes on the console appear here.")
        };
        list_card("Events", "events", Some(filter_form(&visit)), list)
    }))
}

async fn search(visit: &Visit) -> Result<Vec<Event>, FieldError> {
    let given: GivenFilter = visit.query.parameters(&[&FILTERS[..], &["before"]].concat())?;
    let (since, until) = (visit.filter_time("since")?, visit.filter_time("until")?);
    let given = GivenFilter { since, until, ..given };
    let filter = given.checked(PAGE_SIZE, &visit.sandbox.auth.fingerprints)?;
    Ok(events::search(&mut visit.sandbox.database.read().await?, &filter).await?)
}

fn filter_form(visit: &Visit) -> AnyView {
    let kinds = EventKind::ALL.iter().map(|kind| (kind.to_string(), kind.text()));
    let kinds = std::iter::once((String::new(), "Any")).chain(kinds);
    visit.search_form([
        Field::choice("kind", "Event", kinds),
        Field::text("who", "Who or about"),
        Field::text("address", "Address"),
        Field::text("since", "Since").hint(TIME_HINT),
        Field::text("until", "Until").hint(TIME_HINT),
    ])
}

fn listed(found: Vec<Event>) -> AnyView {
    let rows = found.into_iter().map(|event| {
        let tone = if event.kind.is_failure() || event.kind == EventKind::FailuresNotListed {
            Tone::Bad
        } else {
            Tone::Plain
        };
        let times = (event.times > 1).then(|| view! { <span class="second">{event.times}" times"</span> });
        let details = event.details.map(|details| view! { <span class="second">{details}</span> });
        let trace = event.traceparent.as_deref().and_then(::traces::trace_id);
        let time = match trace {
            Some(trace) => {
                let address = traces::address(&trace.to_string());
                view! { <a href=address>{timestamp(event.at)}</a> }.into_any()
            }
            None => timestamp(event.at),
        };
        let about = event.about.map(|about| view! { <span class="second">"about "{about}</span> });
        cells![
            view! { {tag(tone, event.kind.text())}{details}{times} },
            view! { {event.who}{about} },
            event.address.unwrap_or_default(),
            time,
        ]
    });
    table([first("Event"), left("Who, about").label("Who"), digits("Address"), left("Time")], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, query_of};

    #[test]
    fn the_page_has_the_filters_of_the_api() {
        let paging = ["before", "limit"];
        assert_same(
            FILTERS.into_iter().chain(paging),
            &query_of("/console/api/events"),
            "Add a filter to FILTERS and to the form.",
        );
    }
}
