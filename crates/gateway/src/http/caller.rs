//! Who calls: a key becomes an account, a token becomes an operator.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Code, Refusal};
use atelier_engine::{Caller, Operator};
use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::admission::Credential;
use super::denial::Denial;
use super::rate::OpenPage;
use super::reply::is_gemini;
use super::request::{IncomingRequest, Sender};
use crate::app::App;
use crate::server::watch::Connection;

const KEY: HeaderName = HeaderName::from_static("svc-api-key");
/// Where clients of midjourney-proxy put their key.
const SECRET: HeaderName = HeaderName::from_static("mj-api-secret");
/// Where Google's clients put their key.
pub(crate) const GOOGLE_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
/// Where clients of other services put theirs; looked at only where no key stands in its usual places.
static ELSEWHERE: [HeaderName; 4] = [
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-litellm-api-key"),
];
/// What clients of midjourney-proxy send as a bearer token when their key is in its own header.
const NO_TOKEN: &str = "midjourney-proxy";
const WRONG_KEY: &str = "Wrong SVC-API-KEY or email is not activated.";
const TOO_MANY_NEW: &str =
    "too many keys from this address that nobody knew lately; try again later";
const TOO_MANY_WRONG: &str = "too many wrong keys from this address; try again later";
/// How long a network that guessed too much waits before it is asked whose its next key is.
const GUESSED_WAIT: Duration = Duration::from_millis(500);

/// Whether a request carries a key or a token itself, right or wrong.
pub(super) fn has_credential(headers: &HeaderMap) -> bool {
    let mut usual = [KEY, SECRET, AUTHORIZATION].into_iter();
    usual.any(|name| headers.contains_key(name))
        || ELSEWHERE.iter().any(|name| headers.contains_key(name))
}

/// Whether a caller's key, and those above it, let a request through.
pub(super) type KeyGate<'a> = &'a (dyn Fn(&Caller) -> Result<(), Denial> + Sync);

/// Whether the credential of a request that nobody has asked about yet is one that works; it has a place to be looked up in.
pub(super) async fn has_valid_credential(
    app: &Arc<App>,
    conn: &Connection,
    received: &IncomingRequest,
) -> Result<bool, Denial> {
    let headers = &received.head.headers;
    let vouched = match key_of(headers) {
        Ok(Some(key)) if app.engine.admin().callers().may_be_key(key) && !is_root(app, key) => {
            authenticate(app, conn, received, &|_| Ok(()))
                .await
                .map(|_| ())
        }
        Ok(Some(_)) => match operator(app, received).await {
            Ok(operator) => received
                .admission
                .admit_operator(&app.request_slots, &operator.name),
            Err(denial) => Err(denial),
        },
        _ => return Ok(false),
    };
    match vouched {
        Ok(()) => Ok(true),
        Err(denial) if denial.refusal.code == Code::Unauthorized => Ok(false),
        Err(denial) => Err(denial),
    }
}

