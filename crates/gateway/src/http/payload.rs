//! The body of an answer: bytes that are all there, or a stream.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream;
use hyper::body::{Body, Frame, SizeHint};

pub(crate) use crate::server::sending::Flow;
use crate::server::sending::Sending;
use crate::server::watch::{Busy, Seat};
use atelier_engine::shares::Part;

/// Answers of more bytes than this are looked after until they are taken.
const LARGE: usize = 64 * 1024;

/// What an answer carries.
pub(crate) enum Payload {
    /// Everything at once.
    Whole(Bytes),
    /// Bit by bit. The number is the length, when it is known.
    Flow(Flow, Option<u64>),
    /// On its way.
    Sent(Arc<Sending>, Option<u64>),
}

impl Payload {
    /// Has the connection look after what is not sent at once: it counts as busy, and what the request holds is given
    /// back, at the end or when the caller does not take it.
    pub(super) fn send_over(self, seat: &Seat, busy: Busy, place: Option<Part>) -> Self {
        match self {
            // A stream holds a share of its own and needs no place among the requests that are being worked on.
            Self::Flow(flow, length) => Self::Sent(seat.send(flow, busy), length),
            Self::Whole(bytes) if bytes.len() > LARGE => {
                let length = bytes.len() as u64;
                let flow: Flow = Box::pin(stream::iter([Ok(bytes)]));
                Self::Sent(seat.send(flow, (busy, place)), Some(length))
            }
            other => other,
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
        let next = match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Self::Whole(bytes) => return Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Flow(flow, _) => flow.as_mut().poll_next(context),
            Self::Sent(sending, _) => sending.poll_next(context),
        };
        next.map(|next| next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Flow(_, Some(length)) | Self::Sent(_, Some(length)) => {
                SizeHint::with_exact(*length)
            }
            Self::Flow(..) | Self::Sent(..) => SizeHint::default(),
        }
    }
}
