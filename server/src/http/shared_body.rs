//! A body that its reader may leave unread, for example because the caller is refused.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;

/// A body, of which each clone reads on where the last one stopped.
#[derive(Clone)]
pub struct SharedBody(Arc<Mutex<State>>);

struct State {
    body: Body,
    has_ended: bool,
}

impl SharedBody {
    pub fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(State { body, has_ended: false })))
    }

    /// Returns whether all of it has been read.
    pub fn has_ended(&self) -> bool {
        self.0.lock().has_ended
    }

    /// Reads and discards what is left, unless that is more than about `limit` bytes.
    pub async fn discard(mut self, limit: usize) {
        let mut left = limit;
        while self.size_hint().lower() <= left as u64
            && let Some(Ok(frame)) = self.frame().await
        {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut state = self.0.lock();
        let polled = Pin::new(&mut state.body).poll_frame(context);
        state.has_ended |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().body.size_hint()
    }
}
