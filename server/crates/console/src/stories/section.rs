//! The part of the page of sandboxes that makes and lists links to stories.

use leptos::prelude::*;

use super::{
    Stories, check,
    links::{self, Ended, Link, MadeLink, NewLink, roles_in},
};
use crate::view::prelude::*;
use base::{clock::UnixMillis, error::Failure};
use lending::auth::Role;

/// The choices of roles: the first one is of who opens the link.
const ROLES: [(&str, &str); 5] = [
    ("agent", "Agent"),
    ("agent supervisor", "Agent, who can invite a supervisor"),
    ("supervisor", "Supervisor"),
    ("supervisor agent", "Supervisor, who can invite an agent"),
    ("admin agent supervisor", "Administrator, who can invite both others"),
];

/// The form, and the links that there are. `made` is the link that was just made: its address is shown only once.
pub fn section(visit: &Visit, stories: &Stories, all: &[Link], made: Option<MadeLink>) -> AnyView {
    let now = visit.sandbox.clock.unset_now();
    let made = made.map(|made| {
        let note = done("link-made", "The link is made.".to_owned());
        view! {
            {note}
            <dl class="facts"><dt>"Address"</dt><dd><code id="link">{made.url}</code></dd></dl>
            <p class="muted">"Who opens it gets a sandbox of their own. The address is not shown again."</p>
        }
    });
    let columns =
        [first("Story"), left("Roles"), right("Sandboxes"), left("Each for"), left("Works until"), actions()];
    let listed = (!all.is_empty()).then(|| table(columns, all.iter().map(|link| row(visit, link, now))));
    let body = view! { <div class="in stack">{made}{form(visit, stories)}</div>{listed} };
    card("links", "Links for guests", body)
}

fn form(visit: &Visit, stories: &Stories) -> AnyView {
    let (all, _) = stories.all();
    let told = all.iter().map(|file| (file.name.as_str(), file.story.title.0.as_str()));
    let first = all.first().map(|file| file.name.clone()).unwrap_or_default();
    let fields = [
        Field::choice("story", "Story", told).value(first),
        Field::choice("roles", "Who opens it is", ROLES).value(ROLES[0].0),
        Field::number("worlds", "How many sandboxes").value("1"),
        Field::text("lives_for", "Each is there for").hint("Such as 30m or 2h, at most 7d.").value("2h"),
        Field::text("works_for", "The link works for").hint("Such as 12h or 7d.").value("7d"),
    ];
    visit.form("link", "fields", fields, Submit::Main("Make a link"))
}

fn row(visit: &Visit, link: &Link, now: UnixMillis) -> [AnyView; 6] {
    let state = match link.ended(now) {
        None => tag(Tone::Good, "Works"),
        Some(Ended::Revoked) => tag(Tone::Plain, "Revoked"),
        Some(Ended::Over) => tag(Tone::Plain, "Over"),
        Some(Ended::UsedUp) => tag(Tone::Plain, "Used up"),
    };
    let revoke = link.ended(now).is_none().then(|| {
        let button = Button::new("revoke", "Revoke")
            .quiet()
            .about(format!("Revoke the link to {}", link.story))
            .confirm(
                "Revoke this link?",
                "Nobody gets a sandbox by it any more. Those that it has made stay until their time.",
            )
            .field("id", link.id.as_str());
        visit.button(button)
    });
    // The part that is the time; `mkopo story links` prints all of it.
    let id: String = link.id.as_str().chars().take(13).collect();
    let roles = link.roles().iter().map(Role::to_string).collect::<Vec<_>>().join(", ");
    cells![
        view! { <b>{link.story.clone()}</b>" "{state}" "<span class="muted">{id}</span> },
        roles,
        format!("{} of {}", number(link.made), number(link.worlds)),
        duration_text(link.lives_for()),
        timestamp(link.works_until),
        revoke,
    ]
}

pub async fn make(visit: &Visit, stories: &Stories) -> Result<MadeLink, FieldError> {
    if !visit.sandbox.is_main() {
        return Err(Failure::NotFound.into());
    }
    let sent = &visit.sent;
    check(&visit.sandbox, &stories.find(sent.text("story"))?.story).await?;
    let new = NewLink {
        story: sent.text("story").to_owned(),
        roles: Some(roles_in(sent.text("roles"))),
        worlds: sent.parsed("worlds", "whole number from 1 to 1000")?,
        lives_for: sent.given("lives_for").map(str::to_owned),
        works_for: sent.given("works_for").map(str::to_owned),
    };
    Ok(links::make(&visit.sandbox.server, new, &visit.trail).await?)
}

pub async fn revoke(visit: &Visit) -> Result<(), FieldError> {
    Ok(links::revoke(&visit.sandbox.server, visit.sent.text("id").into(), &visit.trail).await?)
}
