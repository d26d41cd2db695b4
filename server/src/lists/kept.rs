//! A list's body, and how it is brought up to date.

use std::{collections::HashSet, ops::Range, sync::Arc};

use axum::body::Bytes;
use futures::TryStreamExt;

use super::{Place, Row};
use crate::{
    database::{Connection, Database, query_as},
    error::Failure,
    http::ready_body::{Digest, ReadyBody, digest},
};

/// A list's body as of one version.
#[derive(Debug)]
pub struct KeptList {
    version: i64,
    rows: Vec<KeptRow>,
    body: Arc<ReadyBody>,
}

/// Where a row stands in the list and in its body.
#[derive(Clone, Debug)]
struct KeptRow {
    place: Place,
    loan_id: Box<str>,
    bytes: Range<usize>,
    digest: Digest,
}

/// The version, the oldest change that is still known, and each loan that changed after version
/// `$1`: in one statement, as each is a way to the store and back.
const CHANGES: &str = "
    SELECT DISTINCT value, (SELECT min(version) FROM loan_change), loan_id
    FROM version LEFT JOIN loan_change ON loan_change.version > $1
    WHERE name = 'loans'";

impl KeptList {
    /// The version it was read at.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The body.
    pub fn body(&self) -> &Arc<ReadyBody> {
        &self.body
    }

    /// Reads the list as it is now; only what changed, when `before` tells of the rest.
    pub async fn renew<R: Row>(database: &Database, before: Option<&Self>) -> Result<Self, Failure> {
        // Version and rows are of the same moment.
        let mut store = database.read().await?.hold_still().await?;
        let changes = Changes::since(&mut store, before.map_or(i64::MAX, Self::version)).await?;
        let mut writing = Writing::default();
        match before {
            Some(before) if changes.are_all_since(before.version) => {
                writing.patch::<R>(&mut store, before, &changes.loans).await?;
            }
            _ => writing.write_all::<R>(&mut store).await?,
        }
        store.end().await?;
        let digest = writing.digest();
        let body = match before {
            // What was compressed before need not be again.
            Some(before) if before.body.digest() == digest => Arc::clone(&before.body),
            _ => Arc::new(ReadyBody::new("application/json", writing.finish(), digest)?),
        };
        Ok(Self { version: changes.version, rows: writing.rows, body })
    }
}

/// What is known to have changed after some version.
struct Changes {
    /// The version now.
    version: i64,
    oldest_known: Option<i64>,
    loans: HashSet<Box<str>>,
}

impl Changes {
    async fn since(store: &mut Connection, since: i64) -> Result<Self, sqlx::Error> {
        let rows: Vec<(i64, Option<i64>, Option<Box<str>>)> =
            query_as(CHANGES).bind(since).fetch_all(store).await?;
        let &(version, oldest_known, _) = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        Ok(Self { version, oldest_known, loans: rows.into_iter().filter_map(|(_, _, loan)| loan).collect() })
    }

    /// Whether there was no change after version `since` but these.
    fn are_all_since(&self, since: i64) -> bool {
        since == self.version
            || since < self.version && self.oldest_known.is_some_and(|oldest| oldest <= since + 1)
    }
}

/// A body being written, row by row.
#[derive(Debug, Default)]
struct Writing {
    json: Vec<u8>,
    rows: Vec<KeptRow>,
}

impl Writing {
    async fn write_all<R: Row>(&mut self, store: &mut Connection) -> Result<(), Failure> {
        let mut rows = query_as::<R>(R::ALL).fetch(store);
        while let Some(row) = rows.try_next().await? {
            self.write(&row)?;
        }
        Ok(())
    }

    /// Writes what `before` holds, with the rows of changed loans as they are now.
    async fn patch<R: Row>(
        &mut self,
        store: &mut Connection,
        before: &KeptList,
        changed: &HashSet<Box<str>>,
    ) -> Result<(), Failure> {
        let anew: Vec<R> = query_as(R::CHANGED).bind(before.version).fetch_all(store).await?;
        let mut anew = anew.into_iter().peekable();
        self.json.reserve(before.body.plain().len());
        self.rows.reserve(before.rows.len());
        for row in before.rows.iter().filter(|row| !changed.contains(&row.loan_id)) {
            while let Some(earlier) = anew.next_if(|new| new.place() > row.place) {
                self.write(&earlier)?;
            }
            self.copy(row, before.body.plain());
        }
        anew.try_for_each(|row| self.write(&row))
    }

    fn write<R: Row>(&mut self, row: &R) -> Result<(), Failure> {
        let start = self.start_row();
        serde_json::to_writer(&mut self.json, row).map_err(|error| Failure::Internal(error.to_string()))?;
        self.rows.push(KeptRow {
            place: row.place(),
            loan_id: row.loan_id().into(),
            bytes: start..self.json.len(),
            digest: digest(&self.json[start..]),
        });
        Ok(())
    }

    fn copy(&mut self, row: &KeptRow, from: &Bytes) {
        let start = self.start_row();
        self.json.extend_from_slice(&from[row.bytes.clone()]);
        self.rows.push(KeptRow { bytes: start..self.json.len(), ..row.clone() });
    }

    fn start_row(&mut self) -> usize {
        self.json.push(if self.rows.is_empty() { b'[' } else { b',' });
        self.json.len()
    }

    /// Of the rows' digests rather than their bytes: the rows that did not change are not read
    /// through again.
    fn digest(&self) -> Digest {
        digest(self.rows.iter().map(|row| row.digest).collect::<Vec<_>>().as_flattened())
    }

    fn finish(&mut self) -> Bytes {
        if self.rows.is_empty() {
            self.json.push(b'[');
        }
        self.json.push(b']');
        std::mem::take(&mut self.json).into()
    }
}
