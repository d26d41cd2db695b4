//! Metrics for operators, in Prometheus's text format.

use std::{sync::Arc, time::Duration};

use axum::http::{Method, StatusCode};
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder, core::Collector, proto::MetricFamily,
};

use super::log;
use base::error::Failure;
use slices::{Bundled, Dropped, Report, Slices};
use store::{Database, Load, query_scalar};

/// The state that is read when the metrics are asked for.
#[derive(Debug)]
pub struct Now {
    /// The load of the database.
    pub database: Load,
    /// The numbers of forwarded calls that were checked and not checked; `None` without a provider.
    pub forwarded: Option<(u64, u64)>,
    /// The load of the sandboxes; `None` if they are off.
    pub sandboxes: Option<SandboxLoad>,
}

/// The calls to this server since it started, by sandbox, and the sandboxes that are open.
#[derive(Debug)]
pub struct SandboxLoad {
    /// The calls of `main`.
    pub main: i64,
    /// The calls of those that are named.
    pub busiest: Vec<(String, i64)>,
    /// The calls of all the rest.
    pub rest: i64,
    /// The number of open sandboxes.
    pub open: usize,
}

/// The metrics of `main`, and the load of the other sandboxes.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: HistogramVec,
    event_streams: IntGauge,
    log_lines_lost: IntGauge,
    spans_dropped: IntGauge,
    payouts: PayoutMetrics,
    database: DatabaseMetrics,
    outbox: OutboxMetrics,
    provider: ProviderMetrics,
    slices: SliceMetrics,
}

/// Histogram buckets: from the time of a cached body to the longest payout.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// The label for all other sandboxes, which is not a valid name.
const OTHER_SANDBOXES: &str = "(others)";
/// Histogram buckets of the time that pages take to load a slice.
const LOAD_SECONDS: [f64; 8] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

const PENDING: &str = "SELECT count(*) FROM payout WHERE status = 'PENDING'";

/// Creates metrics that are in a registry.
struct Registering<'r>(&'r Registry);

impl Registering<'_> {
    fn metric<M: Collector + Clone + 'static>(&self, metric: M) -> prometheus::Result<M> {
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        self.metric(IntGauge::new(name, help)?)
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntGaugeVec> {
        self.metric(IntGaugeVec::new(Opts::new(name, help), labels)?)
    }

    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        self.metric(IntCounter::new(name, help)?)
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
        self.metric(IntCounterVec::new(Opts::new(name, help), labels)?)
    }

    fn times(
        &self,
        (name, help): (&str, &str),
        buckets: &[f64],
        labels: &[&str],
    ) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.metric(HistogramVec::new(options, labels)?)
    }
}

/// Defines groups of metrics, each with a function that creates them in a registry.
macro_rules! metrics {
    ($($group:ident { $($metric:ident: $kind:ident = $create:ident($($given:expr),* $(,)?),)* })*) => {$(
        #[derive(Debug)]
        struct $group {
            $($metric: $kind,)*
        }

        impl $group {
            fn new(registering: &Registering<'_>) -> prometheus::Result<Self> {
                Ok(Self { $($metric: registering.$create($($given),*)?,)* })
            }
        }
    )*};
}

