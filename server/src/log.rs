//! The log: lines on standard error, which never delay or fail a call.
//!
//! A separate thread writes the lines. A line that can't be written (a full disk, a closed pipe) or that
//! waits behind too many others is dropped and counted. A warning or an error with the same fields is written once
//! a minute: while a database is away, every call meets the same one.

use std::{
    collections::HashMap,
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, IsTerminal, Write},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tracing::{
    Event, Level, Metadata,
    field::{Field, Visit},
    subscriber::Interest,
};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer as _,
    filter::{FilterExt as _, LevelFilter, filter_fn},
    layer::{Context, Filter, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

use settings::Settings;

/// Maximum number of lines that wait to be written: about 16 MB.
const MAX_WAITING: usize = 65_536;

/// Lines that could not be written.
static NOT_WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Counts the lines that waited behind too many others.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Starts logging with the filter in `settings`: as text on a terminal, otherwise as JSON. Starts collecting traces,
/// too. Dropping the guard writes the lines that still wait.
///
/// # Errors
/// When the filter, or a variable of traces, can't be read.
pub fn init(settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let filter = EnvFilter::try_new(&settings.log)?;
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(MAX_WAITING)
        .lossy(true)
        .finish(Counting(io::stderr()));
    _ = DROPPED.set(writer.error_counter());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false);
    let lines = if io::stderr().is_terminal() { lines.boxed() } else { lines.json().boxed() };
    let no_traces =
        filter_fn(|metadata| !traces::is_of_trace(metadata)).with_max_level_hint(LevelFilter::TRACE);
    let lines = lines.with_filter(filter.and(Repeats::default()).and(no_traces));
    tracing_subscriber::registry().with(lines).with(traces::layer()?).init();
    Ok(guard)
}

/// The number of lines lost since the start.
pub fn lines_lost() -> u64 {
    let dropped = DROPPED.get().map_or(0, |dropped| dropped.dropped_lines() as u64);
    NOT_WRITTEN.load(Ordering::Relaxed) + dropped
}

/// The time for which the same warning is not written again.
const REPEAT_INTERVAL: Duration = Duration::from_mins(1);

/// The number of warnings that are remembered: more than are written in a minute, unless each is another one.
const MAX_REMEMBERED: usize = 1000;

/// Holds back warnings and errors that were written less than a minute ago, with the same values.
#[derive(Default)]
struct Repeats(Mutex<HashMap<u64, Instant>>);

impl Repeats {
    fn is_new(&self, cause: u64, now: Instant) -> bool {
        let mut written = self.0.lock();
        let is_recent = |at: &Instant| now.duration_since(*at) < REPEAT_INTERVAL;
        if written.get(&cause).is_some_and(is_recent) {
            return false;
        }
        if written.len() >= MAX_REMEMBERED {
            written.retain(|_, at| is_recent(at));
        }
        if written.len() < MAX_REMEMBERED {
            written.insert(cause, now);
        }
        true
    }
}

impl<S> Filter<S> for Repeats {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    /// Otherwise every span would be asked for, each time.
    fn callsite_enabled(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }

    /// Otherwise no level is known to be off, and every call asks.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        if *event.metadata().level() > Level::WARN {
            return true;
        }
        let mut cause = Cause(DefaultHasher::new());
        event.metadata().callsite().hash(&mut cause.0);
        event.record(&mut cause);
        self.is_new(cause.0.finish(), Instant::now())
    }
}

/// The place and the values of a line.
struct Cause(DefaultHasher);

impl Visit for Cause {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        field.name().hash(&mut self.0);
        format!("{value:?}").hash(&mut self.0);
    }
}

/// Counts lines that can't be written, and never fails.
struct Counting(io::Stderr);

impl Write for Counting {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.write_all(line).is_err() {
            NOT_WRITTEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Lines that could not be written are counted already.
        _ = self.0.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_is_written_once_a_minute_and_another_one_at_once() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        let written = [(1, 0), (1, 59), (2, 59), (1, 60), (1, 61)];
        let written = written.map(|(cause, at)| repeats.is_new(cause, after(at)));
        assert_eq!(written, [true, false, true, true, false]);
    }

    #[test]
    fn more_lines_than_are_remembered_are_written() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let causes = 0..2 * MAX_REMEMBERED as u64;
        assert!(causes.into_iter().all(|cause| repeats.is_new(cause, now)));
    }
}
