//! A provider of OpenID Connect that vouches for whomever a test says, in whichever way: rightly, or as an attacker would.

use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::outside::{Outside, answer, read};

pub(crate) const CLIENT: &str = "atelier";
pub(crate) const SECRET: &str = "a-secret-of-thirty-two-characters";

/// How a token is signed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signature {
    /// By the key that the provider publishes.
    Own,
    /// By a key that nobody knows, under the name of the published one.
    Stranger,
    /// Not at all, and says so.
    Nothing,
    /// By the client's secret, as if it were a shared key.
    Secret,
    /// By the published key, as if it were a shared secret.
    PublicKey,
}

/// What is said for a code, to whoever has the verifier.
struct Grant {
    challenge: String,
    redirect: String,
    token: String,
}

/// Where a browser was led to.
pub(crate) struct Authorization {
    pub(crate) state: String,
    nonce: String,
    challenge: String,
    redirect: String,
}

impl Authorization {
    /// Reads the address of the provider's page, with everything that the flow must have.
    pub(crate) fn read(location: &str) -> Self {
        let url: Url = location.parse().expect("an address");
        let query: HashMap<_, _> = url.query_pairs().into_owned().collect();
        assert_eq!(query["response_type"], "code", "{location}");
        assert_eq!(query["client_id"], CLIENT);
        assert_eq!(query["code_challenge_method"], "S256");
        let scopes: Vec<&str> = query["scope"].split(' ').collect();
        assert!(scopes.contains(&"openid") && scopes.contains(&"email"));
        let of = |name: &str| query[name].clone();
        Self {
            state: of("state"),
            nonce: of("nonce"),
            challenge: of("code_challenge"),
            redirect: of("redirect_uri"),
        }
    }
}

/// The provider.
pub(crate) struct TestProvider {
    outside: Outside,
    key: KeyPair,
    stranger: KeyPair,
    grants: Arc<Mutex<HashMap<String, Grant>>>,
}

impl TestProvider {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let pair = || KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
        let (key, stranger) = (pair(), pair());
        let public = URL_SAFE_NO_PAD.encode(key.der_bytes());
        let grants: Arc<Mutex<HashMap<String, Grant>>> = Arc::default();
        let known = Arc::clone(&grants);
        let outside = Outside::start(move |mut stream| serve(&mut stream, &public, &known));
        Self {
            outside,
            key,
            stranger,
            grants,
        }
    }

    /// What it calls itself.
    pub(crate) fn issuer(&self) -> String {
        self.outside.url("")
    }

    /// What it says of somebody, with whatever else is said or, where it is null, not said.
    pub(crate) fn claims(&self, way: &Authorization, subject: &str, more: &Value) -> Value {
        let mut claims = json!({
            "iss": self.issuer(),
            "sub": subject,
            "aud": CLIENT,
            "iat": 1_700_000_000_i64,
            "exp": 4_000_000_000_i64,
            "nonce": way.nonce,
        });
        for (name, value) in more.as_object().expect("claims") {
            claims[name] = value.clone();
        }
        claims
    }

    /// Has a code stand for a token with such claims.
    pub(crate) fn grant(&self, way: &Authorization, code: &str, claims: &Value, by: Signature) {
        let grant = Grant {
            challenge: way.challenge.clone(),
            redirect: way.redirect.clone(),
            token: self.token(claims, by),
        };
        let mut grants = self.grants.lock().expect("no panic under the lock");
        grants.insert(code.to_owned(), grant);
    }

    fn token(&self, claims: &Value, by: Signature) -> String {
        let algorithm = match by {
            Signature::Own | Signature::Stranger => "EdDSA",
            Signature::Nothing => "none",
            Signature::Secret | Signature::PublicKey => "HS256",
        };
        let head = json!({ "alg": algorithm, "kid": "1", "typ": "JWT" });
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(&head), part(claims));
        let shared = |key: &[u8]| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is a key");
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        };
        let signature = match by {
            Signature::Own => self.key.sign(text.as_bytes()).expect("a signature"),
            Signature::Stranger => self.stranger.sign(text.as_bytes()).expect("a signature"),
            Signature::Nothing => Vec::new(),
            Signature::Secret => shared(SECRET.as_bytes()),
            Signature::PublicKey => shared(self.key.der_bytes()),
        };
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn serve(stream: &mut TcpStream, public: &str, grants: &Mutex<HashMap<String, Grant>>) {
    let Some(request) = read(stream) else { return };
    let host = request.head.lines().find_map(|line| {
        let line = line.to_ascii_lowercase();
        line.strip_prefix("host: ").map(str::to_owned)
    });
    let base = format!("http://{}", host.unwrap_or_default());
    let (status, said) = match request.path() {
        "/.well-known/openid-configuration" => ("200 OK", configuration(&base)),
        "/keys" => {
            let key = json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "1", "x": public });
            ("200 OK", json!({ "keys": [key] }))
        }
        "/token" => exchange(&request.head, &request.body, grants),
        _ => ("404 Not Found", json!({})),
    };
    let headers = "content-type: application/json\r\n";
    answer(stream, status, headers, said.to_string().as_bytes());
}

fn configuration(base: &str) -> Value {
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "jwks_uri": format!("{base}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        // It says that it would do all of these.
        "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
    })
}

/// A code is exchanged once, by the client, and by whoever has the verifier of the challenge.
fn exchange(
    head: &str,
    body: &[u8],
    grants: &Mutex<HashMap<String, Grant>>,
) -> (&'static str, Value) {
    let given: HashMap<_, _> = url::form_urlencoded::parse(body).into_owned().collect();
    let refused = |why: &str| ("400 Bad Request", json!({ "error": why }));
    let proof = format!(
        "authorization: basic {}",
        STANDARD
            .encode(format!("{CLIENT}:{SECRET}"))
            .to_ascii_lowercase()
    );
    if !head.to_ascii_lowercase().contains(&proof) {
        return refused("invalid_client");
    }
    let code = given.get("code").map(String::as_str).unwrap_or_default();
    let grant = grants.lock().expect("no panic under the lock").remove(code);
    let Some(grant) = grant else {
        return refused("invalid_grant");
    };
    let verifier = given.get("code_verifier");
    let verifier = verifier.map(String::as_str).unwrap_or_default();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    if challenge != grant.challenge || given.get("redirect_uri") != Some(&grant.redirect) {
        return refused("invalid_grant");
    }
    let token = json!({ "access_token": "a", "token_type": "Bearer", "id_token": grant.token });
    ("200 OK", token)
}
