//! Deploy tokens: each publishes, activates, rolls back and holds one slice, and nothing else.

pub mod api;
mod hand_out;

pub use hand_out::hand_out;

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{build::SliceName, refusal::SliceRefusal};
use base::{clock::UnixMillis, error::Failure, randomness::Randomness};
use lending::events::{Entry, EventKind, Trail};
use settings::values;
use store::{Connection, Database, query, query_as};

/// Prefix of every token, by which people and secret scanners recognise it.
pub const PREFIX: &str = "mkopo_deploy_";

/// A token without its secret, which is not stored.
#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct DeployToken {
    pub slice: String,
    pub name: String,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub last_used_at: Option<UnixMillis>,
}

/// Default name of a token.
pub const NAME: &str = "ci";

/// Default lifetime of a token.
pub const EXPIRES_IN: &str = "90d";

#[derive(Clone, Debug)]
pub struct NewToken {
    /// The slice that it deploys, which may have no build yet.
    pub slice: SliceName,
    pub name: String,
    pub lifetime: Duration,
}

impl NewToken {
    /// Parses the given values; [`NAME`] and [`EXPIRES_IN`] are the defaults.
    pub fn parse(slice: &str, name: Option<&str>, expires_in: Option<&str>) -> Result<Self, Failure> {
        let wrong_slice =
            "The name of a slice is mfe- and lower-case letters, digits and dashes, such as mfe-repayments";
        let wrong_name = "The name of a token has up to 60 letters, digits, dashes and dots";
        let name = values::token_name(name.unwrap_or(NAME));
        Ok(Self {
            slice: SliceName::parse(slice).ok_or_else(|| Failure::bad_field("slice", wrong_slice))?,
            name: name.map_err(|_| Failure::bad_field("name", wrong_name))?,
            lifetime: values::lifetime(expires_in.unwrap_or(EXPIRES_IN))
                .map_err(|_| Failure::bad_field("expires_in", "A token is valid for 1d to 3650d"))?,
        })
    }
}

/// A token that was just added: the only time that its secret is known.
#[derive(Debug, Serialize)]
pub struct AddedToken {
    pub slice: String,
    pub name: String,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub token: String,
}

const ADD: &str = "
    INSERT INTO deploy_token (digest, slice, name, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (slice, name) DO NOTHING";

/// Adds a token, and returns it with its secret, which can't be read again.
pub async fn add(
    database: &Database,
    randomness: &Randomness,
    NewToken { slice, name, lifetime }: NewToken,
    now: UnixMillis,
    trail: &Trail,
) -> Result<AddedToken, Failure> {
    let token = format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(randomness.bytes::<32>()));
    let (digest, expires_at) = (digest(&token), now.plus(lifetime));
    let added = AddedToken { slice: slice.as_str().to_owned(), name, created_at: now, expires_at, token };
    let (slice, name) = (added.slice.clone(), added.name.clone());
    let entry =
        Entry::of(EventKind::DeployTokenAdded).about(&slice).with("token", &name).with("until", expires_at);
    trail
        .write(database.begin().await?, [entry], async move |connection: &mut Connection| {
            let rows =
                query(ADD).bind_all((digest, &slice, &name, now, expires_at)).execute(connection).await?;
            if rows == 0 { Err(SliceRefusal::DeployTokenExists { slice, name }.into()) } else { Ok(()) }
        })
        .await?;
    Ok(added)
}

const LIST: &str = "
    SELECT slice, name, created_at, expires_at, last_used_at FROM deploy_token ORDER BY slice, name";

/// All tokens, sorted by slice and name.
pub async fn list(connection: &mut Connection) -> Result<Vec<DeployToken>, Failure> {
    Ok(query_as(LIST).fetch_all(connection).await?)
}

const REVOKE: &str = "DELETE FROM deploy_token WHERE slice = $1 AND name = $2";

/// Revokes a token at once, on all servers.
pub async fn revoke(database: &Database, slice: String, name: String, trail: &Trail) -> Result<(), Failure> {
    // PostgreSQL can't store NUL characters.
    if slice.contains('\0') || name.contains('\0') {
        return Err(SliceRefusal::DeployTokenNotFound { slice, name }.into());
    }
    let entry = Entry::of(EventKind::DeployTokenRevoked).about(&slice).with("token", &name);
    trail
        .write(database.begin().await?, [entry], async move |connection: &mut Connection| {
            let revoked = query(REVOKE).bind(&slice).bind(&name).execute(connection).await?;
            if revoked == 0 { Err(SliceRefusal::DeployTokenNotFound { slice, name }.into()) } else { Ok(()) }
        })
        .await
}

const USE: &str = "
    UPDATE deploy_token SET last_used_at = $2 WHERE digest = $1
    RETURNING slice, name, created_at, expires_at, last_used_at";

/// Finds the token `given`, and stores when it was used.
async fn redeem(database: &Database, given: &str, now: UnixMillis) -> Result<DeployToken, Failure> {
    let digest = digest(given);
    let found: Option<DeployToken> = database
        .write_in_turn(async |connection: &mut Connection| {
            Ok(query_as(USE).bind(digest).bind(now).fetch_optional(connection).await?)
        })
        .await?;
    let token = found.ok_or(SliceRefusal::NoDeployToken)?;
    if token.expires_at <= now {
        return Err(SliceRefusal::DeployTokenExpired { slice: token.slice, name: token.name }.into());
    }
    Ok(token)
}

/// The stored hash of a token. Tokens are random, so a fast hash is enough.
fn digest(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}
