//! Sending money to a phone.

use std::{future::pending, sync::Arc};

use tokio::sync::oneshot;

use super::{
    Answer, Delivery, MobileMoney, Payment,
    books::{Accepted, AnswerRoute, Books, Request},
};
use base::{error::Failure, ids::TransactionId};
use store::{
    Connection,
    sets::{InSets, Written},
    version::DataCopy,
};

impl MobileMoney {
    /// Sends money, or returns the reason why not. The same originator id never sends twice. The answer may
    /// never arrive: use a timeout, and then query the status.
    pub async fn pay(&self, payment: Payment) -> Result<Answer, Failure> {
        let (originator_id, copy) = (payment.originator_id.clone(), payment.copy);
        drop(self.line.read().await);
        let (clock, randomness) = (self.clock.clone(), self.randomness.clone());
        let accepted = self.requests.write_in_turn(Request { payment, clock, randomness }).await?;
        // A lost request is never answered.
        let Some(accepted) = accepted else { return pending().await };
        self.clock.sleep(accepted.delay).await;
        let deliver = || self.deliver(&originator_id, copy, &accepted.answer);
        match accepted.route {
            AnswerRoute::Answered => {}
            AnswerRoute::Lost => pending().await,
            AnswerRoute::DeliveredToo => _ = deliver(),
            AnswerRoute::DeliveredFirst => _ = deliver().await,
        }
        Ok(accepted.answer)
    }

    fn deliver(
        &self,
        originator_id: &TransactionId,
        copy: DataCopy,
        answer: &Answer,
    ) -> oneshot::Receiver<()> {
        let (processed, is_processed) = oneshot::channel();
        // The delivery is lost when too many wait or the sandbox is being closed. The books have the result.
        _ = self.results.try_send(Delivery {
            originator_id: originator_id.to_owned(),
            copy,
            answer: answer.clone(),
            traceparent: traces::traceparent(),
            processed,
        });
        is_processed
    }
}

impl InSets for Request {
    /// `None` for a request that is lost.
    type Done = Option<Accepted>;

    async fn write(set: &[Arc<Self>], connection: &mut Connection) -> Written<Self::Done> {
        let mut books = Books::open(set, connection).await?;
        let results = set.iter().map(|request| Ok(books.enter(request))).collect();
        books.write(connection).await?;
        Ok(results)
    }
}
