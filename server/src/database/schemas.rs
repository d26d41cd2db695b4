//! Databases that are a schema each of one PostgreSQL database, on connections that they share.
//!
//! Every read and every write is a transaction that sets the search path for itself, so that it works
//! through a pooler that passes connections on between transactions, and with few connections for many
//! schemas.

use std::{fmt::Write, sync::Arc, time::Duration};

use sqlx::{AssertSqlSafe, PgPool, SqlSafeStr, SqlStr, postgres::PgPoolOptions};
use tokio::sync::Semaphore;

use super::{
    CONNECT_TIMEOUT, Connection, Database, MAX_BATCH_SIZE, POSTGRES_MIGRATIONS, Reader, Readers, query,
    query_as, query_scalar, writer,
};
use crate::clock::Setting;

/// The connections to read and to write of all schemas together.
const ALL_READERS: u32 = 8;
const ALL_WRITERS: u32 = 4;

/// The reading connections that one schema may use at a time.
const READERS_EACH: usize = 3;

/// How long a connection is kept without being used.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// The connections that all schemas of a database share.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    readers: PgPool,
    writers: PgPool,
    /// Whether there is a pooler in transaction mode.
    is_pooled: bool,
}

/// One schema, and its connections.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    name: Arc<str>,
    readers: PgPool,
    is_pooled: bool,
    /// So that one schema does not take all connections.
    slots: Arc<Semaphore>,
}

