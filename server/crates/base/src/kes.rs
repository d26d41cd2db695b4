//! Amounts of money.

use std::{
    fmt,
    iter::Sum,
    num::ParseIntError,
    ops::{Add, AddAssign, Sub},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// An amount in whole Kenyan shillings. Written as `KES 25000`; a number on the wire and in the database.
/// Sums and differences stop at the largest and the smallest amount.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    sqlx_macros::Type,
)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct Kes(pub i64);

impl fmt::Display for Kes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KES {}", self.0)
    }
}

impl FromStr for Kes {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

impl Add for Kes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Kes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Kes {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Kes {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}
