//! A list's body, and how it is brought up to date.

use std::{collections::HashSet, ops::Range, sync::Arc};

use axum::body::Bytes;
use futures::TryStreamExt;

use super::{Place, Row};
use crate::{
    database::{Connection, Database, query_as, query_scalar},
    error::Failure,
    ready_body::{Digest, ReadyBody, digest},
    versions::Versions,
};

/// A list's body as of one version.
#[derive(Debug)]
pub struct Kept {
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

/// The oldest change that is still known.
const OLDEST_CHANGE: &str = "SELECT min(version) FROM loan_change";

const CHANGED_LOANS: &str = "SELECT DISTINCT loan_id FROM loan_change WHERE version > $1";

impl Kept {
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
        let mut moment = database.read().await?.hold_still().await?;
        let version = Versions::read(&mut moment).await?.loans;
        let mut writing = Writing::default();
        match before {
            Some(before) if knows_changes_since(&mut moment, before.version, version).await? => {
                writing.patch::<R>(&mut moment, before).await?;
            }
            _ => writing.write_all::<R>(&mut moment).await?,
        }
        moment.end().await?;
        let digest = writing.digest();
        let body = match before {
            // What was compressed before need not be again.
            Some(before) if before.body.digest() == digest => Arc::clone(&before.body),
            _ => Arc::new(ReadyBody::new("application/json", writing.finish(), digest)?),
        };
        Ok(Self { version, rows: writing.rows, body })
    }
}

/// Whether every change after version `since` is still known.
async fn knows_changes_since(moment: &mut Connection, since: i64, now: i64) -> Result<bool, sqlx::Error> {
    if since == now {
        return Ok(true);
    }
    let oldest: Option<i64> = query_scalar(OLDEST_CHANGE).fetch_one(moment).await?;
    Ok(since < now && oldest.is_some_and(|oldest| oldest <= since + 1))
}

/// A body being written, row by row.
#[derive(Debug, Default)]
struct Writing {
    json: Vec<u8>,
    rows: Vec<KeptRow>,
}

impl Writing {
    async fn write_all<R: Row>(&mut self, moment: &mut Connection) -> Result<(), Failure> {
        let mut rows = query_as::<R>(R::ALL).fetch(moment);
        while let Some(row) = rows.try_next().await? {
            self.write(&row)?;
        }
        Ok(())
    }

    /// Writes what `before` holds, with the rows of changed loans as they are now.
    async fn patch<R: Row>(&mut self, moment: &mut Connection, before: &Kept) -> Result<(), Failure> {
        let changed: Vec<Box<str>> =
            query_scalar(CHANGED_LOANS).bind(before.version).fetch_all(&mut *moment).await?;
        let changed: HashSet<Box<str>> = changed.into_iter().collect();
        let anew: Vec<R> = query_as(R::CHANGED).bind(before.version).fetch_all(moment).await?;
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
