//! A connection that counts at the address it leads to for as long as it is open, or for as long as something is under way.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

use super::places::Place;

/// Where bytes go.
pub(crate) enum Stream {
    /// Over the network.
    Tcp(TcpStream),
    /// To a simulated receiver in this process.
    Simulated(DuplexStream),
}

/// An open connection.
pub(crate) struct Line {
    stream: Stream,
    counted: Arc<Counted>,
}

/// Where a connection leads, and its place there if such are counted.
pub(crate) struct Counted {
    pub(crate) address: SocketAddr,
    place: Mutex<Option<Place>>,
}

impl Counted {
    /// It counts from now on.
    pub(crate) fn hold(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// It counts no longer.
    pub(crate) fn release(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        drop(place.take());
    }
}

/// Does the same with either kind of stream.
macro_rules! on {
    ($line:ident, $stream:ident => $body:expr) => {
        match &mut $line.stream {
            Stream::Tcp($stream) => $body,
            Stream::Simulated($stream) => $body,
        }
    };
}

impl Line {
    pub(crate) fn new(stream: Stream, address: SocketAddr, place: Option<Place>) -> Self {
        let place = Mutex::new(place);
        let counted = Arc::new(Counted { address, place });
        Self { stream, counted }
    }
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        let connected = match &self.stream {
            Stream::Tcp(stream) => stream.connected(),
            Stream::Simulated(_) => Connected::new(),
        };
        connected.extra(Arc::clone(&self.counted))
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        on!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => Pin::new(stream).poll_shutdown(context))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Tcp(stream) => stream.is_write_vectored(),
            Stream::Simulated(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on!(self, stream => Pin::new(stream).poll_write_vectored(context, bytes))
    }
}
