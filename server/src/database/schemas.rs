//! Databases that are a schema each of one PostgreSQL database, on connections that they share.
//!
//! Every read and every write is a transaction that sets the search path for itself, so that it works
//! through a pooler that passes connections on between transactions, and with few connections for many
//! schemas.

use std::{
    fmt::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::try_join_all;
use scopeguard::ScopeGuard;
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr, postgres::PgConnectOptions};
use tokio::sync::Semaphore;

use super::{
    CONNECT_TIMEOUT, Connection, Database, MAX_BATCH_SIZE, POSTGRES_MIGRATIONS, Reader, Readers,
    SharedConnections, query, query_as, query_scalar, writer,
};
use crate::clock::Setting;

/// The connections of all schemas together: to read, to write, and to create and to drop schemas, which takes
/// long enough that payouts must not wait for it.
const ALL_READERS: usize = 8;
const ALL_WRITERS: usize = 4;
const ALL_MAKERS: usize = 2;

/// How long a write waits for its turn: dozens of schemas may be used for the first time at once, each of which
/// takes PostgreSQL about 0.1 s then.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// The statements that a connection keeps prepared: some fifteen for each schema in use.
const STATEMENTS: usize = 2048;

/// The reading connections that one schema may use at a time.
const READERS_EACH: usize = 3;

/// The most spares: about as many as test workers begin at once.
const MAX_SPARES: usize = 8;

/// What every transaction of a writing connection has set. A commit survives the servers, but not a power
/// failure of the database's machine at once: nothing in a sandbox is real.
const WRITER_SETTINGS: [(&str, &str); 7] = [
    ("synchronous_commit", "off"),
    ("lock_timeout", "5s"),
    ("statement_timeout", "20s"),
    ("idle_in_transaction_session_timeout", "10s"),
    ("enable_seqscan", "off"),
    ("jit", "off"),
    ("client_min_messages", "warning"),
];

/// A statement is planned once, not five times more: there are as many of each as there are schemas.
const PLANS: [(&str, &str); 1] = [("plan_cache_mode", "force_generic_plan")];

/// The connections that all schemas of a database share.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    readers: SharedConnections,
    writers: SharedConnections,
    makers: SharedConnections,
    /// Schemas with empty tables that nobody uses yet. Until PostgreSQL 17 it flushes each new index to disk by
    /// itself, some 115 of them here (measured with a flush of 4 ms: 560 ms for a schema, 45 ms without flushes).
    spares: Arc<Mutex<Vec<String>>>,
}

/// One schema, and its connections.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    name: Arc<str>,
    readers: SharedConnections,
    /// So that one schema does not take all connections.
    slots: Arc<Semaphore>,
}

/// What a new schema is made of.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// The statements that create it and its empty tables, with `{schema}` for its name.
    tables: Arc<str>,
    /// The statements that fill the tables.
    content: Arc<str>,
}

/// A table of a template, and whether its rows are numbered by the engine.
type Table = (String, bool);

const TABLES: &str = "
    SELECT class.relname::text, EXISTS (
        SELECT FROM pg_attribute AS attribute
        WHERE attribute.attrelid = class.oid AND attribute.attname = 'position' AND attribute.attidentity <> '')
    FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = $1 AND class.relkind = 'r' ORDER BY class.oid";

/// The tables whose content is of a database, not of its data, and those that triggers fill.
const NOT_COPIED: [&str; 9] = [
    "_sqlx_migrations",
    "version",
    "loan_change",
    "loan_feed",
    "loan_feed_start",
    "server_lease",
    "write_turn",
    "payout_sum",
    "payout_sum_change",
];

const MAIN_SCHEMA: &str = "SELECT current_schema()::text";

const NAMES: &str = "
    SELECT nspname::text FROM pg_namespace
    WHERE nspname LIKE 'mkopo\\_sandbox\\_%' OR nspname LIKE 'mkopo\\_template\\_%'
       OR nspname LIKE 'mkopo\\_removed\\_%'";

