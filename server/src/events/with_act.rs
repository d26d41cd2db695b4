//! Writes events with an act that knows nothing of them.

use super::NewEvent;
use crate::{
    database::{Companion, Connection, Database},
    error::Failure,
};

/// Runs `act`. Its first transaction writes `events` too; so does one of their own if it `succeeded` and wrote
/// nothing.
pub async fn with_act<T>(
    database: &Database,
    events: Vec<NewEvent>,
    act: impl Future<Output = T>,
    succeeded: impl FnOnce(&T) -> bool,
) -> T {
    if events.is_empty() {
        return act.await;
    }
    let written = events.clone();
    let companion = Companion::new(move |connection: &mut Connection| {
        let events = written.clone();
        Box::pin(async move {
            for event in &events {
                event.add(connection).await?;
            }
            Ok(())
        })
    });
    let outcome = companion.accompany(act).await;
    if !companion.is_written() && succeeded(&outcome) {
        let alone = companion.accompany(database.write_in_turn(async |_| Ok::<_, Failure>(())));
        if let Err(failure) = alone.await {
            tracing::error!(?failure, "event.not_written");
        }
    }
    if companion.is_written() {
        events.iter().for_each(NewEvent::log);
    }
    outcome
}
