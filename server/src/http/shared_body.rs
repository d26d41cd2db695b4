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
pub struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    pub fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Reads and discards what is left, up to about `limit` bytes.
    pub async fn discard(mut self, limit: usize) {
        let mut discarded = 0;
        while discarded < limit
            && let Some(Ok(frame)) = self.frame().await
        {
            discarded += frame.data_ref().map_or(0, Bytes::len);
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
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}
