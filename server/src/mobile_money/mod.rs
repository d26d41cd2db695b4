//! The simulated mobile money service (M-Pesa B2C), reached by [`MobileMoney::pay`] and
//! [`MobileMoney::status`]; it may deliver a result of its own accord, too.
//!
//! It stands for a company outside: it has books of its own, answers with result codes, and
//! refuses a request id it has seen. Nothing here knows of loans or payouts.

mod outcome;
mod pay;
mod receipt;
mod scenario;
mod status;

pub use outcome::{MAGIC, Magic, Outcome, Refusal, SUCCESS_TEXT};
pub use pay::{Answer, Delivery, MobileMoney, Payment};
pub use receipt::receipt;
pub use scenario::{Scenario, ScenarioChange};
pub use status::Status;

/// The least that one payment may be, in KES.
pub const MINIMUM: i64 = 10;
/// The most that one payment may be, in KES.
pub const MAXIMUM: i64 = 250_000;
/// The most that one phone may receive between two midnights in Nairobi, in KES.
pub const DAILY_LIMIT: i64 = 500_000;
