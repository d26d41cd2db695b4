//! The slices of one world.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::{
    archive,
    waiting::{Dropped, Report, Reports},
};
use base::error::Failure;
use lending::{
    auth::Auth,
    world::{World, WorldState},
};
use store::Database;

/// The slices of a world. Clones share them.
#[derive(Clone)]
pub struct Slices {
    pub world: World,
    pub auth: Auth,
    /// The id of the sandbox; `None` for `main`.
    pub sandbox_id: Option<String>,
    pub shared: Arc<Shared>,
}

/// The parts that all worlds of a process share: the builds of `main`, and limits.
pub struct Shared {
    /// The store of `main`.
    pub database: Database,
    /// The places for builds that are being received.
    pub(super) uploads: Semaphore,
    /// Reports from pages, not yet written to the database.
    pub reports: Reports,
    pub(super) report_stored: ReportStored,
    dropped: DroppedCounted,
}

/// A function that is told of each stored report, and how many times it came.
pub type ReportStored = Box<dyn Fn(&Report, u64) + Send + Sync>;

/// A function that is told what is dropped, and how much of it.
pub type DroppedCounted = Box<dyn Fn(Dropped, u64) + Send + Sync>;

impl Shared {
    /// Creates the shared parts of worlds whose `main` has its data in `database`. `report_stored` is told of each
    /// stored report, and `dropped` of what is not kept.
    pub fn new(database: Database, report_stored: ReportStored, dropped: DroppedCounted) -> Self {
        Self {
            database,
            uploads: Semaphore::new(archive::MAX_AT_ONCE),
            reports: Reports::default(),
            report_stored,
            dropped,
        }
    }

    pub(super) fn count_dropped(&self, what: Dropped, count: usize) {
        if count > 0 {
            (self.dropped)(what, u64::try_from(count).unwrap_or(u64::MAX));
        }
    }
}

impl std::ops::Deref for Slices {
    type Target = WorldState;

    fn deref(&self) -> &WorldState {
        &self.world
    }
}

impl Slices {
    /// Returns whether they are those of `main`, the deployment itself.
    pub fn are_of_main(&self) -> bool {
        self.sandbox_id.is_none()
    }
}

base::from_extensions!(Slices, Failure::internal("the request has no slices"));
