//! A way to a service: an address, a secret, and calls that are made once however often the connection is lost.

use std::time::Duration;

use anyhow::Result;
use atelier_contract::Code;
use atelier_contract::catalogue::{ApiOperation, Catalogue};
use atelier_contract::pages::Access;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::fault::{ExitReason, Fault};
use super::fields::find_operation;
use super::profile::Profile;
use super::request::{ApiRequest, connection_fault};

/// A call is tried this often before the service counts as away.
const TRIES: u32 = 6;
/// The first pause between tries; each is twice the one before.
const PAUSE: Duration = Duration::from_millis(500);
/// No pause is longer, whatever the service asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the service may be silent; the longest synchronous call takes five minutes.
const SILENCE: Duration = Duration::from_secs(330);

/// A way to a service.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    /// Who one is there.
    pub(crate) profile: Profile,
    /// What can be called there.
    pub(crate) catalogue: &'static Catalogue,
}

impl Client {
    /// A way to the service of a profile.
    pub(crate) fn new(mut profile: Profile, catalogue: &'static Catalogue) -> Result<Self> {
        // Whoever made one before was as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        profile.url = profile.url.trim_end_matches('/').to_owned();
        let http = reqwest::Client::builder()
            .user_agent(concat!("atelier/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .build()?;
        Ok(Self {
            http,
            profile,
            catalogue,
        })
    }

    /// The operation with a name.
    pub(crate) fn operation(&self, name: &str) -> Result<&'static ApiOperation, Fault> {
        find_operation(self.catalogue, name)
    }

    /// The secret that an operation asks for.
    fn secret(&self, access: Access) -> Result<Option<&str>, Fault> {
        let (secret, what) = match access {
            Access::Open => return Ok(None),
            Access::Caller(_) => (&self.profile.key, "an API key: `atelier login URL`"),
            Access::Viewer | Access::Operator => (
                &self.profile.token,
                "an operator token: `atelier login URL --operator`",
            ),
        };
        if secret.is_empty() {
            return Err(Fault::new(
                ExitReason::NotAllowed,
                format!("this needs {what}"),
            ));
        }
        Ok(Some(secret))
    }

    /// Calls an operation and gives back its JSON. What may be done twice without harm is sent again after a lost
    /// connection, also when it was lost in the middle of the answer; what may not, only while it certainly was not taken.
    pub(crate) async fn call(
        &self,
        operation: &ApiOperation,
        asked: &ApiRequest,
    ) -> Result<Value, Fault> {
        let secret = self.secret(operation.access)?;
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            let mut request = asked.request(&self.http, &self.profile.url, operation);
            if let Some(secret) = secret {
                request = request.bearer_auth(secret);
            }
            let wait = match send_once(request).await {
                Err(error) if error.is_builder() => {
                    let message =
                        "the URL or a header of the call contains characters that cannot be sent";
                    return Err(Fault::new(ExitReason::Usage, message));
                }
                Err(error) if left > 0 && (asked.repeatable || error.is_connect()) => pause,
                Err(error) => return Err(connection_fault(error)),
                Ok((status, headers, bytes)) => match retry_after(status, &headers) {
                    Some(asked_for) if left > 0 => asked_for.max(pause).min(LONGEST_PAUSE),
                    None if left > 0 && asked.repeatable && is_a_proxy(status, &headers) => pause,
                    _ => return parse_response(status, &bytes),
                },
            };
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        Err(Fault::new(
            ExitReason::Unavailable,
            "the service cannot be reached",
        ))
    }
}

/// One try: the status, the headers and the whole body of its answer.
async fn send_once(
    request: reqwest::RequestBuilder,
) -> Result<(u16, HeaderMap, bytes::Bytes), reqwest::Error> {
    let answer = request.send().await?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Ok((status, headers, answer.bytes().await?))
}

/// What an answer means.
fn parse_response(status: u16, bytes: &[u8]) -> Result<Value, Fault> {
    let body: Value = serde_json::from_slice(bytes).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(bytes);
        Value::from(text.into_owned())
    });
    let status = failure_in(&body).map_or(status, Code::status);
    if status >= 400 {
        return Err(Fault::refused(status, &body));
    }
    Ok(body)
}

/// Why a call failed whose answer had begun before that was known (`answers.keep_alive_s`), whatever status it came with. Of a
/// job that failed, an answer has no code.
fn failure_in(body: &Value) -> Option<Code> {
    let word = body["code"]
        .as_str()
        .filter(|_| body["status"] == "FAILED")?;
    Code::ALL.iter().copied().find(|code| code.word() == word)
}

/// Whether somebody before the service says that it is away; the service itself answers in JSON.
fn is_a_proxy(status: u16, headers: &HeaderMap) -> bool {
    let json = headers.get(CONTENT_TYPE);
    let json = json.is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    matches!(status, 502..=504) && !json
}

/// How long to wait when an answer means "not now": nothing was accepted, or the first call is still being answered.
fn retry_after(status: u16, headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    matches!(status, 409 | 429 | 503).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_in_an_answer_that_began_well_is_a_failure() {
        let late = br#"   {"status":"FAILED","message":"no more paint","data":null,"code":"backend_failed"}"#;
        let fault = parse_response(200, late).expect_err("a failure");
        assert_eq!(fault.message, "no more paint (backend_failed)");
        for good in [
            &br#" {"status":"SUCCESS","message":"success","data":{}}"#[..],
            br#"{"status":"FAILED","message":"a job's own","jobId":"a","data":null}"#,
            br#"{"code":1,"result":"a"}"#,
        ] {
            parse_response(200, good).expect("an answer");
        }
    }
}
