//! The builds of each slice, and the history of deployments.

use axum::response::Response;
use leptos::prelude::*;
use semver::Version;

use super::{crashes, rollout, traffic::Traffic};
use crate::{deploy_tokens::section as tokens, view::prelude::*};
use base::error::Failure;
use slices::{
    CrashPlace, Mark, Origin, Rollout, SHELL, SliceAction, SliceBuild, SliceBuilds, SliceEvent, SliceName,
    deploy::AddedToken, live_shell, roll_out::Change, taken_back_rule,
};

/// The author in the history: all operators use the same token.
const BY: &str = "the console";

const SUCCESS: SuccessMessages = &[
    ("activated", "{} is live."),
    ("rolled-back", "Rolled back: {} is live."),
    ("rolled-out", "{} of browsers."),
    ("held", "{} is held at its percentage."),
    ("promoted", "{} is live for everybody."),
    ("aborted", "The rollout is aborted: everybody gets {}."),
    ("removed", "{} is removed."),
    ("back", "Removed: {} is live."),
    ("token-revoked", "{} is revoked."),
];

pub async fn show(visit: Visit) -> Result<Response, Failure> {
    shown(visit, None).await
}

/// The page, with the deploy token that was just added.
async fn shown(visit: Visit, added: Option<AddedToken>) -> Result<Response, Failure> {
    let slices = slices::all(&visit.sandbox.slices).await?;
    let mut reader = visit.sandbox.database.read().await?;
    let trail = slices::trail(&mut reader).await?;
    let mut reports = Vec::new();
    for slice in &slices {
        // Pages of other sandboxes do not report.
        reports.push(if visit.sandbox.is_main() {
            let traffic = Traffic::read(&mut reader, &slice.name, visit.sandbox.clock.unset_now()).await?;
            Some((traffic, slices::crash_places(&mut reader, &slice.name).await?))
        } else {
            None
        });
    }
    drop(reader);
    let deploy_tokens = tokens::read(&visit).await?;
    let shell = live_shell(&slices);
    let shell = shell.map(|shell| format!(", shell {} with mfe-kit {}", shell.version, shell.kit));
    let of_slices = slices.iter().filter(|slice| !slice.is_shell()).count();
    let counted = count(of_slices, "slice") + &shell.unwrap_or_default();
    let frame = Frame::of(Page::Slices).count(counted).success_messages(SUCCESS);
    Ok(visit.page(frame, || {
        let form = rollout::form(&visit, &slices);
        let listed = if slices.is_empty() {
            empty_state(Icon::EMPTY, "No slices yet", "Publish one with `mkopo slice publish`.")
        } else {
            let cards = slices.into_iter().zip(reports);
            cards.map(|(slice, reports)| slice_card(&visit, slice, reports)).collect_view().into_any()
        };
        let deploy_tokens = deploy_tokens.map(|all| tokens::view(&visit, all, added));
        view! { <div class="stack">{listed}{form}{deploy_tokens}{history(trail, visit.sandbox.is_main())}</div> }
    }))
}

fn slice_card(visit: &Visit, slice: SliceBuilds, reports: Option<(Traffic, Vec<CrashPlace>)>) -> AnyView {
    let (traffic, places) = reports.unzip();
    let crashed = places.and_then(|places| crashes::table_of(&slice, places));
    let SliceBuilds { name, live, previous, rollout, builds } = slice;
    let zone = visit.sandbox.clock.zone();
    let reported = traffic.and_then(|traffic| traffic.view(&name, live.as_ref(), zone));
    let title = format!("{name}-title");
    let labelled_by = title.clone();
    let buttons = match &rollout {
        Some(rollout) => rollout::buttons(visit, &name, rollout),
        None => buttons(visit, &name, previous.as_ref(), &builds),
    };
    let sentence = rollout.as_ref().map(|rollout| {
        view! { <p class="in">{rollout::sentence(rollout, live.as_ref())}</p> }
    });
    let rows = builds.into_iter().map(|build| row(visit, &name, live.as_ref(), rollout.as_ref(), build));
    let builds = table([first("Version"), left("Added"), left("Built for mfe-kit"), actions()], rows);
    view! {
        <section class="card" aria-labelledby=labelled_by>
            <div class="top"><h2 id=title>{name.clone()}</h2><div class="row push">{buttons}</div></div>
            {sentence}
            {builds}
            {reported}
            {crashed}
        </section>
    }
    .into_any()
}

/// The buttons of a slice while no rollout of it runs.
fn buttons(visit: &Visit, name: &str, previous: Option<&Version>, builds: &[SliceBuild]) -> AnyView {
    let roll_back = previous.map(|previous| {
        let button = Button::new("roll-back", "Roll back")
            .about(format!("Roll {name} back to {previous}"))
            .confirm(
                format!("Roll {name} back?"),
                format!("Everyone who loads the portal from now on gets {previous}."),
            )
            .field("name", name)
            .field("version", previous.to_string());
        visit.button(button)
    });
    let is_published = builds.iter().any(|build| build.origin == Origin::Published);
    let is_bundled = builds.iter().any(|build| build.origin == Origin::Bundled);
    let remove = (is_published && name != SHELL).then(|| {
        let consequence = if is_bundled {
            "All its published builds are deleted, and the one that is bundled with the portal goes live."
        } else {
            "All its builds are deleted, and its screens are gone from the portal."
        };
        let button = Button::new("remove", "Remove")
            .quiet()
            .about(format!("Remove {name}"))
            .confirm(format!("Remove {name}?"), consequence)
            .field("name", name);
        visit.button(button)
    });
    view! { {roll_back}{remove} }.into_any()
}

