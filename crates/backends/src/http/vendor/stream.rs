//! Answers too large to be held as text: the body is handed over as it comes.

use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::{MOST_ANSWER, VendorAnswer, VendorCall, VendorHttp, lost, whole};
use crate::backend::{Fault, Taken};
use crate::http::Trouble;

/// Takes the pieces of a body.
pub(crate) type Take<'a> = &'a mut (dyn FnMut(&[u8]) + Send);

impl VendorHttp {
    /// Makes a call that starts work and hands over the body of a good answer piece by piece; the answer it gives has
    /// no body then. Any other answer is short and read whole.
    pub(crate) async fn submit_streamed(
        &self,
        call: VendorCall,
        take: Take<'_>,
    ) -> Result<VendorAnswer, Fault> {
        let deadline = Instant::now() + call.limit;
        let most = call.most;
        let (head, mut body) = self.send(&self.once, call, deadline).await?.into_parts();
        let cut = |trouble| lost(trouble, Taken::Perhaps);
        let mut answer = VendorAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            bytes: bytes::Bytes::new(),
        };
        if !answer.is_good() {
            let read = timeout_at(deadline, whole(body, MOST_ANSWER)).await;
            answer.bytes = read.unwrap_or(Err(Trouble::TimedOut)).map_err(cut)?;
            return Ok(answer);
        }
        let mut read = 0;
        loop {
            let Ok(frame) = timeout_at(deadline, body.frame()).await else {
                return Err(cut(Trouble::TimedOut));
            };
            let Some(frame) = frame else {
                return Ok(answer);
            };
            let frame = frame.map_err(|_| cut(Trouble::Protocol))?;
            if let Ok(piece) = frame.into_data() {
                read += piece.len() as u64;
                if read > most {
                    return Err(cut(Trouble::TooLarge));
                }
                take(&piece);
            }
        }
    }
}
