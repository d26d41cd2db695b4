//! The latest traces, and one of them as a waterfall.

use axum::response::Response;
use leptos::prelude::*;

use super::{Outline, Span, Trace, address};
use crate::view::prelude::*;
use base::error::Failure;
use traces::State;

const REFRESH_MS: u32 = 2000;

/// The width of a bar's row, in the units of its drawing.
const WIDTH: f64 = 1000.0;

/// The shortest bar that can be seen.
const SHORTEST: f64 = 4.0;

/// The depth from which spans are not indented further.
const MAX_INDENT: usize = 8;

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let id = visit.query.given("id").map(str::to_owned);
    let (outlines, found) = match &id {
        None => (super::outlines(&visit.sandbox), Vec::new()),
        Some(id) => (Vec::new(), super::latest(&visit.sandbox, Some(id)).await?),
    };
    let frame = Frame::of(Page::Traces);
    let frame = match id {
        None => frame.count(format!("The latest {}", count(outlines.len(), "call"))).live(REFRESH_MS),
        Some(_) => frame,
    };
    Ok(visit.page(frame, || {
        let list = if id.is_none() { Some(listed(&outlines)) } else { none(&found) };
        let form = visit.search_form([Field::text("id", "ID of a request, a payout or a trace")]);
        let search = list_card("Traces", "traces", Some(form), list);
        let traces = found.iter().map(|trace| waterfall(trace, &found)).collect_view();
        view! { {search} {traces} }
    }))
}

fn none(found: &[Trace]) -> Option<AnyView> {
    let text = elsewhere().unwrap_or(
        "Each server keeps the latest 200 of its own, until it stops. A page's calls can be found once they have ended.",
    );
    found.is_empty().then(|| empty_state(Icon::EMPTY, "No such trace", text))
}

/// Why no trace is kept here; `None` if traces are.
fn elsewhere() -> Option<&'static str> {
    match traces::state() {
        State::Kept => None,
        State::Exported => {
            Some("Traces are exported to the receiver that OTEL_EXPORTER_OTLP_ENDPOINT names.")
        }
        State::Off => Some("Traces are off: see OTEL_TRACES_SAMPLER and OTEL_SDK_DISABLED."),
    }
}

fn listed(found: &[Outline]) -> AnyView {
    if found.is_empty() {
        let text = elsewhere().unwrap_or("The portal's calls appear here, with their steps and statements.");
        return empty_state(Icon::TRACE, "No traces", text);
    }
    let rows = found.iter().map(|trace| {
        cells![
            view! { <a href=address(&trace.id)>{trace.name.clone()}</a> },
            result(trace.failed),
            ms(trace.us),
            trace.steps,
            timestamp(trace.at),
        ]
    });
    table([first("Began with"), left("Result"), digits("Duration"), digits("Steps"), left("Time")], rows)
}

fn result(failed: bool) -> AnyView {
    if failed { tag(Tone::Bad, "Failed") } else { tag(Tone::Good, "Done") }
}

/// A trace as a table of its spans, each with a bar of its time.
fn waterfall(trace: &Trace, all: &[Trace]) -> AnyView {
    let Outline { id, name, at, us, failed, .. } = &trace.outline;
    let columns = [first("Step"), left("Time").class("more bar-of"), right("Began after"), right("Took")];
    let rows = trace.spans.iter().map(|span| row(span, *us));
    let links = trace.links.iter().map(|link| {
        let other = all.iter().map(|other| &other.outline).find(|other| other.id == *link);
        let name = other.map_or_else(|| format!("Trace {link}"), |other| other.name.clone());
        view! { <li>"Linked to " <a href=address(link)>{name}</a></li> }
    });
    let links = (!trace.links.is_empty()).then(|| view! { <ul>{links.collect_view()}</ul> });
    let requests = trace
        .request_ids
        .iter()
        .map(|id| view! { <li>"Request " <span class="path">{id.clone()}</span></li> });
    view! {
        <section class="card" aria-label=format!("Trace: {name}")>
            <div class="top">
                <h2>{name.clone()}</h2>
                {result(*failed)}
                <span class="push num">{ms(*us)}</span>
            </div>
            <div class="in muted">
                <p>{timestamp(*at)}", trace "<span class="path">{id.clone()}</span></p>
                <ul>{requests.collect_view()}</ul>
                {links}
            </div>
            {table(columns, rows)}
        </section>
    }
    .into_any()
}

fn row(span: &Span, whole: u64) -> [AnyView; 4] {
    let indent = format!("indent-{}", span.depth.min(MAX_INDENT));
    let level = (span.depth > 0)
        .then(|| view! { <span class="visually-hidden">{format!("Level {}: ", span.depth + 1)}</span> });
    let failed = span.failed.then(|| tag(Tone::Bad, "Failed"));
    cells![
        view! { <div class=indent>{level}<b class="path">{span.name.clone()}</b>{failed}{details(span)}</div> },
        bar(span, whole),
        ms(span.at_us),
        ms(span.us),
    ]
}

/// The statement, or what else is known of a span.
fn details(span: &Span) -> Option<AnyView> {
    if let Some(statement) = span.attributes.get("db.query.text") {
        let short = statement.split_whitespace().skip(1).take(6).collect::<Vec<_>>().join(" ");
        return Some(
            view! {
                <details class="bodies" id=format!("span-{}", span.id)>
                    <summary>{if short.is_empty() { "Statement".to_owned() } else { short }}</summary>
                    <pre tabindex="0" aria-label="Statement">{statement.clone()}</pre>
                </details>
            }
            .into_any(),
        );
    }
    let known = ["http.response.status_code", "mkopo.screen", "fault.kind"];
    let known: Vec<String> = known.iter().filter_map(|name| span.attributes.get(*name).cloned()).collect();
    (!known.is_empty()).then(|| view! { <span class="second">{known.join(", ")}</span> }.into_any())
}

fn bar(span: &Span, whole: u64) -> AnyView {
    let share = |us: u64| ratio(us, whole.max(1)) * WIDTH;
    let width = share(span.us).clamp(SHORTEST, WIDTH);
    let x = share(span.at_us).min(WIDTH - width);
    let class = if span.failed { "bad" } else { "good" };
    view! {
        <svg class="chart" viewBox=format!("0 0 {WIDTH} 10") preserveAspectRatio="none" aria-hidden="true">
            <rect class=class x=format!("{x:.1}") y="0" width=format!("{width:.1}") height="10"></rect>
        </svg>
    }
    .into_any()
}

#[expect(clippy::cast_precision_loss, reason = "coordinates have one decimal")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// A time in ms, with as many digits as matter.
fn ms(us: u64) -> String {
    match us {
        0..10_000 => format!("{}.{:02} ms", us / 1000, us % 1000 / 10),
        _ => format!("{} ms", (us + 500) / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_has_hundredths_of_a_millisecond() {
        assert_eq!(
            [0, 9, 1_234, 9_999, 10_000, 12_600].map(ms),
            ["0.00 ms", "0.00 ms", "1.23 ms", "9.99 ms", "10 ms", "13 ms"]
        );
    }
}
