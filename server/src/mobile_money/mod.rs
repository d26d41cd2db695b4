//! The simulated mobile money service (M-Pesa B2C), reached only by [`MobileMoney::pay`].
//!
//! It stands for a company outside: it has books of its own, answers with result codes, and
//! refuses a request id it has seen. Nothing here knows of loans or payouts.

mod pay;
mod receipt;

pub use pay::{Answer, MobileMoney, Payment};
pub use receipt::receipt;

/// The least that one payment may be, in KES.
pub const MINIMUM: i64 = 10;
/// The most that one payment may be, in KES.
pub const MAXIMUM: i64 = 250_000;
/// The most that one phone may receive between two midnights in Nairobi, in KES.
pub const DAILY_LIMIT: i64 = 500_000;

/// Why a payment was refused; codes and texts are M-Pesa's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Refusal {
    InsufficientFunds,
    BelowMinimum,
    AboveMaximum,
    DailyLimit,
}

impl Refusal {
    /// M-Pesa's result code.
    pub fn code(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "1",
            Self::BelowMinimum => "2",
            Self::AboveMaximum => "3",
            Self::DailyLimit => "4",
        }
    }

    /// M-Pesa's text for it.
    pub fn text(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "The balance is insufficient for the transaction.",
            Self::BelowMinimum => "Declined due to limit rule: less than the minimum transaction amount.",
            Self::AboveMaximum => "Declined due to limit rule: greater than the maximum transaction amount.",
            Self::DailyLimit => "Declined due to limit rule: would exceed the daily transfer limit.",
        }
    }
}
