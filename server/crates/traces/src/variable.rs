//! The variables of OpenTelemetry. An empty one is not set.

use std::env;

pub fn given(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The value of a variable of the exporter, such as `ENDPOINT`: that for traces, or else that for all signals.
pub fn of_exporter(name: &str) -> Option<String> {
    given(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
        .or_else(|| given(&format!("OTEL_EXPORTER_OTLP_{name}")))
}
