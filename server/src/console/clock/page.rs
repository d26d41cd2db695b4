//! The one clock.

use axum::response::Response;
use leptos::prelude::*;

use crate::console::view::{
    form::{Button, Field},
    frame::{Frame, Sentences},
    page::Page,
    visit::{Done, FieldError, Visit},
    words::{Tone, date_and_time, length, tag},
};
use crate::{
    clock::{UnixMillis, duration},
    console::clock::{self, Change, Face},
    error::Failure,
};

const EVERY_MS: u32 = 1000;

const SAID: Sentences = &[
    ("moved", "It is {}. Sessions, codes, limits, receipts and dates went along."),
    ("frozen", "The clock stands."),
    ("running", "The clock runs."),
    ("real", "The clock shows the real time again."),
];

/// Steps that are asked for often.
const STEPS: [(&str, &str); 5] =
    [("90s", "90 seconds"), ("15m", "15 minutes"), ("1h", "1 hour"), ("1d", "1 day"), ("30d", "30 days")];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let face = clock::face(&visit.sandbox);
    let frame = Frame::of(Page::Clock)
        .count("Sessions, codes, limits, receipts and dates move with it")
        .live(EVERY_MS)
        .sentences(SAID);
    Ok(visit.page(frame, || {
        view! {
            <div class="two even">
                <section class="card in" aria-label="Time">
                    <div id="face" data-live="">{dial(face)}</div>
                    <div class="acts">{buttons(&visit, face)}</div>
                </section>
                <div class="stack">{advance(&visit)}{go_to(&visit, face)}</div>
            </div>
        }
        .into_any()
    }))
}

fn dial(face: Face) -> AnyView {
    let away = std::time::Duration::from_millis(face.offset_ms.unsigned_abs());
    let away = match face.offset_ms {
        -999..1000 => "The real time".to_owned(),
        1000.. => format!("{} ahead of the real time", length(away)),
        _ => format!("{} behind the real time", length(away)),
    };
    let state = if face.frozen { tag(Tone::Wait, "Stands") } else { tag(Tone::Good, "Runs") };
    view! {
        <p class="hero num"><time datetime=face.now.to_string()>{date_and_time(face.now)}</time></p>
        <p class="muted">"in Nairobi · "<span class="num">{face.now.to_string()}</span></p>
        <p class="row">{state}<span>{away}</span></p>
    }
    .into_any()
}

fn buttons(visit: &Visit, face: Face) -> AnyView {
    let stand = if face.frozen {
        visit.button(Button::new("run", "Let it run"))
    } else {
        visit.button(Button::new("stop", "Stop it here"))
    };
    let real = visit.button(Button::new("real", "Back to the real time"));
    view! { {stand}{real} }.into_any()
}

fn advance(visit: &Visit) -> AnyView {
    let by = Field::new("advance", "By how much").hint("Such as 90s, 15m, 12h or 2d.");
    let steps = STEPS
        .into_iter()
        .map(|(by, word)| visit.button(Button::new("advance", word).field("advance", by)))
        .collect_view();
    view! {
        <section class="card" aria-labelledby="advance-title">
            <div class="top"><h2 id="advance-title">"Move it forward"</h2></div>
            <div class="in stack">
                <div class="row">{steps}</div>
                <form method="post" class="fields">
                    {visit.form_of("advance")}
                    {visit.text_field("advance", by)}
                    <button class="btn main">"Move"</button>
                </form>
            </div>
        </section>
    }
    .into_any()
}

fn go_to(visit: &Visit, face: Face) -> AnyView {
    let shown = face.now.in_nairobi().strftime("%Y-%m-%dT%H:%M").to_string();
    let now = Field::new("now", "Time in Nairobi").hint("Earlier or later, from 2006 to 2099.").value(shown);
    view! {
        <section class="card" aria-labelledby="now-title">
            <div class="top"><h2 id="now-title">"Go to a moment"</h2></div>
            <form method="post" class="in fields">
                {visit.form_of("go")}
                {visit.typed_field("go", now, "datetime-local", None)}
                <button class="btn">"Go"</button>
            </form>
        </section>
    }
    .into_any()
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    let outcome = perform(&visit).await;
    visit.after(Page::Clock, outcome, show).await
}

async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let sandbox = &visit.sandbox;
    match visit.sent.text("act") {
        "advance" => {
            let by = duration(visit.sent.text("advance")).map_err(FieldError::of("advance"))?;
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            let face = clock::set(sandbox, Change { advance_ms: Some(by), ..Change::default() }).await;
            Ok(moved(face.map_err(FieldError::of("advance"))?))
        }
        "go" => {
            let now = in_nairobi(visit.sent.text("now")).map_err(FieldError::of("now"))?;
            let face = clock::set(sandbox, Change { now: Some(now), ..Change::default() }).await;
            Ok(moved(face.map_err(FieldError::of("now"))?))
        }
        "stop" => set_frozen(visit, true).await.map(|_| Done::new("frozen")),
        "run" => set_frozen(visit, false).await.map(|_| Done::new("running")),
        "real" => {
            let face = set_frozen(visit, false).await?;
            clock::set(sandbox, Change { advance_ms: Some(-face.offset_ms), ..Change::default() }).await?;
            Ok(Done::new("real"))
        }
        _ => Err(FieldError::of_act()),
    }
}

fn moved(face: Face) -> Done {
    Done::new("moved").with(date_and_time(face.now))
}

async fn set_frozen(visit: &Visit, frozen: bool) -> Result<Face, FieldError> {
    Ok(clock::set(&visit.sandbox, Change { frozen: Some(frozen), ..Change::default() }).await?)
}

/// A date and time as a browser's field sends it, or a moment with its offset.
fn in_nairobi(text: &str) -> Result<UnixMillis, Failure> {
    let moment = text.parse().or_else(|_| format!("{text}+03:00").parse());
    moment.map_err(|_: String| {
        Failure::BadValue(format!("{text:?} is no date and time such as 2026-11-14T12:00"))
    })
}
