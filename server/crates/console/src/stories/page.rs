//! The story that this sandbox tells, and the stories that another may tell.

use std::sync::Arc;

use axum::{Extension, response::Response};
use leptos::prelude::*;

use super::{BadFile, File, Progress, StepState, Stories, ToldStep, begin, go_on, progress};
use crate::view::{new_sandbox::shown_once, prelude::*};
use base::error::Failure;
use worlds::sandboxes::{EXPIRES_IN, Made, Wish};

const REFRESH_MS: u32 = 2000;

const SUCCESS: SuccessMessages = &[("next", "Done.")];

pub async fn show(visit: Visit, stories: Extension<Arc<Stories>>) -> Result<Response, Failure> {
    shown(visit, &stories, None).await
}

async fn shown(visit: Visit, stories: &Stories, made: Option<Made>) -> Result<Response, Failure> {
    let told = progress(&visit.sandbox).await?;
    let (all, refused) = stories.all();
    let counted = count(all.len(), "story");
    let frame = Frame::of(Page::Stories).count(counted).success_messages(SUCCESS);
    let frame = if told.is_some() { frame.live(REFRESH_MS) } else { frame };
    Ok(visit.page(frame, || {
        view! {
            {made.map(|made| shown_once(&visit, made))}
            {told.map(|told| steps(&visit, told))}
            {refused.iter().map(bad_file).collect_view()}
            {card("stories", "Stories", list(&visit, &all))}
        }
    }))
}

fn steps(visit: &Visit, told: Progress) -> AnyView {
    let steps = told.steps.into_iter().enumerate().map(|(index, one)| step(visit, index, one)).collect_view();
    view! {
        <section class="card in stack" aria-labelledby="story-title">
            <h2 id="story-title">{told.title}</h2>
            {told.text.map(|text| view! { <p class="muted">{text}</p> })}
            <ol class="stack" data-live="" id="steps">{steps}</ol>
        </section>
    }
    .into_any()
}

fn step(visit: &Visit, index: usize, step: ToldStep) -> AnyView {
    let state = match step.state {
        StepState::Done => tag(Tone::Good, "Done"),
        StepState::Next => tag(Tone::Wait, "Next"),
        StepState::Later => tag(Tone::Plain, "Later"),
    };
    let act = step
        .act
        .filter(|_| step.is_act_due)
        .map(|act| {
            Button::new("next", "Do it").about(format!("Do it: {act}")).field("step", index.to_string())
        })
        .map(|button| visit.button(button));
    let about = step.act.into_iter().map(str::to_owned).chain(step.expected).collect::<Vec<_>>().join(" ");
    let found = step.found.join(" ");
    view! {
        <li>
            <div class="row">{state}<span>{step.say}</span>{act}</div>
            {(!about.is_empty()).then(|| view! { <p class="muted">{about}</p> })}
            {(!found.is_empty()).then(|| view! { <p class="muted">"Now: "{found}</p> })}
        </li>
    }
    .into_any()
}

fn bad_file(bad: &BadFile) -> AnyView {
    let id = format!("refused-{}", bad.file.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"));
    view! { <div id=id>{note(Tone::Bad, "status", "refused", bad.to_string())}</div> }.into_any()
}

fn list(visit: &Visit, all: &[Arc<File>]) -> AnyView {
    if all.is_empty() {
        return empty_state(Icon::STORIES, "No stories", "Name a folder with stories in MKOPO_STORIES.");
    }
    let rows = all.iter().map(|file| row(visit, file));
    table([first("Name"), left("Title"), right("Steps"), actions()], rows)
}

fn row(visit: &Visit, file: &File) -> [AnyView; 4] {
    let begin = visit.has_sandboxes().then(|| {
        let about = format!("Make a sandbox that tells {}", file.name);
        visit.button(Button::new("begin", "Make a sandbox").about(about).field("story", file.name.as_str()))
    });
    let text = file.story.text.clone().map(|text| view! { <p class="muted">{text}</p> });
    cells![
        view! { <b>{file.name.clone()}</b> },
        view! { {file.story.title.0.clone()}{text} },
        file.story.steps.len(),
        begin,
    ]
}

pub async fn act(visit: Visit, stories: Extension<Arc<Stories>>) -> Result<Response, Failure> {
    let outcome = match visit.sent.text("act") {
        "next" => next(&visit).await,
        "begin" => match made(&visit, &stories).await {
            // Not a redirect, because the token must not be in a URL.
            Ok(made) => return shown(visit, &stories, Some(made)).await,
            Err(error) => Err(error),
        },
        _ => Err(FieldError::unknown_action()),
    };
    visit.after(Page::Stories, outcome, async |visit| shown(visit, &stories, None).await).await
}

async fn next(visit: &Visit) -> Result<Done, FieldError> {
    let meant = visit.sent.parsed("step", "whole number")?;
    go_on(&visit.sandbox, meant, &visit.trail).await?;
    Ok(Done::new("next"))
}

async fn made(visit: &Visit, stories: &Stories) -> Result<Made, FieldError> {
    if !visit.has_sandboxes() {
        return Err(Failure::NotFound.into());
    }
    let file = stories.find(visit.sent.text("story"))?;
    let wish = Wish { expires_in: EXPIRES_IN, ..Wish::default() };
    Ok(begin(&visit.sandbox.server, &file, wish, &visit.trail).await?)
}
