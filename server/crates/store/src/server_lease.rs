//! The servers that run on a database. Each keeps a row, so that nobody replaces the data meanwhile, and one
//! of them does the work that is done once for all.
//!
//! They are rows rather than locks, because rows work through a pooler and expire by the engine's own clock.

use std::{
    sync::atomic::{AtomicBool, AtomicI64, Ordering},
    time::Duration,
};

use crate::{
    connection::Connection,
    database::Database,
    query::{query, query_as, query_scalar},
    version::SharedRead,
};
use base::{clock::UnixMillis, error::Failure, randomness::Randomness};

/// The time for which a server counts as running after its last renewal.
const TERM: Duration = Duration::from_secs(30);

/// The longest time that a lease has left. One with more is of a clock that was ahead, and counts for nobody.
const LONGEST: Duration = Duration::from_mins(1);

/// The interval between renewals of a lease, in real time.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);

/// The wait after a renewal that failed: until the next one, the server is not ready.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum wait of a stopping server for its row to be deleted.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The lease of one server.
#[derive(Debug)]
pub struct ServerLease {
    database: Database,
    shared_read: SharedRead,
    server_id: String,
    /// The count of renewals in the row, as this server left it.
    renewals: AtomicI64,
    /// `true` if the last renewal was written.
    is_renewed: AtomicBool,
}

const DELETE_INVALID: &str = "DELETE FROM server_lease WHERE expires_at <= $1 OR expires_at > $2";

const TAKE: &str = "
    INSERT INTO server_lease (server_id, expires_at, renewals) VALUES ($1, $2, $3)
    ON CONFLICT (server_id) DO UPDATE SET expires_at = excluded.expires_at, renewals = excluded.renewals";

const RENEW: &str = "
    UPDATE server_lease SET expires_at = $2, renewals = $3 + 1 WHERE server_id = $1 AND renewals = $3";

const END: &str = "DELETE FROM server_lease WHERE server_id = $1";

const FIRST: &str = "SELECT min(server_id) FROM server_lease WHERE expires_at > $1 AND expires_at <= $2";

const LATEST_END: &str =
    "SELECT max(expires_at) FROM server_lease WHERE expires_at > $1 AND expires_at <= $2";

impl ServerLease {
    /// Takes the lease of a new server; [`Failure::Unavailable`] also if the database is held by somebody else.
    pub async fn take(database: &Database, shared_read: &SharedRead) -> Result<Self, Failure> {
        let at = database.read().await?.engine_now().await?;
        let lease = Self {
            database: database.clone(),
            shared_read: shared_read.clone(),
            server_id: Randomness::from_os().id(at),
            renewals: AtomicI64::default(),
            is_renewed: AtomicBool::new(true),
        };
        lease.store().await?;
        Ok(lease)
    }

    async fn store(&self) -> Result<(), Failure> {
        let (server_id, renewals) = (self.server_id.clone(), self.renewals.load(Ordering::Acquire));
        self.database
            .write_in_turn(async move |connection: &mut Connection| {
                let now = connection.engine_now().await?;
                query(DELETE_INVALID).bind_all((now, now.plus(LONGEST))).execute(&mut *connection).await?;
                Ok(query(TAKE).bind_all((server_id, now.plus(TERM), renewals)).run(connection).await?)
            })
            .await
    }

    /// Renews the lease every few seconds, for as long as the future is polled.
    pub async fn keep(&self) {
        let mut wait = RENEWAL_INTERVAL;
        loop {
            tokio::time::sleep(wait).await;
            wait = RENEWAL_INTERVAL;
            if let Err(failure) = self.renew().await {
                tracing::warn!(?failure, "server_lease.not_renewed");
                wait = RETRY_INTERVAL;
            }
        }
    }

    /// Returns whether the last renewal was written. If not, the database can't be written, or its disk is full.
    pub fn is_renewed(&self) -> bool {
        self.is_renewed.load(Ordering::Acquire)
    }

    /// Renews the lease. If its row is not as this server left it, another copy of the data was put in
    /// place, and everything cached is forgotten.
    pub async fn renew(&self) -> Result<(), Failure> {
        let (server_id, renewals) = (self.server_id.clone(), self.renewals.fetch_add(1, Ordering::AcqRel));
        let renewed = self.database.write_in_turn(async move |connection: &mut Connection| {
            let now = connection.engine_now().await?;
            let renewed = query(RENEW).bind_all((server_id, now.plus(TERM), renewals));
            Ok(renewed.execute(connection).await? == 1)
        });
        let renewed = renewed.await;
        self.is_renewed.store(renewed.is_ok(), Ordering::Release);
        match renewed {
            Ok(true) => Ok(()),
            Ok(false) => {
                tracing::warn!("this server's lease was lost, perhaps with the data");
                self.shared_read.forget();
                self.store().await
            }
            Err(failure) => {
                // If this renewal was committed after all, the row is one ahead, and the next renewal reports another
                // copy of the data.
                self.renewals.fetch_sub(1, Ordering::AcqRel);
                Err(failure)
            }
        }
    }

    /// Returns whether this server does the work that one server does for all.
    pub async fn is_first(&self) -> Result<bool, Failure> {
        let mut reader = self.database.read().await?;
        let now = reader.engine_now().await?;
        let first: Option<String> =
            query_scalar(FIRST).bind_all((now, now.plus(LONGEST))).fetch_one(&mut reader).await?;
        Ok(first.is_none_or(|first| first == self.server_id))
    }

    /// Deletes the row, so that nobody has to wait until it expires.
    pub async fn end(&self) {
        let ended = self.database.execute_in_turn(query(END).bind(&self.server_id));
        if !matches!(tokio::time::timeout(END_TIMEOUT, ended).await, Ok(Ok(_))) {
            tracing::warn!("server_lease.not_ended");
        }
    }
}

/// Returns the time until the last of all servers' leases expires, unless it is renewed; `None` if no server
/// runs on the database.
pub async fn held_for(connection: &mut Connection) -> Result<Option<Duration>, sqlx::Error> {
    let now = connection.engine_now().await?;
    let latest = query_as(LATEST_END).bind_all((now, now.plus(LONGEST))).fetch_one(connection);
    let (latest,): (Option<UnixMillis>,) = latest.await?;
    Ok(latest.map(|latest| latest.since(now)))
}
