//! The four figures of a report.

use serde::Serialize;

use super::Bar;
use base::kes::Kes;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Figures {
    total_disbursed: Kes,
    /// The number of payouts of any status.
    total_transactions: i64,
    /// The average amount of a completed payout, in KES.
    average_disbursement: Kes,
    /// The share of completed payouts among settled ones, in percent; `None` if none has settled.
    success_rate: Option<f64>,
}

/// The changes from the period before: in percent, and for the success rate in percentage points. `None` if
/// the period before has nothing to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    total_disbursed: Option<f64>,
    total_transactions: Option<f64>,
    average_disbursement: Option<f64>,
    success_rate: Option<f64>,
}

impl Figures {
    pub fn of(bars: &[Bar]) -> Self {
        let total = |of: fn(&Bar) -> i64| bars.iter().map(of).sum::<i64>();
        let completed = total(|bar| bar.completed.payouts);
        let failed = total(|bar| bar.failed.payouts);
        let amount = total(|bar| bar.completed.amount.0);
        let average = if completed == 0 { 0 } else { (amount + completed / 2) / completed };
        Self {
            total_disbursed: Kes(amount),
            total_transactions: completed + failed + total(|bar| bar.pending.payouts),
            average_disbursement: Kes(average),
            success_rate: percent(completed, completed + failed),
        }
    }

    pub fn change_since(&self, before: &Self) -> Change {
        let change = |now: i64, before: i64| percent(now - before, before);
        let points = self.success_rate.zip(before.success_rate).map(|(now, before)| to_tenths(now - before));
        Change {
            total_disbursed: change(self.total_disbursed.0, before.total_disbursed.0),
            total_transactions: change(self.total_transactions, before.total_transactions),
            average_disbursement: change(self.average_disbursement.0, before.average_disbursement.0),
            success_rate: points,
        }
    }
}

/// `part` of `whole` in percent, with one decimal; `None` if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs few digits")]
fn percent(part: i64, whole: i64) -> Option<f64> {
    (whole != 0).then(|| to_tenths(part as f64 * 100.0 / whole as f64))
}

fn to_tenths(number: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (number * 10.0).round() / 10.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payouts::Sum;
    use base::clock::UnixMillis;

    fn bar(completed: (i64, i64), failed: i64, pending: i64) -> Bar {
        let sum = |payouts, amount| Sum { payouts, amount: Kes(amount) };
        Bar {
            from: UnixMillis(0),
            completed: sum(completed.0, completed.1),
            failed: sum(failed, failed * 1000),
            pending: sum(pending, pending * 1000),
        }
    }

    #[test]
    fn figures_are_those_of_all_bars() {
        let figures = Figures::of(&[bar((2, 30_001), 1, 0), bar((1, 20_000), 0, 1)]);
        let expected = Figures {
            total_disbursed: Kes(50_001),
            total_transactions: 5,
            average_disbursement: Kes(16_667),
            success_rate: Some(75.0),
        };
        assert_eq!(figures, expected);
        let change = figures.change_since(&Figures::of(&[bar((3, 40_000), 0, 0)]));
        let expected = Change {
            total_disbursed: Some(25.0),
            total_transactions: Some(66.7),
            average_disbursement: Some(25.0),
            success_rate: Some(-25.0),
        };
        assert_eq!(change, expected);
    }

    #[test]
    fn nothing_can_be_compared_with_nothing() {
        let figures = Figures::of(&[bar((0, 0), 0, 3)]);
        assert_eq!((figures.average_disbursement, figures.success_rate), (Kes(0), None));
        let change = figures.change_since(&Figures::of(&[]));
        assert_eq!(
            (change.total_disbursed, change.total_transactions, change.success_rate),
            (None, None, None)
        );
    }
}
