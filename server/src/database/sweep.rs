//! Changes any number of rows in batches: transactions of bounded size, so that others' writes run
//! between two of them.

use std::time::Instant;

use super::{Connection, Database, Query};
use crate::error::Failure;

/// How many rows a batch may touch. The statements say `LIMIT 500` themselves: PostgreSQL plans for a
/// number that it knows.
pub const BATCH_SIZE: u64 = 500;

/// Runs `statement`, which touches up to [`BATCH_SIZE`] rows, until it touches fewer. Returns how many
/// rows were touched.
///
/// # Errors
/// As [`Database::write_in_turn`]; earlier batches stay done.
pub async fn in_batches<F>(database: &Database, statement: F) -> Result<u64, Failure>
where
    F: Fn() -> Query + Clone + Send + Sync + 'static,
{
    repeat(|| {
        let statement = statement.clone();
        database.write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move { Ok(statement().execute(connection).await?) })
        })
    })
    .await
}

/// Like [`in_batches`], for a `batch` that begins its transaction itself and returns how many rows it touched.
///
/// # Errors
/// Those of `batch`; earlier batches stay done.
pub async fn repeat<F, B>(batch: F) -> Result<u64, Failure>
where
    F: Fn() -> B,
    B: Future<Output = Result<u64, Failure>>,
{
    let mut touched = 0;
    loop {
        let began = Instant::now();
        let rows = batch().await?;
        touched += rows;
        if rows < BATCH_SIZE {
            return Ok(touched);
        }
        // The lock that all servers share is free for as long as it was held.
        tokio::time::sleep(began.elapsed()).await;
    }
}
