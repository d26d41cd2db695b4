//! The list of slices that a page of the portal loads.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde_json::json;

use base::error::Failure;
use slices::Bucket;
use web::ready_body::ReadyBody;
use worlds::sandboxes::Sandbox;

/// `/slices.json`.
pub async fn live(sandbox: Sandbox, headers: HeaderMap) -> Result<Response, Failure> {
    let settings = &sandbox.settings;
    let known = Bucket::find(&headers, settings.behind_tls);
    let bucket = known.unwrap_or_else(|| Bucket::draw(&sandbox.randomness));
    let listed = slices::listed(&sandbox.slices, bucket).await?;
    let mut body = json!({
        "portal": {
            "brand": settings.brand,
            "product": settings.product(),
            "time_zone": settings.time_zone.iana_name(),
            "demo": settings.demo,
            "console": sandbox.server.sandboxes.addresses.console(&sandbox.name).filter(|_| settings.demo),
            "allow_override": settings.allows_slice_override(),
            "slice_origins": settings.slice_origins,
            "reports": sandbox.is_main() && listed.shell.is_some(),
        },
        "shell": listed.shell,
        "slices": listed.slices,
    });
    if traces::state() != traces::State::Off {
        body["portal"]["traces"] = true.into();
    }
    if settings.has_live_screens() {
        body["portal"]["screens"] = "live".into();
    }
    if sandbox.story().await?.is_some() {
        body["portal"]["story"] = true.into();
    }
    if !sandbox.is_main() {
        body["portal"]["sandbox"] = json!(sandbox.name);
    }
    let body = serde_json::to_vec(&body).map_err(Failure::internal)?;
    let mut answer = ReadyBody::new("application/json", body.into())?.answer_plain(&headers);
    answer.headers_mut().insert(header::VARY, HeaderValue::from_static("cookie, accept-encoding"));
    if known.is_none() {
        answer.headers_mut().insert(header::SET_COOKIE, bucket.cookie(settings.behind_tls)?);
    }
    Ok(answer)
}
