//! Metrics for operators, in the formats of Prometheus and `OpenMetrics`.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use axum::http::{Method, StatusCode};
use prometheus_client::{
    encoding::{EncodeLabelSet, prometheus_text, text},
    metrics::{
        counter::Counter, exemplar::HistogramWithExemplars, family::Family, gauge::Gauge,
        histogram::Histogram,
    },
    registry::Registry,
};

use base::error::Failure;
use slices::{Dropped, Report, Slices};
use store::{Database, Load, query_scalar};

/// The state that is read when the metrics are asked for.
#[derive(Debug)]
pub struct Now {
    pub database: Load,
    pub can_write: bool,
    /// The numbers of forwarded calls that were checked and not checked; `None` without a provider.
    pub forwarded: Option<(u64, u64)>,
    /// The load of the sandboxes; `None` if they are off.
    pub sandboxes: Option<SandboxLoad>,
    /// The open pages that are told of changes; `None` without live screens.
    pub event_streams: Option<i64>,
    /// The log lines that could not be written since the start.
    pub log_lines_lost: u64,
}

/// The calls to this server since it started, by sandbox, and the sandboxes that are open.
#[derive(Debug)]
pub struct SandboxLoad {
    pub main: i64,
    /// The calls of those that are named.
    pub busiest: Vec<(String, i64)>,
    pub rest: i64,
    pub open: usize,
}

#[derive(Debug, Clone, Copy)]
pub enum Format {
    Prometheus,
    /// The text format of `OpenMetrics`, whose histograms name traces as examples (exemplars).
    OpenMetrics,
}

/// Histogram buckets: from the time of a cached body to the longest payout.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// The label for all other sandboxes, which is not a valid name.
const OTHER_SANDBOXES: &str = "(others)";
/// Histogram buckets of the time that pages take to load a slice.
const LOAD_SECONDS: [f64; 8] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

const PENDING: &str = "SELECT count(*) FROM payout WHERE status = 'PENDING'";

/// Defines the labels of metrics.
macro_rules! labels {
    ($($name:ident { $($label:ident: $kind:ty),* $(,)? })*) => {$(
        #[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
        struct $name {
            $($label: $kind,)*
        }
    )*};
}