fn row(
    visit: &Visit,
    name: &str,
    live: Option<&Version>,
    rollout: Option<&Rollout>,
    build: SliceBuild,
) -> [AnyView; 4] {
    let version = build.version.to_string();
    let act = match rollout {
        Some(rollout) if rollout.version == build.version => {
            Some(tag(Tone::Wait, format!("{}%", rollout.percent)))
        }
        _ if live == Some(&build.version) => Some(tag(Tone::Good, "Live")),
        // The live build stays until the rollout is over.
        Some(_) => None,
        None => Some(
            visit.button(
                Button::new("activate", "Activate")
                    .about(format!("Activate {name} {version}"))
                    .confirm(
                        format!("Make {name} {version} live?"),
                        "Everyone who loads the portal from now on gets this build.",
                    )
                    .field("name", name)
                    .field("version", version.clone()),
            ),
        ),
    };
    let added = match build.origin {
        Origin::Bundled => view! { "With the portal" }.into_any(),
        Origin::Published => view! {
            {build.published_at.map(timestamp)}
            {build.published_by.map(|by| format!(", by {by}"))}
        }
        .into_any(),
    };
    cells![view! { <b>{version}</b> }, added, build.shell, view! { <div class="row">{act}</div> },]
}

fn history(trail: Vec<SliceEvent>, is_main: bool) -> AnyView {
    let body = if trail.is_empty() {
        empty_state(
            Icon::LIST,
            "No deployments yet",
            "Builds that are published, activated, rolled back or removed are listed here.",
        )
    } else {
        let columns = [first("Build"), left("Action"), left("When"), left("By"), left("Previously live")];
        table(columns, trail.into_iter().map(deployment))
    };
    let rule = is_main.then(|| view! { <p class="in">{taken_back_rule()}</p> });
    card("trail", "History", view! { {rule}{body} })
}

fn deployment(event: SliceEvent) -> [AnyView; 5] {
    let act = match event.act {
        SliceAction::Published => "Published",
        SliceAction::Held => "Published, not live",
        SliceAction::Activated => "Activated",
        SliceAction::RolledBack => "Rolled back",
        SliceAction::NotRolledBack => "Not rolled back",
        SliceAction::Removed => "Removed",
        SliceAction::RolledOut => "Rolled out",
        SliceAction::RolloutHeld => "Rollout held",
        SliceAction::Promoted => "Promoted",
        SliceAction::Aborted => "Rollout aborted",
    };
    // The note of the service already says what it did.
    let is_said =
        matches!(event.act, SliceAction::RolledBack | SliceAction::NotRolledBack) && event.note.is_some();
    let act = Some(act.to_owned()).filter(|_| !is_said);
    let act = act.into_iter().chain(event.note).collect::<Vec<_>>().join(" ");
    let build = match event.version.filter(|_| event.act != SliceAction::Removed) {
        Some(version) => format!("{} {version}", event.name),
        None => event.name,
    };
    cells![
        view! { <b>{build}</b> },
        act,
        timestamp(event.at),
        event.by,
        event.live_before.unwrap_or_default(),
    ]
}

pub async fn act(visit: Visit) -> Result<Response, Failure> {
    if [tokens::ADD, tokens::REVOKE].contains(&visit.sent.text("act")) {
        return tokens::act(visit, shown).await;
    }
    let outcome = perform(&visit).await;
    visit.after(Page::Slices, outcome, show).await
}

async fn perform(visit: &Visit) -> Result<Done, FieldError> {
    let of_world = &visit.sandbox.slices;
    let name = || SliceName::from_request(visit.sent.text("name"));
    let mark = Mark::now(of_world, Some(BY.to_owned()), visit.trail.clone())?;
    let (sentence, slice) = match visit.sent.text("act") {
        "activate" => {
            let name = name()?;
            let version = name.version_from_request(visit.sent.text("version"))?;
            ("activated", slices::activate(of_world, name, version, true, false, mark).await?)
        }
        "remove" => {
            let slice = slices::remove(of_world, name()?, mark).await?;
            if slice.live.is_none() {
                return Ok(Done::new("removed").with(slice.name));
            }
            ("back", slice)
        }
        "roll-out" => return rollout::roll_out(visit, mark).await,
        "hold" => {
            let slice = rollout::change(visit, Change::Hold, mark).await?;
            return Ok(Done::new("held").with(slice.name));
        }
        "promote" => ("promoted", rollout::change(visit, Change::Promote, mark).await?),
        "abort" => ("aborted", rollout::change(visit, Change::Abort, mark).await?),
        "roll-back" => {
            let name = name()?;
            let seen = rollout::seen(visit, &name)?;
            ("rolled-back", slices::roll_back(of_world, name, seen, mark).await?)
        }
        _ => return Err(FieldError::unknown_action()),
    };
    let live = slice.live.map(|live| live.to_string()).unwrap_or_default();
    Ok(Done::new(sentence).with(format!("{} {live}", slice.name)))
}
