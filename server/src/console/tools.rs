//! The tools that change what the service does or that read codes: for QA and demos. Outside demo mode
//! they are off unless the deployment allows them, and this is the one place that refuses them.

use axum::{
    extract::{MatchedPath, Request, State},
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
use crate::{Sandbox, error::Failure};

/// The calls of the console's API that are tools.
const CALLS: [(Method, &str); 12] = [
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
];

/// The pages that consist of tools.
const PAGES: [Page; 5] = [Page::Outbox, Page::Loans, Page::Scenario, Page::Faults, Page::Clock];

/// The forms of the data page that are tools.
const DATA_FORMS: [&str; 3] = ["reset", "empty", "restore"];

/// Refuses calls of the API.
pub async fn refuse_calls(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let is_tool = CALLS.iter().any(|call| call.0 == *method && Some(call.1) == path);
    if is_tool && !sandbox.settings.allows_tools() {
        return Failure::ToolsOff.into_response();
    }
    next.run(request).await
}

/// Refuses forms, and shows a sentence in place of the pages.
pub async fn refuse_forms(visit: Visit, request: Request, next: Next) -> Response {
    let page = request.extensions().get::<MatchedPath>().and_then(|path| Page::at(path.as_str()));
    let is_tool = page.is_some_and(|page| {
        PAGES.contains(&page) || (page == Page::Data && DATA_FORMS.contains(&visit.sent.text("act")))
    });
    let Some(page) = page.filter(|_| is_tool && !visit.sandbox.settings.allows_tools()) else {
        return next.run(request).await;
    };
    if request.method().is_safe() {
        visit.page(Frame::of(page), || {
            empty_state(Icon::Alert, "Off in this deployment", Failure::ToolsOff.to_string())
        })
    } else {
        Failure::ToolsOff.into_response()
    }
}
