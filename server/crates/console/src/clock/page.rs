//! The clock, and the forms to move and stop it.

use axum::response::Response;
use jiff::tz::TimeZone;
use leptos::prelude::*;

use crate::{
    clock::{self, Change, ClockState},
    view::{prelude::*, words::date_and_time},
};
use base::{
    clock::{UnixMillis, duration},
    error::Failure,
};

const REFRESH_MS: u32 = 1000;

const SUCCESS: SuccessMessages = &[
    ("moved", "The time is now {}. Sessions, codes, limits, receipts and dates moved with it."),
    ("frozen", "The clock is stopped."),
    ("running", "The clock is running."),
    ("real", "The clock shows the real time again."),
];

const STEPS: [(&str, &str); 5] =
    [("90s", "90 seconds"), ("15m", "15 minutes"), ("1h", "1 hour"), ("1d", "1 day"), ("30d", "30 days")];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let state = clock::state(&visit.sandbox);
    let frame = Frame::of(Page::Clock)
        .count("Sessions, codes, limits, receipts and dates follow the clock")
        .live(REFRESH_MS)
        .success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        view! {
            <div class="two even">
                <section class="card in" aria-label="Time">
                    <div id="time" data-live="">{time_and_offset(state, visit.sandbox.clock.zone())}</div>
                    <div class="acts" id="acts" data-live="">{buttons(&visit, state)}</div>
                </section>
                <div class="stack">{advance(&visit)}{set_time(&visit, state)}</div>
            </div>
        }
    }))
}

fn time_and_offset(state: ClockState, zone: &TimeZone) -> AnyView {
    let offset = std::time::Duration::from_millis(state.offset_ms.unsigned_abs());
    let offset = match state.offset_ms {
        -999..1000 => "The real time".to_owned(),
        1000.. => format!("{} ahead of the real time", duration_text(offset)),
        _ => format!("{} behind the real time", duration_text(offset)),
    };
    let status = if state.frozen { tag(Tone::Wait, "Stopped") } else { tag(Tone::Good, "Running") };
    view! {
        <p class="hero num"><time datetime=state.now.to_string()>{date_and_time(state.now, zone)}</time></p>
        <p class="muted">{format!("in {} · ", zone.iana_name().unwrap_or("UTC"))}<span class="num">{state.now.to_string()}</span></p>
        <p class="row">{status}<span>{offset}</span></p>
    }
    .into_any()
}

fn buttons(visit: &Visit, state: ClockState) -> AnyView {
    let (act, label) = if state.frozen { ("run", "Start the clock") } else { ("stop", "Stop the clock") };
    let real = Button::new("real", "Back to the real time");
    view! { {visit.button(Button::new(act, label))}{visit.button(real)} }.into_any()
}

fn advance(visit: &Visit) -> AnyView {
    let by = Field::text("advance", "By how much").hint("Such as 90s, 15m, 12h or 2d.");
    let form = visit.form("advance", "fields", [by], Submit::Main("Move"));
    let steps = STEPS.map(|(by, label)| visit.button(Button::new("advance", label).field("advance", by)));
    let body = view! { <div class="in stack"><div class="row">{steps.collect_view()}</div>{form}</div> };
    card("advance", "Move it forward", body)
}

fn set_time(visit: &Visit, state: ClockState) -> AnyView {
    let current = state.now.in_zone(visit.sandbox.clock.zone()).strftime("%Y-%m-%dT%H:%M").to_string();
    let now = Field::typed("now", "Time", "datetime-local")
        .hint("Past or future, from 2006 to 2099, in the time zone of this deployment.")
        .value(current);
    card("now", "Set the time", visit.form("go", "in fields", [now], Submit::Plain("Set")))
}

pub async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let (sent, zone) = (&visit.sent, visit.sandbox.clock.zone());
    let (field, change) = match sent.text("act") {
        "advance" => {
            let by = duration(sent.text("advance")).map_err(FieldError::of("advance"))?;
            ("advance", Change { advance: Some(by), ..Change::default() })
        }
        "go" => {
            let now = UnixMillis::local(sent.text("now"), zone).map_err(Failure::BadValue);
            let now = now.map_err(FieldError::of("now"))?;
            ("now", Change { now: Some(now), ..Change::default() })
        }
        "stop" => ("", Change { frozen: Some(true), ..Change::default() }),
        "run" => ("", Change { frozen: Some(false), ..Change::default() }),
        "real" => {
            visit.sandbox.world.unset_clock(&visit.trail).await?;
            return Ok(Done::new("real"));
        }
        _ => return Err(FieldError::unknown_action()),
    };
    let state = clock::set(&visit.sandbox, change, &visit.trail).await.map_err(FieldError::of(field))?;
    Ok(match change.frozen {
        Some(true) => Done::new("frozen"),
        Some(false) => Done::new("running"),
        None => Done::new("moved").with(date_and_time(state.now, zone)),
    })
}
