//! The calls of a sandbox as an HTTP Archive 1.2, which the tools of browsers, Charles and Playwright open.

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

use super::read;
use crate::clock;
use base::error::Failure;
use lending::demo::Beginning;
use worlds::{
    faults,
    sandboxes::Sandbox,
    traffic::{Snapshot, body::KeptBody, call::Entry, headers::Headers, secrets::Secrets},
};

/// Characters to encode in a path, besides non-ASCII. Without `%`, so that encoded ones stay as they are.
const NOT_IN_PATH: AsciiSet = CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`');

/// The type that archives state for a body without one.
const UNKNOWN_TYPE: &str = "x-unknown";

const MASKED: &str = "Passwords, codes, tokens and phone numbers are masked.";

pub async fn file(sandbox: &Sandbox) -> Result<Response, Failure> {
    let origin = sandbox.server.sandboxes.addresses.portal(&sandbox.name);
    let name = sandbox.name.to_string();
    let state = state(sandbox).await?;
    let archive = move |snapshot: &Snapshot, secrets: &Secrets| {
        // The newest first, in case there is no room for the bodies of all.
        let mut entries: Vec<Value> =
            snapshot.entries.iter().map(|entry| shown(entry, &origin, secrets)).collect();
        entries.reverse();
        json!({"log": {
            "version": "1.2",
            "creator": {"name": "Mkopo", "version": env!("CARGO_PKG_VERSION")},
            "comment": format!("Sandbox {name}. {} {state} {MASKED}", start(snapshot.beginning)),
            "entries": entries,
        }})
    };
    let archive = Json(read(sandbox, archive).await?);
    let disposition = format!("attachment; filename=\"{}.har\"", sandbox.name);
    Ok(([(header::CONTENT_DISPOSITION, disposition)], archive).into_response())
}

fn start(beginning: Option<Beginning>) -> String {
    let Some(Beginning { world, now, is_frozen }) = beginning else {
        return "Seed: not known, because its data is older than this server's start, was added to, or was replaced by a \
                snapshot."
            .to_owned();
    };
    format!("Seed: {world}. Start: {now}{}.", if is_frozen { ", clock stopped" } else { "" })
}

async fn state(sandbox: &Sandbox) -> Result<String, Failure> {
    let clock = clock::state(sandbox);
    let stopped = if clock.frozen { ", stopped" } else { "" };
    let scenario = match &sandbox.provider {
        Some(_) => "that of another provider".to_owned(),
        None => json!(sandbox.mobile_money.scenario().await?).to_string(),
    };
    let faults = json!(faults::all(&mut sandbox.database.read().await?).await?);
    Ok(format!("Clock: {}{stopped}. Mobile money: {scenario}. Faults: {faults}.", clock.now))
}

fn shown(entry: &Entry, origin: &str, secrets: &Secrets) -> Value {
    let ms = (entry.took.as_secs_f64() * 1e6).round() / 1e3;
    json!({
        "startedDateTime": entry.at,
        "time": ms,
        "request": request(entry, origin, secrets),
        "response": response(entry, secrets),
        "cache": {},
        "timings": {"send": 0, "wait": ms, "receive": 0},
        "comment": comment(entry),
    })
}

fn request(entry: &Entry, origin: &str, secrets: &Secrets) -> Value {
    let path = secrets.masked_path(&entry.full_path());
    let query = entry.query.as_deref().map(|query| secrets.masked_query(query)).unwrap_or_default();
    let mut url = format!("{origin}{}", utf8_percent_encode(&path, &NOT_IN_PATH));
    if !query.is_empty() {
        let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(&query).finish();
        url = format!("{url}?{encoded}");
    }
    let mut request = json!({
        "method": entry.method.as_str(),
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": pairs(entry.request_headers.shown(secrets)),
        "queryString": pairs(query),
        "headersSize": -1,
        "bodySize": entry.request_body.size(),
    });
    if entry.request_body.size() > 0 {
        let (text, comment) = text(&entry.request_body, secrets);
        let media_type = media_type(&entry.request_headers, secrets);
        request["postData"] = json!({"mimeType": media_type, "params": [], "text": text, "comment": comment});
    }
    request
}

fn response(entry: &Entry, secrets: &Secrets) -> Value {
    let (text, comment) = text(&entry.response_body, secrets);
    let size = entry.response_body.size();
    json!({
        "status": entry.status.map_or(0, |status| status.as_u16()),
        "statusText": entry.status.and_then(|status| status.canonical_reason()).unwrap_or_default(),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": pairs(entry.response_headers.shown(secrets)),
        "content": {
            "size": size,
            "mimeType": media_type(&entry.response_headers, secrets),
            "text": text,
            "comment": comment,
        },
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": if entry.status.is_some() { json!(size) } else { json!(-1) },
    })
}

fn pairs<N: Into<String>>(pairs: impl IntoIterator<Item = (N, String)>) -> Vec<Value> {
    pairs.into_iter().map(|(name, value)| json!({"name": name.into(), "value": value})).collect()
}

fn media_type(headers: &Headers, secrets: &Secrets) -> String {
    headers.get(&header::CONTENT_TYPE).map_or_else(|| UNKNOWN_TYPE.to_owned(), |value| secrets.masked(value))
}

/// A body as text, and a comment on it.
fn text(body: &KeptBody, secrets: &Secrets) -> (String, &'static str) {
    match body.shown(secrets) {
        Value::Null => (String::new(), ""),
        Value::String(_) => (String::new(), "Only the size is kept."),
        json => (json.to_string(), ""),
    }
}

fn comment(entry: &Entry) -> String {
    let request = format!("Request {}.", entry.request_id);
    let user = entry.user().map(|user| format!("User: {user}."));
    let fault = entry.fault.map(|kind| format!("Fault: {kind}."));
    let lost = entry.status.is_none().then(|| "There was no response.".to_owned());
    [Some(request), user, fault, lost].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
