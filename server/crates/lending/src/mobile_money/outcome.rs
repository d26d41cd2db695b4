//! The possible outcomes of a payment, and the magic numbers that select them.

use serde::{Deserialize, Serialize};

use super::{MAXIMUM, MINIMUM};
use base::{kes::Kes, phone::Msisdn};

/// M-Pesa's text for result code 0.
pub const SUCCESS_TEXT: &str = "The service request is processed successfully.";

/// Defines the refusals, ordered by code: each with M-Pesa's code, the name in the contract, and M-Pesa's text.
macro_rules! refusals {
    ($($refusal:ident $code:literal $name:literal $text:literal,)*) => {
        /// The reason why a payment was refused; codes and texts are M-Pesa's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Refusal {
            $($refusal,)*
        }

        impl Refusal {
            /// All refusals, ordered by code.
            pub const ALL: [Self; 10] = [$(Self::$refusal,)*];

            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$refusal => $code,)*
                }
            }

            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$refusal => $text,)*
                }
            }

            fn name(self) -> &'static str {
                match self {
                    $(Self::$refusal => $name,)*
                }
            }
        }

        impl Outcome {
            /// All outcomes, in the order of the contract's table.
            pub const ALL: [Self; 16] = [
                Self::Success,
                $(Self::Refused(Refusal::$refusal),)*
                Self::PaidAnswerLost,
                Self::LostUnpaid,
                Self::Slow,
                Self::ResultTwice,
                Self::ResultBeforeAnswer,
            ];
        }
    };
}

refusals! {
    InsufficientFunds "1" "insufficient_funds" "The balance is insufficient for the transaction.",
    BelowMinimum "2" "below_minimum" "Declined due to limit rule: less than the minimum transaction amount.",
    AboveMaximum "3" "above_maximum" "Declined due to limit rule: greater than the maximum transaction amount.",
    DailyLimit "4" "daily_limit" "Declined due to limit rule: would exceed the daily transfer limit.",
    MaximumBalance "8" "maximum_balance" "Declined due to limit rule: would exceed the maximum balance.",
    DebitPartyInvalid "11" "debit_party_invalid" "The DebitParty is in an invalid state.",
    InitiatorNotAllowed "21" "initiator_not_allowed" "The initiator is not allowed to initiate this request.",
    InitiatorInvalid "2001" "initiator_invalid" "The initiator information is invalid.",
    UnregisteredCustomer "2040" "unregistered_customer"
        "Credit Party customer type can't be supported by the service.",
    BadNumber "SFC_IC0003" "bad_number" "The operator does not exist.",
}

impl Refusal {
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }
}

/// The outcome of a payment and of its answer. Sent and stored as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Outcome {
    /// Paid, unless a limit or the float prevents it.
    Success,
    Refused(Refusal),
    /// The money is sent, but no answer arrives.
    PaidAnswerLost,
    /// The request is lost, and no answer arrives.
    LostUnpaid,
    /// Paid, but the result arrives 12 s later.
    Slow,
    /// Paid, and the result is delivered twice.
    ResultTwice,
    /// Paid, and the result is delivered before the answer.
    ResultBeforeAnswer,
}

store::stored_as_text!(Outcome);

impl Outcome {
    /// The name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Refused(refusal) => refusal.name(),
            Self::PaidAnswerLost => "paid_answer_lost",
            Self::LostUnpaid => "lost_unpaid",
            Self::Slow => "slow",
            Self::ResultTwice => "result_twice",
            Self::ResultBeforeAnswer => "result_before_answer",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// The result code in mobile money's books; `None` if the request never reaches them.
    pub fn result_code(self) -> Option<&'static str> {
        match self {
            Self::Refused(refusal) => Some(refusal.code()),
            Self::LostUnpaid => None,
            _ => Some("0"),
        }
    }

    /// M-Pesa's text for the result code, or a description if there is no result.
    pub fn text(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.text(),
            Self::LostUnpaid => "The request is lost, and no answer comes.",
            _ => SUCCESS_TEXT,
        }
    }
}

impl From<Outcome> for &'static str {
    fn from(outcome: Outcome) -> Self {
        outcome.name()
    }
}

impl TryFrom<String> for Outcome {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name).ok_or_else(|| format!("unknown outcome {name}"))
    }
}

/// A phone number and an amount that select an outcome, regardless of the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Magic {
    pub phone: &'static str,
    /// Payments of this amount in KES, if the phone is not magic.
    pub amount: Option<Kes>,
    pub outcome: Outcome,
}

