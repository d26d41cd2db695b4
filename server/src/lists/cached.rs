//! The cached body of a list, and how it is refreshed.

use std::{collections::HashSet, ops::Range, sync::Arc};

use axum::body::Bytes;
use futures::TryStreamExt;

use super::{Place, Row};
use crate::{
    database::{Connection, Database, query_as, versions::Versions},
    error::Failure,
    http::ready_body::{Digest, ReadyBody, digest},
};

/// The body of a list at one version.
#[derive(Debug)]
pub struct CachedList {
    /// The copy of the data that it was read from.
    copy: u64,
    version: i64,
    rows: Vec<CachedRow>,
    body: Arc<ReadyBody>,
}

/// The position of a row in the list and in its body.
#[derive(Clone, Debug)]
struct CachedRow {
    place: Place,
    loan_id: Box<str>,
    bytes: Range<usize>,
    digest: Digest,
}

/// The version, the oldest change that is still recorded, and each loan that changed after version
/// `$1`. One statement, because each costs a round trip to the database.
const CHANGES: &str = "
    SELECT DISTINCT value, (SELECT min(version) FROM loan_change), loan_id
    FROM version LEFT JOIN loan_change ON loan_change.version > $1
    WHERE name = 'loans'";

impl CachedList {
    /// Whether it is the list at `versions` or later.
    pub fn is_since(&self, versions: Versions) -> bool {
        (self.copy, self.version) >= (versions.copy, versions.loans)
    }

    /// The body.
    pub fn body(&self) -> &Arc<ReadyBody> {
        &self.body
    }

    /// Reads the current list of a `copy` of the data. If possible, reads only the rows that changed
    /// since `before`.
    pub async fn refresh<R: Row>(
        database: &Database,
        copy: u64,
        before: Option<&Self>,
    ) -> Result<Self, Failure> {
        let before = before.filter(|before| before.copy == copy);
        // One transaction, so that the version matches the rows.
        let mut store = database.read().await?.begin().await?;
        let changes = Changes::since(&mut store, before.map_or(i64::MAX, |before| before.version)).await?;
        let mut writer = BodyWriter::default();
        match before {
            Some(before) if changes.are_all_since(before.version) => {
                writer.patch::<R>(&mut store, before, &changes.loans).await?;
            }
            _ => writer.write_all::<R>(&mut store).await?,
        }
        store.end().await?;
        let digest = writer.digest();
        let body = match before {
            // Keeps the compressed forms of the unchanged body.
            Some(before) if before.body.digest() == digest => Arc::clone(&before.body),
            _ => Arc::new(ReadyBody::new("application/json", writer.finish(), digest)?),
        };
        Ok(Self { copy, version: changes.version, rows: writer.rows, body })
    }
}

/// The changes recorded after a version.
struct Changes {
    /// The current version.
    version: i64,
    oldest_recorded: Option<i64>,
    loans: HashSet<Box<str>>,
}

impl Changes {
    async fn since(store: &mut Connection, since: i64) -> Result<Self, sqlx::Error> {
        let rows: Vec<(i64, Option<i64>, Option<Box<str>>)> =
            query_as(CHANGES).bind(since).fetch_all(store).await?;
        let &(version, oldest_recorded, _) = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        Ok(Self {
            version,
            oldest_recorded,
            loans: rows.into_iter().filter_map(|(_, _, loan)| loan).collect(),
        })
    }

    /// Whether these are all changes after version `since`.
    fn are_all_since(&self, since: i64) -> bool {
        since == self.version
            || since < self.version && self.oldest_recorded.is_some_and(|oldest| oldest <= since + 1)
    }
}

/// Writes a body row by row.
#[derive(Debug, Default)]
struct BodyWriter {
    json: Vec<u8>,
    rows: Vec<CachedRow>,
}

impl BodyWriter {
    async fn write_all<R: Row>(&mut self, store: &mut Connection) -> Result<(), Failure> {
        let mut rows = query_as::<R>(R::ALL).fetch(store);
        while let Some(row) = rows.try_next().await? {
            self.write(&row)?;
        }
        Ok(())
    }

    /// Writes the rows of `before`, with the rows of changed loans replaced by current ones.
    async fn patch<R: Row>(
        &mut self,
        store: &mut Connection,
        before: &CachedList,
        changed: &HashSet<Box<str>>,
    ) -> Result<(), Failure> {
        let updated: Vec<R> = query_as(R::CHANGED).bind(before.version).fetch_all(store).await?;
        let mut updated = updated.into_iter().peekable();
        self.json.reserve(before.body.plain().len());
        self.rows.reserve(before.rows.len());
        for row in before.rows.iter().filter(|row| !changed.contains(&row.loan_id)) {
            while let Some(earlier) = updated.next_if(|new| new.place() > row.place) {
                self.write(&earlier)?;
            }
            self.copy(row, before.body.plain());
        }
        updated.try_for_each(|row| self.write(&row))
    }

    fn write<R: Row>(&mut self, row: &R) -> Result<(), Failure> {
        let start = self.start_row();
        serde_json::to_writer(&mut self.json, row).map_err(|error| Failure::Internal(error.to_string()))?;
        self.rows.push(CachedRow {
            place: row.place(),
            loan_id: row.loan_id().into(),
            bytes: start..self.json.len(),
            digest: digest(&self.json[start..]),
        });
        Ok(())
    }

    fn copy(&mut self, row: &CachedRow, from: &Bytes) {
        let start = self.start_row();
        self.json.extend_from_slice(&from[row.bytes.clone()]);
        self.rows.push(CachedRow { bytes: start..self.json.len(), ..row.clone() });
    }

    fn start_row(&mut self) -> usize {
        self.json.push(if self.rows.is_empty() { b'[' } else { b',' });
        self.json.len()
    }

    /// The digest of the rows' digests, so that unchanged rows are not hashed again.
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
