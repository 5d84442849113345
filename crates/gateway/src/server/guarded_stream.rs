//! A socket that tells the watch when bytes arrive and when the caller stops taking them, and lets through only HTTP
//! that everybody reads alike.

use std::future::{Future as _, poll_fn};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use atelier_fairness::throughput::Throughput;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::framing::{Bounds, BrokenBody, Framing, HeadError};
use super::watch::Connection;

/// How much is read at once of what is forgotten.
const PIECE: usize = 8192;

/// How much is read at once before it is known what the caller speaks; nearly every head is shorter.
const FIRST: usize = 2048;

/// An answer of so few bytes goes out in one piece: the kernel takes longer over two pieces than it takes to copy them.
const SMALL: usize = 2048;

/// For how long the rest of a refused body is still taken off the line. A socket that is closed with bytes unread resets
/// the line, and a proxy that is still sending then reports a broken service instead of the answer.
const LINGER: Duration = Duration::from_secs(5);

/// How long others have a turn meanwhile, at least.
const A_TURN: Duration = Duration::from_millis(1);

/// A socket whose request heads are checked before hyper reads them.
pub(crate) struct GuardedStream<S> {
    stream: S,
    conn: Arc<Connection>,
    framing: Framing,
    /// What was looked at and not yet handed on.
    approved: Vec<u8>,
    handed_on: usize,
    throughput: Arc<Throughput>,
    /// Set once the answer is out, while what still comes is read and forgotten.
    lingering: Option<Box<LingerState>>,
}

/// How what still comes is read: no faster than the bodies of one account are.
struct LingerState {
    end: Pin<Box<Sleep>>,
    /// Nothing is read before.
    pause: Option<Pin<Box<Sleep>>>,
    uncounted: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> GuardedStream<S> {
    pub(crate) fn new(
        stream: S,
        conn: Arc<Connection>,
        bounds: Bounds,
        throughput: Arc<Throughput>,
    ) -> Self {
        Self {
            stream,
            conn,
            framing: Framing::new(bounds),
            approved: Vec::new(),
            handed_on: 0,
            throughput,
            lingering: None,
        }
    }

    fn written<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match result {
            Poll::Pending => self.conn.write_blocked(),
            Poll::Ready(_) => self.conn.write_progressed(),
        }
        result
    }

    /// Hands on what was approved; whether there was anything.
    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let left = &self.approved[self.handed_on..];
        if left.is_empty() {
            return false;
        }
        let size = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..size]);
        self.handed_on += size;
        if self.handed_on == self.approved.len() {
            self.handed_on = 0;
            // Nearly every head goes on where it lies, so that a connection would keep this for nothing.
            self.approved = Vec::new();
        }
        true
    }

    /// Waits for what the caller says first, and whether that is HTTP/2.
    pub(crate) async fn greeted(mut self) -> io::Result<(Self, bool)> {
        poll_fn(|context| self.poll_first(context)).await?;
        let speaks_http2 = self.framing.has_frames();
        Ok((self, speaks_http2))
    }

    /// Reads until something was approved, or until nothing more comes.
    fn poll_first(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.approved.is_empty() {
            let mut piece = [MaybeUninit::uninit(); FIRST];
            let mut buffer = ReadBuf::uninit(&mut piece);
            if !ready!(self.read_and_look(context, &mut buffer))? {
                break;
            }
            self.approved.extend_from_slice(buffer.filled());
        }
        Poll::Ready(Ok(()))
    }

    /// Bytes that belong to a body or to HTTP/2 go straight on.
    fn read_freely(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        most: u64,
    ) -> Poll<io::Result<()>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let before = buffer.filled().len();
        if most >= buffer.remaining() {
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        } else {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut part))?;
            let filled = part.filled().len();
            buffer.advance(filled);
        }
        let filled = buffer.filled().len() - before;
        self.framing.passed(filled as u64);
        if filled > 0 {
            self.conn.bytes_received();
        }
        Poll::Ready(Ok(()))
    }

    /// Reads a piece and looks at it; false at the end of the stream. A piece that is one right head lies in the buffer
    /// already when this is over, everything else among what was approved.
    fn read_and_look(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        if self.framing.in_head() {
            self.conn.wake_when_late(context);
            if self.conn.is_late() {
                self.refuse_late();
                return Poll::Ready(Ok(true));
            }
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let piece = &buffer.filled()[before..];
        if piece.is_empty() {
            return Poll::Ready(Ok(false));
        }
        self.conn.bytes_received();
        if self.framing.is_one_right_head(piece) {
            return Poll::Ready(Ok(true));
        }
        let looked_at = self.framing.feed(piece, &mut self.approved);
        buffer.set_filled(before);
        match looked_at {
            Ok(refused) => {
                if let Some((number, why)) = refused {
                    self.conn.refuse(number, why);
                }
                Poll::Ready(Ok(true))
            }
            Err(BrokenBody) => Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Reads what still comes, until the caller has said everything or the time is up.
    fn forget_the_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(lingering) = &mut self.lingering else {
            return Poll::Ready(());
        };
        if lingering.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut piece = [0; PIECE];
        loop {
            if let Some(pause) = &mut lingering.pause {
                ready!(pause.as_mut().poll(context));
                lingering.pause = None;
            }
            let mut buffer = ReadBuf::new(&mut piece);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
            lingering.uncounted += buffer.filled().len();
            let wait = self
                .throughput
                .count(&self.conn.holder, &mut lingering.uncounted);
            // Also who is not too fast gives others a turn.
            lingering.pause = wait.map(|wait| Box::pin(tokio::time::sleep(wait.max(A_TURN))));
        }
    }

    fn refuse_late(&mut self) {
        let (number, why) = self.framing.refuse(HeadError::Late, &mut self.approved);
        self.conn.refuse(number, why);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let guarded = &mut *self;
        let before = buffer.filled().len();
        loop {
            if guarded.hand_on(buffer) || buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
            let free = guarded.framing.free_bytes();
            if free > 0 {
                return guarded.read_freely(context, buffer, free);
            }
            // After a refused head what still comes is read and forgotten, so that the answer is not lost to a reset.
            let alive = ready!(guarded.read_and_look(context, buffer))?;
            if !alive {
                return if guarded.framing.is_over() {
                    Poll::Pending
                } else {
                    Poll::Ready(Ok(()))
                };
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let whole: usize = slices.iter().map(|slice| slice.len()).sum();
        if slices.len() > 1 && whole <= SMALL {
            let (mut piece, mut filled) = ([0; SMALL], 0);
            for slice in slices {
                piece[filled..filled + slice.len()].copy_from_slice(slice);
                filled += slice.len();
            }
            let result = Pin::new(&mut self.stream).poll_write(context, &piece[..filled]);
            return self.written(result);
        }
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if !self.framing.in_body() {
                return Poll::Ready(Ok(()));
            }
            self.lingering = Some(Box::new(LingerState {
                end: Box::pin(tokio::time::sleep(LINGER)),
                pause: None,
                uncounted: 0,
            }));
        }
        self.forget_the_rest(context).map(Ok)
    }
}
