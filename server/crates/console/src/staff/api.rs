//! The API of the staff accounts.

use axum::{
    Json as Answer, Router,
    http::StatusCode,
    routing::{get, post},
};
use serde::Serialize;

use super::{Account, AccountChange, AccountToOpen};
use base::{email::Email, error::Failure};
use lending::{auth::AuthRefusal, events::Trail};
use web::extract::{Json, Path};
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new()
        .route("/staff", get(list_staff).post(open_account))
        .route("/staff/expire", post(expire_everybody))
        .route("/staff/{email}", get(show_staff).patch(change_staff))
        .route("/staff/{email}/expire", post(expire_staff))
}

async fn list_staff(sandbox: Sandbox) -> Result<Answer<Vec<Account>>, Failure> {
    super::all(&sandbox).await.map(Answer)
}

async fn open_account(
    sandbox: Sandbox,
    trail: Trail,
    Json(account): Json<AccountToOpen>,
) -> Result<(StatusCode, Answer<Account>), Failure> {
    Ok((StatusCode::CREATED, Answer(super::open(&sandbox, account, &trail).await?)))
}

/// Parses the e-mail address of an account. No account has an invalid address.
fn account_of(email: &str) -> Result<Email, Failure> {
    Email::parse(email).ok_or(AuthRefusal::UserNotFound.into())
}

async fn show_staff(sandbox: Sandbox, Path(email): Path<String>) -> Result<Answer<Account>, Failure> {
    let email = account_of(&email)?;
    super::one(&mut sandbox.database.read().await?, sandbox.clock.now(), &email).await.map(Answer)
}

async fn change_staff(
    sandbox: Sandbox,
    trail: Trail,
    Path(email): Path<String>,
    Json(change): Json<AccountChange>,
) -> Result<Answer<Account>, Failure> {
    super::change(&sandbox, account_of(&email)?, change, &trail).await.map(Answer)
}

#[derive(Serialize)]
struct Expired {
    ended: u64,
}

async fn expire_staff(
    sandbox: Sandbox,
    trail: Trail,
    Path(email): Path<String>,
) -> Result<Answer<Expired>, Failure> {
    let ended = super::expire(&sandbox, Some(account_of(&email)?), &trail).await?;
    Ok(Answer(Expired { ended }))
}

async fn expire_everybody(sandbox: Sandbox, trail: Trail) -> Result<Answer<Expired>, Failure> {
    Ok(Answer(Expired { ended: super::expire(&sandbox, None, &trail).await? }))
}
