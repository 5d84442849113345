//! The right to order something: whoever asks for work says once how it is told whether the work is still its own, and every
//! order made on the way is held against that with its first bytes. A process that stood still between its last look at its
//! lease and the order, for however long, orders nothing that is another's by now.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};

/// Tells whether whoever orders may still do so.
pub type Fence = Arc<dyn Fn() -> bool + Send + Sync>;

tokio::task_local! {
    static FENCE: Fence;
}

/// Does something whose orders at vendors go out only while the fence stands.
pub async fn with_fence<F: Future>(fence: Fence, act: F) -> F::Output {
    FENCE.scope(fence, act).await
}

/// What the orders made here are held against.
pub(crate) fn fence() -> Option<Fence> {
    FENCE.try_with(Clone::clone).ok()
}

/// The right to order was gone before anything was sent.
#[derive(Debug, thiserror::Error)]
#[error("the right to order this was gone before anything was sent")]
pub(super) struct FenceError;

/// Whether a request failed because of that.
pub(super) fn is_fence_error(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(cause) = next {
        if cause.is::<FenceError>() {
            return true;
        }
        next = cause.source();
    }
    false
}

/// What is sent with a request. It is asked for when the head has been put together and nothing of either is on its way, so
/// that an error leaves nothing behind.
#[derive(Default)]
pub(super) struct FencedBody {
    bytes: Full<Bytes>,
    fence: Option<Fence>,
}

impl FencedBody {
    /// Bytes that may go out while the fence stands, if there is one.
    pub(super) fn new(bytes: Bytes, fence: Option<Fence>) -> Self {
        let bytes = Full::new(bytes);
        Self { bytes, fence }
    }
}

impl Body for FencedBody {
    type Data = Bytes;
    type Error = FenceError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FenceError>>> {
        // Asked once: what has begun to go out goes out whole.
        if let Some(fence) = self.fence.take()
            && !fence()
        {
            return Poll::Ready(Some(Err(FenceError)));
        }
        let frame = Pin::new(&mut self.bytes).poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
    }

    fn is_end_stream(&self) -> bool {
        self.fence.is_none() && self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}
