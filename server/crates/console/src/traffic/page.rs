//! The latest calls of the API.

use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;

use crate::{
    traces,
    traffic::{self, Call, filter::GivenFilter, har},
    view::prelude::*,
};
use base::error::Failure;

const PAGE_SIZE: usize = 100;
const REFRESH_MS: u32 = 2000;

const FILTERS: [&str; 6] = ["path", "method", "status", "user", "since", "until"];

const SUCCESS: SuccessMessages = &[("cleared", "The calls are cleared.")];

pub async fn show(mut visit: Visit) -> Result<Response, Failure> {
    if visit.query.text("as") == "har" {
        return har::file(&visit.sandbox).await;
    }
    let found = search(&visit).await;
    let calls = visit.found(found)?;
    let heading = match calls.len() {
        PAGE_SIZE => format!("The latest {PAGE_SIZE} calls; passwords, codes, tokens and phones are masked"),
        n => format!("{}; passwords, codes, tokens and phones are masked", count(n, "call")),
    };
    let clear = visit.button(
        Button::new("forget", "Clear all").confirm("Clear all calls?", "They can no longer be viewed."),
    );
    let actions = view! { <div class="row">{download()}{clear}</div> }.into_any();
    let frame =
        Frame::of(Page::Traffic).count(heading).action(actions).live(REFRESH_MS).success_messages(SUCCESS);
    let is_filtered = FILTERS.iter().any(|name| !visit.query.text(name).is_empty());
    Ok(visit.page(frame, || {
        let list = if !calls.is_empty() {
            listed(calls)
        } else if is_filtered {
            empty_state(Icon::EMPTY, "No matching calls", "Try another filter, or clear it.")
        } else {
            empty_state(Icon::LIST, "No calls yet", "The portal's API calls appear here.")
        };
        list_card("Calls", "calls", Some(filter_form(&visit)), list)
    }))
}

async fn search(visit: &Visit) -> Result<Vec<Call>, FieldError> {
    let given: GivenFilter = visit.query.parameters(&FILTERS)?;
    let (since, until) = (visit.filter_time("since")?, visit.filter_time("until")?);
    let filter = GivenFilter { since, until, ..given }.checked()?;
    Ok(traffic::latest(&visit.sandbox, PAGE_SIZE, filter).await?)
}

fn download() -> AnyView {
    let address = format!("{}?as=har", Page::Traffic.address());
    view! { <a class="btn" href=address download="">"Download as HAR"</a> }.into_any()
}

fn filter_form(visit: &Visit) -> AnyView {
    let methods = [("", "Any"), ("GET", "GET"), ("POST", "POST")];
    let statuses = [
        ("", "Any"),
        ("2xx", "2xx, success"),
        ("3xx", "3xx, not modified"),
        ("4xx", "4xx, client error"),
        ("5xx", "5xx, server error"),
        ("none", "No response"),
        ("fault", "With a fault"),
    ];
    visit.search_form([
        Field::text("path", "Path contains"),
        Field::choice("method", "Method", methods),
        Field::choice("status", "Response", statuses),
        Field::text("user", "User contains"),
        Field::text("since", "Since").hint(TIME_HINT),
        Field::text("until", "Until").hint(TIME_HINT),
    ])
}

fn listed(calls: Vec<Call>) -> AnyView {
    let rows = calls.into_iter().map(|call| {
        let status = match call.status {
            None => tag(Tone::Bad, "No response"),
            Some(status @ ..400) => tag(Tone::Good, status.to_string()),
            Some(status @ 400..500) => tag(Tone::Wait, status.to_string()),
            Some(status) => tag(Tone::Bad, status.to_string()),
        };
        let fault = call.fault.map(|kind| tag(Tone::Wait, format!("fault: {kind}")));
        let user = call.user.unwrap_or_else(|| "not signed in".to_owned());
        cells![
            view! {
                <b class="path">{call.method}" "{call.path}</b>
                <details class="bodies" id=format!("call-{}", call.id)>
                    <summary>"Bodies and request ID"</summary>
                    <p class="muted">"Request " <a href=traces::address(&call.request_id)>{call.request_id.clone()}</a></p>
                    {body("Request body", &call.request_body)}
                    {body("Response body", &call.response_body)}
                </details>
            },
            view! { <div class="tags">{status}{fault}</div> },
            format!("{} ms", call.ms),
            user,
            timestamp(call.at),
        ]
    });
    table([first("Call"), beside("Response"), digits("Duration"), left("User"), left("Time")], rows)
}

fn body(label: &'static str, body: &Value) -> AnyView {
    let text = match body {
        Value::Null => "empty".to_owned(),
        Value::String(text) => text.clone(),
        json => serde_json::to_string_pretty(json).unwrap_or_default(),
    };
    view! { <p>{label}</p><pre tabindex="0" aria-label=label>{text}</pre> }.into_any()
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    match visit.sent.text("act") {
        "forget" => {
            super::clear(&visit.sandbox, &visit.trail).await?;
            Ok(Done::new("cleared"))
        }
        _ => Err(FieldError::unknown_action()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, query_of};

    #[test]
    fn the_page_has_the_filters_of_the_api() {
        assert_same(FILTERS, &query_of("/console/api/traffic"), "Add a filter to FILTERS and to the form.");
    }
}
