//! A connection that counts at the address it leads to for as long as it is open, or for as long as something is under way.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

use super::slots::RequestSlot;

pub(crate) enum Transport {
    Tcp(TcpStream),
    /// To a simulated receiver in this process.
    Simulated(DuplexStream),
}

/// An open connection that gives its slot back when it is dropped.
pub(crate) struct OutboundConnection {
    stream: Transport,
    counted: Arc<ConnectionSlot>,
}

/// Where a connection leads, and its place there if such are counted.
pub(crate) struct ConnectionSlot {
    pub(crate) address: SocketAddr,
    place: Mutex<Option<RequestSlot>>,
}

impl ConnectionSlot {
    /// It counts from now on.
    pub(crate) fn hold(&self, place: RequestSlot) {
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
            Transport::Tcp($stream) => $body,
            Transport::Simulated($stream) => $body,
        }
    };
}

impl OutboundConnection {
    pub(crate) fn new(stream: Transport, address: SocketAddr, place: Option<RequestSlot>) -> Self {
        let place = Mutex::new(place);
        let counted = Arc::new(ConnectionSlot { address, place });
        Self { stream, counted }
    }
}

impl Connection for OutboundConnection {
    fn connected(&self) -> Connected {
        let connected = match &self.stream {
            Transport::Tcp(stream) => stream.connected(),
            Transport::Simulated(_) => Connected::new(),
        };
        connected.extra(Arc::clone(&self.counted))
    }
}

impl AsyncRead for OutboundConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for OutboundConnection {
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
            Transport::Tcp(stream) => stream.is_write_vectored(),
            Transport::Simulated(stream) => stream.is_write_vectored(),
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
