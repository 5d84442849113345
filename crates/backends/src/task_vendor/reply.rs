//! A vendor's answer as it is understood: JSON, with the base64 of files taken out of it as it came.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use crate::backend::Fault;
use crate::hooks::MOST_KEPT;
use crate::http::{
    Base64Extractor, ExtractedBlobs, MemoryShare, VendorHttp, VendorRequest, VendorResponse,
    with_share,
};
use crate::vendor_errors;

/// How an answer is read.
pub(crate) enum AnswerForm<'a> {
    /// As a document, with base64 taken out of fields of these names as it comes.
    Document(Vec<&'a str>),
    /// As a whole: it is a file, or a document with files at places that are not known.
    Whole,
}

impl AnswerForm<'_> {
    /// A document without files.
    pub(crate) const PLAIN: Self = Self::Document(Vec::new());
}

/// The largest answer that is read as a whole: some vendors post the same.
pub(super) const MOST_WHOLE: u64 = MOST_KEPT as u64;

/// An answer with a good status, read as JSON.
pub(crate) struct TaskReply {
    /// The answer; its bytes are the text without the files.
    pub(crate) answer: VendorResponse,
    /// The document; null when there is none.
    pub(crate) body: Value,
    blobs: ExtractedBlobs,
    share: Arc<MemoryShare>,
}

impl TaskReply {
    /// An answer that carries no files.
    fn of(answer: VendorResponse) -> Self {
        let body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
        Self {
            answer,
            body,
            blobs: ExtractedBlobs::default(),
            share: Arc::default(),
        }
    }

    /// An answer that was kept, read as if it came now.
    pub(crate) fn kept(answer: VendorResponse, form: &AnswerForm<'_>) -> Result<Self, Fault> {
        let AnswerForm::Document(blobs) = form else {
            return Ok(Self::of(answer));
        };
        let mut sifter = Base64Extractor::new(blobs);
        sifter.take(&answer.bytes);
        if let Some(fault) = sifter.fault() {
            return Err(fault);
        }
        let bytes = sifter.take_text().into();
        Ok(Self {
            blobs: sifter.into_blobs(),
            ..Self::of(VendorResponse { bytes, ..answer })
        })
    }

    /// What a vendor posted, as if it had been the answer to a question.
    pub(super) fn posted(http: &VendorHttp, bytes: Bytes) -> Self {
        Self::of(VendorResponse {
            status: 200,
            headers: HeaderMap::new(),
            bytes,
            secrets: http.secrets().clone(),
        })
    }

    /// The file in a field that holds base64.
    pub(crate) fn file(&mut self, field: &Value) -> Option<Bytes> {
        let bytes = self.blobs.take(field.as_u64()?)?;
        Some(with_share(Arc::clone(&self.share), bytes))
    }

    /// What it means that this answer is not what was hoped for.
    pub(crate) fn nonsense(&self) -> Fault {
        vendor_errors::unexpected(&self.answer)
    }
}

/// Asks a question whose answer carries no files.
pub(super) async fn call_json(
    http: &VendorHttp,
    call: VendorRequest,
) -> Result<Result<TaskReply, VendorResponse>, Fault> {
    let answer = http.ask(call).await?;
    Ok(if answer.is_good() {
        Ok(TaskReply::of(answer))
    } else {
        Err(answer)
    })
}

/// Makes a call whose answer is read as a whole.
pub(super) async fn call_for_file(
    http: &VendorHttp,
    call: VendorRequest,
) -> Result<Result<TaskReply, VendorResponse>, Fault> {
    let call = call.at_most(MOST_WHOLE);
    let answer = http.submit(call).await?;
    Ok(if answer.is_good() {
        Ok(TaskReply::of(answer))
    } else {
        Err(answer)
    })
}

/// Makes a call whose answer may carry files in these fields; `Err` inside is an answer that is not good.
pub(super) async fn call_with_files(
    http: &VendorHttp,
    call: VendorRequest,
    blobs: &[&str],
) -> Result<Result<TaskReply, VendorResponse>, Fault> {
    let mut sifter = Base64Extractor::new(blobs);
    let mut take = |piece: &[u8]| {
        sifter.take(piece);
        sifter.is_valid()
    };
    let call = call.at_most(http.most_file());
    let sent = http.submit_streamed(call, &mut take).await;
    if let Some(fault) = sifter.fault() {
        return Err(fault);
    }
    let (mut answer, share) = sent?;
    if !answer.is_good() {
        return Ok(Err(answer));
    }
    answer.bytes = sifter.take_text().into();
    let body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
    Ok(Ok(TaskReply {
        answer,
        body,
        blobs: sifter.into_blobs(),
        share,
    }))
}
