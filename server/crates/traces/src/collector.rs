//! Where the spans of this process go: to an exporter, or into the memory of their sandbox.

use std::{collections::HashMap, sync::OnceLock, time::Duration};

use anyhow::{Context as _, bail};
use opentelemetry::{
    Context, KeyValue,
    trace::{Span as _, SpanContext, SpanId, TraceContextExt, TracerProvider},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    resource::{EnvResourceDetector, TelemetryResourceDetector},
    trace::{IdGenerator, RandomIdGenerator, Sampler, SdkTracerProvider, Span, SpanData, SpanProcessor},
};
use parking_lot::Mutex;
use tracing::{Metadata, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{
    Layer,
    filter::{DynFilterFn, FilterExt, LevelFilter, filter_fn},
    layer::Context as LayerContext,
    registry::LookupSpan,
};

#[cfg(feature = "otlp")]
use crate::export;
use crate::{
    dropped::count_dropped,
    kept::{Kept, PageSpan},
    target::{ROOT, is_of_trace},
    variable::{given, of_exporter},
};

/// The collector of this process: which spans are enabled is decided once for all of its threads.
static COLLECTOR: OnceLock<Collector> = OnceLock::new();

#[derive(Debug)]
struct Collector {
    sampling: Sampling,
    provider: SdkTracerProvider,
    /// The spans that are not over, with the sandbox that keeps them; `None` if they are exported.
    open: Option<Mutex<HashMap<SpanId, Kept>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Off,
    /// Traces are kept in memory.
    Kept,
    Exported,
}

pub fn state() -> State {
    match COLLECTOR.get() {
        None => State::Off,
        Some(Collector { open: Some(_), .. }) => State::Kept,
        Some(Collector { open: None, .. }) => State::Exported,
    }
}

/// Exports what waits, before the process ends.
pub fn end() {
    if let Some(collector) = COLLECTOR.get() {
        // Fails if the receiver is away, which is counted.
        _ = collector.provider.shutdown();
    }
}

/// Starts collecting as the variables `OTEL_…` say; `None` if they turn it off. Begins once for a process.
pub fn layer<S>() -> anyhow::Result<Option<impl Layer<S> + Send + Sync>>
where
    S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
{
    let Some(sampling) = Sampling::of_variables()? else { return Ok(None) };
    let resource = resource();
    let builder = SdkTracerProvider::builder().with_sampler(Sampler::AlwaysOn);
    let (builder, open) = match endpoint()? {
        None => (builder.with_span_processor(Keep), Some(Mutex::default())),
        #[cfg(feature = "otlp")]
        Some(_) => (builder.with_span_processor(export::processor(&resource)?), None),
        #[cfg(not(feature = "otlp"))]
        Some(_) => {
            bail!("OTEL_EXPORTER_OTLP_ENDPOINT is set, but this program was built without the feature otlp")
        }
    };
    let provider = builder.with_resource(resource).build();
    let tracer = provider.tracer("mkopo");
    _ = COLLECTOR.set(Collector { sampling, provider, open });
    let spans = tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_context_activation(false)
        .with_level(false)
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false);
    // Spans of traces are of level INFO.
    let is_of_trace = filter_fn(is_of_trace).with_max_level_hint(LevelFilter::INFO);
    let is_within_trace = DynFilterFn::new(is_within_trace).with_max_level_hint(LevelFilter::INFO);
    Ok(Some(spans.with_filter(is_of_trace.and(is_within_trace))))
}

/// What is known of this process; several servers are told apart by `service.instance.id`.
fn resource() -> Resource {
    let instance = RandomIdGenerator::default().new_trace_id().to_string();
    // Each replaces those before it.
    let resource = Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_service_name("mkopo")
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("service.instance.id", instance))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match given("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

/// The receiver of traces; `None` if they are kept.
fn endpoint() -> anyhow::Result<Option<String>> {
    match given("OTEL_TRACES_EXPORTER").as_deref() {
        None | Some("otlp") => Ok(of_exporter("ENDPOINT")),
        Some("none") => Ok(None),
        Some(other) => bail!("OTEL_TRACES_EXPORTER is {other}; it can be otlp or none"),
    }
}

/// Steps are taken within a trace only.
fn is_within_trace<S>(metadata: &Metadata<'_>, context: &LayerContext<'_, S>) -> bool
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    metadata.target() == ROOT || context.lookup_current().is_some()
}

pub(crate) fn is_on() -> bool {
    COLLECTOR.get().is_some()
}

/// Returns whether the trace of a call is taken. `remote` is the caller's span, if it is valid; `request_id` ends in
/// random digits.
pub(crate) fn takes(remote: &SpanContext, request_id: &str) -> bool {
    let Some(collector) = COLLECTOR.get() else { return false };
    let digits = request_id.len().saturating_sub(12);
    let random = request_id.get(digits..).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    collector.sampling.takes(remote, random.unwrap_or_default())
}

/// Lets `kept` have the trace that `span` begins here.
pub(crate) fn keep(span: &tracing::Span, kept: &Kept) {
    let Some(Collector { open: Some(open), .. }) = COLLECTOR.get() else { return };
    let span_id = span.context().span().span_context().span_id();
    if span_id != SpanId::INVALID {
        open.lock().insert(span_id, kept.clone());
    }
}

impl Kept {
    /// Adds the act of a person on a page to the trace that its calls went on with.
    pub fn add_page(&self, page: PageSpan) {
        let Some(collector) = COLLECTOR.get() else { return };
        let span = page.data();
        let is_added = match &collector.open {
            Some(_) => self.add_of_page(span),
            #[cfg(feature = "otlp")]
            None => {
                if collector.sampling.takes(&span.span_context, 0) {
                    export::add(span);
                }
                true
            }
            #[cfg(not(feature = "otlp"))]
            None => false,
        };
        count_dropped(u64::from(!is_added));
    }
}

