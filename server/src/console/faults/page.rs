//! Faults that calls of the API are given.

use axum::response::Response;
use leptos::prelude::*;
use serde::{Deserialize, de::IntoDeserializer};

use crate::console::view::{
    form::{Button, Field},
    frame::{Frame, Sentences, nothing},
    icon::Icon,
    page::Page,
    table::{Head, table},
    visit::{Done, FieldError, Fields, Visit},
    words::count,
};
use crate::{
    console::faults::{self, Fault, FaultPhase, Kind, NewFault},
    error::Failure,
};

const EVERY_MS: u32 = 2000;

const SAID: Sentences = &[
    ("added", "The fault holds from the next call on: {}."),
    ("removed", "The fault is gone."),
    ("ended", "No fault is left."),
];

const KINDS: [(Kind, &str, &str); 6] = [
    (Kind::Status, "status", "Answer with a status"),
    (Kind::Latency, "latency", "Take longer"),
    (Kind::Drop, "drop", "Close the connection without an answer"),
    (Kind::Reset, "reset", "Reset the connection without an answer"),
    (Kind::Truncate, "truncate", "Cut the answer in the middle"),
    (Kind::Malformed, "malformed", "Answer what is no JSON"),
];

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// What can be failed, to choose from.
const PATHS: [&str; 8] = [
    "/api/v1/disbursements/pending",
    "/api/v1/disbursements/*/disburse",
    "/api/v1/disbursement-records",
    "/api/v1/auth/login",
    "/api/v1/auth/me",
    "/api/v1/auth/request-signin-otp",
    "/api/v1/auth/verify-signin-otp",
    "/api/v1/auth/request-password-reset",
];

/// Faults that are asked for often: what they are called, and their fields.
const USUAL: [(&str, &[(&str, &str)]); 4] = [
    (
        "Lose the next payout's answer",
        &[("method", "POST"), ("path", "/api/v1/disbursements/*/disburse"), ("kind", "drop"), ("times", "1")],
    ),
    (
        "Reset the next payout's connection before it is made",
        &[
            ("method", "POST"),
            ("path", "/api/v1/disbursements/*/disburse"),
            ("kind", "reset"),
            ("when", "before"),
            ("times", "1"),
        ],
    ),
    (
        "Fail three in ten reads of the history",
        &[
            ("method", "GET"),
            ("path", "/api/v1/disbursement-records"),
            ("kind", "status"),
            ("status", "503"),
            ("probability", "0.3"),
            ("seed", "7"),
        ],
    ),
    (
        "Slow the pending list by 3 s",
        &[("method", "GET"), ("path", "/api/v1/disbursements/pending"), ("kind", "latency"), ("ms", "3000")],
    ),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let faults = faults::all(&mut *visit.sandbox.database.read().await?).await?;
    let end = (!faults.is_empty()).then(|| visit.button(Button::new("end", "End all faults")));
    let mut frame = Frame::of(Page::Faults)
        .count(match faults.len() {
            0 => "Every call is answered as it should be".to_owned(),
            n => format!("{} for calls of the API; the console always works", count(n, "fault")),
        })
        .live(EVERY_MS)
        .sentences(SAID);
    if let Some(end) = end {
        frame = frame.action(end);
    }
    Ok(visit.page(frame, || {
        let list = if faults.is_empty() {
            nothing(Icon::Success, "No fault is set", "Take a usual one, or make one up.")
        } else {
            listed(&visit, faults)
        };
        view! {
            <div class="two">
                <div class="stack">
                    <section class="card" aria-labelledby="faults-title">
                        <div class="top"><h2 id="faults-title">"Set now"</h2></div>
                        <div id="faults" data-live="">{list}</div>
                    </section>
                    {usual(&visit)}
                </div>
                {add_form(&visit)}
            </div>
        }
        .into_any()
    }))
}

fn usual(visit: &Visit) -> AnyView {
    let buttons = USUAL
        .into_iter()
        .map(|(word, fields)| {
            let button = Button::new("add", word);
            visit.button(fields.iter().fold(button, |button, (name, value)| button.field(name, *value)))
        })
        .collect_view();
    view! {
        <section class="card" aria-labelledby="usual-title">
            <div class="top"><h2 id="usual-title">"Usual faults"</h2></div>
            <div class="in row">{buttons}</div>
        </section>
    }
    .into_any()
}

/// What a fault does, in words.
fn words(fault: &Fault) -> String {
    let when = match fault.phase {
        FaultPhase::Before => "before the work",
        FaultPhase::After => "after the work",
    };
    match fault.kind {
        Kind::Status => format!("answers {} {when}", fault.status.unwrap_or_default()),
        Kind::Latency => format!("waits {} ms {when}", fault.ms.unwrap_or_default()),
        Kind::Drop => format!("closes the connection {when}"),
        Kind::Reset => format!("resets the connection {when}"),
        Kind::Truncate => "cuts the answer in the middle".to_owned(),
        Kind::Malformed => "answers what is no JSON".to_owned(),
    }
}

/// How often it hits, in words.
fn how_often(fault: &Fault) -> String {
    let share = if fault.chance == 1_000_000 {
        "every call".to_owned()
    } else {
        #[expect(clippy::cast_precision_loss, reason = "six digits")]
        let percent = fault.chance as f64 / 10_000.0;
        format!("{percent} % of calls, seed {}", fault.seed)
    };
    match fault.times {
        Some(times) => format!("{share}, {times} × at most"),
        None => share,
    }
}

