//! The page to make, open and remove sandboxes.

use std::sync::Arc;

use axum::{Extension, response::Response};
use leptos::prelude::*;

use super::api::NewSandbox;
use crate::{
    stories::{
        Stories,
        links::{self, MadeLink},
        section,
    },
    view::{frame::open_address, new_sandbox::shown_once, prelude::*},
};
use base::{clock::UnixMillis, error::Failure};
use lending::demo::DemoData;
use worlds::sandboxes::{Listed, Made, Name};

const SUCCESS: SuccessMessages = &[("removed", "{} is removed."), ("revoked", "The link is revoked.")];

pub async fn show(visit: Visit, stories: Extension<Arc<Stories>>) -> Result<Response, Failure> {
    shown(visit, &stories, None, None).await
}

/// The page, with the sandbox or the link that was just made.
async fn shown(
    visit: Visit,
    stories: &Stories,
    made: Option<Made>,
    link: Option<MadeLink>,
) -> Result<Response, Failure> {
    let sandboxes = &visit.sandbox.server.sandboxes;
    if !visit.has_sandboxes() {
        return Err(Failure::NotFound);
    }
    let all = sandboxes.list().await?;
    let links = links::all(&visit.sandbox.server).await?;
    let counted = format!("{} of {}, besides main", count(all.len() - 1, "sandbox"), sandboxes.limit);
    let frame = Frame::of(Page::Sandboxes).count(counted).success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        view! {
            {made.map(|made| shown_once(&visit, made))}
            {make_form(&visit)}
            <section class="card" aria-label="Sandboxes">{listed(&visit, all)}</section>
            {visit.sandbox.is_main().then(|| section::section(&visit, stories, &links, link))}
        }
    }))
}

fn listed(visit: &Visit, all: Vec<Listed>) -> AnyView {
    let rows = all.into_iter().map(|sandbox| row(visit, sandbox));
    let columns = [first("Name"), left("Last used"), left("Expires"), right("Calls"), right("KB"), actions()];
    table(columns, rows)
}

fn row(visit: &Visit, sandbox: Listed) -> [AnyView; 6] {
    let Listed { name, expires_at, last_used_at, calls, size, .. } = sandbox;
    let is_shown = visit.sandbox.name == name;
    let open = (!is_shown).then(|| {
        let label = format!("Open the console of {name}");
        view! { <a class="btn" aria-label=label href=open_address(&name)>"Open"</a> }
    });
    // The console of a removed sandbox is gone with it.
    let remove = (!name.is_main() && !is_shown).then(|| {
        let button = Button::new("remove", "Remove")
            .quiet()
            .about(format!("Remove {name}"))
            .confirm(format!("Remove {name}?"), "All its data is lost, and its addresses stop working.")
            .field("name", name.as_str());
        visit.button(button)
    });
    let never = |at: Option<UnixMillis>| at.map_or_else(|| view! { "–" }.into_any(), timestamp);
    let kilobytes = size.map(|size| number(size / 1000));
    cells![
        view! { <b>{name.to_string()}</b>" "{is_shown.then(|| tag(Tone::Good, "This one"))} },
        never(last_used_at),
        never(expires_at),
        number(calls),
        kilobytes,
        view! { <div class="row">{open}{remove}</div> },
    ]
}

fn make_form(visit: &Visit) -> AnyView {
    let fields = [
        Field::text("name", "Name").hint("Up to 40 lower-case letters, digits and dashes. Made up if empty."),
        Field::text("seed", "Seed")
            .hint("The same seed makes the same data. The word empty makes accounts only."),
        Field::text("now", "Time").hint("Such as 2026-11-14T09:00:00Z. The real time if empty."),
        Field::text("expires_in", "Kept without being used for").hint("Such as 90m, 12h or 2d.").value("24h"),
    ];
    card("make", "New sandbox", visit.form("make", "in fields", fields, Submit::Main("Make")))
}

pub async fn act(visit: Visit, stories: Extension<Arc<Stories>>) -> Result<Response, Failure> {
    if !visit.has_sandboxes() {
        return Err(Failure::NotFound);
    }
    let outcome = match visit.sent.text("act") {
        "make" => match make(&visit).await {
            // Not a redirect, because the token must not be in a URL.
            Ok(made) => return shown(visit, &stories, Some(made), None).await,
            Err(error) => Err(error),
        },
        "remove" => remove(&visit).await,
        "link" => match section::make(&visit, &stories).await {
            Ok(link) => return shown(visit, &stories, None, Some(link)).await,
            Err(error) => Err(error),
        },
        "revoke" => section::revoke(&visit).await.map(|()| Done::new("revoked")),
        _ => Err(FieldError::unknown_action()),
    };
    visit.after(Page::Sandboxes, outcome, async |visit| shown(visit, &stories, None, None).await).await
}

async fn make(visit: &Visit) -> Result<Made, FieldError> {
    let given = |field| visit.sent.given(field).map(str::to_owned);
    let wanted = NewSandbox {
        name: given("name"),
        seed: visit.sent.given("seed").map(DemoData::seed_of_text),
        now: given("now"),
        expires_in: given("expires_in"),
        ..NewSandbox::default()
    };
    Ok(visit.sandbox.server.sandboxes.make(wanted.wish()?, &visit.trail).await?)
}

async fn remove(visit: &Visit) -> Result<Done, FieldError> {
    let name = Name::existing(visit.sent.text("name"))?;
    let sandbox = &visit.sandbox;
    sandbox.server.sandboxes.remove(&name, &sandbox.name, &visit.trail).await?;
    Ok(Done::new("removed").with(name.to_string()))
}
