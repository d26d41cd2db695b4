//! The data and the time that acts work on.

use std::sync::Arc;

use axum::http::request::Parts;
use tokio::sync::Mutex;

use crate::events::{Entry, EventKind, Trail};
use base::{
    clock::{Clock, Setting},
    error::Failure,
    randomness::Randomness,
    tasks::Tasks,
};
use settings::Settings;
use store::{Connection, Database, Transaction, query, query_as, version::SharedRead};
use traces::Kept;

/// One isolated instance of the data, with its clock. Clones share it.
#[derive(Clone)]
pub struct World(Arc<WorldState>);

pub struct WorldState {
    pub settings: Arc<Settings>,
    pub clock: Clock,
    pub randomness: Randomness,
    pub database: Database,
    /// Reads the current version of the data, one read for all waiting calls.
    pub shared_read: SharedRead,
    pub tasks: Tasks,
    pub traces: Kept,
    /// Held while the clock is loaded, so that an older setting never replaces a newer one.
    pub loading_clock: Mutex<()>,
    listener: Listener,
}

/// A function that is told what happened, before the call that caused it is answered.
pub type Listener = Box<dyn Fn(Happened) + Send + Sync>;

/// Something that happened and that interests others than its caller.
#[derive(Clone, Debug)]
pub enum Happened {
    /// A one-time code was sent in a message.
    CodeSent(String),
    PayoutSettled {
        status: String,
        /// Mobile money's result code; `None` if the request never reached it.
        result_code: Option<String>,
    },
    /// Another copy of the data was found in place, without `missing` answers that this server gave.
    DataCopyFound { missing: usize },
}

impl std::ops::Deref for World {
    type Target = WorldState;

    fn deref(&self) -> &WorldState {
        &self.0
    }
}

impl World {
    pub fn new(
        settings: Arc<Settings>,
        clock: Clock,
        randomness: Randomness,
        database: Database,
        shared_read: SharedRead,
        traces: Kept,
        listener: Listener,
    ) -> Self {
        let (tasks, loading_clock) = (Tasks::default(), Mutex::default());
        Self(Arc::new(WorldState {
            settings,
            clock,
            randomness,
            database,
            shared_read,
            tasks,
            traces,
            loading_clock,
            listener,
        }))
    }

    /// The world that a request is for, once that is known.
    pub fn of(parts: &Parts) -> Result<&Self, Failure> {
        parts.extensions.get().ok_or_else(|| Failure::Internal("the request has no world".to_owned()))
    }

    pub fn tell(&self, happened: Happened) {
        (self.listener)(happened);
    }

    /// Sets the clock to the stored setting.
    pub async fn load_clock(&self) -> Result<(), Failure> {
        let _guard = self.loading_clock.lock().await;
        let setting = stored_clock(&mut self.database.read().await?).await?;
        self.clock.set(setting);
        Ok(())
    }

    /// Sets the clock of all servers on the same database back to the real time.
    pub async fn unset_clock(&self, trail: &Trail) -> Result<(), Failure> {
        let unset =
            async |connection: &mut Connection| Ok(store_clock(connection, Setting::default()).await?);
        trail.write(self.database.begin().await?, [Entry::of(EventKind::ClockSet)], unset).await
    }

    /// Begins a transaction, after loading the clock if its setting is not the stored one: for background
    /// work that depends on the time. A reset or a restore, by any server, may have replaced the data, and
    /// pending payouts must not settle by the clock of the old data.
    pub async fn begin_with_current_clock(&self) -> Result<Transaction, Failure> {
        loop {
            let mut transaction = self.database.begin().await?;
            if stored_clock(&mut transaction).await? == self.clock.setting() {
                return Ok(transaction);
            }
            drop(transaction);
            self.load_clock().await?;
        }
    }
}

const STORED_CLOCK: &str = "SELECT offset_ms, frozen_at FROM clock_setting WHERE clock_id = 'sandbox'";

pub async fn stored_clock(connection: &mut Connection) -> Result<Setting, sqlx::Error> {
    let (offset_ms, frozen_at) = query_as(STORED_CLOCK).fetch_one(connection).await?;
    Ok(Setting { offset_ms, frozen_at })
}

const STORE_CLOCK: &str =
    "UPDATE clock_setting SET offset_ms = $1, frozen_at = $2 WHERE clock_id = 'sandbox'";

pub async fn store_clock(connection: &mut Connection, setting: Setting) -> Result<(), sqlx::Error> {
    query(STORE_CLOCK).bind(setting.offset_ms).bind(setting.frozen_at).run(connection).await
}
