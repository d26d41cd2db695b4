//! Deploy tokens: each publishes, activates, rolls back and holds one slice, and nothing else.

pub mod api;

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::SliceName;
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_as},
    error::Failure,
    randomness::Randomness,
};

/// What every token begins with, so that people and secret scanners recognise it.
pub const PREFIX: &str = "mkopo_deploy_";

/// A token, without its secret, which is not kept.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct DeployToken {
    /// The slice that it deploys.
    pub slice: String,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it ends.
    pub expires_at: UnixMillis,
    /// When it was last used.
    pub last_used_at: Option<UnixMillis>,
}

const ADD: &str = "
    INSERT INTO deploy_token (digest, slice, name, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (slice, name) DO NOTHING";

/// Makes a token for a slice, which may have no build yet, and returns it: it can't be read again.
///
/// # Errors
/// [`Failure::DeployTokenExists`] when the slice has one of that name.
pub async fn add(
    database: &Database,
    randomness: &Randomness,
    slice: SliceName,
    name: String,
    lifetime: Duration,
    now: UnixMillis,
) -> Result<String, Failure> {
    let token = format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(randomness.bytes::<32>()));
    let digest = digest(&token);
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let added = query(ADD)
                    .bind(digest)
                    .bind(slice.as_str())
                    .bind(&name)
                    .bind(now)
                    .bind(now.plus(lifetime))
                    .execute(connection)
                    .await?;
                if added == 0 {
                    return Err(Failure::DeployTokenExists { slice: slice.as_str().to_owned(), name });
                }
                Ok(())
            })
        })
        .await?;
    Ok(token)
}

const LIST: &str = "
    SELECT slice, name, created_at, expires_at, last_used_at FROM deploy_token ORDER BY slice, name";

/// All tokens, sorted by slice and name.
///
/// # Errors
/// When the database can't be read.
pub async fn list(connection: &mut Connection) -> Result<Vec<DeployToken>, Failure> {
    Ok(query_as(LIST).fetch_all(connection).await?)
}

const REVOKE: &str = "DELETE FROM deploy_token WHERE slice = $1 AND name = $2";

/// Ends a token at once, on all servers.
///
/// # Errors
/// [`Failure::DeployTokenNotFound`].
pub async fn revoke(database: &Database, slice: SliceName, name: String) -> Result<(), Failure> {
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let revoked = query(REVOKE).bind(slice.as_str()).bind(&name).execute(connection).await?;
                if revoked == 0 {
                    return Err(Failure::DeployTokenNotFound { slice: slice.as_str().to_owned(), name });
                }
                Ok(())
            })
        })
        .await
}

const USE: &str = "
    UPDATE deploy_token SET last_used_at = $2 WHERE digest = $1
    RETURNING slice, name, created_at, expires_at, last_used_at";

/// The token that was given; notes that it was used.
///
/// # Errors
/// [`Failure::NoDeployToken`], [`Failure::DeployTokenExpired`].
async fn redeem(database: &Database, given: &str, now: UnixMillis) -> Result<DeployToken, Failure> {
    let digest = digest(given);
    let found: Option<DeployToken> = database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(
                async move { Ok(query_as(USE).bind(digest).bind(now).fetch_optional(connection).await?) },
            )
        })
        .await?;
    let token = found.ok_or(Failure::NoDeployToken)?;
    if token.expires_at <= now {
        return Err(Failure::DeployTokenExpired { slice: token.slice, name: token.name });
    }
    Ok(token)
}

/// What is kept of a token. It is random, so that a fast hash is enough.
fn digest(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}
