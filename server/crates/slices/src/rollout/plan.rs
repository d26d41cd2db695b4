//! The plan of a rollout: percentages, each with its duration.

use std::{fmt, str::FromStr, time::Duration};

use base::clock;

const MAX_STEPS: usize = 20;

/// Maximum length of a step.
const MAX_STEP: Duration = Duration::from_hours(30 * 24);

/// A list of growing percentages, displayed as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    text: String,
    steps: Vec<Step>,
}

/// A percentage with its minimum duration; the last step has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of buckets, of 100, that get the new build.
    pub percent: u8,
    /// The time until the next step, at least; `None` for the last step.
    pub lasts: Option<Duration>,
}

impl Plan {
    pub fn first(&self) -> Step {
        self.steps[0]
    }

    /// The duration of the step with this percentage, and the step after it; `None` if it is the last.
    pub fn after(&self, percent: u8) -> Option<(Duration, Step)> {
        let at = self.steps.iter().position(|step| step.percent == percent)?;
        Some((self.steps[at].lasts?, *self.steps.get(at + 1)?))
    }
}

impl FromStr for Plan {
    type Err = String;

    /// Parses `5:10m,25:30m,100`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{:?} is not a plan such as 5:10m,25:30m,100: growing percentages up to 100, each with how long it \
                 lasts, except the last",
                text.chars().take(100).collect::<String>()
            )
        };
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (last, others) = parts.split_last().ok_or_else(wrong)?;
        let mut steps = Vec::new();
        for part in others {
            let (percent, lasts) = part.split_once(':').ok_or_else(wrong)?;
            let lasts = clock::duration(lasts.trim()).map_err(|_| wrong())?;
            if lasts.is_zero() || lasts > MAX_STEP {
                return Err(wrong());
            }
            steps
                .push(Step { percent: self::percent(percent.trim()).ok_or_else(wrong)?, lasts: Some(lasts) });
        }
        steps.push(Step { percent: percent(last).ok_or_else(wrong)?, lasts: None });
        let grows = steps.windows(2).all(|pair| pair[0].percent < pair[1].percent);
        if !grows || steps[0].percent == 0 || steps.len() > MAX_STEPS {
            return Err(wrong());
        }
        Ok(Self { text: parts.join(","), steps })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

store::serde_plain::derive_serialize_from_display!(Plan);

/// A whole percentage.
fn percent(text: &str) -> Option<u8> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_grows_and_each_step_but_the_last_has_a_length() {
        let plan: Plan = "5:10m, 25:1h30m,100".parse().unwrap();
        assert_eq!(plan.to_string(), "5:10m,25:1h30m,100");
        assert_eq!(plan.first().percent, 5);
        let (lasts, next) = plan.after(5).unwrap();
        assert_eq!((lasts, next.percent), (Duration::from_mins(10), 25));
        assert_eq!(plan.after(25).unwrap().1, Step { percent: 100, lasts: None });
        assert_eq!((plan.after(100), plan.after(7)), (None, None));
        assert_eq!("50".parse::<Plan>().unwrap().first().lasts, None);
        for wrong in
            ["", "5:10m", "101", "0:10m,100", "25:10m,5", "5:10m,5", "5:soon,100", "5:0s,100", "5:10m,25,100"]
        {
            assert!(wrong.parse::<Plan>().is_err(), "{wrong}");
        }
    }
}
