//! The body of the provider's answer, passed on with limits on its size and on the wait for it.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{Error, body::Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep},
};
use tracing::Span;

use super::observed::Observation;
use crate::ProviderRefusal;
use base::error::Failure;

/// The number of bytes received before any of them is passed on: an answer up to this size is passed on
/// whole, or is a failure.
const READ_AHEAD: usize = 64 * 1024;

/// Passes an answer on as it arrives.
pub struct AnswerBody {
    received: Incoming,
    /// The data that was received, but is not passed on yet.
    ahead: VecDeque<Bytes>,
    /// The number of bytes that may still be received.
    room: u64,
    /// The time that the provider may still take. The time that the caller takes does not count.
    patience: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    observation: Option<Observation>,
    /// The call is at the provider until its answer is complete.
    _call: OwnedSemaphorePermit,
    /// The span of the call, which ends before its body.
    span: Span,
}

impl AnswerBody {
    pub fn new(
        received: Incoming,
        room: u64,
        patience: Duration,
        observation: Option<Observation>,
        call: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            received,
            ahead: VecDeque::new(),
            room,
            patience,
            waiting: None,
            observation,
            _call: call,
            span: Span::current(),
        }
    }

    /// Receives the beginning. Returns the whole answer if it is complete, and `None` if there is more.
    pub async fn read_ahead(&mut self) -> Result<Option<Bytes>, CutOff> {
        let mut length = 0;
        while length <= READ_AHEAD {
            let frame = std::future::poll_fn(|context| self.poll_received(context)).await;
            match frame.transpose()? {
                Some(data) => {
                    length += data.len();
                    self.ahead.push_back(data);
                }
                None if self.ahead.len() == 1 => return Ok(self.ahead.pop_front()),
                None => return Ok(Some(self.ahead.drain(..).flatten().collect())),
            }
        }
        Ok(None)
    }

    /// Ends the observation, and queues the call to be checked.
    pub fn end_observation(&mut self) {
        if let Some(observation) = self.observation.take() {
            observation.end();
        }
    }

    fn poll_received(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutOff>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.received).poll_frame(context) else {
                let patience = self.patience;
                let waiting = || (Instant::now(), Box::pin(tokio::time::sleep(patience)));
                let (_, end) = self.waiting.get_or_insert_with(waiting);
                ready!(end.as_mut().poll(context));
                return Poll::Ready(Some(Err(CutOff::Slow)));
            };
            if let Some((since, _)) = self.waiting.take() {
                self.patience = self.patience.saturating_sub(since.elapsed());
            }
            let Some(frame) = frame else {
                self.end_observation();
                return Poll::Ready(None);
            };
            let Ok(frame) = frame else { return Poll::Ready(Some(Err(CutOff::Broke))) };
            // No client of the contract reads trailers.
            let Ok(data) = frame.into_data() else { continue };
            let Some(room) = self.room.checked_sub(data.len() as u64) else {
                return Poll::Ready(Some(Err(CutOff::TooLarge)));
            };
            self.room = room;
            self.observation = self.observation.take().and_then(|observation| observation.with(&data));
            // The body is not polled again once the announced length has arrived.
            if self.received.is_end_stream() {
                self.end_observation();
            }
            return Poll::Ready(Some(Ok(data)));
        }
    }
}

/// The reason why an answer is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutOff {
    #[error("the provider broke the connection off")]
    Broke,
    #[error("the provider took too long")]
    Slow,
    #[error("the provider's answer is too large")]
    TooLarge,
}

impl From<CutOff> for Failure {
    fn from(cut_off: CutOff) -> Self {
        match cut_off {
            CutOff::Broke => ProviderRefusal::ProviderBroke.into(),
            CutOff::Slow => ProviderRefusal::ProviderSlow.into(),
            CutOff::TooLarge => ProviderRefusal::ProviderAnswer("it is too large".to_owned()).into(),
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(data) = self.ahead.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        let frame = ready!(self.poll_received(context));
        Poll::Ready(frame.map(|data| {
            data.map(Frame::data).map_err(|cut_off| {
                self.span.in_scope(|| tracing::warn!(reason = %cut_off, "provider.cut_off"));
                Error::new(cut_off)
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.received.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let ahead: u64 = self.ahead.iter().map(|data| data.len() as u64).sum();
        let mut hint = self.received.size_hint();
        let lower = hint.lower() + ahead;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + ahead);
        }
        hint.set_lower(lower);
        hint
    }
}
