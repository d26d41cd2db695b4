//! Tests through the whole router. Each has a fresh database, a stopped clock and seeded ids. Every
//! response is checked against the contract, so every test is a contract test.

#![expect(clippy::unwrap_used, reason = "a test fails on the first error")]

mod architecture;
mod backup;
mod browser;
mod bulk;
mod command_line;
mod connections;
mod console_clock;
mod console_data;
mod console_door;
mod console_events;
mod console_faults;
mod console_loans;
mod console_outbox;
mod console_pages;
mod console_payouts;
mod console_recipes;
mod console_scenario;
mod console_slices;
mod console_staff;
mod console_traffic;
mod contract;
mod data_copy;
mod database;
mod durability;
mod edge;
mod engines;
mod floods;
mod hostile;
mod idempotency;
mod invariant;
mod limits;
mod lists;
mod loans;
mod logs;
mod mail_server;
mod mobile_money;
mod operations;
mod otp;
mod outbox;
mod paid_once;
mod password_reset;
mod payouts;
mod put_back;
mod reconciling;
mod retention;
mod seed;
mod service;
mod shared_clock;
mod sign_in;
mod slices;
mod sources;
mod store;
mod test_app;