const fn magic(phone: &'static str, amount: Kes, outcome: Outcome) -> Magic {
    Magic { phone, amount: Some(amount), outcome }
}

const fn refused(phone: &'static str, amount: Kes, refusal: Refusal) -> Magic {
    magic(phone, amount, Outcome::Refused(refusal))
}

/// The magic numbers, as listed in the contract. The rules of [`crate::payouts`] apply before mobile money is asked,
/// so that a new rule has to let all of these pass.
pub const MAGIC: [Magic; 16] = [
    Magic { phone: "+254700000000", amount: None, outcome: Outcome::Success },
    refused("+254700000001", Kes(99_901), Refusal::InsufficientFunds),
    refused("+254700000002", Kes(99_902), Refusal::BelowMinimum),
    refused("+254700000003", Kes(99_903), Refusal::AboveMaximum),
    refused("+254700000004", Kes(99_904), Refusal::DailyLimit),
    refused("+254700000008", Kes(99_908), Refusal::MaximumBalance),
    refused("+254700000011", Kes(99_911), Refusal::DebitPartyInvalid),
    refused("+254700000021", Kes(99_921), Refusal::InitiatorNotAllowed),
    refused("+254700002001", Kes(92_001), Refusal::InitiatorInvalid),
    refused("+254700002040", Kes(92_040), Refusal::UnregisteredCustomer),
    refused("+254700100003", Kes(90_003), Refusal::BadNumber),
    magic("+254700009001", Kes(99_951), Outcome::PaidAnswerLost),
    magic("+254700009002", Kes(99_952), Outcome::LostUnpaid),
    magic("+254700009003", Kes(99_953), Outcome::Slow),
    magic("+254700009004", Kes(99_954), Outcome::ResultTwice),
    magic("+254700009005", Kes(99_955), Outcome::ResultBeforeAnswer),
];

/// Returns the outcome that the phone or else the amount selects, including amounts outside the limits.
pub(super) fn chosen_by_magic(phone: &Msisdn, amount: Kes) -> Option<Outcome> {
    MAGIC
        .iter()
        .find(|magic| magic.phone == phone.as_str())
        .or_else(|| MAGIC.iter().find(|magic| magic.amount == Some(amount)))
        .map(|magic| magic.outcome)
        .or_else(|| (amount < MINIMUM).then_some(Outcome::Refused(Refusal::BelowMinimum)))
        .or_else(|| (amount > MAXIMUM).then_some(Outcome::Refused(Refusal::AboveMaximum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_round_trip() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_name(outcome.name()), Some(outcome));
        }
        for refusal in Refusal::ALL {
            assert_eq!(Refusal::from_code(refusal.code()), Some(refusal));
        }
    }

    #[test]
    fn the_phone_takes_precedence_over_the_amount() {
        let refused = Msisdn::parse("+254700002040").unwrap();
        assert_eq!(
            chosen_by_magic(&refused, Kes(99_951)),
            Some(Outcome::Refused(Refusal::UnregisteredCustomer))
        );
        let plain = Msisdn::parse("+254712345678").unwrap();
        assert_eq!(chosen_by_magic(&plain, Kes(99_951)), Some(Outcome::PaidAnswerLost));
        assert_eq!(chosen_by_magic(&plain, Kes(25_000)), None);
    }

    #[test]
    fn no_rule_about_amounts_decides_on_a_magic_one() {
        let amounts: Vec<Kes> = MAGIC.iter().filter_map(|magic| magic.amount).collect();
        for amount in &amounts {
            let is_own = amounts.iter().filter(|other| *other == amount).count() == 1;
            assert!(
                is_own && (MINIMUM..=MAXIMUM).contains(amount) && amount.0 % 500 != 0,
                "{amount} is twice in MAGIC, outside what mobile money pays, or a multiple of 500, as the \
                 amounts of the demo data are: choose another one"
            );
        }
    }

    #[test]
    fn the_contract_lists_these_numbers() {
        let contract = include_str!("../../../../../contract/openapi.yaml");
        for magic in MAGIC {
            let amount = magic.amount.map(|amount| amount.0.to_string()).unwrap_or_default();
            let code = magic.outcome.result_code().unwrap_or_default();
            let row = contract
                .lines()
                .find(|line| line.trim_start().starts_with(&format!("| {} |", magic.phone)))
                .unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[2].split(',').next().unwrap(), amount, "{row}");
            assert!(cells[3].starts_with(&format!("`{}`", magic.outcome.name())), "{row}");
            assert_eq!(cells[4], code, "{row}");
        }
    }
}