/// What a new schema is made of: the statements that create it, with `{schema}` for its name.
#[derive(Clone, Debug)]
pub(super) struct Script(Arc<str>);

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
    /// Beside the tables that `readers` read.
    pub fn beside(readers: &PgPool, is_pooled: bool) -> Self {
        let options = readers.connect_options();
        let pool = |connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(CONNECT_TIMEOUT)
                .idle_timeout(IDLE_TIMEOUT)
                .connect_lazy_with((*options).clone())
        };
        Self { readers: pool(ALL_READERS), writers: pool(ALL_WRITERS), is_pooled }
    }

    async fn connection(&self) -> Result<Connection, sqlx::Error> {
        Ok(Reader::postgres(self.writers.acquire().await?, self.is_pooled).into_inner())
    }

    /// Runs `work` in a transaction of its own, in which `schema` is the search path.
    async fn in_transaction<T>(
        &self,
        schema: &str,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let mut connection = self.connection().await?;
        let outcome = async {
            connection.command(sql(begin_alone(schema))).await?;
            let done = work(&mut connection).await?;
            connection.command("COMMIT").await?;
            Ok(done)
        };
        let outcome = outcome.await;
        if outcome.is_err() && connection.command("ROLLBACK").await.is_err() {
            connection.discard();
        }
        outcome
    }

    /// Creates the empty tables of `schema`.
    pub async fn create_empty(&self, schema: &str) -> Result<(), sqlx::Error> {
        let main = self.main_schema().await?;
        let script = tables(&main).replace(NAME, schema);
        self.in_transaction(schema, async |connection| connection.command(sql(script)).await).await
    }

    /// Creates `schema` as `script` has it, with the clock as `setting` has it.
    pub async fn create(&self, schema: &str, script: &Script, setting: Setting) -> Result<(), sqlx::Error> {
        let script = script.0.replace(NAME, schema);
        self.in_transaction(schema, async |connection| {
            connection.command(sql(script)).await?;
            if setting != Setting::default() {
                query(SET_CLOCK).bind(setting.offset_ms).bind(setting.frozen_at).execute(connection).await?;
            }
            Ok(())
        })
        .await
    }

    /// How to create a schema with the content of `template`.
    pub async fn script_of(&self, template: &str) -> Result<Script, sqlx::Error> {
        let mut script = tables(&self.main_schema().await?);
        let mut connection = self.connection().await?;
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
            _ = writeln!(script, "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {from};");
            if is_numbered {
                let sequence = format!("pg_get_serial_sequence('{table}', 'position')");
                _ = writeln!(script, "SELECT setval({sequence}, max(position)) FROM {table};");
            }
        }
        Ok(Script(script.into()))
    }

    async fn main_schema(&self) -> Result<String, sqlx::Error> {
        query_scalar(MAIN_SCHEMA).fetch_one(&mut self.connection().await?).await
    }

    /// Opens `schema`, which must exist, and migrates it if it is of an earlier release.
    pub async fn open(&self, schema: &str) -> Result<Database, sqlx::Error> {
        self.migrate(schema).await?;
        let name: Arc<str> = schema.into();
        let readers = Readers::Schema(Schema {
            name: Arc::clone(&name),
            readers: self.readers.clone(),
            is_pooled: self.is_pooled,
            slots: Arc::new(Semaphore::new(READERS_EACH)),
        });
        let target = writer::Target::Schema(self.writers.clone(), begin(&name).into(), self.is_pooled);
        Ok(Database::with(readers, target, None, Vec::new(), MAX_BATCH_SIZE))
    }

    async fn migrate(&self, schema: &str) -> Result<(), sqlx::Error> {
        let last = POSTGRES_MIGRATIONS.iter().map(|migration| migration.version).max();
        self.in_transaction(schema, async |connection| {
            let mut is: Option<i64> = query_scalar(LATEST_MIGRATION).fetch_one(connection).await?;
            for migration in POSTGRES_MIGRATIONS.iter().filter(|migration| Some(migration.version) > is) {
                connection.command(migration.sql.clone()).await?;
                query(ADD_MIGRATION)
                    .bind(migration.version)
                    .bind(&*migration.description)
                    .bind(hex::encode(&migration.checksum))
                    .execute(connection)
                    .await?;
            }
            is = is.max(last);
            debug_assert!(is >= last);
            Ok(())
        })
        .await
    }

    /// Drops `schema`, if it exists.
    pub async fn drop(&self, schema: &str) -> Result<(), sqlx::Error> {
        let mut connection = self.connection().await?;
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
        query_scalar(NAMES).fetch_all(&mut self.connection().await?).await
    }

    /// The sizes of the schemas of sandboxes in bytes, by name.
    pub async fn sizes(&self) -> Result<Vec<(String, i64)>, sqlx::Error> {
        query_as(SIZES).fetch_all(&mut self.connection().await?).await
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

impl Schema {
    /// A connection that sees all commits so far, in a transaction of its own.
    pub async fn read(&self) -> Result<Reader, sqlx::Error> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)?;
        let mut connection = Reader::postgres(self.readers.acquire().await?, self.is_pooled).into_inner();
        if let Err(error) = connection.command(sql(begin_reading(&self.name, "READ COMMITTED"))).await {
            connection.discard();
            return Err(error);
        }
        Ok(Reader::in_schema(connection, Arc::clone(&self.name), slot))
    }

    /// The reading connections of all schemas.
    pub fn pool(&self) -> &PgPool {
        &self.readers
    }

    /// Whether there is a pooler in transaction mode.
    pub fn is_pooled(&self) -> bool {
        self.is_pooled
    }
}

/// Begins a transaction that reads `schema`.
pub(super) fn begin_reading(schema: &str, level: &str) -> String {
    format!("BEGIN ISOLATION LEVEL {level}, READ ONLY; SET LOCAL search_path TO \"{schema}\"")
}

/// Begins a transaction that writes to `schema`, one at a time over all servers, and its first savepoint. A
/// commit survives the servers, but not a power failure of the database's machine at once: nothing in a
/// sandbox is real.
fn begin(schema: &str) -> String {
    format!("{}; SAVEPOINT work", begin_alone(schema))
}

fn begin_alone(schema: &str) -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
         SELECT set_config('search_path', '\"{schema}\"', true), set_config('synchronous_commit', 'off', true),
                set_config('lock_timeout', '5s', true), set_config('statement_timeout', '20s', true),
                set_config('idle_in_transaction_session_timeout', '10s', true),
                set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
                set_config('client_min_messages', 'warning', true);
         SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 0))"
    )
}

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
