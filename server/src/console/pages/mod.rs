//! The console's pages: what the calls of [`super::api`] do, for people.
//!
//! Each is written whole on the server and works as it comes: forms, and answers that lead back to
//! a page. The one script keeps lists live, copies codes and asks before something is lost.

mod chart;
mod clock;
mod data;
mod door;
mod faults;
mod files;
mod form;
mod frame;
mod icon;
mod loans;
mod outbox;
mod overview;
mod payouts;
mod scenario;
mod slices;
mod staff;
mod table;
mod traffic;
mod visit;
mod words;

use axum::{
    Router, middleware,
    routing::{MethodRouter, any, get, post},
};

use self::icon::Icon;
use crate::{Sandbox, console::catch_up_first, error::Failure};

/// Where the pages are.
const ROOT: &str = "/console";

/// A page, in the order of the navigation. One more needs a line in each function here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Overview,
    Outbox,
    Loans,
    Payouts,
    Scenario,
    Faults,
    Traffic,
    Staff,
    Data,
    Clock,
    Slices,
}

impl Page {
    const ALL: [Self; 11] = [
        Self::Overview,
        Self::Outbox,
        Self::Loans,
        Self::Payouts,
        Self::Scenario,
        Self::Faults,
        Self::Traffic,
        Self::Staff,
        Self::Data,
        Self::Clock,
        Self::Slices,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Outbox => "Outbox",
            Self::Loans => "Loans",
            Self::Payouts => "Payouts",
            Self::Scenario => "Scenario",
            Self::Faults => "Faults",
            Self::Traffic => "Traffic",
            Self::Staff => "Staff",
            Self::Data => "Data",
            Self::Clock => "Clock",
            Self::Slices => "Slices",
        }
    }

    fn address(self) -> &'static str {
        match self {
            Self::Overview => "/console",
            Self::Outbox => "/console/outbox",
            Self::Loans => "/console/loans",
            Self::Payouts => "/console/payouts",
            Self::Scenario => "/console/scenario",
            Self::Faults => "/console/faults",
            Self::Traffic => "/console/traffic",
            Self::Staff => "/console/staff",
            Self::Data => "/console/data",
            Self::Clock => "/console/clock",
            Self::Slices => "/console/slices",
        }
    }

    fn icon(self) -> Icon {
        match self {
            Self::Overview => Icon::Chart,
            Self::Outbox => Icon::Mail,
            Self::Loans => Icon::Money,
            Self::Payouts => Icon::Transfer,
            Self::Scenario => Icon::Phone,
            Self::Faults => Icon::Alert,
            Self::Traffic => Icon::List,
            Self::Staff => Icon::User,
            Self::Data => Icon::Store,
            Self::Clock => Icon::Clock,
            Self::Slices => Icon::Slices,
        }
    }

    fn handlers(self) -> MethodRouter<Sandbox> {
        match self {
            Self::Overview => get(overview::show),
            Self::Outbox => get(outbox::show).post(outbox::act),
            Self::Loans => get(loans::show).post(loans::act),
            Self::Payouts => get(payouts::show),
            Self::Scenario => get(scenario::show).post(scenario::act),
            Self::Faults => get(faults::show).post(faults::act),
            Self::Traffic => get(traffic::show).post(traffic::act),
            Self::Staff => get(staff::show).post(staff::act),
            Self::Data => get(data::show).post(data::act),
            Self::Clock => get(clock::show).post(clock::act),
            Self::Slices => get(slices::show).post(slices::act),
        }
    }

    /// The page that has this address.
    fn at(address: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.address() == address)
    }
}

/// Every page, behind the pages' door, to stand under `/console`; only what they look like is open.
pub fn routes(sandbox: &Sandbox) -> Router<Sandbox> {
    Page::ALL
        .into_iter()
        .fold(Router::new(), |router, page| router.route(beneath(page.address()), page.handlers()))
        .route("/sign-out", post(door::sign_out))
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn_with_state(sandbox.clone(), catch_up_first))
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::enter))
        .route("/sign-in", post(door::sign_in).fallback(door::only_by_form))
        .layer(middleware::from_fn(door::guard))
        .merge(files::routes())
}

/// What the router takes for beside the console: its address with a slash at the end.
pub fn beside(sandbox: &Sandbox) -> MethodRouter<Sandbox> {
    any(door::to_overview)
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::enter))
        .layer(middleware::from_fn(door::guard))
}

/// An address as it stands under `/console`.
fn beneath(address: &'static str) -> &'static str {
    address.strip_prefix(ROOT).filter(|rest| !rest.is_empty()).unwrap_or("/")
}
