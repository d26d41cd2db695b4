//! The page of the differences from the contract.

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
};
use leptos::prelude::*;
use serde_json::Value;

use super::report;
use crate::view::prelude::*;
use base::error::Failure;
use contract::{DifferenceKind, Side};
use provider::{Found, Report};

const REFRESH_MS: u32 = 2000;

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let report = report(&visit.sandbox);
    if visit.query.text("as") == "json" {
        let headers = [(header::CONTENT_DISPOSITION, "attachment; filename=\"contract.json\"")];
        return Ok((headers, Json(report)).into_response());
    }
    let Some(provider) = report.provider.clone() else {
        return Ok(visit.page(Frame::of(Page::Contract), || {
            let text = "Calls are held to the contract where they are forwarded to another provider: set \
                        MKOPO_PROVIDER_URL.";
            empty_state(Icon::LIST, "No other provider", text)
        }));
    };
    let heading =
        format!("{} calls to {provider} checked, {} not", number(report.checked), number(report.skipped));
    let frame = Frame::of(Page::Contract).count(heading).action(download()).live(REFRESH_MS);
    Ok(visit.page(frame, || {
        let Report { violations, unknown_fields, not_kept, .. } = report;
        let more = (not_kept > 0).then(|| {
            view! { <p class="muted">{number(not_kept)}" more differences are not listed."</p> }
        });
        let violations = if violations.is_empty() {
            empty_state(Icon::SUCCESS, "No violations", "Every call that was checked keeps to the contract.")
        } else {
            listed(violations)
        };
        let unknown = (!unknown_fields.is_empty()).then(|| {
            view! {
                <section class="card" aria-label="Unknown fields">
                    <h2>"Unknown fields"</h2>
                    <p class="muted">"The contract does not have them. The portal ignores them."</p>
                    {listed(unknown_fields)}
                </section>
            }
        });
        view! {
            <div id="differences" data-live="">
                <section class="card" aria-label="Violations"><h2>"Violations"</h2>{violations}{more}</section>
                {unknown}
            </div>
        }
    }))
}

fn download() -> AnyView {
    let address = format!("{}?as=json", Page::Contract.address());
    view! { <a class="btn" href=address download="contract.json">"Download as JSON"</a> }.into_any()
}

fn listed(found: Vec<Found>) -> AnyView {
    let rows = found.into_iter().map(|found| {
        let tone = if found.kind.is_violation() { Tone::Bad } else { Tone::Plain };
        let example = (found.example != Value::Null).then(|| {
            let text = serde_json::to_string_pretty(&found.example).unwrap_or_default();
            let id = format!("{} {} {}", found.operation, found.place, found.kind);
            view! {
                <details class="bodies" id=id>
                    <summary>"Example"</summary>
                    <p class="muted">"x stands for each letter, 9 for each digit."</p>
                    <pre tabindex="0" aria-label="Example">{text}</pre>
                </details>
            }
        });
        let side = match found.side {
            Side::Request => "in the request",
            Side::Answer => "in the answer",
        };
        cells![
            view! {
                <b class="path">{found.operation}</b>
                <span class="second path">{found.place}" "{side}</span>
                <span class="second">{found.text}</span>
                {example}
            },
            tag(tone, in_words(found.kind)),
            number(found.count),
            timestamp(found.first),
            timestamp(found.last),
        ]
    });
    let columns =
        [first("Operation, place"), left("Difference"), beside("Count"), left("First"), left("Last")];
    table(columns, rows)
}

fn in_words(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::Missing => "Missing",
        DifferenceKind::Type => "Wrong type",
        DifferenceKind::Value => "Wrong value",
        DifferenceKind::Status => "Unknown status",
        DifferenceKind::MediaType => "Wrong media type",
        DifferenceKind::Unreadable => "Not JSON",
        DifferenceKind::Unknown => "Unknown field",
    }
}
