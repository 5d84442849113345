//! The body of an answer: bytes that are all there, or a stream.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Body, Frame, SizeHint};

use crate::server::ward::Busy;

/// Bytes that arrive bit by bit.
pub(crate) type Flow = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// What an answer carries.
pub(crate) enum Payload {
    /// Everything at once.
    Whole(Bytes),
    /// Bit by bit; the connection counts as busy until the end. The number is the length, when it is known.
    Flow(Flow, Option<u64>, Option<Busy>),
}

impl Payload {
    /// Keeps the connection from being called idle while a stream runs.
    pub(crate) fn keep_busy(&mut self, busy: Busy) {
        if let Self::Flow(_, _, place) = self {
            *place = Some(busy);
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Flow(flow, _, _) => flow
                .as_mut()
                .poll_next(context)
                .map(|next| next.map(|bytes| bytes.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Flow(_, Some(length), _) => SizeHint::with_exact(*length),
            Self::Flow(..) => SizeHint::default(),
        }
    }
}
