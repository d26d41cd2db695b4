//! Snapshots: named copies of the data to save, restore and remove.

use serde::Serialize;
use serde_json::{Value, json};

use super::{ONE_ROW_TABLES, TABLES, empty};
use crate::refusal::ConsoleRefusal;
use base::{clock::UnixMillis, error::Failure};
use lending::events::{Entry, EventKind, Trail};
use store::{
    Connection, listed, query, query_as, query_scalar,
    rows::{self, Rows},
};
use worlds::sandboxes::Sandbox;

/// The bound on the snapshots of a world.
struct Bound {
    count: i64,
    mib: i64,
}

const OF_MAIN: Bound = Bound { count: 100, mib: 4096 };

const OF_A_SANDBOX: Bound = Bound { count: 20, mib: 64 };

/// A snapshot, without its content.
#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct Snapshot {
    pub name: String,
    pub saved_at: UnixMillis,
}

#[derive(Clone, Debug)]
pub struct Name(String);

impl Name {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_name = (1..=64).contains(&text.len())
            && text.bytes().all(is_safe)
            && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        is_name.then(|| Self(text.to_owned())).ok_or_else(|| {
            Failure::BadValue(
                "A snapshot's name has 1 to 64 letters, digits, dashes, dots and underscores, and begins with a \
                 letter or digit"
                    .to_owned(),
            )
        })
    }

    fn not_found(self) -> Failure {
        ConsoleRefusal::SnapshotNotFound(self.0).into()
    }
}

const ALL: &str = "SELECT name, saved_at FROM snapshot ORDER BY name";

/// All snapshots, ordered by name.
pub async fn all(connection: &mut Connection) -> Result<Vec<Snapshot>, Failure> {
    Ok(query_as(ALL).fetch_all(connection).await?)
}

const COUNT: &str = "SELECT count(*) FROM snapshot WHERE name <> $1";

const SAVE: &str = "
    INSERT INTO snapshot (name, saved_at) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET saved_at = excluded.saved_at
    RETURNING name, saved_at";

const BYTES: &str = "SELECT CAST(COALESCE(SUM(LENGTH(content)), 0) AS BIGINT) FROM snapshot_table";

const DELETE_TABLES: &str = "DELETE FROM snapshot_table WHERE name = $1";

const SAVE_TABLE: &str = "INSERT INTO snapshot_table (name, table_name, content) VALUES ($1, $2, $3)";

/// Saves all data as snapshot `name`, replacing an existing one.
///
/// # Errors
/// [`Failure::BadValue`] if there are too many snapshots, or they take too much room.
pub async fn save(sandbox: &Sandbox, name: Name, trail: &Trail) -> Result<Snapshot, Failure> {
    let now = sandbox.clock.now();
    let Bound { count, mib } = if sandbox.is_main() { OF_MAIN } else { OF_A_SANDBOX };
    let entry = Entry::of(EventKind::SnapshotSaved).about(&name.0);
    trail
        .write(sandbox.database.begin_alone().await?, [entry], async move |connection: &mut Connection| {
            let others: i64 = query_scalar(COUNT).bind(&name.0).fetch_one(&mut *connection).await?;
            if others >= count {
                return Err(Failure::BadValue(format!(
                    "There are already {count} snapshots; remove one first"
                )));
            }
            let saved = query_as(SAVE).bind(&name.0).bind(now).fetch_one(&mut *connection).await?;
            query(DELETE_TABLES).bind(&name.0).execute(&mut *connection).await?;
            for table in ONE_ROW_TABLES.iter().chain(&TABLES) {
                let content = serde_json::to_string(&rows::read(connection, table.select).await?)
                    .map_err(Failure::internal)?;
                query(SAVE_TABLE).bind_all((&name.0, table.name, content)).execute(&mut *connection).await?;
            }
            let taken: i64 = query_scalar(BYTES).fetch_one(connection).await?;
            if taken > mib * 1024 * 1024 {
                return Err(Failure::BadValue(format!(
                    "There is no room: snapshots take at most {mib} MiB; remove one first"
                )));
            }
            Ok(saved)
        })
        .await
}

const OPEN_SESSIONS: &str = "SELECT session_id FROM session WHERE ended_at IS NULL";

const OPEN_CODES: &str = "SELECT fingerprint, wrong_tries FROM one_time_code WHERE used_at IS NULL";

