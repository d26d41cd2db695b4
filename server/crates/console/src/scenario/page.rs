//! The outcomes and settings of mobile money.

use axum::response::Response;
use leptos::prelude::*;

use crate::view::prelude::*;
use base::error::Failure;
use lending::mobile_money::{DAILY_LIMIT, MAGIC, MAXIMUM, MINIMUM, Outcome, Scenario, ScenarioChange};

const REFRESH_MS: u32 = 2000;
/// The most outcomes that one form adds to the queue.
const MAX_COUNT: usize = 100;

const SUCCESS: SuccessMessages = &[
    ("queued", "Queued for the next payouts: {}."),
    ("emptied", "The queue is empty."),
    ("changed", "Saved. The settings apply from the next payout."),
    ("started", "The scenario is reset to its defaults."),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let scenario = visit.sandbox.mobile_money.scenario().await?;
    let start = visit.button(Button::new("start", "Reset to defaults").confirm(
        "Reset to defaults?",
        "Every payout succeeds immediately, the float is full, the seed is 1 and the queue is empty.",
    ));
    let frame = Frame::of(Page::Scenario)
        .count("How mobile money handles payouts")
        .action(start)
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        view! {
            <div class="two even">
                <div class="stack">{next(&visit)}{queue(&visit, &scenario)}</div>
                {settings(&visit, &scenario)}
            </div>
            {magic_values()}
        }
    }))
}

/// Values and labels of all outcomes.
fn outcomes() -> impl Iterator<Item = (&'static str, String)> {
    Outcome::ALL.into_iter().map(|outcome| (outcome.name(), label(outcome)))
}

/// An outcome's name, with the result code of a refusal.
fn label(outcome: Outcome) -> String {
    let name = outcome.name().replace('_', " ");
    match outcome {
        Outcome::Refused(refusal) => format!("{name} (code {})", refusal.code()),
        _ => name,
    }
}

fn next(visit: &Visit) -> AnyView {
    let refused = Outcome::Refused(lending::mobile_money::Refusal::InsufficientFunds);
    let outcome = Field::choice("next", "Outcome", outcomes()).value(refused.name());
    let how_many = Field::number("count", "How many payouts").value("1");
    let form = visit.form("queue", "in fields", [outcome, how_many], Submit::Main("Set"));
    card("next", "The next payout", form)
}

fn queue(visit: &Visit, scenario: &Scenario) -> AnyView {
    let is_empty = scenario.next.is_empty();
    let list = if is_empty {
        empty_state(Icon::EMPTY, "No queued outcomes", "The next payout has the default outcome.")
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
                view! { <li>{tag(tone, label(outcome))}</li> }
            })
            .collect_view();
        view! { <ol class="in queue">{items}</ol> }.into_any()
    };
    let clear = (!is_empty).then(|| visit.button(Button::new("clear", "Clear").quiet().id("clear")));
    view! {
        <section class="card" aria-labelledby="queue-title" id="queue" data-live="">
            <div class="top"><h2 id="queue-title">"Queued outcomes, one per payout"</h2><div class="push">{clear}</div></div>
            {list}
        </section>
    }
    .into_any()
}

fn settings(visit: &Visit, scenario: &Scenario) -> AnyView {
    let fields = [
        Field::choice("default", "Default outcome", outcomes()).value(scenario.default.name()),
        Field::number("latency_ms", "Response time, in ms")
            .hint("What mobile money takes to answer, up to 600000.")
            .value(scenario.latency_ms.to_string()),
        Field::number("spread_percent", "Spread, in %")
            .hint("How far response times vary. With 45, as with real mobile money, one in twenty takes twice as long.")
            .value(scenario.spread_percent.to_string()),
        Field::number("float", "Float, in KES")
            .hint("Payouts are paid from it. Payouts above it fail.")
            .value(scenario.float.0.to_string()),
        Field::number("seed", "Seed")
            .hint("With a spread, the same seed gives the same response times.")
            .value(scenario.seed.to_string()),
    ];
    // Payouts and other people change them while the page is open.
    let fields = fields.map(Field::sends_shown);
    card("settings", "Settings", visit.form("change", "in stack", fields, Submit::Plain("Save")))
}

fn magic_values() -> AnyView {
    let rows = MAGIC.iter().map(|magic| {
        let code = magic.outcome.result_code().unwrap_or("none");
        cells![
            magic.phone,
            magic.amount.map_or("any".to_owned(), kes),
            magic.outcome.name().replace('_', " "),
            code,
            magic.outcome.text(),
        ]
    });
    let columns = [
        first("Phone").class("num"),
        beside("Or amount"),
        first("Outcome"),
        left("Result code"),
        first("Message").class("more muted"),
    ];
    let limits = format!(
        "Amounts below {} or above {} are refused too, and so is more than {} a day to one phone. The phone takes \
         precedence over the amount. What the float does not cover is refused, whatever is selected.",
        kes(MINIMUM),
        kes(MAXIMUM),
        kes(DAILY_LIMIT),
    );
    let body = view! { {table(columns, rows)}<p class="in muted">{limits}</p> };
    card("magic", "Phone numbers and amounts that always select an outcome", body)
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let mobile_money = &visit.sandbox.mobile_money;
    let (change, done) = match visit.sent.text("act") {
        "queue" => {
            let outcome: Outcome = visit.sent.named("next")?;
            let count = visit.sent.parsed("count", "whole number")?.unwrap_or(1);
            if !(1..=MAX_COUNT).contains(&count) {
                let text = format!("Enter a number from 1 to {MAX_COUNT}");
                return Err(Failure::bad_field("count", text).into());
            }
            let done = Done::new("queued").with(label(outcome));
            (ScenarioChange { add: vec![outcome; count], ..ScenarioChange::default() }, done)
        }
        "clear" => {
            (ScenarioChange { next: Some(Vec::new()), ..ScenarioChange::default() }, Done::new("emptied"))
        }
        "change" => {
            let changed = visit.sent.changed();
            let change = ScenarioChange {
                default: changed.given("default").map(|_| changed.named("default")).transpose()?,
                latency_ms: changed.parsed("latency_ms", "whole number of ms")?,
                spread_percent: changed.parsed("spread_percent", "whole number from 0 to 100")?,
                float: changed.parsed("float", "whole number of shillings")?,
                seed: changed.parsed("seed", "whole number from 0 to 4294967295")?,
                ..ScenarioChange::default()
            };
            (change, Done::new("changed"))
        }
        "start" => (ScenarioChange::back_to_start(), Done::new("started")),
        _ => return Err(FieldError::unknown_action()),
    };
    mobile_money.change_scenario(change, &visit.trail).await?;
    Ok(done)
}
