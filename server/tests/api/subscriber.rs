//! The handling of logs and spans, which is decided once for all threads of the process.

use std::{
    cell::{Cell, RefCell},
    io::Write,
    sync::Once,
};

use tracing::{Subscriber, span};
use tracing_subscriber::{
    Layer,
    filter::dynamic_filter_fn,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

thread_local! {
    /// The log of this thread, while it is captured.
    static CAPTURED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
    static WRITES_OF_CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the times that calls got in line for the writer.
struct CountWrites;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for CountWrites {
    fn on_new_span(&self, span: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let is_of_call =
            || context.span_scope(id).is_some_and(|mut scope| scope.any(|span| span.name() == "call"));
        if span.metadata().name() == "wait for the writer" && is_of_call() {
            WRITES_OF_CALLS.set(WRITES_OF_CALLS.get() + 1);
        }
    }
}

struct CaptureWriter;

impl Write for CaptureWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(|captured| captured.extend(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Collects traces, as a server does, and the lines of threads that are captured.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let everything = tracing_subscriber::fmt::layer()
            .json()
            // A microsecond can have the digits of a code.
            .without_time()
            .with_writer(|| CaptureWriter)
            .with_filter(dynamic_filter_fn(|_, _| CAPTURED.with_borrow(Option::is_some)));
        tracing_subscriber::registry()
            .with(everything)
            .with(traces::layer().unwrap())
            .with(CountWrites)
            .init();
    });
}

/// Captures everything that this thread logs from now on.
pub fn capture() {
    install();
    CAPTURED.set(Some(Vec::new()));
}

/// The log that was captured.
pub fn captured() -> String {
    String::from_utf8(CAPTURED.take().unwrap()).unwrap()
}

/// The number of times that calls of this thread got in line for the writer. What background tasks write does not count.
pub fn writes_of_calls() -> u64 {
    WRITES_OF_CALLS.get()
}