metrics! {
    PayoutMetrics {
        settled: IntCounterVec = counters(
            "mkopo_payouts_settled_total",
            "Payouts settled by this server, by outcome.",
            &["status", "result_code"],
        ),
        pending: IntGauge = gauge("mkopo_payouts_pending", "Payouts whose outcome is not known yet."),
        data_copies: IntCounter = counter(
            "mkopo_data_copies_found_total",
            "Other copies of the data found in place, for example after a failover of PostgreSQL.",
        ),
        answers_missing: IntCounter = counter(
            "mkopo_answers_missing_total",
            "Answers about payouts that this server gave and another copy of the data does not have.",
        ),
    }

    DatabaseMetrics {
        up: IntGauge = gauge("mkopo_database_up", "Whether the database answers."),
        writes_waiting: IntGauge = gauge("mkopo_database_writes_waiting", "Writes that wait for a writer."),
        conflicts: IntGauge = gauge(
            "mkopo_database_conflicts",
            "Writes that PostgreSQL undid because of others and that were tried again, since the start.",
        ),
        readers: IntGaugeVec = gauges(
            "mkopo_database_readers",
            "Read connections, by state.",
            &["state"],
        ),
    }

    OutboxMetrics {
        messages: IntGaugeVec = gauges(
            "mkopo_outbox_messages",
            "Messages in the outbox, by channel.",
            &["channel"],
        ),
        waiting: IntGauge = gauge("mkopo_outbox_waiting", "Messages that are not sent yet."),
    }

    ProviderMetrics {
        differences: IntCounterVec = counters(
            "mkopo_contract_differences_total",
            "Differences from the contract in calls that are forwarded to another provider, by operation and kind.",
            &["operation", "kind"],
        ),
        calls: IntGaugeVec = gauges(
            "mkopo_provider_calls",
            "Calls forwarded to another provider since the start, by whether they were held to the contract.",
            &["checked"],
        ),
    }

    SliceMetrics {
        loads: IntCounterVec = counters(
            "mkopo_slice_loads_total",
            "What pages reported of builds to this server: loaded, not_loaded, crashed, call_failed.",
            &["slice", "version", "outcome"],
        ),
        load_time: HistogramVec = times(
            (
                "mkopo_slice_load_duration_seconds",
                "How long pages took to load a build, as they reported to this server.",
            ),
            &LOAD_SECONDS,
            &["slice", "version"],
        ),
        crash_data_dropped: IntCounterVec = counters(
            "mkopo_slice_crash_data_dropped_total",
            "Source maps and places of crashes that this server did not use, by reason.",
            &["reason"],
        ),
    }
}

impl Metrics {
    /// Creates all metrics, at zero. The metric of event streams exists only with live screens.
    ///
    /// # Errors
    /// When two metrics have the same name.
    pub fn new(has_live_screens: bool) -> prometheus::Result<Self> {
        let registry = Registry::new();
        let registering = Registering(&registry);
        let event_streams = IntGauge::new("mkopo_event_streams", "Open pages that are told of changes.")?;
        if has_live_screens {
            registering.metric(event_streams.clone())?;
        }
        Ok(Self {
            requests: registering.times(
                (
                    "mkopo_http_request_duration_seconds",
                    "Duration of HTTP requests, by method, route and status.",
                ),
                &SECONDS,
                &["method", "route", "status"],
            )?,
            event_streams,
            log_lines_lost: registering
                .gauge("mkopo_log_lines_lost", "Log lines that could not be written since the start.")?,
            spans_dropped: registering.gauge(
                "mkopo_spans_dropped",
                "Spans of traces that were not kept or not exported since the start.",
            )?,
            payouts: PayoutMetrics::new(&registering)?,
            database: DatabaseMetrics::new(&registering)?,
            outbox: OutboxMetrics::new(&registering)?,
            provider: ProviderMetrics::new(&registering)?,
            slices: SliceMetrics::new(&registering)?,
            registry,
        })
    }