/// Passes spans on to their sandbox.
#[derive(Debug)]
struct Keep;

impl Keep {
    fn open() -> Option<&'static Mutex<HashMap<SpanId, Kept>>> {
        COLLECTOR.get()?.open.as_ref()
    }
}

impl SpanProcessor for Keep {
    fn on_start(&self, span: &mut Span, context: &Context) {
        let parent = context.span().span_context().clone();
        // A caller's span may have any id.
        if parent.is_remote() {
            return;
        }
        let Some(open) = Self::open() else { return };
        let mut open = open.lock();
        if let Some(kept) = open.get(&parent.span_id()).cloned() {
            open.insert(span.span_context().span_id(), kept);
        }
    }

    fn on_end(&self, data: SpanData) {
        let kept = Self::open().and_then(|open| open.lock().remove(&data.span_context.span_id()));
        let is_kept = kept.is_some_and(|kept| kept.add(data));
        count_dropped(u64::from(!is_kept));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Which traces are taken (`OTEL_TRACES_SAMPLER`).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sampling {
    /// The share of all traces, 0 to 1.
    share: f64,
    /// `true` if a caller's decision counts instead.
    by_parent: bool,
}

impl Sampling {
    /// `None` if no trace is ever taken.
    fn of_variables() -> anyhow::Result<Option<Self>> {
        if given("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let sampler = given("OTEL_TRACES_SAMPLER");
        let sampler = sampler.as_deref().unwrap_or("parentbased_always_on");
        Self::of(sampler, given("OTEL_TRACES_SAMPLER_ARG").as_deref())
    }

    fn of(sampler: &str, argument: Option<&str>) -> anyhow::Result<Option<Self>> {
        let share = || {
            let share: f64 =
                argument.unwrap_or("1").parse().context("OTEL_TRACES_SAMPLER_ARG is no number")?;
            if !(0.0..=1.0).contains(&share) {
                bail!("OTEL_TRACES_SAMPLER_ARG is {share}; it is a share of all traces, from 0 to 1");
            }
            Ok(share)
        };
        Ok(match sampler {
            "always_off" => None,
            "always_on" => Some(Self { share: 1.0, by_parent: false }),
            "traceidratio" => Some(Self { share: share()?, by_parent: false }),
            "parentbased_always_on" => Some(Self { share: 1.0, by_parent: true }),
            "parentbased_always_off" => Some(Self { share: 0.0, by_parent: true }),
            "parentbased_traceidratio" => Some(Self { share: share()?, by_parent: true }),
            _ => bail!(
                "OTEL_TRACES_SAMPLER is {sampler}; it can be always_on, always_off, traceidratio, \
                 parentbased_always_on, parentbased_always_off or parentbased_traceidratio"
            ),
        })
    }

    fn takes(self, remote: &SpanContext, random: u64) -> bool {
        if remote.is_valid() && self.by_parent {
            return remote.is_sampled();
        }
        // All servers decide on a caller's trace by its id, so that they decide alike.
        let random = if remote.is_valid() { lowest(remote.trace_id().to_bytes()) } else { random };
        #[expect(clippy::cast_precision_loss, reason = "48 bits fit")]
        let drawn = (random & LOW_BITS) as f64 / LOW_BITS as f64;
        drawn < self.share || self.share >= 1.0
    }
}

/// The random bits that decide.
const LOW_BITS: u64 = (1 << 48) - 1;

fn lowest(id: [u8; 16]) -> u64 {
    u64::try_from(u128::from_be_bytes(id) & u128::from(LOW_BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{TraceFlags, TraceId, TraceState};

    use super::*;

    fn remote(trace_id: u128, flags: TraceFlags) -> SpanContext {
        SpanContext::new(TraceId::from(trace_id), SpanId::from(1), flags, true, TraceState::default())
    }

    #[test]
    fn a_sampler_takes_its_share_and_heeds_the_caller_if_it_says_so() {
        let none = SpanContext::NONE;
        let sampling = |name, share| Sampling::of(name, Some(share)).unwrap().unwrap();
        let half = sampling("traceidratio", "0.5");
        assert!(half.takes(&none, 0) && !half.takes(&none, LOW_BITS));
        assert!(half.takes(&remote(1, TraceFlags::NOT_SAMPLED), LOW_BITS), "the trace's id decides");
        assert!(!half.takes(&remote(u128::MAX, TraceFlags::SAMPLED), 0));
        let parent = sampling("parentbased_traceidratio", "0");
        assert!(!parent.takes(&none, 0), "a share of 0 takes nothing");
        assert!(parent.takes(&remote(u128::MAX, TraceFlags::SAMPLED), 0));
        assert!(!sampling("parentbased_always_on", "").takes(&remote(1, TraceFlags::NOT_SAMPLED), 0));
        assert_eq!(Sampling::of("always_off", None).unwrap(), None);
    }

    #[test]
    fn a_sampler_that_is_none_is_named_with_those_that_are() {
        let refused = Sampling::of("sometimes", None).unwrap_err().to_string();
        assert!(refused.starts_with("OTEL_TRACES_SAMPLER is sometimes; it can be always_on"), "{refused}");
        for share in ["1.5", "-0.1", "NaN", "much"] {
            let refused = Sampling::of("traceidratio", Some(share)).unwrap_err().to_string();
            assert!(refused.starts_with("OTEL_TRACES_SAMPLER_ARG is"), "{share}: {refused}");
        }
    }
}