const SIZES: &str = "
    SELECT namespace.nspname::text, CAST(COALESCE(sum(pg_total_relation_size(class.oid)), 0) AS BIGINT)
    FROM pg_namespace AS namespace
    LEFT JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relkind = 'r'
    WHERE namespace.nspname LIKE 'mkopo\\_sandbox\\_%' GROUP BY namespace.nspname";

const SET_CLOCK: &str = "UPDATE clock_setting SET offset_ms = $1, frozen_at = $2 WHERE clock_id = 'sandbox'";

const LATEST_MIGRATION: &str = "SELECT max(version) FROM _sqlx_migrations";

const ADD_MIGRATION: &str = "
    INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES ($1, $2, true, decode($3, 'hex'), 0)";

fn sql(text: String) -> SqlStr {
    AssertSqlSafe(text).into_sql_str()
}

impl Schemas {
    /// Beside the tables that are read with `options`, through a pooler in transaction mode if it `is_pooled`.
    pub fn beside(options: &PgConnectOptions, is_pooled: bool) -> Self {
        let mut options = options.clone();
        if !is_pooled {
            options = options.statement_cache_capacity(STATEMENTS).options(PLANS);
        }
        let readers = SharedConnections::new(&options, ALL_READERS, is_pooled, CONNECT_TIMEOUT);
        if !is_pooled {
            options = options.options(WRITER_SETTINGS);
        }
        let writers = SharedConnections::new(&options, ALL_WRITERS, is_pooled, TURN_TIMEOUT);
        let makers = SharedConnections::new(&options, ALL_MAKERS, is_pooled, TURN_TIMEOUT);
        Self { readers, writers, makers, spares: Arc::default() }
    }

    /// A connection to `schema`, outside of a transaction.
    async fn connection(&self, schema: &str) -> Result<Connection, sqlx::Error> {
        self.writers.acquire(schema).await
    }

    /// Runs `work` in a transaction of its own on one of `connections`, in which `schema` is the search path.
    async fn in_transaction<T>(
        connections: &SharedConnections,
        schema: &str,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let connection = connections.acquire(schema).await?;
        // Also if the caller is cancelled: in the pool, the next user's commit would commit this transaction.
        let mut connection = scopeguard::guard(connection, |mut connection| connection.discard());
        let outcome = async {
            connection.command(sql(begin_alone(schema, connections.is_pooled()))).await?;
            let done = work(&mut connection).await?;
            connection.command("COMMIT").await?;
            Ok(done)
        };
        let outcome = outcome.await;
        if outcome.is_ok() || connection.command("ROLLBACK").await.is_ok() {
            drop(ScopeGuard::into_inner(connection));
        }
        outcome
    }

    /// Creates the empty tables of `schema`.
    pub async fn create_empty(&self, schema: &str) -> Result<(), sqlx::Error> {
        let main = self.main_schema().await?;
        let script = tables(&main).replace(NAME, schema);
        let create = async |connection: &mut Connection| connection.command(sql(script)).await;
        Self::in_transaction(&self.makers, schema, create).await
    }

    /// Creates `schema` as `script` has it, with the clock as `setting` has it: of a spare, if there is one.
    pub async fn create(&self, schema: &str, script: &Script, setting: Setting) -> Result<(), sqlx::Error> {
        let spare = self.spares().pop();
        if let Some(spare) = spare {
            let rename = format!("ALTER SCHEMA \"{spare}\" RENAME TO \"{schema}\"");
            match self.create_by(rename, schema, script, setting).await {
                Ok(()) => return Ok(()),
                // It was deleted, as what nobody uses is after a day.
                Err(failure) => tracing::warn!(?failure, "sandboxes.spare_not_used"),
            }
        }
        self.create_by(script.tables.replace(NAME, schema), schema, script, setting).await
    }

