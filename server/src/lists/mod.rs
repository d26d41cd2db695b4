//! The two lists as bodies: kept ready, and never stale.
//!
//! Each list keeps its body, the version it was read at, and where in it each row stands. A call
//! brings the version as it is now; when the kept one is older, the rows of the loans that changed
//! since are read and put in their places, and nothing else is read or written anew. Measured with
//! 10,000 loans: to read and write all of them for each call manages 9 calls a second.

mod kept;
mod page;

pub use page::PageQuery;

use std::sync::Arc;

use axum::{http::HeaderMap, response::Response};
use serde::Serialize;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use self::kept::KeptList;
use crate::{
    clock::UnixMillis,
    database::versions::Versions,
    database::{Database, Fetched},
    error::Failure,
};

/// A row of a list, the way it is sent. Its queries order by place, the latest first.
pub trait Row: Serialize + Fetched + 'static {
    /// Selects all rows.
    const ALL: &'static str;
    /// Selects the rows of the loans that changed after version `$1`.
    const CHANGED: &'static str;
    /// Selects the `$3` rows that come after the place `($1, $2)`.
    const PAGE: &'static str;

    /// Where the row stands.
    fn place(&self) -> Place;
    /// The loan that it tells of.
    fn loan_id(&self) -> &str;
}

/// Where a row stands among the others: by time, and by id where times are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When what the row tells of happened.
    pub at: UnixMillis,
    /// The row's id.
    pub id: Box<str>,
}

/// A list whose body is kept. Clones are the same one.
#[derive(Debug)]
pub struct List<R>(Arc<Inner<R>>);

#[derive(Debug)]
struct Inner<R> {
    database: Database,
    kept: watch::Sender<Option<Arc<KeptList>>>,
    /// Held by the one who brings `kept` up to date.
    renewing: Arc<Mutex<()>>,
    rows: std::marker::PhantomData<fn() -> R>,
}

impl<R: Row> List<R> {
    /// The list of what `database` holds.
    pub fn of(database: Database) -> Self {
        Self(Arc::new(Inner {
            database,
            kept: watch::Sender::default(),
            renewing: Arc::default(),
            rows: std::marker::PhantomData,
        }))
    }

    /// Answers a GET at `path`: the list at `versions` or later, or the page of it that `page` asks for.
    pub async fn answer(
        &self,
        path: &str,
        versions: Versions,
        page: &PageQuery,
        asked: &HeaderMap,
    ) -> Result<Response, Failure> {
        if let Some(page) = page.wanted()? {
            return page::answer::<R>(&self.0.database, path, &page, asked).await;
        }
        self.kept_since(versions.loans).await?.body().answer(asked).await
    }

    /// The rows of the page that `page` asks for, and the cursor of the next if there is one.
    ///
    /// # Errors
    /// [`Failure::BadParameter`].
    pub async fn page(&self, page: &PageQuery) -> Result<(Vec<R>, Option<String>), Failure> {
        match page.wanted()? {
            Some(page) => page::read(&self.0.database, &page).await,
            None => Err(Failure::BadParameter("a page needs a limit".to_owned())),
        }
    }

    async fn kept_since(&self, version: i64) -> Result<Arc<KeptList>, Failure> {
        let mut news = self.0.kept.subscribe();
        loop {
            if let Some(kept) = since(version, news.borrow_and_update().as_ref()) {
                return Ok(kept);
            }
            tokio::select! {
                biased;
                // All who wait hear of it at once; the lock alone would let them go one by one.
                Ok(()) = news.changed() => {}
                alone = Arc::clone(&self.0.renewing).lock_owned() => {
                    // A task of its own: were it dropped with a caller who lost patience, nobody
                    // would ever finish where a long list takes longer than callers wait.
                    let renewed = tokio::spawn(Inner::renew(Arc::clone(&self.0), version, alone));
                    return renewed.await.map_err(|panicked| Failure::Internal(panicked.to_string()))?;
                }
            }
        }
    }
}

/// What is kept, when it is of `version` or later.
fn since(version: i64, kept: Option<&Arc<KeptList>>) -> Option<Arc<KeptList>> {
    kept.filter(|kept| kept.version() >= version).map(Arc::clone)
}

impl<R: Row> Inner<R> {
    async fn renew(
        self: Arc<Self>,
        version: i64,
        _alone: OwnedMutexGuard<()>,
    ) -> Result<Arc<KeptList>, Failure> {
        let before = self.kept.borrow().clone();
        if let Some(kept) = since(version, before.as_ref()) {
            return Ok(kept);
        }
        let kept = Arc::new(KeptList::renew::<R>(&self.database, before.as_deref()).await?);
        self.kept.send_replace(Some(Arc::clone(&kept)));
        Ok(kept)
    }
}
