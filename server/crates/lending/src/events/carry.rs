//! Carries the events since a backup over to the data that is restored from it.

use super::Event;
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query, query_as};

const LATEST: &str = "SELECT max(at), max(position) FROM event";

// The trace of an event is of the data before; that may be from before events had one.
const SINCE: &str = "
    SELECT position AS id, at, kind, who, about, address, details, times, CAST(NULL AS TEXT) AS traceparent FROM event
    WHERE at > $1 OR position > $2 ORDER BY position";

/// Returns the events of `previous` whose time or position is after all of `restored`, the oldest first:
/// clocks differ, and the data may have been restored before.
pub async fn since_backup(
    previous: &mut Connection,
    restored: &mut Connection,
) -> Result<Vec<Event>, sqlx::Error> {
    let (at, position): (Option<UnixMillis>, Option<i64>) = query_as(LATEST).fetch_one(restored).await?;
    query_as(SINCE)
        .bind_all((at.unwrap_or(UnixMillis(i64::MIN)), position.unwrap_or_default()))
        .fetch_all(previous)
        .await
}

const ADD: &str = "
    INSERT INTO event (at, kind, who, about, address, details, times) VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// Writes the events of another database.
pub async fn carry_over(connection: &mut Connection, events: Vec<Event>) -> Result<(), Failure> {
    for Event { at, kind, who, about, address, details, times, .. } in events {
        query(ADD)
            .bind_all((at, kind, who, about, address, details, times))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
