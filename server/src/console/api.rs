//! The console's calls. Who may make them is decided in [`super::routes`].

use std::time::Duration;

use axum::{
    Json as Answer, Router,
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request, State},
    http::{StatusCode, request::Parts},
    routing::{delete, get, post},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    clock, data,
    data::snapshots::{self, Name, Snapshot},
    faults::{self, Fault, NewFault},
    loans::{self, GivenLoan},
    staff::{self, Account, AccountChange},
    traffic::Call,
};
use crate::{
    Sandbox,
    auth::email::Email,
    clock::UnixMillis,
    demo,
    edge::{self, Json, Path},
    error::Failure,
    loans::PendingLoan,
    mobile_money::{MAGIC, Outcome, Scenario, ScenarioChange},
    outbox::{self, Channel, OutboxMessage},
    payouts::{self, Invariant},
    slices,
};

/// The longest that a call waits for a message: shorter than any call may take.
const WAIT_AT_MOST: Duration = Duration::from_secs(25);

/// Every call.
pub fn routes() -> Router<Sandbox> {
    Router::new()
        .route("/outbox", get(messages).delete(empty_outbox))
        .route("/scenario", get(scenario).put(change_scenario).delete(forget_scenario))
        .route("/clock", get(show_clock).put(set_clock))
        .route("/faults", get(list_faults).post(add_fault).delete(remove_faults))
        .route("/faults/{id}", delete(remove_fault))
        .route("/traffic", get(latest_traffic).delete(forget_traffic))
        .route("/loans", post(approve_loans))
        .route("/staff", get(list_staff))
        .route("/staff/expire", post(expire_everybody))
        .route("/staff/{email}", get(show_staff).patch(change_staff))
        .route("/staff/{email}/expire", post(expire_staff))
        .route("/data/reset", post(reset))
        .route("/data/snapshots", get(list_snapshots))
        .route("/data/snapshots/{name}", post(save_snapshot).put(restore_snapshot).delete(remove_snapshot))
        .route("/invariant", get(invariant))
        .merge(slices::api::routes())
        .fallback(async || Failure::NotFound)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutboxQuery {
    to: Option<String>,
    channel: Option<Channel>,
    after: Option<String>,
    wait: Option<String>,
}

async fn messages(
    State(sandbox): State<Sandbox>,
    Query(query): Query<OutboxQuery>,
) -> Result<Answer<Vec<OutboxMessage>>, Failure> {
    let patience = query.wait.as_deref().map_or(Ok(Duration::ZERO), clock::duration)?;
    if patience > WAIT_AT_MOST {
        return Err(Failure::BadValue(format!("The longest wait is {}s", WAIT_AT_MOST.as_secs())));
    }
    let filter = outbox::Filter {
        to: query.to.as_deref().map(outbox::recipient),
        channel: query.channel,
        after: query.after,
    };
    outbox::wait_for_messages(&sandbox.database, &filter, patience).await.map(Answer)
}

async fn empty_outbox(State(sandbox): State<Sandbox>) -> Result<StatusCode, Failure> {
    outbox::empty(&sandbox.database).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A scenario, and what else one could be.
#[derive(Serialize)]
struct ScenarioAnswer {
    #[serde(flatten)]
    scenario: Scenario,
    outcomes: Vec<OutcomeAnswer>,
    magic: Vec<MagicAnswer>,
}

#[derive(Serialize)]
struct OutcomeAnswer {
    name: &'static str,
    result_code: Option<&'static str>,
    text: &'static str,
}

#[derive(Serialize)]
struct MagicAnswer {
    phone: Option<&'static str>,
    amount: Option<i64>,
    outcome: Outcome,
}

impl ScenarioAnswer {
    fn of(scenario: Scenario) -> Self {
        let outcomes = Outcome::ALL
            .into_iter()
            .map(|outcome| OutcomeAnswer {
                name: outcome.name(),
                result_code: outcome.result_code(),
                text: outcome.text(),
            })
            .collect();
        let phones = MAGIC.iter().map(|magic| MagicAnswer {
            phone: Some(magic.phone),
            amount: None,
            outcome: magic.outcome,
        });
        let amounts = MAGIC.iter().filter(|magic| magic.amount.is_some()).map(|magic| MagicAnswer {
            phone: None,
            amount: magic.amount,
            outcome: magic.outcome,
        });
        Self { scenario, outcomes, magic: phones.chain(amounts).collect() }
    }
}

async fn scenario(State(sandbox): State<Sandbox>) -> Result<Answer<ScenarioAnswer>, Failure> {
    Ok(Answer(ScenarioAnswer::of(sandbox.mobile_money.scenario().await?)))
}

async fn change_scenario(
    State(sandbox): State<Sandbox>,
    Json(change): Json<ScenarioChange>,
) -> Result<Answer<ScenarioAnswer>, Failure> {
    Ok(Answer(ScenarioAnswer::of(sandbox.mobile_money.change_scenario(change).await?)))
}

async fn forget_scenario(State(sandbox): State<Sandbox>) -> Result<StatusCode, Failure> {
    sandbox.mobile_money.change_scenario(ScenarioChange::back_to_start()).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn show_clock(State(sandbox): State<Sandbox>) -> Answer<clock::Face> {
    Answer(clock::face(&sandbox))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockChange {
    now: Option<String>,
    advance: Option<String>,
    frozen: Option<bool>,
}

async fn set_clock(
    State(sandbox): State<Sandbox>,
    Json(change): Json<ClockChange>,
) -> Result<Answer<clock::Face>, Failure> {
    let now = change.now.map(|now| now.parse::<UnixMillis>()).transpose().map_err(Failure::BadValue)?;
    let advance = change.advance.as_deref().map(clock::duration).transpose()?;
    let advance_ms = advance.map(|by| i64::try_from(by.as_millis()).unwrap_or(i64::MAX));
    clock::set(&sandbox, clock::Change { now, advance_ms, frozen: change.frozen }).await.map(Answer)
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    seed: Option<u32>,
}

async fn reset(
    State(sandbox): State<Sandbox>,
    Optional(Reset { seed }): Optional<Reset>,
) -> Result<StatusCode, Failure> {
    data::reset(&sandbox, seed.map_or(demo::FIRST_SEED, u64::from)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_faults(State(sandbox): State<Sandbox>) -> Result<Answer<Vec<Fault>>, Failure> {
    faults::all(&mut *sandbox.database.read().await?).await.map(Answer)
}

async fn add_fault(
    State(sandbox): State<Sandbox>,
    Json(fault): Json<NewFault>,
) -> Result<(StatusCode, Answer<Fault>), Failure> {
    Ok((StatusCode::CREATED, Answer(faults::add(&sandbox, fault).await?)))
}

async fn remove_faults(State(sandbox): State<Sandbox>) -> Result<StatusCode, Failure> {
    faults::remove(&sandbox, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_fault(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    faults::remove(&sandbox, Some(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn latest_traffic(State(sandbox): State<Sandbox>) -> Answer<Vec<Call>> {
    Answer(sandbox.traffic.latest())
}

async fn forget_traffic(State(sandbox): State<Sandbox>) -> StatusCode {
    sandbox.traffic.forget();
    StatusCode::NO_CONTENT
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToApprove {
    count: Option<u32>,
    loan: Option<GivenLoan>,
}

async fn approve_loans(
    State(sandbox): State<Sandbox>,
    Optional(ToApprove { count, loan }): Optional<ToApprove>,
) -> Result<(StatusCode, Answer<Vec<PendingLoan>>), Failure> {
    let approved = loans::approve(&sandbox, count.unwrap_or(1), loan.unwrap_or_default()).await?;
    Ok((StatusCode::CREATED, Answer(approved)))
}

async fn list_staff(State(sandbox): State<Sandbox>) -> Result<Answer<Vec<Account>>, Failure> {
    staff::all(&sandbox).await.map(Answer)
}

/// Who has no address has no account.
fn account_of(email: &str) -> Result<Email, Failure> {
    Email::parse(email).ok_or(Failure::UserNotFound)
}

async fn show_staff(
    State(sandbox): State<Sandbox>,
    Path(email): Path<String>,
) -> Result<Answer<Account>, Failure> {
    let email = account_of(&email)?;
    staff::one(&mut *sandbox.database.read().await?, sandbox.clock.now(), &email).await.map(Answer)
}

async fn change_staff(
    State(sandbox): State<Sandbox>,
    Path(email): Path<String>,
    Json(change): Json<AccountChange>,
) -> Result<Answer<Account>, Failure> {
    staff::change(&sandbox, account_of(&email)?, change).await.map(Answer)
}

#[derive(Serialize)]
struct Expired {
    ended: i64,
}

async fn expire_staff(
    State(sandbox): State<Sandbox>,
    Path(email): Path<String>,
) -> Result<Answer<Expired>, Failure> {
    let ended = staff::expire(&sandbox, Some(account_of(&email)?)).await?;
    Ok(Answer(Expired { ended }))
}

async fn expire_everybody(State(sandbox): State<Sandbox>) -> Result<Answer<Expired>, Failure> {
    Ok(Answer(Expired { ended: staff::expire(&sandbox, None).await? }))
}

async fn list_snapshots(State(sandbox): State<Sandbox>) -> Result<Answer<Vec<Snapshot>>, Failure> {
    snapshots::all(&mut *sandbox.database.read().await?).await.map(Answer)
}

async fn save_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Answer<Snapshot>), Failure> {
    Ok((StatusCode::CREATED, Answer(snapshots::save(&sandbox, Name::parse(&name)?).await?)))
}

async fn restore_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::restore(&sandbox, Name::parse(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::remove(&sandbox, Name::parse(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn invariant(State(sandbox): State<Sandbox>) -> Result<Answer<Invariant>, Failure> {
    payouts::invariant(&mut *sandbox.database.read().await?).await.map(Answer)
}

/// What stands behind the question mark.
struct Query<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if edge::asks_for_nul(&parts.uri) {
            return Err(Failure::BadValue("A text holds the character NUL".to_owned()));
        }
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query
            .map(|axum::extract::Query(query)| Self(query))
            .map_err(|rejection| Failure::BadValue(rejection.body_text()))
    }
}

/// A JSON body that need not be there.
struct Optional<T>(T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Optional<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = Bytes::from_request(Request::new(body), state).await;
        let bytes = bytes.map_err(|_| Failure::BodyTooLarge)?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        Json::from_request(Request::from_parts(parts, Body::from(bytes)), state)
            .await
            .map(|Json(body)| Self(body))
    }
}
