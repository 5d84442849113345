//! An answer on its way out, looked after: on HTTP/2 a caller can leave an answer untouched without the socket ever
//! being full, and whatever the answer holds (a file, memory, a place) must not wait for that.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;

/// Bytes that arrive bit by bit.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// An answer that is sent bit by bit.
pub(crate) struct ResponseStream {
    clock: Arc<AtomicU32>,
    content: Mutex<Option<Content>>,
    /// When a piece was handed over that nobody has asked for more after, or the beginning while nobody has asked at all;
    /// zero while the caller waits for us.
    handed_over: AtomicU32,
}

struct Content {
    flow: ByteStream,
    /// What is held for as long as there is something to send.
    _held: Box<dyn Any + Send>,
}

impl ResponseStream {
    /// Sends a flow by the clock of its connection; what is held is given back at the end, or when nobody takes it.
    pub(super) fn new(clock: Arc<AtomicU32>, flow: ByteStream, held: impl Any + Send) -> Arc<Self> {
        // On HTTP/2 a caller may take not even the first piece.
        let now = clock.load(Ordering::Relaxed);
        Arc::new(Self {
            clock,
            content: Mutex::new(Some(Content {
                flow,
                _held: Box::new(held),
            })),
            handed_over: AtomicU32::new(now),
        })
    }

    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.handed_over.store(0, Ordering::Relaxed);
        let mut content = self.content();
        let Some(sent) = content.as_mut() else {
            return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
        };
        let next = sent.flow.as_mut().poll_next(context);
        match &next {
            Poll::Ready(Some(Ok(_))) => {
                let now = self.clock.load(Ordering::Relaxed);
                self.handed_over.store(now, Ordering::Relaxed);
            }
            Poll::Ready(_) => *content = None,
            Poll::Pending => {}
        }
        next
    }

    /// For how long nobody has taken the last piece.
    pub(super) fn untaken_ticks(&self, now: u32) -> u32 {
        match self.handed_over.load(Ordering::Relaxed) {
            0 => 0,
            since => now.saturating_sub(since),
        }
    }

    /// Gives back everything; whoever asks for more is told that it is over.
    pub(super) fn cut(&self) {
        let content = self.content().take();
        drop(content);
    }

    fn content(&self) -> MutexGuard<'_, Option<Content>> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