const END_OTHER_SESSIONS: &str = "
    UPDATE session SET ended_at = created_at
    WHERE ended_at IS NULL AND session_id NOT IN (SELECT value ->> 'id' FROM json_each($1))";

const END_OTHER_CODES: &str = "
    UPDATE one_time_code SET used_at = created_at
    WHERE used_at IS NULL AND fingerprint NOT IN (SELECT value ->> 'id' FROM json_each($1))";

const KEEP_TRIES: &str = "
    WITH asked AS MATERIALIZED (
        SELECT value ->> 'id' AS id, CAST(value ->> 'wrong_tries' AS BIGINT) AS wrong_tries FROM json_each($1))
    UPDATE one_time_code SET wrong_tries = asked.wrong_tries
    FROM asked
    WHERE one_time_code.fingerprint = asked.id";

/// The sessions and codes that open accounts now. A session that has ended and a code that was used stay so, and
/// wrong tries count, whatever a snapshot says.
struct Credentials {
    sessions: Vec<String>,
    /// The fingerprint of each, and the number of wrong tries.
    codes: Vec<(String, i64)>,
}

impl Credentials {
    async fn now(connection: &mut Connection) -> Result<Self, sqlx::Error> {
        let sessions = query_scalar(OPEN_SESSIONS).fetch_all(&mut *connection).await?;
        let codes = query_as(OPEN_CODES).fetch_all(connection).await?;
        Ok(Self { sessions, codes })
    }

    async fn end_others(self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        query(END_OTHER_SESSIONS).bind(listed(self.sessions)).execute(&mut *connection).await?;
        let code = |(id, wrong_tries)| json!({ "id": id, "wrong_tries": wrong_tries });
        let codes = self.codes.into_iter().map(code).collect::<Value>().to_string();
        query(END_OTHER_CODES).bind(&codes).execute(&mut *connection).await?;
        query(KEEP_TRIES).bind(&codes).run(connection).await
    }
}

const COUNT_NAMED: &str = "SELECT count(*) FROM snapshot WHERE name = $1";

const SAVED_TABLE: &str = "SELECT content FROM snapshot_table WHERE name = $1 AND table_name = $2";

/// Replaces all data with the snapshot `name`, including the clock and the faults. Running payouts are cut
/// off, on every server, because the generation of the data changes. Sessions and codes that have ended since stay so.
pub async fn restore(sandbox: &Sandbox, name: Name, trail: &Trail) -> Result<(), Failure> {
    let entry = Entry::of(EventKind::SnapshotRestored).about(&name.0);
    trail
        .write(sandbox.database.begin_alone().await?, [entry], async move |connection: &mut Connection| {
            let found: i64 = query_scalar(COUNT_NAMED).bind(&name.0).fetch_one(&mut *connection).await?;
            if found == 0 {
                return Err(name.not_found());
            }
            let open = Credentials::now(connection).await?;
            empty(connection).await?;
            for table in ONE_ROW_TABLES.iter().chain(&TABLES) {
                // Tables added after the snapshot was saved stay empty, or keep their one row.
                let saved: Option<String> = query_scalar(SAVED_TABLE)
                    .bind_all((&name.0, table.name))
                    .fetch_optional(&mut *connection)
                    .await?;
                let Some(content) = saved else { continue };
                query(table.empty).execute(&mut *connection).await?;
                let content: Rows = serde_json::from_str(&content).map_err(Failure::internal)?;
                rows::insert(connection, table.name, &content).await?;
            }
            open.end_others(connection).await?;
            Ok(())
        })
        .await?;
    sandbox.traffic.forget_beginning();
    Ok(())
}

const REMOVE: &str = "DELETE FROM snapshot WHERE name = $1";

pub async fn remove(sandbox: &Sandbox, name: Name, trail: &Trail) -> Result<(), Failure> {
    let entry = Entry::of(EventKind::SnapshotRemoved).about(&name.0);
    trail
        .write(sandbox.database.begin().await?, [entry], async move |connection: &mut Connection| {
            query(DELETE_TABLES).bind(&name.0).execute(&mut *connection).await?;
            let removed = query(REMOVE).bind(&name.0).execute(connection).await?;
            if removed == 0 { Err(name.not_found()) } else { Ok(()) }
        })
        .await
}