labels! {
    Call { method: &'static str, route: String, status: u16 }
    Settled { result_code: String, status: String }
    Readers { state: &'static str }
    Messages { channel: String }
    Difference { kind: String, operation: String }
    Forwarded { checked: &'static str }
    Reported { outcome: String, slice: String, version: String }
    Build { slice: String, version: String }
    Unused { reason: String }
    OfSandbox { sandbox: String }
}

/// The trace of a call.
type Example = [(&'static str, String); 1];

/// Defines the metrics of this server: the name, the text and how each begins.
macro_rules! metrics {
    ($($metric:ident: $kind:ty = $begin:expr, $name:literal, $help:literal;)*) => {
        /// The metrics of `main`, and the load of the other sandboxes.
        #[derive(Debug)]
        pub struct Metrics {
            registry: Registry,
            $($metric: $kind,)*
        }

        impl Default for Metrics {
            fn default() -> Self {
                let mut registry = Registry::default();
                $(
                    let $metric: $kind = $begin;
                    registry.register($name, $help, $metric.clone());
                )*
                Self { registry, $($metric),* }
            }
        }
    };
}

// Counters are served with the suffix `_total`, and each text with a full stop.
metrics! {
    requests: Family<Call, HistogramWithExemplars<Example>, fn() -> HistogramWithExemplars<Example>> =
        Family::new_with_constructor(|| HistogramWithExemplars::new(SECONDS.into_iter())),
        "mkopo_http_request_duration_seconds", "Duration of HTTP requests, by method, route and status";
    log_lines_lost: Counter = Counter::default(),
        "mkopo_log_lines_lost", "Log lines that could not be written since the start";
    spans_dropped: Counter = Counter::default(),
        "mkopo_spans_dropped", "Spans of traces that were not kept or not exported since the start";

    payouts_settled: Family<Settled, Counter> = Family::default(),
        "mkopo_payouts_settled", "Payouts settled by this server, by outcome";
    payouts_pending: Gauge = Gauge::default(),
        "mkopo_payouts_pending", "Payouts whose outcome is not known yet";
    data_copies: Counter = Counter::default(),
        "mkopo_data_copies_found",
        "Other copies of the data found in place, for example after a failover of PostgreSQL";
    answers_missing: Counter = Counter::default(),
        "mkopo_answers_missing",
        "Answers about payouts that this server gave and another copy of the data does not have";

    database_up: Gauge = Gauge::default(),
        "mkopo_database_up", "Whether the database answers";
    database_writable: Gauge = Gauge::default(),
        "mkopo_database_writable", "Whether the database takes writes";
    writes_waiting: Gauge = Gauge::default(),
        "mkopo_database_writes_waiting", "Writes that wait for a writer";
    conflicts: Counter = Counter::default(),
        "mkopo_database_conflicts",
        "Writes tried again because PostgreSQL undid them or their rows were locked, since the start";
    readers: Family<Readers, Gauge> = Family::default(),
        "mkopo_database_readers", "Read connections, by state";

    messages: Family<Messages, Gauge> = Family::default(),
        "mkopo_outbox_messages", "Messages in the outbox, by channel";
    messages_waiting: Gauge = Gauge::default(),
        "mkopo_outbox_waiting", "Messages that are not sent yet";

    differences: Family<Difference, Counter> = Family::default(),
        "mkopo_contract_differences",
        "Differences from the contract in calls that are forwarded to another provider, by operation and kind";
    provider_calls: Family<Forwarded, Counter> = Family::default(),
        "mkopo_provider_calls",
        "Calls forwarded to another provider since the start, by whether they were held to the contract";

    loads: Family<Reported, Counter> = Family::default(),
        "mkopo_slice_loads",
        "What pages reported of builds to this server: loaded, not_loaded, crashed, call_failed";
    load_time: Family<Build, Histogram, fn() -> Histogram> =
        Family::new_with_constructor(|| Histogram::new(LOAD_SECONDS.into_iter())),
        "mkopo_slice_load_duration_seconds",
        "How long pages took to load a build, as they reported to this server";
    crash_data_dropped: Family<Unused, Counter> = Family::default(),
        "mkopo_slice_crash_data_dropped",
        "Source maps and places of crashes that this server did not use, by reason";
}

impl Metrics {
    /// Counts a call, with its trace as an example. `route` is the template that its path matched, which keeps the
    /// labels few.
    pub fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let labels = Call {
            method: traces::known_method(method).unwrap_or("other"),
            route: route.to_owned(),
            status: status.as_u16(),
        };
        let example = traces::current_id().map(|id| [("trace_id", id.to_string())]);
        self.requests.get_or_create(&labels).observe(took.as_secs_f64(), example, None);
    }

    pub fn payout_settled(&self, status: &str, result_code: Option<&str>) {
        let (status, result_code) = (status.to_ascii_lowercase(), result_code.unwrap_or_default().to_owned());
        self.payouts_settled.get_or_create(&Settled { result_code, status }).inc();
    }

    /// Counts another copy of the data, and the answers of this server that it does not have.
    pub fn data_copy_found(&self, missing: usize) {
        self.data_copies.inc();
        self.answers_missing.inc_by(missing as u64);
    }

    /// Counts a report of pages on an existing build.
    pub fn reported(&self, report: &Report, times: u64) {
        let Report { slice, version, outcome, .. } = report;
        let (slice, version) = (slice.clone(), version.clone());
        let labels =
            Reported { slice: slice.clone(), version: version.clone(), outcome: outcome.to_string() };
        self.loads.get_or_create(&labels).inc_by(times);
        if let Some(took) = report.took() {
            let time = self.load_time.get_or_create(&Build { slice, version });
            (0..times).for_each(|_| time.observe(took.as_secs_f64()));
        }
    }

    /// Counts what is not used to find the places of crashes.
    pub fn crash_data_dropped(&self, what: Dropped, count: u64) {
        self.crash_data_dropped.get_or_create(&Unused { reason: what.to_string() }).inc_by(count);
    }

    /// Counts a difference of a forwarded call from the contract.
    pub fn contract_difference(&self, operation: &str, kind: &str) {
        let labels = Difference { operation: operation.to_owned(), kind: kind.to_owned() };
        self.differences.get_or_create(&labels).inc();
    }

    /// All metrics as text. Those that come from the database have the values that [`keep_current`] read last, so that
    /// this call does not load the database.
    pub fn text(&self, now: Now, format: Format) -> Result<String, Failure> {
        let Now { database, can_write, forwarded, sandboxes, event_streams, log_lines_lost } = now;
        self.database_writable.set(i64::from(can_write));
        self.writes_waiting.set(gauge(database.writes_waiting));
        self.readers.get_or_create(&Readers { state: "idle" }).set(gauge(database.readers_idle));
        self.readers.get_or_create(&Readers { state: "busy" }).set(gauge(database.readers_busy));
        // Counted elsewhere, without a break.
        for (checked, calls) in forwarded.iter().flat_map(|(checked, not)| [("yes", checked), ("no", not)]) {
            self.provider_calls.get_or_create(&Forwarded { checked }).inner().store(*calls, Relaxed);
        }
        self.conflicts.inner().store(database.conflicts, Relaxed);
        self.log_lines_lost.inner().store(log_lines_lost, Relaxed);
        self.spans_dropped.inner().store(traces::dropped(), Relaxed);
        let mut others = Registry::default();
        if let Some(open) = event_streams {
            let streams = Gauge::<i64>::default();
            streams.set(open);
            others.register("mkopo_event_streams", "Open pages that are told of changes", streams);
        }
        if let Some(sandboxes) = &sandboxes {
            register_sandboxes(&mut others, sandboxes);
        }
        let mut text = String::new();
        let mut registries = [&self.registry, &others].into_iter();
        let encoded = match format {
            Format::Prometheus => {
                registries.try_for_each(|registry| prometheus_text::encode(&mut text, registry))
            }
            Format::OpenMetrics => registries
                .try_for_each(|registry| text::encode_registry(&mut text, registry))
                .and_then(|()| text::encode_eof(&mut text)),
        };
        encoded.map_err(Failure::internal)?;
        Ok(text)
    }

    /// Reads the metrics that come from the database.
    pub async fn refresh(&self, slices: &Slices) {
        // Metrics are served while the database is down too, and show that it is.
        let stored = self.read_stored(&slices.database).await;
        self.database_up.set(i64::from(stored.is_ok()));
        if let Err(failure) = self.begin_slices(slices).await {
            tracing::debug!(?failure, "metrics.slices_not_read");
        }
    }

    /// Begins what alerts read at 0: one on nobody loading the live builds needs a series.
    async fn begin_slices(&self, slices: &Slices) -> Result<(), Failure> {
        let list = Call { method: "GET", route: "/slices.json".to_owned(), status: 200 };
        _ = self.requests.get_or_create(&list);
        for slice in slices::all(slices).await? {
            for version in slice.served() {
                let (slice, version) = (slice.name.clone(), version.to_string());
                for outcome in ["loaded", "not_loaded", "crashed"] {
                    let (slice, version) = (slice.clone(), version.clone());
                    _ = self.loads.get_or_create(&Reported { slice, version, outcome: outcome.to_owned() });
                }
                _ = self.load_time.get_or_create(&Build { slice, version });
            }
        }
        Ok(())
    }

    async fn read_stored(&self, database: &Database) -> Result<(), Failure> {
        let mut reader = database.read().await?;
        self.payouts_pending.set(query_scalar(PENDING).fetch_one(&mut reader).await?);
        self.messages_waiting.set(lending::outbox::count_waiting(&mut reader).await?);
        // A channel without messages has no row.
        self.messages.clear();
        for (channel, messages) in lending::outbox::count_by_channel(&mut reader).await? {
            self.messages.get_or_create(&Messages { channel }).set(messages);
        }
        Ok(())
    }
}

/// Adds the metrics of sandboxes, made for each request, because the busiest sandboxes change.
fn register_sandboxes(registry: &mut Registry, load: &SandboxLoad) {
    let calls = Family::<OfSandbox, Gauge>::default();
    let busiest = load.busiest.iter().map(|(name, calls)| (name.as_str(), *calls));
    for (name, number) in [("main", load.main), (OTHER_SANDBOXES, load.rest)].into_iter().chain(busiest) {
        calls.get_or_create(&OfSandbox { sandbox: name.to_owned() }).set(number);
    }
    registry.register(
        "mkopo_sandbox_calls",
        "Calls to this server since it started, by sandbox for main and the 20 busiest others",
        calls,
    );
    let open = Gauge::<i64>::default();
    open.set(gauge(load.open));
    registry.register("mkopo_sandboxes_open", "Sandboxes that this server has open", open);
}

/// Interval for reading the metrics that come from the database.
const REFRESH_INTERVAL: Duration = Duration::from_secs(15);

/// Reads the metrics that come from the database again and again, for as long as the future is polled.
pub async fn keep_current(metrics: Arc<Metrics>, slices: Slices) {
    loop {
        metrics.refresh(&slices).await;
        tokio::time::sleep(REFRESH_INTERVAL).await;
    }
}

fn gauge(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
