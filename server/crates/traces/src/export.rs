//! The exporter, which never delays a call: spans wait in a bounded queue, and are dropped and counted where it is full
//! or the receiver fails.

use std::{
    fs,
    str::FromStr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use axum::http::{HeaderName, HeaderValue, Uri};
use opentelemetry::Context;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter as Export, SpanProcessor},
};
use parking_lot::Mutex;
use prost::Message as _;
use serde_json::Value;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::{
    dropped::count_dropped,
    variable::{given, of_exporter},
};

/// The number of spans that may wait, unless `OTEL_BSP_MAX_QUEUE_SIZE` says another.
const MAX_WAITING: u32 = 2048;

/// The largest number in a variable, of ms or spans.
const MAX_NUMBER: u32 = 1_000_000;

/// The largest answer of a receiver that is read.
const MAX_ANSWER: u64 = 64 * 1024;

static QUEUE: OnceLock<Queue> = OnceLock::new();

/// The processor that exports spans of `resource` to the receiver that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
pub fn processor(resource: &Resource) -> anyhow::Result<Queue> {
    check_endpoint()?;
    let timeout = number("OTEL_EXPORTER_OTLP_TIMEOUT", of_exporter("TIMEOUT"), 10_000)?;
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(Duration::from_millis(timeout.into())))
        .tls_config(TlsConfig::builder().root_certs(authorities()?).build())
        .build();
    check_headers()?;
    check_compression()?;
    let protocol = protocol()?;
    let cause = Cause::default();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(protocol)
        .with_http_client(Client { agent: agent.into(), protocol, cause: Arc::clone(&cause) })
        .build()
        .context("the exporter of traces can't be set up")?;
    let of_queue = |variable, default| number(variable, given(variable), default);
    let max = of_queue("OTEL_BSP_MAX_QUEUE_SIZE", MAX_WAITING)? as usize;
    let delay = of_queue("OTEL_BSP_SCHEDULE_DELAY", 5000)?;
    let batch = of_queue("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)? as usize;
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = Counted { exporter, waiting: Arc::clone(&waiting), cause };
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(max)
        .with_scheduled_delay(Duration::from_millis(delay.into()))
        .with_max_export_batch_size(batch)
        .build();
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

/// The authorities that a receiver's certificate may be of: the system's, which may have private ones, and those of the
/// file that `OTEL_EXPORTER_OTLP_CERTIFICATE` names.
fn authorities() -> anyhow::Result<RootCerts> {
    let system = rustls_native_certs::load_native_certs().certs;
    let mut roots: Vec<_> = system.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    if let Some(file) = of_exporter("CERTIFICATE") {
        let unreadable = || format!("OTEL_EXPORTER_OTLP_CERTIFICATE can't be read: {file}");
        let own = roots.len();
        for item in parse_pem(&fs::read(&file).with_context(unreadable)?) {
            if let PemItem::Certificate(root) = item.with_context(unreadable)? {
                roots.push(root);
            }
        }
        ensure!(roots.len() > own, "OTEL_EXPORTER_OTLP_CERTIFICATE has no certificate: {file}");
    }
    Ok(roots.into())
}

/// Checks the headers of exports (`OTEL_EXPORTER_OTLP_HEADERS`): the library leaves out those that it can't read. They
/// are secret, so a wrong one is named by its place.
fn check_headers() -> anyhow::Result<()> {
    let headers = of_exporter("HEADERS").unwrap_or_default();
    for (number, header) in (1..).zip(headers.split(',')).filter(|(_, header)| !header.trim().is_empty()) {
        let is_header = header.split_once('=').is_some_and(|(name, value)| {
            let value = value.trim();
            HeaderName::from_str(name.trim()).is_ok()
                && !value.is_empty()
                && HeaderValue::from_str(value).is_ok()
        });
        ensure!(is_header, "OTEL_EXPORTER_OTLP_HEADERS: number {number} is not a header such as name=value");
    }
    Ok(())
}

/// Checks that exports are not to be compressed (`OTEL_EXPORTER_OTLP_COMPRESSION`).
fn check_compression() -> anyhow::Result<()> {
    match of_exporter("COMPRESSION").as_deref() {
        None | Some("none") => Ok(()),
        Some(other) => bail!("OTEL_EXPORTER_OTLP_COMPRESSION is {other}; it can only be none"),
    }
}

/// Checks the receiver's address (`OTEL_EXPORTER_OTLP_ENDPOINT`), which is not printed: it may have a password.
fn check_endpoint() -> anyhow::Result<()> {
    let endpoint = of_exporter("ENDPOINT").unwrap_or_default().parse::<Uri>();
    let is_address = endpoint.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    ensure!(is_address, "OTEL_EXPORTER_OTLP_ENDPOINT is not an address such as http://jaeger:4318");
    Ok(())
}

/// The number that `variable` is set to; `default` if it is not.
fn number(variable: &str, value: Option<String>, default: u32) -> anyhow::Result<u32> {
    let Some(value) = value else { return Ok(default) };
    let number = value.parse().ok().filter(|number| (1..=MAX_NUMBER).contains(number));
    number.with_context(|| format!("{variable} is {value}; it can be a whole number from 1 to {MAX_NUMBER}"))
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

/// Why the latest export failed, which the library does not tell.
type Cause = Arc<Mutex<Option<String>>>;

/// Counts what leaves the queue, and what the receiver did not take.
#[derive(Debug)]
struct Counted {
    exporter: SpanExporter,
    waiting: Arc<AtomicUsize>,
    cause: Cause,
}

impl Export for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.waiting.fetch_sub(spans, Ordering::AcqRel);
        let exported = self.exporter.export(batch).await;
        if let Err(error) = &exported {
            count_dropped(spans as u64);
            let cause = self.cause.lock().take();
            tracing::warn!(%error, cause, "traces.not_exported");
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
struct Client {
    agent: ureq::Agent,
    protocol: Protocol,
    cause: Cause,
}

impl Client {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, mut body) = self.agent.run(request)?.into_parts();
        let body = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, Bytes::from(body)))
    }

    /// The spans that the receiver refused of those that it got, and why.
    fn rejected(&self, answer: &[u8]) -> Option<(u64, String)> {
        if self.protocol == Protocol::HttpJson {
            let answer: Value = serde_json::from_slice(answer).ok()?;
            let Value::Object(rejected) = &answer["partialSuccess"] else { return None };
            // A number of 64 bits may be text.
            let spans = rejected.get("rejectedSpans")?;
            let spans = spans.as_u64().or_else(|| spans.as_str()?.parse().ok())?;
            let reason = rejected.get("errorMessage").and_then(Value::as_str);
            return Some((spans, reason.unwrap_or_default().to_owned()));
        }
        let rejected = ExportTraceServiceResponse::decode(answer).ok()?.partial_success?;
        Some((u64::try_from(rejected.rejected_spans).ok()?, rejected.error_message))
    }
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.send(request.map(|body| body.to_vec()));
        *self.cause.lock() = answer.as_ref().err().map(ToString::to_string);
        let answer = answer?;
        if answer.status().is_success()
            && let Some((spans @ 1.., reason)) = self.rejected(answer.body())
        {
            count_dropped(spans);
            tracing::warn!(spans, reason, "traces.rejected");
        }
        Ok(answer)
    }
}
