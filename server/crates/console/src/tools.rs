//! Refuses the tools, which change the behaviour of the service or read codes, for QA and demos. Outside
//! demo mode they are off, unless the deployment allows them. If calls are forwarded to another provider,
//! calls and pages that show or change the data of this service are refused, too.

use axum::{
    extract::{MatchedPath, Request},
    http::Method,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::view::{
    frame::{Frame, empty_state},
    icon::Icon,
    page::Page,
    visit::Visit,
};
use crate::refusal::ConsoleRefusal;
use base::error::Failure;
use worlds::sandboxes::Sandbox;

/// The calls of the console's API that are tools.
const CALLS: [(Method, &str); 13] = [
    (Method::GET, "/console/api/outbox"),
    (Method::PUT, "/console/api/scenario"),
    (Method::DELETE, "/console/api/scenario"),
    (Method::PUT, "/console/api/clock"),
    (Method::DELETE, "/console/api/clock"),
    (Method::POST, "/console/api/faults"),
    (Method::DELETE, "/console/api/faults"),
    (Method::DELETE, "/console/api/faults/{id}"),
    (Method::POST, "/console/api/loans"),
    (Method::POST, "/console/api/payouts"),
    (Method::PUT, "/console/api/data/snapshots/{name}"),
    (Method::POST, "/console/api/data/reset"),
    (Method::POST, "/console/api/story/next"),
];

const PAGES: [Page; 5] = [Page::Outbox, Page::Loans, Page::Scenario, Page::Faults, Page::Clock];

/// The forms of the data page that are tools.
const DATA_FORMS: [&str; 3] = ["reset", "empty", "restore"];

/// The paths of calls that make no sense with another provider, which has its own accounts, loans, payouts,
/// messages and time.
const OWN_CALLS: [&str; 8] = [
    "/console/api/outbox",
    "/console/api/scenario",
    "/console/api/clock",
    "/console/api/staff",
    "/console/api/loans",
    "/console/api/payouts",
    "/console/api/data/reset",
    "/console/api/invariant",
];

/// The pages that make no sense with another provider.
const OWN_PAGES: [Page; 6] =
    [Page::Outbox, Page::Loans, Page::Payouts, Page::Scenario, Page::Staff, Page::Clock];

/// The forms of the data page that make no sense with another provider.
const OWN_DATA_FORMS: [&str; 2] = ["reset", "empty"];

pub async fn refuse_calls(sandbox: Sandbox, request: Request, next: Next) -> Response {
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let is_tool = CALLS.iter().any(|call| call.0 == *method && Some(call.1) == path);
    let is_own = || path.is_some_and(|path| OWN_CALLS.iter().any(|own| path.starts_with(own)));
    if sandbox.provider.is_some() && is_own() {
        return Failure::from(ConsoleRefusal::NotWithProvider).into_response();
    }
    if is_tool && !sandbox.settings.allows_tools() {
        return Failure::from(ConsoleRefusal::ToolsOff).into_response();
    }
    next.run(request).await
}

/// Refuses forms, and shows a sentence in place of the pages.
pub async fn refuse_forms(visit: Visit, request: Request, next: Next) -> Response {
    let Some(page) = request.extensions().get::<MatchedPath>().and_then(|path| Page::at(path.as_str()))
    else {
        return next.run(request).await;
    };
    let is_data_form = |forms: &[&str]| page == Page::Data && forms.contains(&visit.sent.text("act"));
    let is_own = OWN_PAGES.contains(&page) || is_data_form(&OWN_DATA_FORMS);
    let is_tool = PAGES.contains(&page) || is_data_form(&DATA_FORMS);
    let (title, failure) = if visit.sandbox.provider.is_some() && is_own {
        ("Another provider", ConsoleRefusal::NotWithProvider)
    } else if is_tool && !visit.sandbox.settings.allows_tools() {
        ("Off in this deployment", ConsoleRefusal::ToolsOff)
    } else {
        return next.run(request).await;
    };
    if request.method().is_safe() {
        visit.page(Frame::of(page), || empty_state(Icon::ALERT, title, failure.to_string()))
    } else {
        Failure::from(failure).into_response()
    }
}
