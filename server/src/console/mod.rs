//! The operator's console: what QA and demos need to see and to set, behind a token of its own. A folder
//! a noun: its acts, its calls (`api.rs`) and its page (`page.rs`).

// Who may use the console.
pub mod door;
// The parts that every page is made of.
mod view;

// The console's first page.
mod overview;
// What went out, to read and to empty.
mod outbox;
// Approving loans, so that there is something to pay out.
pub mod loans;
// What became of the payouts, and the audit.
mod payouts;
// How mobile money acts.
mod scenario;
// Faults that calls of the API are given on purpose.
pub mod faults;
// The latest calls of the API.
pub mod traffic;
// Who is on the staff, and ending their sessions.
pub mod staff;
// The data as a whole.
pub mod data;
// Setting the one clock.
pub mod clock;
// Which builds of slices there are and which are live.
mod slices;

// What the console set, in force in this server.
pub mod in_force;
// What every call of the portal's API goes through.
pub mod api_call;

use axum::{
    Router, middleware,
    routing::{MethodRouter, any, get, post},
};

use self::view::{ROOT, beneath, files, page::Page};
use crate::{Sandbox, error::Failure, slices::api as slice_calls};

/// Where the console's calls are.
pub const CALLS: &str = "/console/api";

/// Everything under `/console`. Nothing of it is open but what the pages look like: what has no
/// door of its own is closed too.
pub fn routes(sandbox: &Sandbox) -> Router<Sandbox> {
    Router::new()
        .nest(ROOT, pages(sandbox).nest("/api", calls(sandbox)))
        // What the router takes for beside the console: its address with a slash at the end.
        .route("/console/", beside(sandbox))
}

fn calls(sandbox: &Sandbox) -> Router<Sandbox> {
    Router::new()
        .merge(outbox::api::routes())
        .merge(scenario::api::routes())
        .merge(clock::api::routes())
        .merge(faults::api::routes())
        .merge(traffic::api::routes())
        .merge(loans::api::routes())
        .merge(staff::api::routes())
        .merge(data::api::routes())
        .merge(payouts::api::routes())
        .merge(slice_calls::routes())
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn_with_state(sandbox.clone(), in_force::around))
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::require_token))
}

/// Every page, behind the pages' door; only what they look like is open.
fn pages(sandbox: &Sandbox) -> Router<Sandbox> {
    Page::ALL
        .into_iter()
        .fold(Router::new(), |router, page| router.route(beneath(page.address()), handlers(page)))
        .route("/sign-out", post(door::page::sign_out))
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn_with_state(sandbox.clone(), in_force::around))
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::page::enter))
        .route("/sign-in", post(door::page::sign_in).fallback(door::page::only_by_form))
        .layer(middleware::from_fn(door::page::guard))
        .merge(files::routes())
}

fn beside(sandbox: &Sandbox) -> MethodRouter<Sandbox> {
    any(door::page::to_overview)
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::page::enter))
        .layer(middleware::from_fn(door::page::guard))
}

fn handlers(page: Page) -> MethodRouter<Sandbox> {
    match page {
        Page::Overview => get(overview::page::show),
        Page::Outbox => get(outbox::page::show).post(outbox::page::act),
        Page::Loans => get(loans::page::show).post(loans::page::act),
        Page::Payouts => get(payouts::page::show),
        Page::Scenario => get(scenario::page::show).post(scenario::page::act),
        Page::Faults => get(faults::page::show).post(faults::page::act),
        Page::Traffic => get(traffic::page::show).post(traffic::page::act),
        Page::Staff => get(staff::page::show).post(staff::page::act),
        Page::Data => get(data::page::show).post(data::page::act),
        Page::Clock => get(clock::page::show).post(clock::page::act),
        Page::Slices => get(slices::page::show).post(slices::page::act),
    }
}
