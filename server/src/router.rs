//! Which calls are served where, and who may make them.

use std::sync::Arc;

use axum::{Router, handler::Handler, middleware, routing::any};
use tower_http::cors::CorsLayer;

use crate::{
    health,
    http::{
        api_call,
        edge::{self, Edge},
        page_spans, portal, reference,
    },
};
use base::error::Failure;
use console::stories::Stories;
use contract::API;
use lending::{
    auth, auth::authenticate, loans, notifications, payouts, preferences, reports, rules, updates,
};
use worlds::sandboxes::Sandbox;

/// The routes of the portal's listener, and those of the console's.
pub fn routers(sandbox: &Sandbox) -> [Router; 2] {
    let stories = Arc::new(Stories::open(sandbox.settings.stories.clone()));
    [portal_router(sandbox.clone(), Arc::clone(&stories)), console_router(sandbox.clone(), stories)]
}

fn portal_router(sandbox: Sandbox, stories: Arc<Stories>) -> Router {
    let cross_origin = edge::cross_origin(&sandbox.settings);
    let routes = Router::new()
        .nest(API, api())
        .merge(slices::deploy::api::routes())
        .merge(slices::reports::api::routes())
        .merge(page_spans::routes())
        .merge(console::stories::guest::routes())
        .merge(console::stories::open::routes(stories))
        .merge(portal::routes(&sandbox))
        .merge(reference::page())
        .merge(health::routes())
        .merge(console::absent())
        .route(health::METRICS, any(async || Failure::NotFound))
        .method_not_allowed_fallback(edge::method_not_allowed);
    behind_edge(sandbox, cross_origin, routes)
}

fn console_router(sandbox: Sandbox, stories: Arc<Stories>) -> Router {
    let routes = console::routes(stories)
        .merge(health::routes())
        .merge(health::metrics_routes())
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(edge::method_not_allowed);
    behind_edge(sandbox, None, routes)
}

fn behind_edge(main: Sandbox, cross_origin: Option<CorsLayer>, routes: Router) -> Router {
    routes.layer(middleware::from_fn_with_state(Edge { main, cross_origin }, edge::answer))
}

/// The calls of the contract. Access is decided here and nowhere else: the sign-in calls and the
/// contract itself are public, all other calls need a session, and some an administrator's. Who may set which of
/// the settings depends on the role too: `preferences::save` decides that. The calls of the live screens exist only
/// where the screens are live.
fn api() -> Router {
    let public = Router::new().merge(auth::api::public()).merge(reference::routes());
    let signed_in = Router::new()
        .merge(auth::api::signed_in())
        .merge(loans::api::signed_in())
        .merge(payouts::api::signed_in())
        .route_layer(middleware::from_fn(api_call::signed_in));
    let live = Router::new()
        .merge(auth::api::live())
        .merge(notifications::api::live())
        .merge(preferences::api::live())
        .merge(reports::api::live())
        .merge(updates::api::live())
        .merge(rules::api::for_admins().route_layer(middleware::from_fn(authenticate::require_admin)))
        .route_layer(middleware::from_fn(api_call::live));
    public
        .fallback(async || Failure::NotFound)
        .layer(middleware::from_fn(api_call::public))
        .merge(signed_in)
        .merge(live)
        .method_not_allowed_fallback(edge::method_not_allowed.layer(middleware::from_fn(api_call::public)))
}
