//! The events of an act, passed to the code that writes its data.

use axum::{extract::FromRequestParts, http::request::Parts};

use super::NewEvent;
use base::error::Failure;
use store::{Connection, Transaction};

/// The events of an act, which are written in its transaction. A handler can extract those of its call.
#[derive(Clone, Debug, Default)]
pub struct Trail(Vec<NewEvent>);

impl Trail {
    /// The trail of these events.
    pub fn of(events: Vec<NewEvent>) -> Self {
        Self(events)
    }

    /// Runs `work` in `transaction`, writes the events there, too, and commits.
    ///
    /// # Errors
    /// The errors of `work`, and of [`Transaction::commit`]; then neither work nor events are written.
    pub async fn write<T>(
        &self,
        mut transaction: Transaction,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = work(&mut transaction).await?;
        for event in &self.0 {
            event.add(&mut transaction).await?;
        }
        transaction.commit().await?;
        self.0.iter().for_each(NewEvent::log);
        Ok(done)
    }

    /// Writes the events of an act that writes nothing else in the database.
    ///
    /// # Errors
    /// As [`Trail::write`].
    pub async fn write_alone(&self, transaction: Transaction) -> Result<(), Failure> {
        self.write(transaction, async |_: &mut Connection| Ok(())).await
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Trail {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get().cloned().ok_or_else(|| Failure::Internal("the call has no trail".to_owned()))
    }
}
