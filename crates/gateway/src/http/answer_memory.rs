//! Memory of answers that their callers have not taken yet. A place is given back once an answer is made, so that what waits
//! to be taken is bounded by its bytes: a holder has a share of the memory, and waits for its own answers to go before more
//! are handed over. Bytes that the process keeps anyway are not counted.

use std::sync::Arc;
use std::time::Duration;

use atelier_fairness::share::{FairPermit, FairSemaphore};
use bytes::Bytes;
use tokio::time::timeout;

use super::denial::Denial;
use super::payload::{LARGE, Payload};
use super::reply::Reply;

/// On HTTP/2, where one connection has many answers, those of more bytes than this are counted.
const SMALL: usize = 4096;

/// So many answers of one holder wait at once; further ones are refused, and their bytes dropped.
const WAITING: usize = 8;

/// How long one waits: by then an answer that nobody takes is cut.
const BEYOND_CUT: Duration = Duration::from_secs(5);

/// Bytes that give their memory back with their last copy.
struct CountedBytes {
    bytes: Bytes,
    _part: FairPermit,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bounds how many bytes of answers wait to be sent.
pub(crate) struct AnswerMemory {
    /// Bytes that all answers may hold, shared by account.
    pub(crate) memory: Arc<FairSemaphore>,
    patience: Duration,
}

impl AnswerMemory {
    /// So much for all; an answer is cut after so many seconds.
    pub(crate) fn new(mib: u64, write_timeout_s: u64) -> Self {
        Self {
            memory: FairSemaphore::fixed("answer_memory", mib * 1024 * 1024, 1),
            patience: Duration::from_secs(write_timeout_s) + BEYOND_CUT,
        }
    }

    /// Whether an answer has to be counted.
    pub(super) fn counts(reply: &Reply, multiplexed: bool) -> bool {
        let least = if multiplexed { SMALL } else { LARGE };
        matches!(reply.body(), Payload::Whole(bytes) if bytes.len() > least)
    }

    /// Counts an answer until it is taken.
    pub(super) async fn count(&self, reply: Reply, holder: &Arc<str>) -> Result<Reply, Denial> {
        let (head, payload) = reply.into_parts();
        let Payload::Whole(bytes) = payload else {
            return Ok(Reply::from_parts(head, payload));
        };
        let amount = (bytes.len() as u64).min(self.memory.share_of(holder));
        let part = match self.memory.try_take(holder, amount) {
            Ok(part) => part,
            Err(_) if self.memory.waiting(holder) >= WAITING => return Err(full()),
            Err(_) => timeout(self.patience, self.memory.take(holder, amount))
                .await
                .map_err(|_| full())?,
        };
        let counted = Bytes::from_owner(CountedBytes { bytes, _part: part });
        Ok(Reply::from_parts(head, Payload::Counted(counted)))
    }
}

fn full() -> Denial {
    Denial::too_many_requests(
        "earlier answers to this caller wait to be read; read them, then ask again",
        1,
    )
}
