//! The API of the outbox.

use axum::{Json as Answer, Router, http::StatusCode, routing::get};
use serde::Deserialize;

use crate::wait::wait;
use base::error::Failure;
use lending::{
    events::Trail,
    outbox::{self, Channel, OutboxMessage},
};
use web::extract::Query;
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
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
    sandbox: Sandbox,
    Query(query): Query<OutboxQuery>,
) -> Result<Answer<Vec<OutboxMessage>>, Failure> {
    let wait = wait(query.wait.as_deref())?;
    let to = query.to.map(|to| {
        outbox::recipient(&to).ok_or_else(|| {
            Failure::BadParameter("to must be an e-mail address or a Kenyan mobile number".to_owned())
        })
    });
    let filter = outbox::MessageFilter { to: to.transpose()?, channel: query.channel, after: query.after };
    outbox::wait_for_messages(&sandbox.database, &filter, wait).await.map(Answer)
}

async fn empty_outbox(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    outbox::empty(&sandbox.database, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
