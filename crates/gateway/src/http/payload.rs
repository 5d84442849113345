//! The body of an answer: bytes that are all there, or a stream.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream;
use hyper::body::{Body, Frame, SizeHint};

pub(crate) use crate::server::response_stream::ByteStream;
use crate::server::response_stream::ResponseStream;
use crate::server::watch::{Connection, RequestGuard};

/// Answers of more bytes than this are looked after until they are taken.
pub(super) const LARGE: usize = 64 * 1024;

/// What an answer carries.
pub(crate) enum Payload {
    /// Everything at once, made for this answer.
    Whole(Bytes),
    /// Everything at once, of bytes that the process keeps anyway.
    Static(Bytes),
    /// Everything at once, of bytes whose memory is counted until they are taken.
    Counted(Bytes),
    /// Bit by bit. The number is the length, when it is known.
    Stream(ByteStream, Option<u64>),
    /// A stream that its connection watches, so that one nobody reads is cut.
    Tracked(Arc<ResponseStream>, Option<u64>),
}

impl Payload {
    /// Has the connection look after what is not sent at once: it counts as busy until the end, or until the caller has
    /// not taken it for too long.
    pub(super) fn send_over(self, conn: &Connection, busy: RequestGuard) -> Self {
        match self {
            Self::Stream(flow, length) => Self::Tracked(conn.send(flow, busy), length),
            Self::Whole(bytes) | Self::Static(bytes) if bytes.len() > LARGE => {
                Self::look_after(bytes, conn, busy)
            }
            Self::Counted(bytes) => Self::look_after(bytes, conn, busy),
            other => other,
        }
    }

    fn look_after(bytes: Bytes, conn: &Connection, busy: RequestGuard) -> Self {
        let length = bytes.len() as u64;
        let flow: ByteStream = Box::pin(stream::iter([Ok(bytes)]));
        Self::Tracked(conn.send(flow, busy), Some(length))
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
            Self::Whole(bytes) | Self::Static(bytes) | Self::Counted(bytes) => {
                let bytes = std::mem::take(bytes);
                let all = (!bytes.is_empty()).then(|| Ok(Frame::data(bytes)));
                return Poll::Ready(all);
            }
            Self::Stream(flow, _) => flow.as_mut().poll_next(context),
            Self::Tracked(sending, _) => sending.poll_next(context),
        };
        next.map(|next| next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) | Self::Static(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) | Self::Static(bytes) | Self::Counted(bytes) => {
                SizeHint::with_exact(bytes.len() as u64)
            }
            Self::Stream(_, Some(length)) | Self::Tracked(_, Some(length)) => {
                SizeHint::with_exact(*length)
            }
            Self::Stream(..) | Self::Tracked(..) => SizeHint::default(),
        }
    }
}