/// The account behind the key of a request.
pub(super) async fn authenticate(
    app: &Arc<App>,
    conn: &Connection,
    received: &IncomingRequest,
    by_key: KeyGate<'_>,
) -> Result<Caller, Denial> {
    let Some(key) = key_of(&received.head.headers)? else {
        return Err(wrong_key().into());
    };
    before_asking(app, received, key).await?;
    before_looking(app, received, key)?;
    match app.engine.admin().callers().believe(key).await {
        Ok(believed) => {
            let caller = believed.caller.clone();
            conn.remember(key, believed);
            by_key(&caller)?;
            received
                .admission
                .admit(&app.request_slots, &app.rates, &caller.account_id)?;
            Ok(caller)
        }
        Err(refusal) if refusal.code == Code::Unauthorized => {
            count_wrong(app, received.from)?;
            Err(wrong_key().into())
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The account behind the key of a request, when the connection's last request had the same key and nobody has to be asked
/// about it again. A request that may have a session goes the long way.
pub(super) fn cached_caller(app: &App, conn: &Connection, headers: &HeaderMap) -> Option<Caller> {
    if headers.contains_key(COOKIE) {
        return None;
    }
    let believed = conn.recall(key_of(headers).ok()??)?;
    let holds = app.engine.admin().callers().still_believed(&believed);
    holds.then_some(believed.caller)
}

/// The operator behind the token of a request.
pub(super) async fn operator(app: &App, received: &IncomingRequest) -> Result<Operator, Denial> {
    let given = bearer(&received.head.headers)?;
    let Some(given) = given else {
        return Err(no_operator().into());
    };
    if is_root(app, given) {
        return Ok(Operator::root(&app.root_hash));
    }
    before_asking(app, received, given).await?;
    if let Some(operator) = app.engine.admin().operators().known(given).await? {
        return Ok(operator);
    }
    count_wrong(app, received.from)?;
    Err(no_operator().into())
}

/// Whether a token is the one of the configuration.
pub(super) fn is_root(app: &App, token: &str) -> bool {
    // Both sides are hashed, so that neither length nor content shows in the time it takes.
    let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
    bool::from(given.ct_eq(&app.admin_token_hash))
}

fn wrong_key() -> Refusal {
    Refusal::new(Code::Unauthorized, WRONG_KEY)
}

fn no_operator() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "the operator API needs `Authorization: Bearer <operator's token>`",
    )
}

/// Has a network that had too many wrong keys wait before it costs another read. Few of it wait at once, which bounds how many it
/// can cost, and none has a place meanwhile that another network would want. A right key gets in all the same, or whoever guesses
/// would keep out everybody behind one proxy.
pub(super) async fn before_asking(
    app: &App,
    received: &IncomingRequest,
    secret: &str,
) -> Result<(), Denial> {
    let guesses = app.rates.may_try(received.from.peer).is_err();
    if guesses && !app.engine.admin().callers().knew_lately(secret) {
        let paused = received.admission.pause(&app.request_slots, GUESSED_WAIT);
        // Boxed, because hardly anybody waits here, and every call would have room for it.
        Box::pin(paused).await?;
    }
    Ok(())
}

/// Has a network use up what it has without a key for each key of another program that nobody knew lately: such a key costs a read,
/// because nothing about it shows whether it can be one.
fn before_looking(app: &App, received: &IncomingRequest, key: &str) -> Result<(), Denial> {
    if !app.engine.admin().callers().is_new_foreign(key) {
        return Ok(());
    }
    let counted = app.rates.open_page(OpenPage::Page, received.from.peer);
    counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY_NEW, seconds))
}

/// What is known of a key, a token or a session before anybody is asked about it.
pub(super) fn recognize(app: &App, secret: &str) -> Credential {
    // Callers first, of whom there are most: either question takes a hash.
    match app.engine.admin().callers().holder_lately(secret) {
        Some(holder) => Credential::Known(holder),
        None if is_root(app, secret) => Credential::Root,
        None => Credential::Unknown,
    }
}

pub(super) fn count_wrong(app: &App, from: Sender) -> Result<(), Denial> {
    app.rates
        .wrong_key(from.peer)
        .map_err(|seconds| Denial::too_many_requests(TOO_MANY_WRONG, seconds))
}

/// The one key of a request; two that differ say nothing about who calls.
pub(super) fn key_of(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let secrets = headers.get_all(SECRET).iter();
    let keys = headers.get_all(KEY).iter().map(|key| (key, false));
    let mut given = keys.chain(secrets.map(|key| (key, true)));
    let key = match (given.next(), given.next()) {
        (None, _) => None,
        (Some((key, may_be_bearer)), None) => {
            let key = key.to_str().map_err(|_| wrong_key())?;
            Some(if may_be_bearer { bare(key) } else { key })
        }
        _ => return Err(wrong_key()),
    };
    match (key, bearer(headers)?) {
        (Some(key), Some(token)) if key != token => Err(wrong_key()),
        (None, None) => elsewhere(headers),
        (key, token) => Ok(key.or(token)),
    }
}

/// A key in the header of another service.
fn elsewhere(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut given = ELSEWHERE.iter().filter_map(|name| headers.get(name));
    let key = given.next().map(|value| value.to_str().map(bare));
    key.transpose().map_err(|_| wrong_key())
}

