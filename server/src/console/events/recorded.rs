//! The description of an act for its event: the kind, the subject, and the fields that are never secret.

use axum::http::Method;

use crate::console::view::page::Page;
use base::email::Email;
use lending::events::Kind;

/// Fields that name the subject of an act, in the order of precedence.
const ABOUT: [&str; 5] = ["email", "name", "id", "loan_id", "user_email"];

/// Fields whose values are written to events. All others may contain secrets typed by mistake.
const DETAILS: [&str; 18] = [
    "role",
    "count",
    "seed",
    "version",
    "percent",
    "plan",
    "now",
    "advance",
    "frozen",
    "kind",
    "status",
    "ms",
    "times",
    "hold",
    "force",
    "by",
    TOKEN_NAME,
    "expires_in",
];

/// The field for the name of a deploy token. In its events, `name` is the slice.
const TOKEN_NAME: &str = "token_name";

const CALLS: [(Method, &str, Kind); 31] = [
    (Method::POST, "/staff", Kind::AccountOpened),
    (Method::POST, "/staff/expire", Kind::SessionsEnded),
    (Method::POST, "/staff/{email}/expire", Kind::SessionsEnded),
    (Method::POST, "/loans", Kind::LoansApproved),
    (Method::POST, "/payouts", Kind::PayoutMade),
    (Method::PUT, "/scenario", Kind::ScenarioChanged),
    (Method::DELETE, "/scenario", Kind::ScenarioChanged),
    (Method::PUT, "/clock", Kind::ClockSet),
    (Method::DELETE, "/clock", Kind::ClockSet),
    (Method::POST, "/faults", Kind::FaultAdded),
    (Method::DELETE, "/faults", Kind::FaultsRemoved),
    (Method::DELETE, "/faults/{id}", Kind::FaultsRemoved),
    (Method::DELETE, "/outbox", Kind::MessagesDeleted),
    (Method::DELETE, "/traffic", Kind::TrafficCleared),
    (Method::POST, "/data/reset", Kind::DataReset),
    (Method::POST, "/data/snapshots/{name}", Kind::SnapshotSaved),
    (Method::PUT, "/data/snapshots/{name}", Kind::SnapshotRestored),
    (Method::DELETE, "/data/snapshots/{name}", Kind::SnapshotRemoved),
    (Method::POST, "/slices/{name}/activate", Kind::SliceActivated),
    (Method::POST, "/slices/{name}/rollback", Kind::SliceRolledBack),
    (Method::POST, "/deploy-tokens", Kind::DeployTokenAdded),
    (Method::DELETE, "/deploy-tokens/{slice}/{name}", Kind::DeployTokenRevoked),
    (Method::POST, "/slices/{name}/rollout", Kind::SliceRolledOut),
    (Method::POST, "/slices/{name}/hold", Kind::SliceRolloutHeld),
    (Method::POST, "/slices/{name}/promote", Kind::SlicePromoted),
    (Method::POST, "/slices/{name}/abort", Kind::SliceRolloutAborted),
    (Method::POST, "/sandboxes", Kind::SandboxMade),
    (Method::DELETE, "/sandboxes/{name}", Kind::SandboxRemoved),
    (Method::POST, "/story/next", Kind::StoryGoneOn),
    (Method::POST, "/story-links", Kind::StoryLinkMade),
    (Method::DELETE, "/story-links/{id}", Kind::StoryLinkRevoked),
];

/// The description of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    pub kind: Kind,
    pub about: Option<String>,
    pub details: Option<String>,
}

impl Recorded {
    /// Describes a call of the console's API by its parameters and fields. `call` is the route in the API.
    pub fn of_call(method: &Method, call: &str, given: &[(String, String)]) -> Vec<Self> {
        if (method, call) == (&Method::PATCH, "/staff/{email}") {
            return changes_of_account(given);
        }
        let listed = CALLS.iter().find(|(listed, route, _)| listed == method && *route == call);
        let kind = match (listed, method.as_str(), call) {
            (Some((_, _, kind)), _, _) => *kind,
            (None, "POST", "/slices") => Kind::SlicePublished,
            (None, "DELETE", "/slices/{name}") => Kind::SliceRemoved,
            _ => return vec![Self::other(&format!("{method} {call}"), given)],
        };
        vec![Self::of(kind, given)]
    }

