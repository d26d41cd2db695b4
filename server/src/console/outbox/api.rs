//! Calls about the outbox.

use std::time::Duration;

use axum::{Json as Answer, Router, extract::State, http::StatusCode, routing::get};
use serde::Deserialize;

use crate::{
    Sandbox,
    clock::duration,
    error::Failure,
    http::extract::Query,
    outbox::{self, Channel, OutboxMessage},
};

/// The longest that a call waits for a message: shorter than any call may take.
const WAIT_AT_MOST: Duration = Duration::from_secs(25);

/// Under the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new().route("/outbox", get(messages).delete(empty_outbox))
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
    let patience = query.wait.as_deref().map_or(Ok(Duration::ZERO), duration)?;
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
