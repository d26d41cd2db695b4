//! The two lists as cached response bodies that are never stale.
//!
//! Each list keeps its body, and the version of the data at which it was read. A call passes the current
//! version. If the kept body is older, the list is read again, once for all calls that wait.

mod page;

pub use page::PageQuery;

use std::sync::Arc;

use axum::{http::HeaderMap, response::Response};
use serde::Serialize;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use base::{clock::UnixMillis, error::Failure};
use store::{Database, Fetched, query_as, version::Version};
use web::ready_body::ReadyBody;

/// A row of a list as it is sent. Its queries order by place, latest first.
pub trait Row: Serialize + Fetched + 'static {
    const ALL: &'static str;
    /// Selects the `$3` rows that come after the place `($1, $2)`.
    const PAGE: &'static str;

    fn place(&self) -> Place;
}

/// The sort key of a row: its time, then its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub at: UnixMillis,
    pub id: Box<str>,
}

/// A list with the body that was read last. Clones share it.
#[derive(Debug)]
pub struct List<R>(Arc<Inner<R>>);

#[derive(Debug)]
struct Inner<R> {
    database: Database,
    kept: watch::Sender<Option<Kept>>,
    /// Held by the task that reads the list again.
    reading: Arc<Mutex<()>>,
    rows: std::marker::PhantomData<fn() -> R>,
}

/// The body of the list at a version of the data.
#[derive(Clone, Debug)]
struct Kept {
    version: Version,
    body: Arc<ReadyBody>,
}

impl<R> Clone for List<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Row> List<R> {
    pub fn of(database: Database) -> Self {
        Self(Arc::new(Inner {
            database,
            kept: watch::Sender::default(),
            reading: Arc::default(),
            rows: std::marker::PhantomData,
        }))
    }

    /// Answers a GET at `path` with the list at `version` or later, or with the requested page.
    pub async fn answer(
        &self,
        path: &str,
        version: Version,
        page: &PageQuery,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        if let Some(page) = page.wanted()? {
            return page::answer::<R>(&self.0.database, path, &page, headers).await;
        }
        self.body_since(version).await?.answer(headers).await
    }

    /// The rows of the requested page, and the cursor of the next page if there is one.
    pub async fn page(&self, page: &PageQuery) -> Result<(Vec<R>, Option<String>), Failure> {
        match page.wanted()? {
            Some(page) => page::read(&self.0.database, &page).await,
            None => Err(Failure::BadParameter("limit is required for a page".to_owned())),
        }
    }

    /// The body of the list at `version` or later. Equal lists have the same body.
    pub async fn body_since(&self, version: Version) -> Result<Arc<ReadyBody>, Failure> {
        let mut updates = self.0.kept.subscribe();
        loop {
            if let Some(body) = since(version, updates.borrow_and_update().as_ref()) {
                return Ok(body);
            }
            tokio::select! {
                biased;
                // Wakes all waiting calls at once; the lock alone would wake them one by one.
                Ok(()) = updates.changed() => {}
                guard = Arc::clone(&self.0.reading).lock_owned() => {
                    // A separate task, so that it is not cancelled when the caller disconnects:
                    // otherwise a list that takes longer than callers wait would never be read.
                    let read = tokio::spawn(Inner::read(Arc::clone(&self.0), version, guard));
                    return read.await.map_err(Failure::internal)?;
                }
            }
        }
    }
}

/// The kept body, if it is of `version` or later.
fn since(version: Version, kept: Option<&Kept>) -> Option<Arc<ReadyBody>> {
    kept.filter(|kept| kept.version >= version).map(|kept| Arc::clone(&kept.body))
}

impl<R: Row> Inner<R> {
    async fn read(
        self: Arc<Self>,
        version: Version,
        _guard: OwnedMutexGuard<()>,
    ) -> Result<Arc<ReadyBody>, Failure> {
        let before = self.kept.borrow().clone();
        if let Some(body) = since(version, before.as_ref()) {
            return Ok(body);
        }
        let json = self.read_json().await?;
        let body = match before {
            // Keeps the compressed forms of the unchanged body.
            Some(before) if *before.body.plain() == json => before.body,
            _ => Arc::new(ReadyBody::new("application/json", json.into())?),
        };
        self.kept.send_replace(Some(Kept { version, body: Arc::clone(&body) }));
        Ok(body)
    }

    /// All rows in JSON, encoded as they arrive.
    async fn read_json(&self) -> Result<Vec<u8>, Failure> {
        let mut reader = self.database.read().await?;
        let mut json = vec![b'['];
        let rows = query_as::<R>(R::ALL).for_each(&mut reader, |row| {
            if json.len() > 1 {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, &row).map_err(|error| sqlx::Error::Encode(error.into()))
        });
        rows.await?;
        json.push(b']');
        Ok(json)
    }
}
