//! The log: lines on standard error, which never delay or fail a call.
//!
//! A separate thread writes the lines. A line that can't be written (a full disk, a closed pipe) or that
//! waits behind too many others is dropped and counted. A warning or an error with the same fields is written once
//! a minute: while a database is away, every call meets the same one.

use std::{
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, IsTerminal, Write},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

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

use base::repeats::Repeats;
use settings::Settings;

/// Maximum number of lines that wait to be written: about 16 MB.
const MAX_WAITING: usize = 65_536;

/// Lines that could not be written.
static NOT_WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Counts the lines that waited behind too many others.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Starts logging with the filter in `settings`: as text on a terminal, otherwise as JSON. Starts collecting traces,
/// too. Dropping the guard writes the lines that still wait.
pub fn init(settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let filter = EnvFilter::try_new(&settings.log)?;
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(MAX_WAITING)
        .lossy(true)
        .finish(Counting { to: io::stderr(), is_cut: false });
    _ = DROPPED.set(writer.error_counter());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false);
    let lines = if io::stderr().is_terminal() { lines.boxed() } else { lines.json().boxed() };
    let no_traces =
        filter_fn(|metadata| !traces::is_of_trace(metadata)).with_max_level_hint(LevelFilter::TRACE);
    let lines = lines.with_filter(filter.and(WarnOnce::default()).and(no_traces));
    tracing_subscriber::registry().with(lines).with(traces::layer()?).init();
    Ok(guard)
}

/// The number of lines lost since the start.
pub fn lines_lost() -> u64 {
    let dropped = DROPPED.get().map_or(0, |dropped| dropped.dropped_lines() as u64);
    NOT_WRITTEN.load(Ordering::Relaxed) + dropped
}

/// Holds back warnings and errors that were written less than a minute ago, with the same values.
#[derive(Default)]
struct WarnOnce(Repeats);

impl<S> Filter<S> for WarnOnce {
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
        self.0.is_new(cause.0.finish(), Instant::now())
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
struct Counting<W> {
    to: W,
    /// `true` if a part of the last line may have been written, which the next one must not continue.
    is_cut: bool,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let end: &[u8] = if self.is_cut { b"\n" } else { b"" };
        let written = self.to.write_all(end).and_then(|()| self.to.write_all(line));
        self.is_cut = written.is_err();
        if self.is_cut {
            NOT_WRITTEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Lines that could not be written are counted already.
        _ = self.to.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_written_in_part_does_not_ruin_the_next_one() {
        let (mut disk, mut more) = ([0; 12], [0; 12]);
        let mut log = Counting { to: &mut disk[..], is_cut: false };
        log.write_all(b"the first\n").unwrap();
        log.write_all(b"the second\n").unwrap();
        let mut log = Counting { to: &mut more[..], is_cut: log.is_cut };
        log.write_all(b"the third\n").unwrap();
        assert_eq!([disk, more].concat(), b"the first\nth\nthe third\n\0");
    }
}