    async fn create_by(
        &self,
        tables: String,
        schema: &str,
        script: &Script,
        setting: Setting,
    ) -> Result<(), sqlx::Error> {
        let script = format!("{tables};\n{}", script.content);
        Self::in_transaction(&self.makers, schema, async |connection| {
            connection.command(sql(script)).await?;
            if setting != Setting::default() {
                query(SET_CLOCK).bind(setting.offset_ms).bind(setting.frozen_at).execute(connection).await?;
            }
            Ok(())
        })
        .await
    }

    /// Makes the spare `schema`, unless there are enough.
    pub async fn make_spare(&self, schema: String) -> Result<(), sqlx::Error> {
        let count = self.spares().len();
        if count < MAX_SPARES {
            self.create_empty(&schema).await?;
            self.spares().push(schema);
        }
        Ok(())
    }

    fn spares(&self) -> MutexGuard<'_, Vec<String>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to create a schema with the content of `template`.
    pub async fn script_of(&self, template: &str) -> Result<Script, sqlx::Error> {
        let tables = tables(&self.main_schema().await?);
        let mut content = String::new();
        let mut connection = self.connection(template).await?;
        let found: Vec<Table> = query_as(TABLES).bind(template).fetch_all(&mut connection).await?;
        for (table, is_numbered) in found {
            if NOT_COPIED.contains(&table.as_str()) {
                continue;
            }
            let count = sql(format!("SELECT count(*) FROM \"{template}\".{table}"));
            let rows: i64 = query_scalar(count).fetch_one(&mut connection).await?;
            if rows == 0 {
                continue;
            }
            let from = format!("\"{template}\".{table}");
            _ = writeln!(content, "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {from};");
            if is_numbered {
                let sequence = format!("pg_get_serial_sequence('{table}', 'position')");
                _ = writeln!(content, "SELECT setval({sequence}, max(position)) FROM {table};");
            }
        }
        Ok(Script { tables: tables.into(), content: content.into() })
    }

    async fn main_schema(&self) -> Result<String, sqlx::Error> {
        query_scalar(MAIN_SCHEMA).fetch_one(&mut self.connection(ANY).await?).await
    }

    /// Opens `schema`, which must exist, and migrates it if it is of an earlier release.
    pub async fn open(&self, schema: &str) -> Result<Database, sqlx::Error> {
        self.migrate(schema).await?;
        let name: Arc<str> = schema.into();
        let readers = Readers::Schema(Schema {
            name: Arc::clone(&name),
            readers: self.readers.clone(),
            slots: Arc::new(Semaphore::new(READERS_EACH)),
        });
        let begin = format!("{}; SAVEPOINT work", begin_alone(&name, self.writers.is_pooled()));
        let target = writer::Target::Schema(self.writers.clone(), name, begin.into());
        Ok(Database::with(readers, target, None, Vec::new(), MAX_BATCH_SIZE))
    }

    async fn migrate(&self, schema: &str) -> Result<(), sqlx::Error> {
        Self::in_transaction(&self.writers, schema, async |connection| {
            let is: Option<i64> = query_scalar(LATEST_MIGRATION).fetch_one(connection).await?;
            for migration in POSTGRES_MIGRATIONS.iter().filter(|migration| Some(migration.version) > is) {
                connection.command(migration.sql.clone()).await?;
                query(ADD_MIGRATION)
                    .bind(migration.version)
                    .bind(&*migration.description)
                    .bind(hex::encode(&migration.checksum))
                    .execute(connection)
                    .await?;
            }
            Ok(())
        })
        .await
    }