    /// Describes the form `act` of a page by its fields.
    pub fn of_form(page: Page, act: &str, given: &[(String, String)]) -> Self {
        let kind = match (page, act) {
            (Page::Staff, "role") => Kind::RoleChanged,
            (Page::Staff, "activate") => Kind::AccountActivated,
            (Page::Staff, "deactivate") => Kind::AccountDeactivated,
            (Page::Staff, "expire") => Kind::SessionsEnded,
            (Page::Loans, "make" | "approve") => Kind::LoansApproved,
            (Page::Scenario, _) => Kind::ScenarioChanged,
            (Page::Clock, _) => Kind::ClockSet,
            (Page::Faults, "add") => Kind::FaultAdded,
            (Page::Faults, "remove" | "end") => Kind::FaultsRemoved,
            (Page::Outbox, "empty") => Kind::MessagesDeleted,
            (Page::Traffic, "forget") => Kind::TrafficCleared,
            (Page::Data, "reset" | "empty") => Kind::DataReset,
            (Page::Data, "save") => Kind::SnapshotSaved,
            (Page::Data, "restore") => Kind::SnapshotRestored,
            (Page::Data, "remove") => Kind::SnapshotRemoved,
            (Page::Slices, "activate") => Kind::SliceActivated,
            (Page::Slices, "roll-back") => Kind::SliceRolledBack,
            (Page::Slices, "roll-out") => Kind::SliceRolledOut,
            (Page::Slices, "hold") => Kind::SliceRolloutHeld,
            (Page::Slices, "promote") => Kind::SlicePromoted,
            (Page::Slices, "abort") => Kind::SliceRolloutAborted,
            (Page::Slices, "remove") => Kind::SliceRemoved,
            (Page::Slices, "add-token") => Kind::DeployTokenAdded,
            (Page::Slices, "revoke-token") => Kind::DeployTokenRevoked,
            (Page::Sandboxes, "make") | (Page::Stories, "begin") => Kind::SandboxMade,
            (Page::Stories, "next") => Kind::StoryGoneOn,
            (Page::Sandboxes, "remove") => Kind::SandboxRemoved,
            (Page::Sandboxes, "link") => Kind::StoryLinkMade,
            (Page::Sandboxes, "revoke") => Kind::StoryLinkRevoked,
            _ => return Self::other(&format!("{}: {act}", page.name()), given),
        };
        Self::of(kind, given)
    }

    fn of(kind: Kind, given: &[(String, String)]) -> Self {
        if matches!(kind, Kind::DeployTokenAdded | Kind::DeployTokenRevoked) {
            return Self::with_fields(kind, &fields_of_token(given));
        }
        Self::with_fields(kind, given)
    }

    fn with_fields(kind: Kind, given: &[(String, String)]) -> Self {
        let value = |name: &str| given.iter().find(|field| field.0 == name).map(|field| field.1.as_str());
        let about = ABOUT.iter().find_map(|name| value(name)).map(|about| match Email::parse(about) {
            Some(email) => email.to_string(),
            None => about.chars().take(100).collect(),
        });
        let details: Vec<String> = DETAILS
            .iter()
            .filter_map(|name| value(name).filter(|value| !value.is_empty()).map(|value| (name, value)))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        Self { kind, about, details: (!details.is_empty()).then(|| details.join(", ")) }
    }

    /// Describes an act that has no kind of its own.
    fn other(what: &str, given: &[(String, String)]) -> Self {
        let Self { kind, about, details } = Self::of(Kind::ConsoleChange, given);
        let details = [Some(what.to_owned()), details].into_iter().flatten().collect::<Vec<_>>();
        Self { kind, about, details: Some(details.join(", ")) }
    }
}

/// Renames the fields, so that the slice is the subject, and the name of the token a detail.
fn fields_of_token(given: &[(String, String)]) -> Vec<(String, String)> {
    let renamed = given.iter().map(|(name, value)| match name.as_str() {
        "slice" => ("name", value),
        "name" => (TOKEN_NAME, value),
        other => (other, value),
    });
    renamed.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Describes a change of an account: one call can change its role and activate or deactivate it.
fn changes_of_account(given: &[(String, String)]) -> Vec<Recorded> {
    let value = |name: &str| given.iter().find(|field| field.0 == name).map(|field| field.1.as_str());
    let activity = match value("is_active") {
        Some("true") => Some(Kind::AccountActivated),
        Some("false") => Some(Kind::AccountDeactivated),
        _ => None,
    };
    let role = value("role").map(|_| Kind::RoleChanged);
    let without_role: Vec<_> = given.iter().filter(|field| field.0 != "role").cloned().collect();
    let activity = activity.map(|kind| Recorded::of(kind, &without_role));
    let changes: Vec<_> = activity.into_iter().chain(role.map(|kind| Recorded::of(kind, given))).collect();
    if changes.is_empty() { vec![Recorded::other("PATCH /staff/{email}", given)] } else { changes }
}
