//! Every call through the whole router, on a fresh database each, the clock held still and the
//! ids seeded. Each answer is checked against the contract, so every test is a contract test.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod contract;
mod edge;
mod loans;
mod payouts;
mod sign_in;
mod test_app;
