//! When a build is taken back by itself.

use std::time::Duration;

use super::values;

/// When a build is taken back by itself: see docs/slices.md.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct RollbackSettings {
    /// How many pages must have loaded a new build before it is judged, and before a plan goes on.
    #[arg(long, env = "MKOPO_ROLLBACK_PAGES", default_value_t = 20, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rollback_pages: u32,

    /// By how many percentage points more pages than with the build before must fail with a new one for it to
    /// be taken back.
    #[arg(long, env = "MKOPO_ROLLBACK_EXCESS", default_value_t = 5, value_name = "PERCENT",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rollback_excess: u32,

    /// How many percent of pages must fail with a new build for it to be taken back if nobody has loaded the
    /// build before.
    #[arg(long, env = "MKOPO_ROLLBACK_FAILURES", default_value_t = 10, value_name = "PERCENT",
          value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rollback_failures: u32,

    /// The probability in percent that a build which is no worse is taken back, over the whole time that it
    /// is watched.
    #[arg(long, env = "MKOPO_ROLLBACK_CHANCE", default_value_t = 1.0, value_name = "PERCENT",
          value_parser = values::chance)]
    pub rollback_chance: f64,

    /// How many different users or network addresses must have seen failures.
    #[arg(long, env = "MKOPO_ROLLBACK_WITNESSES", default_value_t = 2, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rollback_witnesses: u32,

    /// How long a build is watched after it went live for everybody, in minutes.
    #[arg(long, env = "MKOPO_ROLLBACK_MINUTES", default_value_t = 60, value_name = "MINUTES",
          value_parser = clap::value_parser!(u32).range(1..=10_080))]
    pub rollback_minutes: u32,
}

impl RollbackSettings {
    /// How long a build is watched after it went live for everybody.
    pub fn time(&self) -> Duration {
        Duration::from_mins(u64::from(self.rollback_minutes))
    }
}
