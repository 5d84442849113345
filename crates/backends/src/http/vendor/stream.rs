//! Answers too large to be held as text: the body is handed over as it comes.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::super::fence::fence;
use super::request::MOST_ANSWER;
use super::{VendorHttp, VendorRequest, VendorResponse, whole};
use crate::backend::{Acceptance, Fault};
use crate::http::{MemoryShare, OutboundError};

/// Takes the pieces of a body, and says whether it wants more of them.
pub(crate) type ChunkSink<'a> = &'a mut (dyn FnMut(&[u8]) -> bool + Send);

impl VendorHttp {
    /// Makes a call that starts work and hands over the body of a good answer piece by piece; the answer it gives has
    /// no body then, and the share is for whatever is kept of the pieces. Any other answer is short and read whole.
    /// Events of a vendor that is still making may be far apart, so only the call's own limit ends it.
    pub(crate) async fn submit_streamed(
        &self,
        call: VendorRequest,
        take: ChunkSink<'_>,
    ) -> Result<(VendorResponse, Arc<MemoryShare>), Fault> {
        let deadline = Instant::now() + call.limit;
        let reading = self.reading(call.most, deadline);
        let (head, mut body) = self
            .send(self.for_paid(&call), call, fence(), deadline)
            .await?
            .into_parts();
        let cut = |trouble| self.lost(trouble, Acceptance::Perhaps);
        let mut answer = self.answer(head);
        let mut share = MemoryShare::default();
        if !answer.is_good() {
            let read = whole(self.reading(MOST_ANSWER, deadline), body).await;
            answer.bytes = read.map_err(cut)?;
            return Ok((answer, Arc::new(share)));
        }
        let mut read = 0;
        loop {
            let Ok(frame) = timeout_at(deadline, body.frame()).await else {
                return Err(cut(OutboundError::TimedOut));
            };
            let Some(frame) = frame else {
                return Ok((answer, Arc::new(share)));
            };
            let frame = frame.map_err(|_| cut(OutboundError::Protocol))?;
            if let Ok(piece) = frame.into_data() {
                read += piece.len() as u64;
                reading.cover(&mut share, read).await.map_err(cut)?;
                if read > reading.most || !take(&piece) {
                    return Err(cut(OutboundError::TooLarge));
                }
            }
        }
    }
}
