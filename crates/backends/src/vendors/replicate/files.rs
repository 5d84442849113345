//! Pictures for a model: small ones go along as they are, larger ones are put into the vendor's file store first.

use bytes::Bytes;
use serde_json::Value;

use crate::backend::{BoxFuture, Fault};
use crate::http::{MultipartForm, VendorHttp, VendorRequest};
use crate::inputs::{data_uri, media_type};
use crate::vendor_errors;

/// The vendor advises no more inside a request.
const MOST_INLINE: usize = 256 * 1024;

/// An address under which the vendor finds a picture.
pub(super) fn placed(http: &VendorHttp, bytes: Bytes) -> BoxFuture<'_, Result<String, Fault>> {
    Box::pin(async move {
        if bytes.len() <= MOST_INLINE {
            return Ok(data_uri(&bytes));
        }
        let kind = media_type(&bytes);
        let name = kind.replace('/', ".");
        let (body, form) = MultipartForm::default()
            .file("content", &name, kind, bytes)
            .finish();
        let call = VendorRequest::new(http::Method::POST, "files").body(body, form);
        let answer = http.ask(call).await?;
        if !answer.is_good() {
            return Err(vendor_errors::fault_of(&answer));
        }
        let body: Value = answer.json()?;
        let address = body["urls"]["get"].as_str();
        let address = address.ok_or_else(|| Fault {
            taken: crate::backend::Acceptance::No,
            ..vendor_errors::unexpected(&answer)
        })?;
        Ok(address.to_owned())
    })
}
