//! The ground floor: what all other crates are built on, and no business.

// Times, and the clock that tests and the console can set.
pub mod clock;
// E-mail addresses.
pub mod email;
// Classification of the errors of both database engines.
pub mod engine_error;
// Every failure, its status and its body.
pub mod error;
// Ids, each with a type of its own.
pub mod ids;
// Amounts of money.
pub mod kes;
// Kenyan mobile numbers.
pub mod phone;
// The source of ids, codes and random numbers.
pub mod randomness;
// What was done less than a minute ago.
pub mod repeats;
// Background tasks and their shutdown.
pub mod tasks;
// Texts that people read.
pub mod text;
