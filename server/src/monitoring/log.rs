//! The log: lines on standard error, which never delay or fail a call.
//!
//! A separate thread writes the lines. A line that can't be written (a full disk, a closed pipe) or that
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

use settings::Settings;

/// Maximum number of lines that wait to be written: about 16 MB.
const MAX_WAITING: usize = 65_536;

/// Lines that could not be written.
static NOT_WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Counts the lines that waited behind too many others.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Starts logging with the filter in `settings`: as text on a terminal, otherwise as JSON. Dropping the
/// guard writes the lines that still wait.
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
        // The span of a call has only its id, which needs no escaping. The library would build a JSON tree.
        let field = debug_fn(|writer, name, value| write!(writer, r#"{{"{name}":"{value:?}"}}"#));
        lines.json().fmt_fields(field).init();
    }
    Ok(guard)
}

/// The number of lines lost since the start.
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
        // Lines that could not be written are counted already.
        _ = self.0.flush();
        Ok(())
    }
}