    /// Counts a call. `route` is the template that its path matched, which keeps the labels few.
    pub fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        let method =
            if known.contains(method) || method == Method::OPTIONS { method.as_str() } else { "other" };
        self.requests.with_label_values(&[method, route, status.as_str()]).observe(took.as_secs_f64());
    }

    /// The number of open event streams.
    pub fn event_streams(&self) -> &IntGauge {
        &self.event_streams
    }

    /// Counts a settled payout, with mobile money's result code if there is one.
    pub fn payout_settled(&self, status: &str, result_code: Option<&str>) {
        let status = status.to_ascii_lowercase();
        self.payouts.settled.with_label_values(&[status.as_str(), result_code.unwrap_or_default()]).inc();
    }

    /// Counts another copy of the data, and the answers of this server that it does not have.
    pub fn data_copy_found(&self, missing: usize) {
        self.payouts.data_copies.inc();
        self.payouts.answers_missing.inc_by(missing as u64);
    }

    /// Counts a report of pages on an existing build.
    pub fn reported(&self, report: &Report, times: u64) {
        let Report { slice, version, outcome, .. } = report;
        self.slices.loads.with_label_values(&[slice.as_str(), version, &outcome.to_string()]).inc_by(times);
        if let Some(took) = report.took() {
            let time = self.slices.load_time.with_label_values(&[slice, version]);
            (0..times).for_each(|_| time.observe(took.as_secs_f64()));
        }
    }

    /// Counts what is not used to find the places of crashes.
    pub fn crash_data_dropped(&self, what: Dropped, count: u64) {
        self.slices.crash_data_dropped.with_label_values(&[what.name()]).inc_by(count);
    }

    /// Counts a difference of a forwarded call from the contract.
    pub fn contract_difference(&self, operation: &str, kind: &str) {
        self.provider.differences.with_label_values(&[operation, kind]).inc();
    }

    /// All metrics as text. Those that come from the database have the values that [`keep_current`] read last, so that
    /// this call does not load the database.
    pub fn text(&self, now: Now) -> Result<String, Failure> {
        let Now { database, forwarded, sandboxes } = now;
        self.database.writes_waiting.set(count(database.writes_waiting));
        self.database.conflicts.set(i64::try_from(database.conflicts).unwrap_or(i64::MAX));
        self.database.readers.with_label_values(&["idle"]).set(count(database.readers_idle));
        self.database.readers.with_label_values(&["busy"]).set(count(database.readers_busy));
        for (checked, calls) in forwarded.iter().flat_map(|(checked, not)| [("yes", checked), ("no", not)]) {
            self.provider.calls.with_label_values(&[checked]).set(i64::try_from(*calls).unwrap_or(i64::MAX));
        }
        self.log_lines_lost.set(i64::try_from(log::lines_lost()).unwrap_or(i64::MAX));
        self.spans_dropped.set(i64::try_from(traces::dropped()).unwrap_or(i64::MAX));
        let mut families = self.registry.gather();
        if let Some(sandboxes) = sandboxes {
            families.extend(of_sandboxes(&sandboxes).map_err(Failure::internal)?);
        }
        TextEncoder::new().encode_to_string(&families).map_err(Failure::internal)
    }

    /// Reads the metrics that come from the database.
    pub async fn refresh(&self, slices: &Slices) {
        // Metrics are served while the database is down too, and show that it is.
        let stored = self.read_stored(&slices.database).await;
        self.database.up.set(i64::from(stored.is_ok()));
        if let Err(failure) = self.begin_slices(slices).await {
            tracing::debug!(?failure, "metrics.slices_not_read");
        }
    }

    /// Begins what alerts read at 0: one on nobody loading the live builds needs a series.
    async fn begin_slices(&self, slices: &Slices) -> Result<(), Failure> {
        _ = self.requests.with_label_values(&["GET", "/slices.json", "200"]);
        let bundled = Bundled::of(slices).await?;
        for slice in slices::all(&mut *slices.database.read().await?, &bundled).await? {
            for version in slice.served() {
                _ = self.slices.load_time.with_label_values(&[slice.name.as_str(), &version.to_string()]);
                for outcome in ["loaded", "not_loaded", "crashed"] {
                    self.slices
                        .loads
                        .with_label_values(&[&slice.name, &version.to_string(), outcome])
                        .inc_by(0);
                }
            }
        }
        Ok(())
    }

    async fn read_stored(&self, database: &Database) -> Result<(), Failure> {
        let mut reader = database.read().await?;
        self.payouts.pending.set(query_scalar(PENDING).fetch_one(&mut reader).await?);
        self.outbox.waiting.set(lending::outbox::count_waiting(&mut reader).await?);
        for (channel, messages) in lending::outbox::count_by_channel(&mut reader).await? {
            self.outbox.messages.with_label_values(&[&channel]).set(messages);
        }
        Ok(())
    }
}

/// The metrics of sandboxes, made for each request, because the busiest sandboxes change.
fn of_sandboxes(load: &SandboxLoad) -> prometheus::Result<Vec<MetricFamily>> {
    let calls = Opts::new(
        "mkopo_sandbox_calls",
        "Calls to this server since it started, by sandbox for main and the 20 busiest others.",
    );
    let by_sandbox = IntGaugeVec::new(calls, &["sandbox"])?;
    by_sandbox.with_label_values(&["main"]).set(load.main);
    for (name, calls) in &load.busiest {
        by_sandbox.with_label_values(&[name.as_str()]).set(*calls);
    }
    by_sandbox.with_label_values(&[OTHER_SANDBOXES]).set(load.rest);
    let open = IntGauge::new("mkopo_sandboxes_open", "Sandboxes that this server has open.")?;
    open.set(count(load.open));
    let registry = Registry::new();
    registry.register(Box::new(by_sandbox))?;
    registry.register(Box::new(open))?;
    Ok(registry.gather())
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

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
