//! The faults that are injected into API calls.

use axum::response::Response;
use leptos::prelude::*;
use serde::{Deserialize, de::IntoDeserializer};

use crate::{
    console::view::{
        form::{Button, Field},
        frame::{Frame, SuccessMessages, empty_state, note},
        icon::Icon,
        page::Page,
        table::{Head, table},
        visit::{Done, FieldError, Fields, Visit},
        words::{Tone, count},
    },
    faults::{self, Fault, FaultPhase, Kind, NewFault},
};
use base::error::Failure;

const REFRESH_MS: u32 = 2000;

const SUCCESS: SuccessMessages = &[
    ("added", "The fault applies from the next call: {}."),
    ("removed", "The fault is removed."),
    ("ended", "All faults are removed."),
];

const KINDS: [(Kind, &str, &str); 6] = [
    (Kind::Status, "status", "Return a status"),
    (Kind::Latency, "latency", "Delay"),
    (Kind::Drop, "drop", "Close the connection without a response"),
    (Kind::Reset, "reset", "Reset the connection without a response"),
    (Kind::Truncate, "truncate", "Truncate the response"),
    (Kind::Malformed, "malformed", "Return invalid JSON"),
];

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Suggested paths.
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

/// Common faults: their labels and form fields.
const COMMON: [(&str, &[(&str, &str)]); 4] = [
    (
        "Lose the next payout's response",
        &[("method", "POST"), ("path", "/api/v1/disbursements/*/disburse"), ("kind", "drop"), ("times", "1")],
    ),
    (
        "Reset the connection before the next payout is made",
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
        "Delay the pending list by 3 s",
        &[("method", "GET"), ("path", "/api/v1/disbursements/pending"), ("kind", "latency"), ("ms", "3000")],
    ),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let faults = faults::all(&mut *visit.sandbox.database.read().await?).await?;
    let end = (!faults.is_empty()).then(|| visit.button(Button::new("end", "End all faults")));
    let mut frame = Frame::of(Page::Faults)
        .count(match faults.len() {
            0 => "All calls are handled normally".to_owned(),
            n => format!("{} for API calls; the console is not affected", count(n, "fault")),
        })
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    if let Some(end) = end {
        frame = frame.action(end);
    }
    Ok(visit.page(frame, || {
        let list = if faults.is_empty() {
            empty_state(Icon::Success, "No faults", "Add a common fault, or define your own.")
        } else {
            listed(&visit, faults)
        };
        let is_spared = visit.sandbox.provider.as_ref().is_some_and(|provider| !provider.has_payout_faults);
        let spared = is_spared.then(|| {
            let text = "Payouts are spared: calls are forwarded to another provider, which pays out real money. \
                        Set MKOPO_PROVIDER_FAULTS=payouts to let faults hit them.";
            note(Tone::Wait, "status", "spared", text.to_owned())
        });
        view! {
            {spared}
            <div class="two">
                <div class="stack">
                    <section class="card" aria-labelledby="faults-title">
                        <div class="top"><h2 id="faults-title">"Active faults"</h2></div>
                        <div id="faults" data-live="">{list}</div>
                    </section>
                    {common_faults(&visit)}
                </div>
                {add_form(&visit)}
            </div>
        }
        .into_any()
    }))
}

fn common_faults(visit: &Visit) -> AnyView {
    let buttons = COMMON
        .into_iter()
        .map(|(label, fields)| {
            let button = Button::new("add", label);
            visit.button(fields.iter().fold(button, |button, (name, value)| button.field(name, *value)))
        })
        .collect_view();
    view! {
        <section class="card" aria-labelledby="common-title">
            <div class="top"><h2 id="common-title">"Common faults"</h2></div>
            <div class="in row">{buttons}</div>
        </section>
    }
    .into_any()
}

fn effect(fault: &Fault) -> String {
    let when = match fault.phase {
        FaultPhase::Before => "before processing",
        FaultPhase::After => "after processing",
    };
    match fault.kind {
        Kind::Status => format!("returns {} {when}", fault.status.unwrap_or_default()),
        Kind::Latency => format!("waits {} ms {when}", fault.ms.unwrap_or_default()),
        Kind::Drop => format!("closes the connection {when}"),
        Kind::Reset => format!("resets the connection {when}"),
        Kind::Truncate => "truncates the response".to_owned(),
        Kind::Malformed => "returns invalid JSON".to_owned(),
    }
}

fn frequency(fault: &Fault) -> String {
    let share = if fault.chance == 1_000_000 {
        "every call".to_owned()
    } else {
        #[expect(clippy::cast_precision_loss, reason = "six digits")]
        let percent = fault.chance as f64 / 10_000.0;
        format!("{percent} % of calls, seed {}", fault.seed)
    };
    match fault.times {
        Some(times) => {
            let times = count(usize::try_from(times).unwrap_or_default(), "time");
            format!("{share}, at most {times}")
        }
        None => share,
    }
}

