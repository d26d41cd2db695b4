//! Which loans changed since a list was read: by number in a file, where one transaction writes at a
//! time, and by snapshot on PostgreSQL, where transactions commit in another order than they begin.

use std::collections::HashSet;

use super::{Connection, query, query_as, query_scalar};
use crate::{database::Database, error::Failure};

/// What a reader has seen of the changes.
#[derive(Clone, Debug)]
pub enum Mark {
    /// Everything up to this version.
    Version(i64),
    /// Everything that this snapshot of PostgreSQL sees.
    Snapshot(String),
}

/// The changes since a mark.
#[derive(Debug)]
pub struct Changes {
    /// What has been seen now.
    pub mark: Mark,
    /// The loans that changed, by id; `None` if everything may have changed.
    pub loans: Option<HashSet<Box<str>>>,
}

/// The version, the oldest change that is still recorded, and each loan that changed after version
/// `$1`. One statement, because each costs a round trip to the database.
const BY_VERSION: &str = "
    SELECT DISTINCT value, (SELECT min(version) FROM loan_change), loan_id
    FROM version LEFT JOIN loan_change ON loan_change.version > $1
    WHERE name = 'loans'";

/// The snapshot of this statement or transaction, whether nothing has been deleted since snapshot `$1`, and
/// each change that it has not seen.
const BY_SNAPSHOT: &str = "
    SELECT DISTINCT CAST(pg_current_snapshot() AS TEXT),
           COALESCE(start.xid <= pg_snapshot_xmin(CAST($1 AS PG_SNAPSHOT)), false),
           feed.xid IS NOT NULL, feed.loan_id
    FROM loan_feed_start AS start LEFT JOIN loan_feed AS feed
        ON feed.xid >= pg_snapshot_xmin(CAST($1 AS PG_SNAPSHOT))
        AND NOT pg_visible_in_snapshot(feed.xid, CAST($1 AS PG_SNAPSHOT))";

impl Changes {
    /// Reads what has changed since `before`. In a transaction that reads one snapshot, the mark matches
    /// what is read in it.
    pub async fn since(connection: &mut Connection, before: Option<&Mark>) -> Result<Self, sqlx::Error> {
        match connection {
            Connection::Sqlite(_) => {
                let Some(Mark::Version(version)) = before else {
                    return Self::by_version(connection, i64::MAX).await;
                };
                Self::by_version(connection, *version).await
            }
            Connection::Postgres(_) => {
                let snapshot = match before {
                    Some(Mark::Snapshot(snapshot)) => Some(snapshot.as_str()),
                    _ => None,
                };
                Self::by_snapshot(connection, snapshot).await
            }
        }
    }

    async fn by_version(connection: &mut Connection, since: i64) -> Result<Self, sqlx::Error> {
        let rows: Vec<(i64, Option<i64>, Option<Box<str>>)> =
            query_as(BY_VERSION).bind(since).fetch_all(connection).await?;
        let &(version, oldest_recorded, _) = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        let are_all =
            since == version || since < version && oldest_recorded.is_some_and(|oldest| oldest <= since + 1);
        let loans = are_all.then(|| rows.into_iter().filter_map(|(_, _, loan)| loan).collect());
        Ok(Self { mark: Mark::Version(version), loans })
    }

    async fn by_snapshot(connection: &mut Connection, since: Option<&str>) -> Result<Self, sqlx::Error> {
        let rows: Vec<(String, bool, bool, Option<Box<str>>)> =
            query_as(BY_SNAPSHOT).bind(since).fetch_all(connection).await?;
        let (snapshot, is_kept, ..) = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        let is_of_all = |(_, _, is_change, loan): &(_, _, bool, Option<_>)| *is_change && loan.is_none();
        let are_all = *is_kept && !rows.iter().any(is_of_all);
        let mark = Mark::Snapshot(snapshot.clone());
        let loans = are_all.then(|| rows.into_iter().filter_map(|(_, _, _, loan)| loan).collect());
        Ok(Self { mark, loans })
    }
}

/// The oldest transaction that still runs: what has committed before it, everybody can see.
const OLDEST_RUNNING: &str = "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)";

const MOVE_START: &str = "
    UPDATE loan_feed_start SET xid = CAST(CAST($1 AS TEXT) AS XID8)
    WHERE xid < CAST(CAST($1 AS TEXT) AS XID8)";

const DELETE: &str = "DELETE FROM loan_feed WHERE xid < CAST(CAST($1 AS TEXT) AS XID8)";

/// Deletes the changes from before `horizon`, the oldest transaction of an earlier round. Returns that of
/// this round; `None` for a file, which trims itself.
///
/// # Errors
/// [`Failure::Busy`], [`Failure::NotCommitted`].
pub async fn delete_before(database: &Database, horizon: Option<i64>) -> Result<Option<i64>, Failure> {
    let mut reader = database.read().await?;
    if let Connection::Sqlite(_) = &*reader {
        return Ok(None);
    }
    let oldest: i64 = query_scalar(OLDEST_RUNNING).fetch_one(&mut reader).await?;
    drop(reader);
    // Nobody's mark may begin before what is deleted, or everything would be read again and again for as
    // long as a transaction runs.
    if let Some(horizon) = horizon.map(|horizon| horizon.min(oldest)) {
        let delete = database.write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                query(MOVE_START).bind(horizon).execute(&mut *connection).await?;
                query(DELETE).bind(horizon).execute(connection).await?;
                Ok(())
            })
        });
        delete.await?;
    }
    Ok(Some(oldest))
}
