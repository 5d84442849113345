//! A sample callback: signed like every other, sent once, and told at once how it went.

use std::collections::BTreeMap;

use atelier_backends::guard::Purpose;
use atelier_contract::pages::callbacks::Sample;
use atelier_contract::{AccountId, Code, Refusal};
use bytes::Bytes;
use serde_json::json;

use super::attempt::signed_headers;
use super::secrets::{self, SecretReader};
use crate::context::Context;

/// The job that a sample tells of; there is none of this name.
const JOB: &str = "00000000-0000-7000-8000-000000000000";

/// Sends a sample to an address.
pub(super) async fn send(
    context: &Context,
    account_id: &AccountId,
    url: &str,
    outside: bool,
) -> Result<Sample, Refusal> {
    let policy = context.outbound().policy_for(outside);
    policy
        .check_url(url, Purpose::Callback)
        .map_err(|why| Refusal::field(Code::AddressNotAllowed, "url", why))?;
    let secrets = secrets::signing(context, account_id, SecretReader::Account).await?;
    let id = format!("sample_{}", context.ids().uuid());
    let body = json!({
        "status": "SUCCESS",
        "message": "this is a sample",
        "jobId": JOB,
        "data": null,
    });
    let body = body.to_string();
    let headers = signed_headers(context, &secrets, &id, body.as_bytes());
    let sent = Bytes::from(body.clone());
    let outcome = context.outbound().post_callback(url, &headers, sent).await;
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Ok(Sample {
        headers: headers.collect::<BTreeMap<String, String>>(),
        body,
        delivered: outcome.delivered(),
        status: outcome.status,
        error: outcome.error,
        duration_ms: outcome.duration_ms,
        answer: outcome.answer_start,
    })
}
