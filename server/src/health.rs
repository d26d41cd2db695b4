//! Health, readiness and metrics for operators.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use axum::{
    Json, Router,
    http::{HeaderMap, HeaderName, header},
    routing::get,
};
use prometheus_client::encoding::prometheus_text;
use serde::Serialize;
use serde_json::json;

use crate::log;
use base::error::Failure;
use store::shared_clock;
use web::accept;
use worlds::{
    metrics::{Format, Now},
    sandboxes::Sandbox,
};

/// Timeout for the database to answer a readiness check.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// `/healthz` and `/readyz`.
pub fn routes() -> Router {
    Router::new()
        .route("/healthz", get(async || Json(json!({ "status": "ok" }))))
        .route("/readyz", get(readyz))
}

pub const METRICS: &str = "/metrics";

/// `/metrics`.
pub fn metrics_routes() -> Router {
    Router::new().route(METRICS, get(metrics))
}

#[derive(Serialize)]
struct Readiness {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_offset_ms: Option<i64>,
}

async fn readyz(sandbox: Sandbox) -> Result<Json<Readiness>, Failure> {
    if !sandbox.server.can_write() {
        return Err(Failure::Busy);
    }
    let answers = async {
        drop(sandbox.server.database.read().await?);
        sandbox.server.shared_read.version().await
    };
    match tokio::time::timeout(READY_TIMEOUT, answers).await {
        Ok(Ok(_)) => {
            let clock_offset_ms = shared_clock::wrong_by_ms(&sandbox.clock);
            Ok(Json(Readiness { status: "ok", clock_offset_ms }))
        }
        Ok(Err(failure)) => {
            tracing::error!(error = ?failure, "not ready");
            Err(Failure::Busy)
        }
        Err(_) => Err(Failure::Busy),
    }
}

/// Maximum number of sandboxes with a series of their own.
const NAMED_SANDBOXES: usize = 20;

/// The media type of the metrics with examples, which Prometheus asks for.
const OPEN_METRICS: &str = "application/openmetrics-text";

/// Names sandboxes to whoever sends the console's token: their names are their addresses.
async fn metrics(
    sandbox: Sandbox,
    headers: HeaderMap,
) -> Result<([(HeaderName, &'static str); 1], String), Failure> {
    let server = &sandbox.server;
    let access = accept::bearer(&headers).and_then(|token| server.operator_token.access(token));
    let named = if access.is_some() { NAMED_SANDBOXES } else { 0 };
    let sandboxes = server.sandboxes.are_on().then(|| server.sandboxes.load(named));
    let forwarded = server.provider.as_ref().map(|provider| provider.held.counts());
    let has_live_screens = server.other_settings.has_live_screens();
    let event_streams = has_live_screens.then(|| server.event_streams.load(Relaxed));
    let now = Now {
        database: server.database.load(),
        can_write: server.can_write(),
        forwarded,
        sandboxes,
        event_streams,
        log_lines_lost: log::lines_lost(),
    };
    // Names of slices may be in any script.
    let [open, plain] = [OPEN_METRICS, "text/plain"].map(|essence| accept::preference(&headers, essence));
    let (format, content_type) = if open > 0 && open >= plain {
        (Format::OpenMetrics, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    } else {
        (Format::Prometheus, prometheus_text::CONTENT_TYPE)
    };
    Ok(([(header::CONTENT_TYPE, content_type)], server.metrics.text(now, format)?))
}
