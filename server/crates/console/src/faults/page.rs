//! The faults that are injected into API calls.

use axum::response::Response;
use leptos::prelude::*;

use crate::view::{prelude::*, visit::Fields};
use base::error::Failure;
use worlds::faults::{self, Fault, FaultKind, FaultPhase, METHODS, NewFault};

const REFRESH_MS: u32 = 2000;

const SUCCESS: SuccessMessages = &[
    ("added", "The fault applies from the next call: {}."),
    ("removed", "The fault is removed."),
    ("ended", "All faults are removed."),
];

/// The names and labels of all kinds.
const KINDS: [(&str, &str); 6] = [
    ("status", "Return a status"),
    ("latency", "Delay"),
    ("drop", "Close the connection without a response"),
    ("reset", "Reset the connection without a response"),
    ("truncate", "Truncate the response"),
    ("malformed", "Return invalid JSON"),
];

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
    let faults = faults::all(&mut visit.sandbox.database.read().await?).await?;
    let frame = Frame::of(Page::Faults)
        .count(match faults.len() {
            0 => "All calls are handled normally".to_owned(),
            n => format!("{} for API calls; the console is not affected", count(n, "fault")),
        })
        // Also without faults: a list that is refreshed may have some later.
        .action(visit.button(Button::new("end", "End all faults")))
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let list = if faults.is_empty() {
            empty_state(Icon::SUCCESS, "No faults", "Add a common fault, or define your own.")
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
                    {card("faults", "Active faults", view! { <div id="faults" data-live="">{list}</div> })}
                    {common_faults(&visit)}
                </div>
                {add_form(&visit)}
            </div>
        }
    }))
}

fn common_faults(visit: &Visit) -> AnyView {
    let buttons = COMMON.map(|(label, fields)| {
        let button = Button::new("add", label);
        visit.button(fields.iter().fold(button, |button, (name, value)| button.field(name, *value)))
    });
    card("common", "Common faults", view! { <div class="in row">{buttons.collect_view()}</div> })
}

fn effect(fault: &Fault) -> String {
    let when = match fault.phase {
        FaultPhase::Before => "before processing",
        FaultPhase::After => "after processing",
    };
    match fault.kind {
        FaultKind::Status => format!("returns {} {when}", fault.status.unwrap_or_default()),
        FaultKind::Latency => format!("waits {} ms {when}", fault.ms.unwrap_or_default()),
        FaultKind::Drop => format!("closes the connection {when}"),
        FaultKind::Reset => format!("resets the connection {when}"),
        FaultKind::Truncate => "truncates the response".to_owned(),
        FaultKind::Malformed => "returns invalid JSON".to_owned(),
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
        Some(times) => format!("{share}, at most {}", count(times, "time")),
        None => share,
    }
}

fn listed(visit: &Visit, faults: Vec<Fault>) -> AnyView {
    let rows = faults.into_iter().map(|fault| {
        let (effect, frequency) = (effect(&fault), frequency(&fault));
        let remove = Button::new("remove", "Remove")
            .quiet()
            .id(format!("remove-{}", fault.id))
            .about(format!("Remove the fault for {} that {effect}", fault.path))
            .field("id", fault.id);
        cells![
            view! {
                <b class="path">{fault.method.unwrap_or_else(|| "any".to_owned())}" "{fault.path}</b>
                <span class="second">{effect}</span>
            },
            frequency,
            view! { <b>{fault.hits}</b> },
            visit.button(remove),
        ]
    });
    table([first("Calls"), left("Frequency"), beside("Hits").label("hits"), actions()], rows)
}

fn add_form(visit: &Visit) -> AnyView {
    let methods = std::iter::once(("", "Any")).chain(METHODS.map(|method| (method, method)));
    let phases = [("", "Default"), ("before", "Before processing"), ("after", "After processing")];
    let fields = [
        Field::choice("method", "Method", methods),
        Field::suggesting("path", "Path", &PATHS)
            .hint("The full path; * matches one segment.")
            .value(PATHS[1]),
        Field::choice("kind", "Effect", KINDS).value("drop"),
        Field::number("status", "Status").hint("From 400 to 599. Only for 'Return a status'."),
        Field::number("ms", "Delay, in ms").hint("From 1 to 25000. Only for 'Delay'."),
        Field::choice("when", "When", phases).hint("After processing, only the response is affected."),
        Field::text("probability", "Probability").hint("Above 0 and at most 1.").value("1"),
        Field::number("times", "Maximum hits").hint("Empty for no limit."),
        Field::number("seed", "Seed").hint("The same seed hits the same calls."),
    ];
    card("add", "Custom fault", visit.form("add", "in stack", fields, Submit::Main("Add")))
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
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
        kind: sent.named("kind")?,
        when: sent.given("when").map(|_| sent.named("when")).transpose()?,
        status: sent.parsed("status", "whole number")?,
        ms: sent.parsed("ms", "whole number")?,
        probability: sent.parsed("probability", "number")?,
        times: sent.parsed("times", "whole number")?,
        seed: sent.parsed("seed", "whole number from 0 to 4294967295")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, words_of};

    #[test]
    fn the_form_offers_each_kind_and_method() {
        let kinds = KINDS.map(|(name, _)| name);
        assert_same(kinds, &words_of("FaultKind"), "Add a kind to KINDS, with its name on the page.");
        let methods = words_of("NewFault/properties/method");
        assert_same(METHODS, &methods, "Add a method to METHODS of `faults`.");
    }
}
