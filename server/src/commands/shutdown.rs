//! The signals by which a command is asked to stop.

use std::{fs, future::poll_fn, task::Poll};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Completes when the process is asked to stop; listens from now on.
pub fn shutdown_signal() -> impl Future<Output = ()> {
    let hang_up = (!is_hang_up_ignored()).then(SignalKind::hangup);
    let kinds = [Some(SignalKind::interrupt()), Some(SignalKind::terminate()), hang_up];
    let mut signals: Vec<Signal> = kinds.into_iter().flatten().filter_map(|kind| signal(kind).ok()).collect();
    poll_fn(move |cx| {
        let is_asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if is_asked { Poll::Ready(()) } else { Poll::Pending }
    })
}

/// Returns whether SIGHUP is ignored (`nohup`), which only Linux tells: elsewhere it is left as it is.
fn is_hang_up_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is that of signal 1.
    ignored.is_none_or(|mask| mask & 1 == 1)
}
