//! The exporter, which never delays a call: spans wait in a bounded queue, and are dropped and counted where it is full
//! or the receiver fails.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use opentelemetry::Context;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter as Export, SpanProcessor},
};

use crate::{
    dropped::count_dropped,
    variable::{given, of_exporter},
};

/// The number of spans that may wait, unless `OTEL_BSP_MAX_QUEUE_SIZE` says another.
const MAX_WAITING: usize = 2048;

/// The largest answer of a receiver that is read.
const MAX_ANSWER: u64 = 64 * 1024;

/// The queue of this process.
static QUEUE: OnceLock<Queue> = OnceLock::new();

/// The processor that exports spans of `resource` to the receiver that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
///
/// # Errors
/// If a variable of the exporter can't be read.
pub fn processor(resource: &Resource) -> anyhow::Result<Queue> {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(timeout()))
        .build();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(protocol()?)
        .with_http_client(Client(agent.into()))
        .build()
        .context("the exporter of traces can't be set up: see OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let max = given("OTEL_BSP_MAX_QUEUE_SIZE").and_then(|size| size.parse().ok()).unwrap_or(MAX_WAITING);
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = Counted { exporter, waiting: Arc::clone(&waiting) };
    let config = BatchConfigBuilder::default().with_max_queue_size(max).build();
    let mut inner = BatchSpanProcessor::builder(counted).with_batch_config(config).build();
    // Here, because `Queue` shares it.
    inner.set_resource(resource);
    let queue = Queue { inner: Arc::new(inner), waiting, max };
    _ = QUEUE.set(queue.clone());
    Ok(queue)
}

/// The protocol in which spans are exported (`OTEL_EXPORTER_OTLP_PROTOCOL`).
fn protocol() -> anyhow::Result<Protocol> {
    match of_exporter("PROTOCOL").as_deref() {
        None | Some("http/protobuf") => Ok(Protocol::HttpBinary),
        Some("http/json") => Ok(Protocol::HttpJson),
        Some(other) => bail!("OTEL_EXPORTER_OTLP_PROTOCOL is {other}; it can be http/protobuf or http/json"),
    }
}

/// The maximum duration of one export (`OTEL_EXPORTER_OTLP_TIMEOUT`, in ms).
fn timeout() -> Duration {
    Duration::from_millis(of_exporter("TIMEOUT").and_then(|ms| ms.parse().ok()).unwrap_or(10_000))
}

/// Exports a span that was not taken here.
pub fn add(span: SpanData) {
    if let Some(queue) = QUEUE.get() {
        queue.on_end(span);
    }
}

/// The queue of the library, which does not tell what it drops: so it is never given more than it holds.
#[derive(Clone, Debug)]
pub struct Queue {
    inner: Arc<BatchSpanProcessor>,
    waiting: Arc<AtomicUsize>,
    max: usize,
}

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= self.max {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            count_dropped(1);
        } else {
            self.inner.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }
}

/// Counts what leaves the queue, and what the receiver did not take.
#[derive(Debug)]
struct Counted {
    exporter: SpanExporter,
    waiting: Arc<AtomicUsize>,
}

impl Export for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.waiting.fetch_sub(spans, Ordering::AcqRel);
        let exported = self.exporter.export(batch).await;
        if let Err(error) = &exported {
            count_dropped(spans as u64);
            tracing::warn!(%error, "traces.not_exported");
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends by a blocking client: the queue has a thread of its own.
#[derive(Debug)]
struct Client(ureq::Agent);

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let answer = self.0.run(Request::from_parts(parts, body.to_vec()))?;
        let (parts, mut body) = answer.into_parts();
        let body = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, Bytes::from(body)))
    }
}
