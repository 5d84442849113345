//! Reading bodies of vendors: so fast at least, so large at most, and together no more than the memory they share. A
//! body's share returns when the last of its bytes is dropped.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::http::Trouble;

/// The unit in which memory is given out. Bodies no larger than this take none, so that polls never wait for files.
const UNIT: u64 = 64 * 1024;
/// A body brings so much, or its end, before it counts as stalled.
const LEAST_BYTES: u64 = 16 * 1024;

/// The memory that bodies share.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

impl Room {
    pub(crate) fn new(bytes: u64) -> Self {
        let units = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS as u64);
        Self(Arc::new(Semaphore::new(units as usize)))
    }

    /// A share that is empty yet.
    pub(super) fn share(&self) -> Share {
        Share {
            room: Arc::clone(&self.0),
            held: None,
        }
    }
}

/// What one body has of the room; it grows with what is read.
pub(crate) struct Share {
    room: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// Grows to so many bytes, or says after a while that there is no room. Whoever holds one share and waits for
    /// another must give up some time, or two of them would wait for each other.
    pub(super) async fn cover(&mut self, bytes: u64, wait: Duration) -> Result<(), Trouble> {
        let held = self.held.as_ref();
        let held = held.map_or(0, OwnedSemaphorePermit::num_permits) as u64;
        let missing = (bytes.saturating_sub(1) / UNIT).saturating_sub(held);
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(|_| Trouble::TooLarge)?;
        let more = Arc::clone(&self.room).acquire_many_owned(missing);
        let more = timeout(wait, more).await.map_err(|_| Trouble::Busy)?;
        let more = more.map_err(|_| Trouble::Busy)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// Bytes with the share they were read under.
struct Held {
    bytes: Vec<u8>,
    _share: Arc<Share>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes that keep a share for as long as any of them is there.
pub(crate) fn held(share: &Arc<Share>, bytes: Vec<u8>) -> Bytes {
    Bytes::from_owner(Held {
        bytes,
        _share: Arc::clone(share),
    })
}

/// How a body is read.
pub(super) struct Reading {
    pub(super) room: Room,
    /// The largest body.
    pub(super) most: u64,
    /// How many bytes of memory each byte takes until it is let go.
    pub(super) weight: u64,
    /// When all of it must be there.
    pub(super) deadline: Instant,
    /// How long it may bring next to nothing.
    pub(super) stall: Duration,
    /// How long it may wait for room.
    pub(super) wait: Duration,
}

impl Reading {
    /// The whole body; `length` is what it claims to have.
    pub(super) async fn whole(
        self,
        mut pieces: impl Stream<Item = Result<Bytes, Trouble>> + Unpin,
        length: u64,
    ) -> Result<Bytes, Trouble> {
        if length > self.most {
            return Err(Trouble::TooLarge);
        }
        let mut bytes = Vec::new();
        bytes.reserve_exact(length as usize);
        let mut share = self.room.share();
        let (mut until, mut brought) = (Instant::now() + self.stall, 0);
        loop {
            let piece = timeout_at(until.min(self.deadline), pieces.next()).await;
            let Some(piece) = piece.map_err(|_| Trouble::TimedOut)? else {
                break;
            };
            let piece = piece?;
            let size = (bytes.len() + piece.len()) as u64;
            if size > self.most {
                return Err(Trouble::TooLarge);
            }
            share.cover(size * self.weight, self.wait).await?;
            bytes.extend_from_slice(&piece);
            brought += piece.len() as u64;
            if brought >= LEAST_BYTES {
                (until, brought) = (Instant::now() + self.stall, 0);
            }
        }
        bytes.shrink_to_fit();
        Ok(held(&Arc::new(share), bytes))
    }
}