fn listed(visit: &Visit, faults: Vec<Fault>) -> AnyView {
    let rows = faults
        .into_iter()
        .map(|fault| {
            let (effect, frequency) = (effect(&fault), frequency(&fault));
            let remove = Button::new("remove", "Remove")
                .quiet()
                .id(format!("remove-{}", fault.id))
                .about(format!("Remove the fault for {} that {effect}", fault.path))
                .field("id", fault.id);
            view! {
                <tr>
                    <td>
                        <b class="path">{fault.method.unwrap_or_else(|| "any".to_owned())}" "{fault.path}</b>
                        <span class="second">{effect}</span>
                    </td>
                    <td class="more" data-label="Frequency">{frequency}</td>
                    <td class="right num" data-label="hits"><b>{fault.hits}</b></td>
                    <td class="act">{visit.button(remove)}</td>
                </tr>
            }
        })
        .collect_view();
    table([Head::Left("Calls"), Head::Left("Frequency"), Head::Right("Hits"), Head::Hidden("Actions")], rows)
}

fn add_form(visit: &Visit) -> AnyView {
    let any_method = [(String::new(), "Any".to_owned())];
    let methods = METHODS.map(|method| (method.to_owned(), method.to_owned()));
    let kinds = KINDS.map(|(_, name, label)| (name.to_owned(), label.to_owned()));
    let phases = [("", "Default"), ("before", "Before processing"), ("after", "After processing")]
        .map(|(phase, label)| (phase.to_owned(), label.to_owned()));
    let path = Field::new("path", "Path").hint("The full path; * matches one segment.").value(PATHS[1]);
    let when = Field::new("when", "When").hint("After processing, only the response is affected.");
    let status = Field::new("status", "Status").hint("From 400 to 599. Only for 'Return a status'.");
    let ms = Field::new("ms", "Delay, in ms").hint("From 1 to 25000. Only for 'Delay'.");
    let probability = Field::new("probability", "Probability").hint("Above 0 and at most 1.").value("1");
    let times = Field::new("times", "Maximum hits").hint("Empty for no limit.");
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
            <div class="top"><h2 id="add-title">"Custom fault"</h2></div>
            <form method="post" class="in stack">
                {visit.hidden_fields("add")}
                {visit
                    .choice(
                        "add",
                        Field::new("method", "Method"),
                        any_method.into_iter().chain(methods).collect(),
                    )}
                {path}
                {visit.choice("add", Field::new("kind", "Effect").value("drop"), kinds.to_vec())}
                {visit.number_field("add", status)}
                {visit.number_field("add", ms)}
                {visit.choice("add", when, phases.to_vec())}
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
            let fault = faults::add(&visit.sandbox.world, read(&visit.sent)?, &visit.trail).await?;
            Ok(Done::new("added").with(effect(&fault)))
        }
        "remove" => {
            faults::remove(&visit.sandbox.world, Some(visit.sent.text("id").to_owned()), &visit.trail)
                .await?;
            Ok(Done::new("removed"))
        }
        "end" => {
            faults::remove(&visit.sandbox.world, None, &visit.trail).await?;
            Ok(Done::new("ended"))
        }
        _ => Err(FieldError::unknown_action()),
    }
}

fn read(sent: &Fields) -> Result<NewFault, FieldError> {
    Ok(NewFault {
        method: sent.given("method").map(str::to_owned),
        path: sent.text("path").to_owned(),
        kind: variant(sent, "kind")?,
        when: sent.given("when").map(|_| variant(sent, "when")).transpose()?,
        status: sent.parsed("status", "whole number")?,
        ms: sent.parsed("ms", "whole number")?,
        probability: sent.parsed("probability", "number")?,
        times: sent.parsed("times", "whole number")?,
        seed: sent.parsed("seed", "whole number from 0 to 4294967295")?,
    })
}

/// The enum variant that the field names, as in the API.
fn variant<'de, T: Deserialize<'de>>(sent: &'de Fields, field: &'static str) -> Result<T, FieldError> {
    let name: serde::de::value::StrDeserializer<'de, serde::de::value::Error> =
        sent.text(field).into_deserializer();
    T::deserialize(name).map_err(|error| Failure::BadField { field, text: error.to_string() }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, words_of};

    #[test]
    fn the_docs_describe_each_kind() {
        let docs = include_str!("../../../../docs/console.md");
        for kind in words_of("FaultKind") {
            assert!(
                docs.contains(&format!("| `{kind}` |")),
                "Describe {kind} in the table of docs/console.md."
            );
        }
    }

    #[test]
    fn the_form_offers_each_kind_and_method() {
        let kinds = KINDS.into_iter().map(|(_, name, _)| name);
        assert_same(kinds, &words_of("FaultKind"), "Add a kind to KINDS, with its name on the page.");
        let methods = words_of("NewFault/properties/method");
        assert_same(METHODS, &methods, "Add a method to METHODS, here and of `NewFault::method`.");
    }
}
