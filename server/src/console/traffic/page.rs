//! The latest calls of the API.

use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;

use crate::console::view::{
    form::{Button, Field},
    frame::{Frame, Sentences, nothing},
    icon::Icon,
    page::Page,
    table::{Head, table},
    visit::{Done, FieldError, Visit},
    words::{Tone, count, moment, tag},
};
use crate::{
    console::traffic::{Call, Outline},
    error::Failure,
};

/// How many calls the page shows.
const SHOWN: usize = 100;
const EVERY_MS: u32 = 2000;

const SAID: Sentences = &[("forgotten", "The calls are forgotten.")];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let (path, method) = (visit.query.text("path"), visit.query.text("method"));
    let (status, user) = (visit.query.text("status"), visit.query.text("user"));
    let is_wanted = |call: &Outline| {
        call.path.contains(path)
            && (method.is_empty() || call.method.as_str() == method)
            && call.user.as_deref().unwrap_or_default().contains(user)
            && match (status, call.status) {
                ("", _) => true,
                ("fault", _) => call.fault.is_some(),
                ("none", answered) => answered.is_none(),
                (class, Some(answered)) => class.starts_with(&(answered / 100).to_string()),
                (_, None) => false,
            }
    };
    let calls = visit.sandbox.traffic.latest_of(SHOWN, is_wanted);
    let heading = match calls.len() {
        SHOWN => format!("The latest {SHOWN} calls; passwords, codes, tokens and phones are masked"),
        n => format!("{}; passwords, codes, tokens and phones are masked", count(n, "call")),
    };
    let forget = visit.button(
        Button::new("forget", "Forget all").confirm("Forget all calls?", "They can't be looked at any more."),
    );
    let frame = Frame::of(Page::Traffic).count(heading).action(forget).live(EVERY_MS).sentences(SAID);
    let is_filtered = [path, method, status, user].iter().any(|text| !text.is_empty());
    Ok(visit.page(frame, || {
        let list = if calls.is_empty() {
            if is_filtered {
                nothing(Icon::Empty, "No such call", "Look for others, or for all.")
            } else {
                nothing(Icon::List, "No call yet", "What the portal asks of the API appears here.")
            }
        } else {
            listed(calls)
        };
        view! {
            <section class="card" aria-label="Calls">
                {filter_form(&visit)}
                <div id="calls" data-live="">{list}</div>
            </section>
        }
        .into_any()
    }))
}

fn filter_form(visit: &Visit) -> AnyView {
    let methods = [("", "Any"), ("GET", "GET"), ("POST", "POST")];
    let statuses = [
        ("", "Any"),
        ("2xx", "2xx, done"),
        ("3xx", "3xx, not modified"),
        ("4xx", "4xx, refused"),
        ("5xx", "5xx, failed"),
        ("none", "No answer"),
        ("fault", "Given a fault"),
    ];
    let own = |options: &[(&str, &str)]| {
        options.iter().map(|(value, word)| ((*value).to_owned(), (*word).to_owned())).collect()
    };
    let field = |name, label| Field::new(name, label).value(visit.query.text(name));
    view! {
        <form class="tools" method="get" role="search">
            {visit.text_field("find", field("path", "Path has"))}
            {visit.choice("find", field("method", "Method"), own(&methods))}
            {visit.choice("find", field("status", "Answer"), own(&statuses))}
            {visit.text_field("find", field("user", "User has"))}
            <button class="btn">"Show"</button>
        </form>
    }
    .into_any()
}

fn listed(calls: Vec<Call>) -> AnyView {
    let rows = calls
        .into_iter()
        .map(|call| {
            let answer = match call.status {
                None => tag(Tone::Bad, "No answer"),
                Some(status @ ..400) => tag(Tone::Good, status.to_string()),
                Some(status @ 400..500) => tag(Tone::Wait, status.to_string()),
                Some(status) => tag(Tone::Bad, status.to_string()),
            };
            let fault = call.fault.map(|kind| {
                let kind = serde_json::to_value(kind).ok();
                let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("fault").to_owned();
                tag(Tone::Wait, format!("fault: {kind}"))
            });
            let user = call.user.unwrap_or_else(|| "nobody".to_owned());
            view! {
                <tr>
                    <td>
                        <b class="path">{call.method}" "{call.path}</b>
                        <details class="bodies" id=format!("call-{}", call.id)>
                            <summary>"Bodies and request id"</summary>
                            <p class="muted">"Request " {call.request_id}</p>
                            {body("Sent", &call.request_body)}
                            {body("Answered", &call.response_body)}
                        </details>
                    </td>
                    <td class="right"><div class="tags">{answer}{fault}</div></td>
                    <td class="more num" data-label="Took">{call.ms}" ms"</td>
                    <td class="more" data-label="User">{user}</td>
                    <td class="more" data-label="At">{moment(call.at)}</td>
                </tr>
            }
        })
        .collect_view();
    table(
        [Head::Left("Call"), Head::Right("Answer"), Head::Left("Took"), Head::Left("User"), Head::Left("At")],
        rows,
    )
}

fn body(what: &'static str, body: &Value) -> AnyView {
    let text = match body {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        json => serde_json::to_string_pretty(json).unwrap_or_default(),
    };
    view! { <p>{what}</p><pre tabindex="0" aria-label=what>{text}</pre> }.into_any()
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    let outcome = perform(&visit);
    visit.after(Page::Traffic, outcome, show).await
}

fn perform(visit: &Visit) -> Result<Done, FieldError> {
    match visit.sent.text("act") {
        "forget" => {
            visit.sandbox.traffic.forget();
            Ok(Done::new("forgotten"))
        }
        _ => Err(FieldError::of_act()),
    }
}
