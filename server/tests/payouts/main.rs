//! Whether a loan is paid once whatever happens: random schedules against a model, a server that
//! is killed in the middle, a disk that fails. Each has a short form, and a long one that is
//! ignored unless asked for: `cargo test --release --test payouts -- --ignored`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../api/contract.rs"]
mod contract;
mod crash;
mod schedules;
mod servers;
#[path = "../api/store.rs"]
mod store;
#[path = "../api/test_app.rs"]
#[expect(dead_code, reason = "the API's tests use the rest")]
mod test_app;
