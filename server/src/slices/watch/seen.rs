//! What pages reported of a build that is watched, and of the one before.

use super::{
    Watch,
    evidence::{self, Pages},
};
use crate::{
    database::{Connection, query_as},
    error::Failure,
    settings::rollback::RollbackSettings,
};

/// How many failures of a build one witness counts for.
const MAX_OF_WITNESS: i64 = 3;

/// What was seen of two builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    new: Pages,
    old: Pages,
    /// How many different witnesses have seen the new one fail.
    witnesses: u32,
}

const PAGES: &str = "
    SELECT CAST(COALESCE(sum(CASE WHEN failed > pages THEN failed ELSE pages END), 0) AS BIGINT) AS pages,
           CAST(COALESCE(sum(failed), 0) AS BIGINT) AS failed
    FROM slice_witness WHERE watch_id = $1 AND version = $2";

const FAILED: &str = "
    SELECT witness, address, failed FROM slice_witness WHERE watch_id = $1 AND version = $2 AND failed > 0";

impl Seen {
    pub async fn of(connection: &mut Connection, watch: &Watch) -> Result<Self, Failure> {
        let pages = |version: &str| query_as(PAGES).bind(&watch.watch_id).bind(version);
        let (mut loads, _): (i64, i64) = pages(&watch.version).fetch_one(&mut *connection).await?;
        let (old_loads, old_failed): (i64, i64) = match &watch.against {
            Some(against) => pages(against).fetch_one(&mut *connection).await?,
            None => (0, 0),
        };
        let rows: Vec<(String, String, i64)> =
            query_as(FAILED).bind(&watch.watch_id).bind(&watch.version).fetch_all(connection).await?;
        let (mut failed, mut witnesses) = (0, 0);
        for (witness, address, times) in &rows {
            // Somebody who is signed in must not be a second witness from the same address without it.
            let is_nobody = witness == address;
            let is_double = is_nobody && rows.iter().any(|other| other.1 == *address && other.0 != *witness);
            let counted = if is_double { 0 } else { (*times).min(MAX_OF_WITNESS) };
            // A failure that does not count is no page either.
            loads -= times - counted;
            failed += counted;
            witnesses += u32::from(!is_double);
        }
        let pages = |loads: i64, failed: i64| {
            let (loads, failed) = (u64::try_from(loads).unwrap_or(0), u64::try_from(failed).unwrap_or(0));
            Pages { loads, failed: failed.min(loads) }
        };
        let old_loads = (old_loads + watch.pages_before).max(old_failed + watch.failed_before);
        Ok(Self {
            new: pages(loads, failed),
            old: pages(old_loads, old_failed + watch.failed_before),
            witnesses,
        })
    }

    /// Whether the new build fails so much more often that it is taken back if it is not by chance.
    pub fn exceeds(&self, settings: &RollbackSettings) -> bool {
        let percent = |of: u32| f64::from(of) / 100.0;
        if self.old.loads == 0 {
            self.new.rate() >= percent(settings.rollback_failures)
        } else {
            self.new.rate() - self.old.rate() >= percent(settings.rollback_excess)
        }
    }

    /// Whether the new build is to be taken back.
    pub fn is_worse(&self, settings: &RollbackSettings) -> bool {
        let evidence = if self.old.loads == 0 {
            evidence::against_rate(self.new, f64::from(settings.rollback_failures) / 100.0)
        } else {
            evidence::against_build(self.new, self.old)
        };
        self.new.loads >= u64::from(settings.rollback_pages)
            && self.witnesses >= settings.rollback_witnesses
            && self.exceeds(settings)
            && evidence >= -(settings.rollback_chance / 100.0).ln()
    }

    /// Why a build was taken back.
    pub fn sentence(&self) -> String {
        let Self { new, old, .. } = self;
        let before = if old.loads == 0 {
            "none before".to_owned()
        } else {
            format!("{} of {} before", old.failed, old.loads)
        };
        format!("rolled back: {} of {} pages failed, {before}", new.failed, new.loads)
    }
}
