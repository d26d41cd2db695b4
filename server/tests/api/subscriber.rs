//! The handling of logs and spans, which is decided once for all threads of the process.

use std::{cell::RefCell, io::Write, sync::Once};

use tracing_subscriber::{
    Layer, filter::dynamic_filter_fn, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

thread_local! {
    /// The log of this thread, while it is captured.
    static CAPTURED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
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
        tracing_subscriber::registry().with(everything).with(traces::layer().unwrap()).init();
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
