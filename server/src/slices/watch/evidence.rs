//! Whether a build fails more often than another one, outside chance, however often one looks.
//!
//! A mixture sequential probability ratio test. Its statistic is the likelihood of what was seen if both builds
//! fail with rates of their own, averaged over priors, divided by the highest likelihood that any common rate
//! gives (Wasserman, Ramdas and Balakrishnan: Universal inference, 2020). If the builds fail equally often,
//! the mean of this ratio is at most 1 at every time, so by Ville's inequality the probability that it ever
//! reaches 1/α is at most α. It needs neither a number of looks nor a fixed share of the traffic.

/// How many pages loaded a build, and on how many it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// How many pages tried to load it.
    pub loads: u64,
    /// On how many of them it could not be loaded, or crashed.
    pub failed: u64,
}

impl Pages {
    /// The share of pages on which it failed.
    pub fn rate(self) -> f64 {
        if self.loads == 0 { 0.0 } else { float(self.failed) / float(self.loads) }
    }
}

/// The priors of the failure rates, as beta distributions: a build that is live hardly fails, and of a new one
/// nothing is known but that most pages work.
const PRIOR_OLD: (u64, u64) = (1, 20);
const PRIOR_NEW: (u64, u64) = (1, 3);

/// The natural logarithm of the evidence that `new` fails more often than `old`.
pub fn against_build(new: Pages, old: Pages) -> f64 {
    if new.rate() <= old.rate() {
        return 0.0;
    }
    let both = Pages { loads: new.loads + old.loads, failed: new.failed + old.failed };
    averaged(new, PRIOR_NEW) + averaged(old, PRIOR_OLD) - likelihood(both, both.rate())
}

/// The natural logarithm of the evidence that `new` fails more often than `rate`.
pub fn against_rate(new: Pages, rate: f64) -> f64 {
    if new.rate() <= rate { 0.0 } else { averaged(new, PRIOR_NEW) - likelihood(new, rate) }
}

/// The logarithm of the likelihood of what was seen, in its order, averaged over a prior.
fn averaged(Pages { loads, failed }: Pages, (a, b): (u64, u64)) -> f64 {
    ln_beta(a + failed, b + loads - failed) - ln_beta(a, b)
}

/// The logarithm of the likelihood of what was seen, in its order, at a rate.
fn likelihood(Pages { loads, failed }: Pages, rate: f64) -> f64 {
    let of = |times: u64, rate: f64| if times == 0 { 0.0 } else { float(times) * rate.ln() };
    of(failed, rate) + of(loads - failed, 1.0 - rate)
}

/// The logarithm of the beta function of positive integers.
fn ln_beta(a: u64, b: u64) -> f64 {
    ln_factorial(a - 1) + ln_factorial(b - 1) - ln_factorial(a + b - 1)
}

fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|k| float(k).ln()).sum();
    }
    // Stirling's series; the error is below 1e-9.
    let n = float(n);
    (n + 0.5).mul_add(n.ln(), -n) + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * n)
        - 1.0 / (360.0 * n.powi(3))
}

#[expect(clippy::cast_precision_loss, reason = "counts of pages")]
fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};

    use super::*;

    const LN_100: f64 = 4.605_170_185_988_091;

    fn pages(failed: u64, loads: u64) -> Pages {
        Pages { loads, failed }
    }

    #[test]
    fn factorials_are_right_on_both_sides_of_the_series() {
        let exact = |n: u64| (2..=n).map(|k| float(k).ln()).sum::<f64>();
        for n in [0, 1, 2, 31, 32, 33, 170, 5000] {
            assert!((ln_factorial(n) - exact(n)).abs() < 1e-6, "{n}");
        }
    }

    #[test]
    fn a_build_that_fails_far_more_often_is_found_out_and_one_that_does_not_is_not() {
        assert!(against_build(pages(7, 31), pages(0, 210)) > LN_100);
        assert!(against_build(pages(4, 20), pages(0, 180)) > LN_100);
        assert!(against_build(pages(1, 20), pages(0, 180)) < LN_100, "it may be chance");
        assert!(against_build(pages(4, 20), pages(30, 180)) < LN_100, "the old one fails, too");
        assert!(against_rate(pages(10, 20), 0.1) > LN_100);
        assert!(against_rate(pages(3, 20), 0.1) < LN_100);
    }

    /// The share of healthy builds that a look after each page takes back at some time.
    fn false_positives(seed: u64, runs: u32, pages_of_run: u32, rate: f64, share_of_new: f64) -> f64 {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut taken_back = 0;
        for _ in 0..runs {
            let (mut new, mut old) = (Pages::default(), Pages::default());
            for _ in 0..pages_of_run {
                let of = if rng.random_bool(share_of_new) { &mut new } else { &mut old };
                of.loads += 1;
                of.failed += u64::from(rng.random_bool(rate));
                if against_build(new, old) >= LN_100 {
                    taken_back += 1;
                    break;
                }
            }
        }
        f64::from(taken_back) / f64::from(runs)
    }

    #[test]
    fn looking_after_every_page_takes_at_most_1_percent_of_healthy_builds_back() {
        for (seed, rate) in [(1, 0.005), (2, 0.03), (3, 0.1), (4, 0.4)] {
            for share_of_new in [0.05, 0.25, 0.5] {
                let rate_found = false_positives(seed, 1500, 600, rate, share_of_new);
                assert!(rate_found <= 0.01, "{rate_found} at {rate} with {share_of_new} of the traffic");
            }
        }
    }

    #[test]
    fn the_rate_without_a_build_before_is_kept_too() {
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        let mut taken_back = 0;
        for _ in 0..2000 {
            let mut new = Pages::default();
            for _ in 0..500 {
                new.loads += 1;
                new.failed += u64::from(rng.random_bool(0.1));
                if against_rate(new, 0.1) >= LN_100 {
                    taken_back += 1;
                    break;
                }
            }
        }
        assert!(taken_back <= 20, "{taken_back} of 2,000");
    }
}
