//! How mobile money acts.

use axum::response::Response;
use leptos::prelude::*;

use crate::console::view::{
    form::{Button, Field},
    frame::{Frame, Sentences, nothing},
    icon::Icon,
    page::Page,
    table::{Head, table},
    visit::{Done, FieldError, Visit},
    words::{Tone, kes, tag},
};
use crate::{
    error::Failure,
    mobile_money::{MAGIC, Outcome, Scenario, ScenarioChange},
};

const EVERY_MS: u32 = 2000;
/// How many coming payouts one form decides at most.
const AT_ONCE: usize = 100;

const SAID: Sentences = &[
    ("queued", "The coming payouts end so: {}."),
    ("emptied", "No outcome waits any more."),
    ("changed", "Mobile money acts as set from the next payout on."),
    ("started", "Mobile money acts as on the first day."),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let scenario = visit.sandbox.mobile_money.scenario().await?;
    let start = visit.button(Button::new("start", "Back to the start").confirm(
        "Back to the start?",
        "Every payout succeeds at once, the float is full, the seed is 1 and no outcome waits.",
    ));
    let frame = Frame::of(Page::Scenario)
        .count("What becomes of the payouts that mobile money is asked for")
        .action(start)
        .live(EVERY_MS)
        .sentences(SAID);
    Ok(visit.page(frame, || {
        view! {
            <div class="two even">
                <div class="stack">{next(&visit)}{queue(&visit, &scenario)}</div>
                {settings(&visit, &scenario)}
            </div>
            {magic_numbers()}
        }
        .into_any()
    }))
}

/// The outcomes to choose from.
fn outcomes() -> Vec<(String, String)> {
    Outcome::ALL.into_iter().map(|outcome| (outcome.name().to_owned(), word(outcome))).collect()
}

/// An outcome's name as words, and the result code where it is a refusal.
fn word(outcome: Outcome) -> String {
    let name = outcome.name().replace('_', " ");
    match outcome {
        Outcome::Refused(refusal) => format!("{name} (code {})", refusal.code()),
        _ => name,
    }
}

fn next(visit: &Visit) -> AnyView {
    let refused = Outcome::Refused(crate::mobile_money::Refusal::InsufficientFunds);
    let outcome = Field::new("next", "Ends so").value(refused.name());
    let how_many = Field::new("count", "How many payouts").value("1");
    view! {
        <section class="card" aria-labelledby="next-title">
            <div class="top"><h2 id="next-title">"The next payout"</h2></div>
            <form method="post" class="in fields">
                {visit.form_of("queue")}
                {visit.choice("queue", outcome, outcomes())}
                {visit.number_field("queue", how_many)}
                <button class="btn main">"Set"</button>
            </form>
        </section>
    }
    .into_any()
}

fn queue(visit: &Visit, scenario: &Scenario) -> AnyView {
    let is_empty = scenario.next.is_empty();
    let list = if is_empty {
        nothing(Icon::Empty, "No outcome waits", "The next payout ends as set under 'Otherwise'.")
    } else {
        let items = scenario
            .next
            .iter()
            .map(|&outcome| {
                let tone = match outcome {
                    Outcome::Success => Tone::Good,
                    Outcome::Refused(_) => Tone::Bad,
                    _ => Tone::Wait,
                };
                view! { <li>{tag(tone, word(outcome))}</li> }
            })
            .collect_view();
        view! { <ol class="in queue">{items}</ol> }.into_any()
    };
    let clear = (!is_empty).then(|| visit.button(Button::new("clear", "Clear").quiet().id("clear")));
    view! {
        <section class="card" aria-labelledby="queue-title" id="queue" data-live="">
            <div class="top"><h2 id="queue-title">"Waiting outcomes, one a payout"</h2><div class="push">{clear}</div></div>
            {list}
        </section>
    }
    .into_any()
}

fn settings(visit: &Visit, scenario: &Scenario) -> AnyView {
    let default = Field::new("default", "Outcome").value(scenario.default.name());
    let latency = Field::new("latency_ms", "Time to an answer, in ms")
        .hint("The median; times spread around it as real ones do.")
        .value(scenario.latency_ms.to_string());
    let float = Field::new("float", "Float, in KES")
        .hint("What payouts are paid from. Those above it fail.")
        .value(scenario.float.to_string());
    let seed = Field::new("seed", "Seed")
        .hint("The same seed draws the same times.")
        .value(scenario.seed.to_string());
    view! {
        <section class="card" aria-labelledby="settings-title">
            <div class="top"><h2 id="settings-title">"Otherwise"</h2></div>
            <form method="post" class="in stack">
                {visit.form_of("change")}
                {visit.choice("change", default, outcomes())}
                {visit.number_field("change", latency)}
                {visit.number_field("change", float)}
                {visit.number_field("change", seed)}
                <button class="btn">"Save"</button>
            </form>
        </section>
    }
    .into_any()
}

fn magic_numbers() -> AnyView {
    let rows = MAGIC
        .iter()
        .map(|magic| {
            let code = magic.outcome.result_code().unwrap_or("none");
            view! {
                <tr>
                    <td class="num">{magic.phone}</td>
                    <td class="num right">{magic.amount.map_or("any".to_owned(), kes)}</td>
                    <td>{magic.outcome.name().replace('_', " ")}</td>
                    <td class="more" data-label="Result code">{code}</td>
                    <td class="more muted" data-label="">{magic.outcome.text()}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <details class="card magic">
            <summary class="top"><h2>"Phones and amounts that choose an outcome, whatever is set"</h2></summary>
            {table([Head::Left("Phone"), Head::Right("Or amount"), Head::Left("Outcome"), Head::Left("Result code"), Head::Left("Mobile money says")], rows)}
        </details>
    }
    .into_any()
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    let outcome = perform(&visit).await;
    visit.after(Page::Scenario, outcome, show).await
}

async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let mobile_money = &visit.sandbox.mobile_money;
    let (change, done) = match visit.sent.text("act") {
        "queue" => {
            let outcome = outcome(visit, "next")?;
            let count = visit.sent.parsed("count", "whole number")?.unwrap_or(1);
            if !(1..=AT_ONCE).contains(&count) {
                let text = format!("Give a number from 1 to {AT_ONCE}");
                return Err(Failure::BadField { field: "count", text }.into());
            }
            let mut next = mobile_money.scenario().await?.next;
            next.extend(std::iter::repeat_n(outcome, count));
            let done = Done::new("queued").with(word(outcome));
            (ScenarioChange { next: Some(next), ..ScenarioChange::default() }, done)
        }
        "clear" => {
            (ScenarioChange { next: Some(Vec::new()), ..ScenarioChange::default() }, Done::new("emptied"))
        }
        "change" => {
            let change = ScenarioChange {
                default: Some(outcome(visit, "default")?),
                latency_ms: visit.sent.parsed("latency_ms", "whole number of ms")?,
                float: visit.sent.parsed("float", "whole number of shillings")?,
                seed: visit.sent.parsed("seed", "whole number from 0 to 4294967295")?,
                next: None,
            };
            (change, Done::new("changed"))
        }
        "start" => (ScenarioChange::back_to_start(), Done::new("started")),
        _ => return Err(FieldError::of_act()),
    };
    mobile_money.change_scenario(change).await?;
    Ok(done)
}

fn outcome(visit: &Visit, field: &'static str) -> Result<Outcome, FieldError> {
    let refused = |text| Failure::BadField { field, text }.into();
    Outcome::try_from(visit.sent.text(field).to_owned()).map_err(refused)
}
