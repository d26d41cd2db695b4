//! The cached body of a list, and how it is refreshed.

use std::{collections::HashSet, ops::Range, sync::Arc};

use axum::body::Bytes;
use futures::TryStreamExt;
use serde_json::{Value, json};

use super::{Place, Row};
use crate::{
    database::{
        Connection, Database,
        changes::{Changes, Mark},
        query_as,
        versions::Versions,
    },
    error::Failure,
    http::ready_body::{Digest, ReadyBody, digest},
};

/// The body of a list at one version.
#[derive(Debug)]
pub struct CachedList {
    /// The copy of the data that it was read from.
    copy: u64,
    version: i64,
    /// What has been seen of the changes.
    mark: Mark,
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

impl CachedList {
    /// Whether it is the list at `versions` or later.
    pub fn is_since(&self, versions: Versions) -> bool {
        (self.copy, self.version) >= (versions.copy, versions.loans)
    }

    /// The body.
    pub fn body(&self) -> &Arc<ReadyBody> {
        &self.body
    }

    /// Reads the current list, at `versions` or later. If possible, reads only the rows that changed
    /// since `before`.
    pub async fn refresh<R: Row>(
        database: &Database,
        versions: Versions,
        before: Option<&Self>,
    ) -> Result<Self, Failure> {
        let before = before.filter(|before| before.copy == versions.copy);
        // One transaction, so that the mark matches the rows.
        let mut store = database.read().await?.begin().await?;
        let Changes { mark, loans } = Changes::since(&mut store, before.map(|before| &before.mark)).await?;
        let mut writer = BodyWriter::default();
        match (before, loans) {
            (Some(before), Some(changed)) => writer.patch::<R>(&mut store, before, &changed).await?,
            _ => writer.write_all::<R>(&mut store).await?,
        }
        store.end().await?;
        let digest = writer.digest();
        let body = match before {
            // Keeps the compressed forms of the unchanged body.
            Some(before) if before.body.digest() == digest => Arc::clone(&before.body),
            _ => Arc::new(ReadyBody::new("application/json", writer.finish(), digest)?),
        };
        let version = match mark {
            Mark::Version(version) => version,
            // It was read after the number, and has everything that the number stands for.
            Mark::Snapshot(_) => versions.loans,
        };
        Ok(Self { copy: versions.copy, version, mark, rows: writer.rows, body })
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
        let ids: Vec<Value> = changed.iter().map(|loan_id| json!({ "loan_id": loan_id })).collect();
        let updated: Vec<R> = match changed.len() {
            0 => Vec::new(),
            _ => query_as(R::CHANGED).bind(Value::from(ids).to_string()).fetch_all(store).await?,
        };
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
