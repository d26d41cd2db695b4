//! The log: lines on standard error, which never hold up or break a call.
//!
//! A thread of its own writes the lines. One that can't be written (a full disk, a closed pipe) or that
//! waits behind too many others is dropped and counted.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt::format::debug_fn};

use crate::settings::Settings;

/// How many lines may wait to be written: some 16 MB.
const MAX_WAITING: usize = 65_536;

/// Lines that could not be written.
static NOT_WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Counts the lines that waited behind too many others.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Begins to log what `settings` say, as JSON unless a person reads it. Writes what still waits when the
/// guard is dropped.
///
/// # Errors
/// When the filter can't be read.
pub fn init(settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let filter = EnvFilter::try_new(&settings.log)?;
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(MAX_WAITING)
        .lossy(true)
        .finish(Counting(io::stderr()));
    _ = DROPPED.set(writer.error_counter());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false);
    if io::stderr().is_terminal() {
        lines.init();
    } else {
        // Every call has a span with its id, which needs no escaping. The library would make a JSON tree of it.
        let field = debug_fn(|writer, name, value| write!(writer, r#"{{"{name}":"{value:?}"}}"#));
        lines.json().fmt_fields(field).init();
    }
    Ok(guard)
}

/// How many lines were lost since the start.
pub fn lines_lost() -> u64 {
    let dropped = DROPPED.get().map_or(0, |dropped| dropped.dropped_lines() as u64);
    NOT_WRITTEN.load(Ordering::Relaxed) + dropped
}

/// Counts lines that can't be written, and never fails.
struct Counting<W>(W);

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.write_all(line).is_err() {
            NOT_WRITTEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What could not be written was counted.
        _ = self.0.flush();
        Ok(())
    }
}
