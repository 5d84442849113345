//! Calls to Stripe's API: forms out, JSON in.

use std::time::Duration;

use atelier_backends::http::{VendorHttp, VendorRequest, VendorResponse};
use atelier_contract::{Code, Refusal};
use serde_json::Value;
use url::form_urlencoded;

const PATIENCE: Duration = Duration::from_secs(20);
/// What answers look like; without it they would be what the account at Stripe was made with.
const VERSION: &str = "2024-06-20";
/// How much of Stripe's reason is kept.
const WHY_MOST: usize = 300;

/// Why a call came to nothing.
pub(super) enum ApiFault {
    /// Stripe will never do it like that.
    Refused { status: u16, why: String },
    /// Stripe may have done it, or may do it later.
    Unknown,
}

impl ApiFault {
    pub(super) fn into_refusal(self) -> Refusal {
        match self {
            Self::Refused { .. } => unusable(),
            Self::Unknown => Refusal::new(
                Code::Overloaded,
                "the payment provider does not answer; try again later",
            ),
        }
    }
}

/// Stripe's API with the operator's key.
pub(super) struct Api(pub(super) VendorHttp);

impl Api {
    /// Posts a form. The same key does the same once, so that a call may be repeated.
    pub(super) async fn post(
        &self,
        path: &str,
        fields: &[(&str, String)],
        key: Option<&str>,
    ) -> Result<Value, ApiFault> {
        let call = VendorRequest::post_form(path, form(fields));
        let call = match key {
            Some(key) => call.header("idempotency-key", key),
            None => call,
        };
        self.send(call).await
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, ApiFault> {
        self.send(VendorRequest::get(path)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, ApiFault> {
        self.send(VendorRequest::delete(path)).await
    }

    async fn send(&self, call: VendorRequest) -> Result<Value, ApiFault> {
        let call = call.header("stripe-version", VERSION).within(PATIENCE);
        let answer = self.0.submit(call).await.map_err(|fault| {
            tracing::warn!(why = fault.detail, "Stripe does not answer");
            ApiFault::Unknown
        })?;
        if answer.is_good() {
            return answer.json().map_err(|_| ApiFault::Unknown);
        }
        let (status, why) = (answer.status, why(&answer));
        tracing::warn!(status, why, "Stripe refused a call");
        // A wrong key and too many calls are no word about what was asked.
        match status {
            400 | 402 | 404 => Err(ApiFault::Refused { status, why }),
            _ => Err(ApiFault::Unknown),
        }
    }
}

fn form(fields: &[(&str, String)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

/// What Stripe says of a call that it refused.
fn why(answer: &VendorResponse) -> String {
    let body: Option<Value> = answer.json().ok();
    let message = body.and_then(|body| body["error"]["message"].as_str().map(str::to_owned));
    let mut message = message.unwrap_or_else(|| answer.start());
    message.truncate(message.floor_char_boundary(WHY_MOST));
    message
}

pub(super) fn unusable() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "the payment provider did not take it; the operator's log says why",
    )
}
