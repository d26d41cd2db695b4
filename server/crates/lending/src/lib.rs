//! The core of the product: staff sign in, see the loans that wait, and pay each of them out once.
//!
//! A folder is a noun: its acts, the rules they follow, their SQL, and `api.rs`, the calls of the contract.
//! Acts take the [`world::World`] that they work in, or their noun's own state ([`auth::Auth`],
//! [`payouts::Payouts`], …). Nothing here knows the console, sandboxes, faults, slices or the program.
//! Events that others want to know of go out through [`world::World::tell`].

// The data and the time that acts work on.
pub mod world;
// Events: the audit trail of everything that people and operators do.
pub mod events;
// Outgoing e-mails and SMS.
pub mod outbox;
// Staff, passwords, codes and sessions.
pub mod auth;
// Both lists as ready bodies.
pub mod lists;
// Loans that wait to be paid.
pub mod loans;
// The simulated mobile money service.
pub mod mobile_money;
// Paying a loan out exactly once, and the records of payouts.
pub mod payouts;
// The rules of the portal that administrators set.
pub mod rules;
// The preferences of a member of staff.
pub mod preferences;
// Sums of payouts by day, week, month and year.
pub mod reports;
// News for people.
pub mod notifications;
// The streams by which open pages hear of changes.
pub mod updates;
// Demo data.
pub mod demo;
