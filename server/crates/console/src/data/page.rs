//! Snapshots, and the reset to the demo data.

use axum::response::Response;
use leptos::prelude::*;

use crate::{
    data::{
        self, Start,
        snapshots::{self, Name, Snapshot},
    },
    view::prelude::*,
};
use base::error::Failure;
use lending::demo::{self, DemoData};

const SUCCESS: SuccessMessages = &[
    ("reset", "The demo data is restored."),
    ("emptied", "There are no loans and no payouts; the demo accounts can sign in."),
    ("saved", "Saved as {}."),
    ("restored", "{} is restored: data, messages, faults, scenario and clock."),
    ("removed", "{} is removed."),
];

const RESET: Question<'_> = Question {
    title: "Reset to the demo data?",
    consequence: "All current data is lost, and the story if this sandbox tells one; snapshots are kept. Everyone is \
                  signed out of the portal.",
    yes: "Reset",
};

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    let snapshots = snapshots::all(&mut visit.sandbox.database.read().await?).await?;
    let frame = Frame::of(Page::Data).count(count(snapshots.len(), "snapshot")).success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let table = if snapshots.is_empty() {
            empty_state(Icon::STORE, "No snapshots yet", "Save one before a test and restore it afterwards.")
        } else {
            listed(&visit, snapshots)
        };
        view! {
            <div class="two">
                {card("snapshots", "Snapshots", view! { {save_form(&visit)}{table} })}
                {reset_form(&visit)}
            </div>
        }
    }))
}

fn save_form(visit: &Visit) -> AnyView {
    let name = Field::text("name", "Name").hint(
        "Letters, digits, dashes, dots and underscores. An existing snapshot with this name is overwritten.",
    );
    visit.form("save", "tools", [name], Submit::Main("Save all data"))
}

fn listed(visit: &Visit, snapshots: Vec<Snapshot>) -> AnyView {
    let rows = snapshots.into_iter().map(|Snapshot { name, saved_at }| {
        let restore = Button::new("restore", "Restore")
            .about(format!("Restore {name}"))
            .confirm(format!("Restore {name}?"), "It replaces all current data.")
            .field("name", name.clone());
        let remove = Button::new("remove", "Remove")
            .quiet()
            .about(format!("Remove {name}"))
            .confirm(format!("Remove {name}?"), "It can no longer be restored.")
            .field("name", name.clone());
        let restore = visit.sandbox.settings.allows_tools().then(|| visit.button(restore));
        cells![
            view! { <b>{name}</b> },
            timestamp(saved_at),
            view! { <div class="row">{restore}{visit.button(remove)}</div> },
        ]
    });
    table([first("Name"), left("Saved"), actions()], rows)
}

fn reset_form(visit: &Visit) -> AnyView {
    let form = if visit.sandbox.settings.demo {
        let seed = Field::number("seed", "Seed")
            .hint("The same seed makes the same data.")
            .value(demo::FIRST_SEED.to_string());
        let empty = Button::new("empty", "Reset without loans and payouts").confirm(
            "Reset without loans and payouts?",
            "All current data is lost, and the story if this sandbox tells one: only the demo accounts exist. \
             Snapshots are kept. Everyone is signed out of the portal.",
        );
        view! {
            <div class="in stack">
                <p>
                    "Ends all sessions, clears limits, messages, faults, recorded calls and the scenario, and sets the real time."
                </p>
                {visit.form("reset", "stack", [seed], Submit::Danger(RESET.yes))}
                {visit.button(empty)}
            </div>
        }
        .into_any()
    } else {
        view! {
            <p class="in muted">"In demo mode only: this server has real data, which must not be replaced."</p>
        }
        .into_any()
    };
    card("reset", "Reset to the demo data", form)
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    if visit.sent.text("act") == "reset" && visit.needs_confirmation() && seed(&visit).is_ok() {
        return Ok(visit.ask(Page::Data, RESET));
    }
    let outcome = perform(&visit).await;
    visit.after(Page::Data, outcome, show).await
}

fn seed(visit: &Visit) -> Result<u64, FieldError> {
    let seed = visit.sent.parsed::<u32>("seed", "whole number from 0 to 4294967295")?;
    Ok(seed.map_or(demo::FIRST_SEED, u64::from))
}

async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let sandbox = &visit.sandbox;
    let name = || Name::parse(visit.sent.text("name"));
    match visit.sent.text("act") {
        "reset" => {
            data::reset(sandbox, Start::of(DemoData::Seeded(seed(visit)?)), &visit.trail).await?;
            Ok(Done::new("reset"))
        }
        "empty" => {
            data::reset(sandbox, Start::of(DemoData::Empty), &visit.trail).await?;
            Ok(Done::new("emptied"))
        }
        "save" => {
            let saved = snapshots::save(sandbox, name().map_err(FieldError::of("name"))?, &visit.trail).await;
            let saved = saved.map_err(FieldError::of("name"))?;
            Ok(Done::new("saved").with(saved.name))
        }
        "restore" => {
            snapshots::restore(sandbox, name()?, &visit.trail).await?;
            Ok(Done::new("restored").with(visit.sent.text("name")))
        }
        "remove" => {
            snapshots::remove(sandbox, name()?, &visit.trail).await?;
            Ok(Done::new("removed").with(visit.sent.text("name")))
        }
        _ => Err(FieldError::unknown_action()),
    }
}
