//! Connections to PostgreSQL that several schemas share.
//!
//! A statement stays planned for the search path that it was planned with, so a connection that goes from
//! schema to schema would plan each statement anew. Each schema therefore has statements of its own, by a
//! comment that names it, and a connection that it uses first, where they are prepared (measured with 64
//! sandboxes in use: about 190 payouts a second instead of 124).

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use sqlx::{
    Connection as _, PgPool, Postgres,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{Connection, Reader};

/// How long a connection is kept without being used.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a connection may have been idle to be used without a check that it still works.
const CHECK_AFTER: Duration = Duration::from_secs(1);

/// How long to wait for the connection where a schema's statements are prepared: to prepare them on another one takes
/// longer (measured with 64 sandboxes in use: 235 payouts a second instead of 202).
const WORTH_A_WAIT: Duration = Duration::from_millis(5);

/// Connections that schemas share.
#[derive(Clone, Debug)]
pub(super) struct SharedConnections {
    /// One connection each, made when it is first needed.
    each: Arc<[PgPool]>,
    /// Whether there is a pooler in transaction mode.
    is_pooled: bool,
}

impl SharedConnections {
    /// At most `count` connections, for each of which a schema waits for `patience` at most.
    pub fn new(options: &PgConnectOptions, count: usize, is_pooled: bool, patience: Duration) -> Self {
        let one = || {
            PgPoolOptions::new()
                .max_connections(1)
                .acquire_timeout(patience)
                .idle_timeout(IDLE_TIMEOUT)
                .test_before_acquire(false)
                .before_acquire(|connection, meta| {
                    Box::pin(async move {
                        if meta.idle_for > CHECK_AFTER {
                            connection.ping().await?;
                        }
                        Ok(true)
                    })
                })
                .connect_lazy_with(options.clone())
        };
        Self { each: (0..count).map(|_| one()).collect(), is_pooled }
    }

    /// The connection that `schema` uses first; if that is in use for longer, one that is not.
    pub async fn acquire(&self, schema: &str) -> Result<Connection, sqlx::Error> {
        let mut hasher = DefaultHasher::new();
        schema.hash(&mut hasher);
        let count = self.each.len() as u64;
        let home = usize::try_from(hasher.finish() % count).unwrap_or_default();
        let connection = self.first_free(home).await?;
        Ok(Reader::postgres(connection, self.is_pooled).into_inner().of_schema(schema))
    }

    async fn first_free(&self, home: usize) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        let is_free = |one: &&PgPool| one.num_idle() > 0 || one.size() == 0;
        let (before, after) = self.each.split_at(home);
        let home = &self.each[home];
        if !is_free(&home)
            && let Ok(acquired) = tokio::time::timeout(WORTH_A_WAIT, home.acquire()).await
        {
            return acquired;
        }
        after.iter().chain(before).find(is_free).unwrap_or(home).acquire().await
    }

    /// How many connections are idle, and how many there are.
    pub fn load(&self) -> (usize, u32) {
        let idle = self.each.iter().map(PgPool::num_idle).sum();
        (idle, self.each.iter().map(PgPool::size).sum())
    }

    /// How to connect.
    pub fn options(&self) -> Arc<PgConnectOptions> {
        self.each[0].connect_options()
    }

    /// Whether there is a pooler in transaction mode.
    pub fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// Closes all connections.
    pub async fn close(&self) {
        for one in &*self.each {
            one.close().await;
        }
    }
}