/// A key that may stand behind the word for bearers, as some clients write it in headers of their own.
fn bare(key: &str) -> &str {
    match key.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ => key,
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), second) = (given.next(), given.next()) else {
        return Ok(None);
    };
    if second.is_some() {
        return Err(wrong_key());
    }
    let text = value.to_str().map_err(|_| wrong_key())?;
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Some(token.trim()),
        Some(_) => None,
        // Some programs take a key that stands alone, and their clients write it so.
        None => Some(text),
    };
    Ok(token.filter(|token| ![NO_TOKEN, ""].contains(token)))
}

/// Puts the key of a query into its header, where Google's clients may have it in either.
pub(super) fn take_query_key(head: &mut Parts) {
    if !is_gemini(head.uri.path()) || head.headers.contains_key(GOOGLE_KEY) {
        return;
    }
    let query = head.uri.query().unwrap_or_default();
    let mut fields = url::form_urlencoded::parse(query.as_bytes());
    let key = fields.find(|(name, _)| name == "key").map(|(_, key)| key);
    if let Some(Ok(key)) = key.map(|key| HeaderValue::from_str(&key)) {
        head.headers.insert(GOOGLE_KEY, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(lines: &[(&'static str, &str)]) -> Result<Option<String>, Code> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("a header"));
        }
        key_of(&headers)
            .map(|key| key.map(str::to_owned))
            .map_err(|refusal| refusal.code)
    }

    #[test]
    fn a_key_comes_in_its_header_or_as_bearer() {
        assert_eq!(key(&[("svc-api-key", "k")]), Ok(Some("k".into())));
        assert_eq!(key(&[("authorization", "bearer k")]), Ok(Some("k".into())));
        assert_eq!(
            key(&[("authorization", "Bearer k"), ("svc-api-key", "k")]),
            Ok(Some("k".into()))
        );
        assert_eq!(key(&[("x-goog-api-key", "k")]), Ok(Some("k".into())));
        assert_eq!(key(&[("authorization", "Basic eDp5")]), Ok(None));
        assert_eq!(key(&[("authorization", "sk-k")]), Ok(Some("sk-k".into())));
        // midjourney-proxy's clients name that program where others have a token.
        let named = ("authorization", "Bearer midjourney-proxy");
        assert_eq!(key(&[named]), Ok(None));
        assert_eq!(key(&[named, ("mj-api-secret", "k")]), Ok(Some("k".into())));
        assert_eq!(key(&[("mj-api-secret", "Bearer k")]), Ok(Some("k".into())));
        // The headers of other services count where the usual ones say nothing.
        assert_eq!(
            key(&[("x-litellm-api-key", "Bearer k")]),
            Ok(Some("k".into()))
        );
        assert_eq!(
            key(&[("x-api-key", "l"), ("authorization", "Bearer k")]),
            Ok(Some("k".into()))
        );
        assert_eq!(key(&[]), Ok(None));
    }

    #[test]
    fn a_key_of_a_query_counts_for_googles_clients_alone() {
        let key = |target: &str, header: Option<&str>| {
            let mut request = hyper::Request::get(target);
            if let Some(header) = header {
                request = request.header("x-goog-api-key", header);
            }
            let mut head = request.body(()).expect("a request").into_parts().0;
            take_query_key(&mut head);
            key_of(&head.headers).map(|key| key.map(str::to_owned))
        };
        let own = "/v1beta/models/a:generateContent?alt=sse&key=at%5Fk";
        assert_eq!(key(own, None), Ok(Some("at_k".into())));
        assert_eq!(key(own, Some("k")), Ok(Some("k".into())));
        let newer = "/v1/models/a:generateContent?key=k";
        assert_eq!(key(newer, None), Ok(Some("k".into())));
        assert_eq!(key("/v1/models?key=k", None), Ok(None));
        assert_eq!(key("/v1beta/models?key=%0A", None), Ok(None));
    }

    #[test]
    fn two_keys_are_none() {
        for lines in [
            [("svc-api-key", "k"), ("svc-api-key", "k")],
            [("svc-api-key", "k"), ("authorization", "Bearer l")],
            [("authorization", "Bearer k"), ("authorization", "Bearer k")],
        ] {
            assert_eq!(key(&lines), Err(Code::Unauthorized));
        }
    }
}
