//! Result files: at the vendor's own host with the worker's headers, anywhere else by the rules for strangers' addresses.

use futures_util::StreamExt as _;
use http::Response;
use tokio::time::Instant;

use super::request::MOST_ANSWER;
use super::{VendorHttp, VendorRequest, VendorResponse, whole};
use crate::backend::{Class, Fault};
use crate::http::OutboundError;

impl VendorHttp {
    /// Reads a result file of at most so many bytes; an answer without a good status has no body worth a look. An
    /// address of the vendor's own host is asked with the worker's headers, any other one by the rules for strangers'
    /// addresses.
    pub(crate) async fn download(&self, address: &str, most: u64) -> Result<VendorResponse, Fault> {
        let mut url = self
            .base
            .join(address)
            .map_err(|_| Fault::vendor(Class::Gone, "the result's address cannot be read"))?;
        let deadline = Instant::now() + self.guard.limits.file;
        if url.origin() != self.base.origin() {
            let read = self.fetch(url.as_str(), most, deadline).await;
            return read.map_err(|trouble| self.undelivered(trouble));
        }
        if !address.contains("://") {
            self.keep_query(&mut url);
        }
        let call = VendorRequest::get(url.as_str()).at_most(most);
        let (head, body) = self
            .send(&self.kept, call, None, deadline)
            .await?
            .into_parts();
        let mut answer = self.answer(head);
        if answer.is_good() {
            let reading = self.reading(most, deadline);
            let read = whole(reading, body).await;
            answer.bytes = read.map_err(|trouble| self.undelivered(trouble))?;
        } else {
            let reading = self.reading(MOST_ANSWER, deadline);
            let read = whole(reading, body).await;
            answer.bytes = read.unwrap_or_default();
        }
        Ok(answer)
    }

    /// The largest file, and the most that all files of one piece of work may have together.
    pub(crate) fn most_file(&self) -> u64 {
        let limits = &self.guard.limits;
        if self.trusted {
            limits.vendor_file
        } else {
            limits.stranger_file
        }
    }

    async fn fetch(
        &self,
        url: &str,
        most: u64,
        deadline: Instant,
    ) -> Result<VendorResponse, OutboundError> {
        let found = self.guard.fetch_file(url, most).await;
        let mut answer = self.answer(Response::new(()).into_parts().0);
        let download = match found.map_err(|fault| fault.trouble) {
            Err(OutboundError::Status(status)) => {
                answer.status = status;
                return Ok(answer);
            }
            found => found?,
        };
        let length = download.length.unwrap_or(0);
        let pieces = download.map(|piece| piece.map_err(|fault| fault.trouble));
        let reading = self.reading(most, deadline);
        answer.bytes = reading.whole(pieces, length).await?;
        Ok(answer)
    }

    /// What it means that a result file did not come: one that the rules of this service refuse is refused for good.
    fn undelivered(&self, trouble: OutboundError) -> Fault {
        let trouble = self.shown(trouble);
        let detail = format!("result file: {trouble:?}");
        match trouble {
            OutboundError::Busy => Fault::internal(detail),
            _ if trouble.may_pass() => Fault::vendor(Class::Retry, detail),
            _ => Fault::useless(detail),
        }
    }
}
