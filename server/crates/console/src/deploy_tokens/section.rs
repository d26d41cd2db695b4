//! The deploy tokens on the page of the slices: listed, added and revoked.

use axum::response::Response;
use leptos::prelude::*;

use crate::view::prelude::*;
use base::{clock::UnixMillis, error::Failure};
use slices::deploy::{self, AddedToken, DeployToken, EXPIRES_IN, NAME, NewToken};
use worlds::sandboxes::Access;

pub const ADD: &str = "add-token";
pub const REVOKE: &str = "revoke-token";

/// Reads the tokens; `None` for somebody who may not see them.
pub async fn read(visit: &Visit) -> Result<Option<Vec<DeployToken>>, Failure> {
    if visit.access != Access::Operator {
        return Ok(None);
    }
    deploy::list(&mut visit.sandbox.server.database.read().await?).await.map(Some)
}

/// Renders the section, with the token that was just added.
pub fn view(visit: &Visit, all: Vec<DeployToken>, added: Option<AddedToken>) -> AnyView {
    view! {
        {added.map(new_one)}
        <div class="two">
            {card("tokens", "Deploy tokens", listed(visit, all))}
            {add_form(visit)}
        </div>
    }
    .into_any()
}

/// The secret of a new token, which is shown only once.
fn new_one(AddedToken { slice, name, token, .. }: AddedToken) -> AnyView {
    let added = done("done", format!("The token {name} of {slice} is added."));
    view! {
        <div>
            {added}
            <section class="card in stack" aria-label="New deploy token">
                <dl class="facts"><dt>"Token"</dt><dd><code id="deploy-token">{token}</code></dd></dl>
                <p class="muted">"It deploys this slice and does nothing else. It is not shown again."</p>
            </section>
        </div>
    }
    .into_any()
}

fn listed(visit: &Visit, all: Vec<DeployToken>) -> AnyView {
    if all.is_empty() {
        let text = "With one, a team or its pipeline deploys its own slice, and nothing else.";
        return empty_state(Icon::EMPTY, "No deploy tokens yet", text);
    }
    let now = visit.sandbox.clock.unset_now();
    let rows = all.into_iter().map(|token| row(visit, token, now));
    table([first("Slice"), left("Token"), left("Valid until"), left("Last used"), actions()], rows)
}

fn row(visit: &Visit, token: DeployToken, now: UnixMillis) -> [AnyView; 5] {
    let DeployToken { slice, name, expires_at, last_used_at, .. } = token;
    let expired = (expires_at <= now).then(|| tag(Tone::Bad, "Expired"));
    let used = last_used_at.map_or_else(|| view! { "Never" }.into_any(), timestamp);
    let revoke = visit.button(
        Button::new(REVOKE, "Revoke")
            .quiet()
            .about(format!("Revoke {name} of {slice}"))
            .confirm(
                format!("Revoke {name} of {slice}?"),
                "It ends at once: whoever deploys with it needs another one.",
            )
            .field("slice", slice.clone())
            .field("name", name.clone()),
    );
    cells![
        view! { <b>{slice}</b> },
        name,
        view! { {timestamp(expires_at)}" "{expired} },
        used,
        view! { <div class="row">{revoke}</div> },
    ]
}

fn add_form(visit: &Visit) -> AnyView {
    let fields = [
        Field::text("slice", "Slice").hint("Such as mfe-repayments; it may have no build yet."),
        Field::text("name", "Name").hint("What the list and the audit trail call it.").value(NAME),
        Field::text("expires_in", "Valid for").hint("From 1d to 3650d.").value(EXPIRES_IN),
    ];
    card(ADD, "New deploy token", visit.form(ADD, "in fields", fields, Submit::Main("Add")))
}

/// Answers a form about tokens. `show` renders the page, with the token that was just added.
pub async fn act(
    visit: Visit,
    show: impl AsyncFn(Visit, Option<AddedToken>) -> Result<Response, Failure>,
) -> Result<Response, Failure> {
    if visit.access != Access::Operator {
        return Err(Failure::NotFound);
    }
    let outcome = if visit.sent.text("act") == REVOKE {
        revoke(&visit).await
    } else {
        match add(&visit).await {
            // Not a redirect, because the token must not be in a URL.
            Ok(added) => return show(visit, Some(added)).await,
            Err(error) => Err(error),
        }
    };
    visit.after(Page::Slices, outcome, async |visit| show(visit, None).await).await
}

async fn add(visit: &Visit) -> Result<AddedToken, FieldError> {
    let (sent, sandbox) = (&visit.sent, &visit.sandbox);
    let new = NewToken::parse(sent.text("slice"), sent.given("name"), sent.given("expires_in"))?;
    let now = sandbox.clock.unset_now();
    deploy::add(&sandbox.server.database, &sandbox.server.randomness, new, now, &visit.trail)
        .await
        .map_err(FieldError::of("name"))
}

async fn revoke(visit: &Visit) -> Result<Done, FieldError> {
    let [slice, name] = ["slice", "name"].map(|field| visit.sent.text(field).to_owned());
    let what = format!("The token {name} of {slice}");
    deploy::revoke(&visit.sandbox.server.database, slice, name, &visit.trail).await?;
    Ok(Done::new("token-revoked").with(what))
}