    /// Drops `schema`, if it exists.
    pub async fn drop(&self, schema: &str) -> Result<(), sqlx::Error> {
        let mut connection = self.makers.acquire(schema).await?;
        // Whoever still uses it has a moment left.
        let statement = format!(
            "BEGIN READ WRITE; SET LOCAL lock_timeout = '5s'; SET LOCAL client_min_messages = error;
             DROP SCHEMA IF EXISTS \"{schema}\" CASCADE; COMMIT"
        );
        let dropped = connection.command(sql(statement)).await;
        if dropped.is_err() && connection.command("ROLLBACK").await.is_err() {
            connection.discard();
        }
        dropped
    }

    /// The names of all schemas that were made here.
    pub async fn names(&self) -> Result<Vec<String>, sqlx::Error> {
        query_scalar(NAMES).fetch_all(&mut self.connection(ANY).await?).await
    }

    /// The sizes of the schemas of sandboxes in bytes, by name.
    pub async fn sizes(&self) -> Result<Vec<(String, i64)>, sqlx::Error> {
        query_as(SIZES).fetch_all(&mut self.connection(ANY).await?).await
    }

    /// Deletes the spares; what can't be deleted counts as left by a server that died.
    pub async fn drop_spares(&self) -> Result<(), sqlx::Error> {
        let spares = std::mem::take(&mut *self.spares());
        try_join_all(spares.iter().map(|spare| self.drop(spare))).await?;
        Ok(())
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
        self.makers.close().await;
    }
}

impl Schema {
    /// A connection that sees all commits so far, in a transaction of its own.
    pub async fn read(&self) -> Result<Reader, sqlx::Error> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)?;
        let begin = sql(begin_reading(&self.name, "READ COMMITTED"));
        let mut connection = self.readers.acquire(&self.name).await?;
        if let Err(error) = connection.command(begin.clone()).await {
            connection.discard();
            // It broke while it was idle.
            if !matches!(error, sqlx::Error::Io(_)) {
                return Err(error);
            }
            connection = self.readers.acquire(&self.name).await?;
            connection.command(begin).await.inspect_err(|_| connection.discard())?;
        }
        Ok(Reader::in_schema(connection, Arc::clone(&self.name), slot))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection outside of a transaction, for statements that name the schema themselves.
    pub async fn connection(&self) -> Result<Connection, sqlx::Error> {
        self.readers.acquire(&self.name).await
    }

    /// The reading connections of all schemas.
    pub fn readers(&self) -> &SharedConnections {
        &self.readers
    }
}

/// Begins a transaction that reads `schema`.
pub(super) fn begin_reading(schema: &str, level: &str) -> String {
    format!("BEGIN ISOLATION LEVEL {level}, READ ONLY; SET LOCAL search_path TO \"{schema}\"")
}

/// Begins a transaction that writes to `schema`, one at a time over all servers. A pooler may pass the
/// connection on, so the settings are the transaction's own there.
fn begin_alone(schema: &str, is_pooled: bool) -> String {
    let mut begin =
        format!("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SET LOCAL search_path TO \"{schema}\"; ");
    if is_pooled {
        for (setting, value) in WRITER_SETTINGS {
            _ = write!(begin, "SET LOCAL {setting} = '{value}'; ");
        }
    }
    begin + &format!("SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 0))")
}

/// For statements that name no schema, or those of PostgreSQL itself.
const ANY: &str = "";

/// Stands for the name of the schema in a script.
const NAME: &str = "{schema}";

/// The statements that create a schema and its empty tables. `main` has those of the deployment, which may
/// be of a newer release.
fn tables(main: &str) -> String {
    let mut script = format!("CREATE SCHEMA \"{NAME}\";\n");
    for migration in POSTGRES_MIGRATIONS.iter() {
        script.push_str(migration.sql.as_str());
        script.push_str(";\n");
    }
    let latest = POSTGRES_MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default();
    let applied = format!("\"{main}\"._sqlx_migrations");
    script
        + &format!(
            "CREATE TABLE _sqlx_migrations (LIKE {applied} INCLUDING ALL);
             INSERT INTO _sqlx_migrations SELECT * FROM {applied} WHERE version <= {latest};\n"
        )
}
