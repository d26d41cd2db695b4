//! One stream: the events that its page receives.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use futures::Stream;
use serde_json::json;

use super::{Place, Seen, Topic};

/// The interval at which something is sent if nothing changes, so that connections are not taken for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The wait before a page connects again, in ms.
const RETRY: u32 = 2000;

/// Returns the body of a stream whose page knows all changes until event `after`, if it is of this task.
pub(super) fn body(place: Place, after: Option<&str>) -> Body {
    let told = after.and_then(|after| place.seen.borrow().change_of(after));
    Body::from_stream(events(place, told))
}

/// The changes that a stream has told.
enum Told {
    /// Nothing in this stream yet; all changes until this one in an earlier stream.
    Before(Option<u64>),
    Until(u64),
}

fn events(place: Place, told: Option<u64>) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    futures::stream::unfold((place, Told::Before(told)), |(mut place, told)| async move {
        let end = place.end.clone();
        let (bytes, told) = end.run_until_cancelled(next(&mut place, told)).await?;
        Some((Ok(bytes), (place, told)))
    })
}

async fn next(place: &mut Place, told: Told) -> (Bytes, Told) {
    let told = match told {
        Told::Before(before) => {
            let seen = place.first_look().await;
            let changed = match before {
                Some(before) => seen.topics_since(before, &place.staff_id),
                None => Topic::ALL.to_vec(),
            };
            let first = format!("retry: {RETRY}\n{}", event("ready", &seen.event_id(), &changed));
            return (first.into(), Told::Until(seen.latest));
        }
        Told::Until(told) => told,
    };
    let heartbeat = tokio::time::sleep(HEARTBEAT);
    tokio::pin!(heartbeat);
    loop {
        tokio::select! {
            Ok(()) = place.seen.changed() => {
                let seen = Arc::clone(&place.seen.borrow_and_update());
                let changed = seen.topics_since(told, &place.staff_id);
                if !changed.is_empty() {
                    return (event("changed", &seen.event_id(), &changed).into(), Told::Until(seen.latest));
                }
            }
            () = &mut heartbeat => return (Bytes::from_static(b":\n\n"), Told::Until(told)),
        }
    }
}

impl Place {
    /// Waits for the watching task's first look, after which it misses no change.
    async fn first_look(&mut self) -> Arc<Seen> {
        loop {
            let seen = Arc::clone(&self.seen.borrow_and_update());
            if seen.latest > 0 || self.seen.changed().await.is_err() {
                return seen;
            }
        }
    }
}

fn event(name: &str, id: &str, changed: &[Topic]) -> String {
    format!("id: {id}\nevent: {name}\ndata: {}\n\n", json!({ "changed": changed }))
}
