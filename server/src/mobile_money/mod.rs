//! The simulated mobile money service (M-Pesa B2C), with [`MobileMoney::pay`] and
//! [`MobileMoney::status`]. It can also deliver results asynchronously.
//!
//! It simulates an external company: it keeps its own books, answers with result codes, and
//! refuses a request id that it has seen before. It does not know about loans or payouts.

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

/// The minimum amount of a payment, in KES.
pub const MINIMUM: i64 = 10;
/// The maximum amount of a payment, in KES.
pub const MAXIMUM: i64 = 250_000;
/// The maximum amount that one phone may receive per day in Nairobi, in KES.
pub const DAILY_LIMIT: i64 = 500_000;