fn listed(visit: &Visit, faults: Vec<Fault>) -> AnyView {
    let rows = faults
        .into_iter()
        .map(|fault| {
            let (does, often) = (words(&fault), how_often(&fault));
            let remove = Button::new("remove", "Remove")
                .quiet()
                .id(format!("remove-{}", fault.id))
                .about(format!("Remove the fault of {} that {does}", fault.path))
                .field("id", fault.id);
            view! {
                <tr>
                    <td>
                        <b class="path">{fault.method.unwrap_or_else(|| "any".to_owned())}" "{fault.path}</b>
                        <span class="second">{does}</span>
                    </td>
                    <td class="more" data-label="Of">{often}</td>
                    <td class="right num" data-label="hits"><b>{fault.hits}</b></td>
                    <td class="act">{visit.button(remove)}</td>
                </tr>
            }
        })
        .collect_view();
    table([Head::Left("Calls"), Head::Left("Of"), Head::Right("Hits"), Head::Unseen("Do")], rows)
}

fn add_form(visit: &Visit) -> AnyView {
    let any_method = [(String::new(), "Any".to_owned())];
    let methods = METHODS.map(|method| (method.to_owned(), method.to_owned()));
    let kinds = KINDS.map(|(_, name, word)| (name.to_owned(), word.to_owned()));
    let moments = [("", "As usual"), ("before", "Before the work"), ("after", "After the work")]
        .map(|(moment, word)| (moment.to_owned(), word.to_owned()));
    let path = Field::new("path", "Path").hint("The whole path; * stands for a segment.").value(PATHS[1]);
    let when = Field::new("when", "When").hint("After the work, only its answer suffers.");
    let status = Field::new("status", "Status").hint("From 400 to 599, for a status.");
    let ms = Field::new("ms", "How much longer, in ms").hint("From 1 to 25000, for taking longer.");
    let probability = Field::new("probability", "How likely").hint("Above 0 and at most 1.").value("1");
    let times = Field::new("times", "How often at most").hint("Empty: without end.");
    let seed = Field::new("seed", "Seed").hint("The same seed hits the same calls.");
    let path = visit.field("add", path, |control| {
        let paths = PATHS.map(|path| view! { <option value=path></option> }).collect_view();
        view! {
            <input
                id=control.id
                name=control.name
                value=control.value
                list="paths"
                autocomplete="off"
                spellcheck="false"
                autofocus=control.autofocus
                aria-describedby=control.described_by
                aria-invalid=control.invalid
            />
            <datalist id="paths">{paths}</datalist>
        }
        .into_any()
    });
    view! {
        <section class="card" aria-labelledby="add-title">
            <div class="top"><h2 id="add-title">"Another fault"</h2></div>
            <form method="post" class="in stack">
                {visit.form_of("add")}
                {visit
                    .choice(
                        "add",
                        Field::new("method", "Method"),
                        any_method.into_iter().chain(methods).collect(),
                    )}
                {path}
                {visit.choice("add", Field::new("kind", "What it does").value("drop"), kinds.to_vec())}
                {visit.number_field("add", status)}
                {visit.number_field("add", ms)}
                {visit.choice("add", when, moments.to_vec())}
                {visit.text_field("add", probability)}
                {visit.number_field("add", times)}
                {visit.number_field("add", seed)}
                <button class="btn main">"Add"</button>
            </form>
        </section>
    }
    .into_any()
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    let outcome = perform(&visit).await;
    visit.after(Page::Faults, outcome, show).await
}

async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    match visit.sent.text("act") {
        "add" => {
            let fault = faults::add(&visit.sandbox, read(&visit.sent)?).await?;
            Ok(Done::new("added").with(words(&fault)))
        }
        "remove" => {
            faults::remove(&visit.sandbox, Some(visit.sent.text("id").to_owned())).await?;
            Ok(Done::new("removed"))
        }
        "end" => {
            faults::remove(&visit.sandbox, None).await?;
            Ok(Done::new("ended"))
        }
        _ => Err(FieldError::of_act()),
    }
}

fn read(sent: &Fields) -> Result<NewFault, FieldError> {
    Ok(NewFault {
        method: sent.given("method").map(str::to_owned),
        path: sent.text("path").to_owned(),
        kind: named(sent, "kind")?,
        when: sent.given("when").map(|_| named(sent, "when")).transpose()?,
        status: sent.parsed("status", "whole number")?,
        ms: sent.parsed("ms", "whole number")?,
        probability: sent.parsed("probability", "number")?,
        times: sent.parsed("times", "whole number")?,
        seed: sent.parsed("seed", "whole number from 0 to 4294967295")?,
    })
}

/// What the field names, by the names of the JSON call.
fn named<'de, T: Deserialize<'de>>(sent: &'de Fields, field: &'static str) -> Result<T, FieldError> {
    let name: serde::de::value::StrDeserializer<'de, serde::de::value::Error> =
        sent.text(field).into_deserializer();
    T::deserialize(name).map_err(|error| Failure::BadField { field, text: error.to_string() }.into())
}
