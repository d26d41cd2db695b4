//! Creates the events of every act on the console, for calls and forms alike. The act itself writes them.

use axum::{
    body::Body,
    extract::{MatchedPath, RawPathParams, Request, rejection::RawPathParamsRejection},
    http::{Uri, header},
    middleware::Next,
    response::Response,
};
use serde_json::Value;

use super::recorded::Recorded;
use crate::{
    console::{
        CALLS,
        door::Operator,
        view::{
            page::Page,
            visit::{Fields, SignedIn},
        },
    },
    sandboxes::Sandbox,
};
use lending::{
    auth::client_address::ClientAddress,
    events::{NewEvent, Trail},
};
use web::{accept, extract::whole};

/// The author of acts by programs: all have the same token.
const OPERATOR: &str = "operator";

/// Attaches the trail to a call of the console's API that changes data.
pub async fn record_call(
    sandbox: Sandbox,
    address: ClientAddress,
    parameters: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let call = route.and_then(|route| route.strip_prefix(CALLS)).map(str::to_owned);
    let Some(call) = call.filter(|_| !request.method().is_safe()) else { return next.run(request).await };
    let (mut parts, mut body) = request.into_parts();
    // An unknown path has no parameters.
    let parameters = parameters.iter().flatten();
    let mut given: Vec<(String, String)> =
        parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    given.extend(query(&parts.uri));
    // Larger bodies are not JSON, and are read by their handlers.
    let is_in_memory = parts.headers.get(header::CONTENT_TYPE).is_some()
        && accept::is_of_type(&parts.headers, "application/json")
        && call != "/slices";
    if is_in_memory {
        let json = whole(body).await;
        given.extend(scalars(&json));
        body = Body::from(json);
    }
    let acts = Recorded::of_call(&parts.method, &call, &given);
    let new = new_events(&sandbox, OPERATOR, address, acts);
    parts.extensions.insert(Trail::of(new));
    next.run(Request::from_parts(parts, body)).await
}

/// Attaches the trail to a form.
pub async fn record_form(
    sandbox: Sandbox,
    address: ClientAddress,
    mut request: Request,
    next: Next,
) -> Response {
    let extensions = request.extensions();
    let page = extensions.get::<MatchedPath>().and_then(|path| Page::at(path.as_str()));
    let signed_in = extensions.get::<SignedIn>().zip(extensions.get::<Operator>());
    let (Some(page), Some((SignedIn { sent, .. }, operator)), false) =
        (page, signed_in, request.method().is_safe())
    else {
        return next.run(request).await;
    };
    let act = Recorded::of_form(page, sent.text("act"), &fields(sent));
    let new = new_events(&sandbox, &operator.name(), address, vec![act]);
    request.extensions_mut().insert(Trail::of(new));
    next.run(request).await
}

fn new_events(
    sandbox: &Sandbox,
    who: &str,
    ClientAddress(address): ClientAddress,
    acts: Vec<Recorded>,
) -> Vec<NewEvent> {
    let at = sandbox.clock.unset_now();
    let event = |Recorded { kind, about, details }: Recorded| {
        let event = NewEvent::new(at, kind, who, Some(address));
        let event = about.into_iter().fold(event, NewEvent::about);
        // Events about builds are in the store of `main`.
        let details = match (sandbox.is_main(), details) {
            (true, details) => details,
            (false, None) => Some(format!("in sandbox {}", sandbox.name)),
            (false, Some(details)) => Some(format!("in sandbox {}, {details}", sandbox.name)),
        };
        details.iter().fold(event, |event, details| event.details(details))
    };
    acts.into_iter().map(event).collect()
}

fn fields(sent: &Fields) -> Vec<(String, String)> {
    sent.all()
        .filter(|(_, value)| !value.trim().is_empty())
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

fn query(uri: &Uri) -> Vec<(String, String)> {
    fields(&Fields::parse(uri.query().unwrap_or_default().as_bytes()))
}

/// The fields of a JSON object that are text, numbers or switches.
fn scalars(json: &[u8]) -> Vec<(String, String)> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(json) else { return Vec::new() };
    fields
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::String(text) => Some((name, text)),
            Value::Number(number) => Some((name, number.to_string())),
            Value::Bool(switch) => Some((name, switch.to_string())),
            _ => None,
        })
        .collect()
}
