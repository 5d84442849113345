//! Reading bodies of vendors: so fast at least, so large at most, and together no more than the memory they share. A
//! body's share returns when the last of its bytes is dropped.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::time::{Instant, timeout, timeout_at};

use crate::http::OutboundError;
use crate::http::memory::{MemoryBudget, MemoryShare, UNIT, with_share};

/// A body brings so much, or its end, before it counts as stalled.
const LEAST_BYTES: u64 = 16 * 1024;

/// How a body is read.
pub(super) struct BodyReader {
    /// The memory it shares with others.
    pub(super) memory: MemoryBudget,
    /// The largest body that is read.
    pub(super) most: u64,
    /// How many bytes of memory each byte takes until it is let go.
    pub(super) weight: u64,
    /// When all of it must be there.
    pub(super) deadline: Instant,
    /// How long it may bring next to nothing.
    pub(super) stall: Duration,
    /// How long it may wait for memory.
    pub(super) wait: Duration,
}

impl BodyReader {
    /// The whole body; `length` is what it claims to have.
    pub(super) async fn whole(
        self,
        mut pieces: impl Stream<Item = Result<Bytes, OutboundError>> + Unpin,
        length: u64,
    ) -> Result<Bytes, OutboundError> {
        if length > self.most {
            return Err(OutboundError::TooLarge);
        }
        let mut bytes = Vec::new();
        bytes.reserve_exact(length as usize);
        let mut share = MemoryShare::default();
        let (mut until, mut brought) = (Instant::now() + self.stall, 0);
        loop {
            let piece = timeout_at(until.min(self.deadline), pieces.next()).await;
            let Some(piece) = piece.map_err(|_| OutboundError::TimedOut)? else {
                break;
            };
            let piece = piece?;
            let size = (bytes.len() + piece.len()) as u64;
            if size > self.most {
                return Err(OutboundError::TooLarge);
            }
            self.cover(&mut share, size * self.weight).await?;
            bytes.extend_from_slice(&piece);
            brought += piece.len() as u64;
            if brought >= LEAST_BYTES {
                (until, brought) = (Instant::now() + self.stall, 0);
            }
        }
        bytes.shrink_to_fit();
        Ok(with_share(share, bytes))
    }

    /// Grows a share to so many bytes, or says after a while that there is none. Whoever holds one share and waits for
    /// another must give up some time, or two of them would wait for each other. What is no larger than a unit takes
    /// nothing, so that polls never wait for files.
    pub(super) async fn cover(
        &self,
        share: &mut MemoryShare,
        bytes: u64,
    ) -> Result<(), OutboundError> {
        let grown = share.grow(&self.memory, bytes.saturating_sub(1) / UNIT);
        match timeout(self.wait, grown).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(OutboundError::TooLarge),
            Err(_) => Err(OutboundError::Busy),
        }
    }
}
