//! Tests that a loan is paid exactly once: with random schedules checked against a model, servers
//! that are killed, and a disk that fails. And that sandboxes are whole or not there then. The long variants are ignored by default:
//! `cargo test --release --test payouts -- --ignored`.

#![expect(clippy::unwrap_used, reason = "a test fails on the first unexpected error")]

#[path = "../api/contract.rs"]
#[expect(dead_code, reason = "the API tests use the rest")]
mod contract;
mod copies;
mod crash;
mod export;
mod failover;
mod full_disk;
mod known;
mod maximum;
mod more_loans;
mod pair;
mod sandboxes;
mod schedules;
#[path = "../api/security_headers.rs"]
mod security_headers;
mod server;
mod servers;
#[path = "../api/subscriber.rs"]
#[expect(dead_code, reason = "the API tests use the rest")]
mod subscriber;
#[path = "../api/test_app.rs"]
#[expect(dead_code, reason = "the API tests use the rest")]
mod test_app;
#[path = "../api/test_store.rs"]
#[expect(dead_code, reason = "the API tests use the rest")]
mod test_store;

/// The number in an environment variable, which makes a long test shorter or longer.
fn number(variable: &str) -> Option<u32> {
    std::env::var(variable).ok().map(|number| number.parse().unwrap())
}
