//! The operator's console: shows and changes the server's state for QA and demos, behind its own token.
//! Each noun has a folder with its acts, its API (`api.rs`) and its page (`page.rs`).

// Access to the console.
mod door;
// Refuses tools that are off.
mod refusal;
mod tools;
// The time that a call waits for its result.
mod wait;
// The shared parts of the pages.
mod view;

// The console's start page.
mod overview;
// The messages that were sent.
mod outbox;
// Approves loans to pay out.
mod loans;
// The payouts and the audit.
mod payouts;
// The outcomes and settings of mobile money.
mod scenario;
// Faults injected into API calls.
mod faults;
// The latest calls of the API.
mod traffic;
// The traces of the latest calls.
mod traces;
// The differences between calls to the provider and the contract.
mod contract;
// The audit trail.
mod events;
// Staff accounts and their sessions.
mod staff;
// Reset, snapshots and copies of the whole database.
pub mod data;
// The sandbox's clock.
mod clock;
// The sandboxes of the deployment.
mod sandboxes;
// Stories that sandboxes tell, and their files.
pub mod stories;
// The builds of slices and which of them are live.
mod slices;
// The tokens with which teams deploy their own slice.
mod deploy_tokens;

pub use refusal::ConsoleRefusal;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Request, State},
    middleware::{self, Next},
    response::Response,
    routing::{MethodRouter, any, get, post},
};

use self::{
    stories::Stories,
    view::{ROOT, files, page::Page, under_root, visit::Visit},
};
use ::slices::api as slice_calls;
use base::error::Failure;
use worlds::sandboxes::sync;

/// Everything under `/console`. Only the pages' assets are public; unknown paths need the token too.
pub fn routes(stories: Arc<Stories>) -> Router {
    Router::new()
        .nest(ROOT, pages().nest("/api", calls()))
        // `nest` does not match the root with a trailing slash.
        .route("/console/", trailing_slash())
        .layer(middleware::from_fn(door::cross_site::refuse_others))
        .route("/", get(door::page::redirect_to_overview))
        .layer(Extension(stories))
}

/// The console's paths on the portal's listener, where they must not be screens of the portal.
pub fn absent() -> Router {
    let absent = || any(async || Failure::NotFound);
    Router::new().route(ROOT, absent()).route("/console/", absent()).route("/console/{*path}", absent())
}

fn calls() -> Router {
    let operators = Router::new()
        .merge(sandboxes::api::routes())
        .merge(stories::api::operators_routes())
        .merge(deploy_tokens::api::routes());
    Router::new()
        .merge(outbox::api::routes())
        .merge(scenario::api::routes())
        .merge(clock::api::routes())
        .merge(faults::api::routes())
        .merge(traffic::api::routes())
        .merge(traces::api::routes())
        .merge(contract::api::routes())
        .merge(events::api::routes())
        .merge(loans::api::routes())
        .merge(staff::api::routes())
        .merge(data::api::routes())
        .merge(payouts::api::routes())
        .merge(stories::api::routes())
        .merge(slice_calls::routes())
        .merge(operators.route_layer(middleware::from_fn(door::require_operator_token)))
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn(events::trail::attach))
        .layer(middleware::from_fn(sync::keep_in_sync))
        .layer(middleware::from_fn(tools::refuse_calls))
        .layer(middleware::from_fn(door::require_token))
}

/// Every page, for signed-in operators, and the public assets.
fn pages() -> Router {
    Page::ALL
        .iter()
        .copied()
        .fold(Router::new(), |router, page| {
            let handlers = handlers(page).layer(middleware::from_fn_with_state(page, ask_first));
            router.route(under_root(page.address()), handlers)
        })
        .route("/open", get(sandboxes::open::open))
        .route("/sign-out", post(door::page::sign_out))
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn(events::trail::attach))
        .layer(middleware::from_fn(sync::keep_in_sync))
        .layer(middleware::from_fn(tools::refuse_forms))
        .layer(middleware::from_fn(door::page::require_operator))
        .route("/sign-in", post(door::page::sign_in).fallback(door::page::reject_other_methods))
        .layer(middleware::from_fn(door::page::add_security_headers))
        .merge(files::routes())
}

fn trailing_slash() -> MethodRouter {
    any(door::page::redirect_to_overview)
        .layer(middleware::from_fn(door::page::require_operator))
        .layer(middleware::from_fn(door::page::add_security_headers))
}

/// Asks the question of a form that is not confirmed. Where there is JavaScript, the page has asked already.
async fn ask_first(State(page): State<Page>, visit: Visit, request: Request, next: Next) -> Response {
    match visit.question() {
        Some(question) => visit.ask(page, question),
        None => next.run(request).await,
    }
}

/// Shows `$page` of the module `$noun`, and does what its forms send.
macro_rules! with_form {
    ($page:expr, $noun:ident) => {
        get($noun::page::show).post(async move |visit: Visit| {
            let outcome = $noun::page::perform(&visit).await;
            visit.after($page, outcome, $noun::page::show).await
        })
    };
}

fn handlers(page: Page) -> MethodRouter {
    match page {
        Page::Overview => get(overview::page::show),
        Page::Outbox => with_form!(page, outbox),
        Page::Loans => with_form!(page, loans),
        Page::Payouts => get(payouts::page::show),
        Page::Scenario => with_form!(page, scenario),
        Page::Faults => with_form!(page, faults),
        Page::Traffic => with_form!(page, traffic),
        Page::Traces => get(traces::page::show),
        Page::Contract => get(contract::page::show),
        Page::Events => get(events::page::show),
        Page::Staff => with_form!(page, staff),
        Page::Data => get(data::page::show).post(data::page::act),
        Page::Clock => with_form!(page, clock),
        Page::Sandboxes => get(sandboxes::page::show).post(sandboxes::page::act),
        Page::Stories => get(stories::page::show).post(stories::page::act),
        Page::Slices => get(slices::page::show).post(slices::page::act),
    }
}
