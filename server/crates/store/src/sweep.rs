//! Changes any number of rows in batches: transactions of bounded size, so that other writes run between
//! them.

use std::time::Instant;

use crate::{database::Database, query::Query};
use base::error::Failure;

/// The maximum number of rows in a batch. Each statement repeats it as `LIMIT 500`: PostgreSQL plans better for a
/// literal than for a parameter.
pub const BATCH_SIZE: u64 = 500;

/// Runs `statement`, which touches up to [`BATCH_SIZE`] rows, until it touches fewer. Returns how many
/// rows were touched. If it fails, earlier batches stay done.
pub async fn in_batches(database: &Database, statement: impl Fn() -> Query) -> Result<u64, Failure> {
    let mut sweep = Sweep::begin();
    loop {
        let mut transaction = database.begin().await?;
        let touched = statement().execute(&mut transaction).await?;
        transaction.commit().await?;
        if !sweep.goes_on(touched).await {
            return Ok(sweep.touched);
        }
    }
}

/// Batches that follow each other.
#[derive(Debug)]
pub struct Sweep {
    touched: u64,
    batch_began: Instant,
}

impl Sweep {
    pub fn begin() -> Self {
        Self { touched: 0, batch_began: Instant::now() }
    }

    /// Adds the number of rows that a batch touched. Returns whether another batch follows, after a pause.
    pub async fn goes_on(&mut self, touched: u64) -> bool {
        self.touched += touched;
        if touched < BATCH_SIZE {
            return false;
        }
        // Leaves the lock that all servers share free for as long as it was held.
        tokio::time::sleep(self.batch_began.elapsed()).await;
        self.batch_began = Instant::now();
        true
    }
}
