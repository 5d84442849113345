//! A service account: a signed statement of its key is exchanged for a token that is good for an hour.

use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded::Serializer;

use crate::backend::{Class, Fault};
use crate::clock;
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest};
use crate::vendor::{CREDENTIAL_TO_COME, Secret};
use crate::vendor_errors;

/// What the token is for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Where tokens usually are.
const TOKENS: &str = "https://oauth2.googleapis.com/token";
/// How long a statement is good for, in seconds.
const STATEMENT_SECONDS: u64 = 3600;
/// A token is renewed when it is good for no longer than this, in seconds.
const RENEWED_BEFORE: u64 = 600;

/// A service account as its file has it.
#[derive(Deserialize)]
struct AccountFile {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: String,
    #[serde(default)]
    project_id: String,
    #[serde(default)]
    token_uri: String,
}

/// A token and when it ends.
#[derive(Default)]
struct AccessToken {
    text: Secret,
    ends: u64,
}

/// An account that gets itself tokens.
pub(super) struct ServiceAccount {
    email: String,
    key_id: String,
    /// `None` for an account whose file is still to come.
    pair: Option<RsaKeyPair>,
    pub(super) project: String,
    token_uri: String,
    http: VendorHttp,
    token: Mutex<AccessToken>,
}

impl ServiceAccount {
    /// The account of a file; tokens come from where the file says.
    pub(super) fn read(credential: &Secret, http: &VendorHttp) -> Result<Self, FieldError> {
        let wrong = |why: &str| FieldError::new("credential", why);
        if credential.reveal() == CREDENTIAL_TO_COME {
            return Ok(Self {
                email: String::new(),
                key_id: String::new(),
                pair: None,
                project: String::new(),
                token_uri: TOKENS.to_owned(),
                http: http.beside(TOKENS)?,
                token: Mutex::default(),
            });
        }
        let file: AccountFile = serde_json::from_str(credential.reveal())
            .map_err(|_| wrong("must be the JSON file of a service account"))?;
        let der = PrivatePkcs8KeyDer::from_pem_slice(file.private_key.as_bytes());
        let der = der.map_err(|_| wrong("has no private_key in PEM"))?;
        let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der());
        let pair = pair.map_err(|_| wrong("has a private_key that is no RSA key"))?;
        let token_uri = match &*file.token_uri {
            "" => TOKENS.to_owned(),
            uri => uri.to_owned(),
        };
        let beside = http.beside(&token_uri);
        let beside =
            beside.map_err(|error| wrong(&format!("has a bad token_uri: {}", error.why)))?;
        Ok(Self {
            email: file.client_email,
            key_id: file.private_key_id,
            pair: Some(pair),
            project: file.project_id,
            token_uri,
            http: beside,
            token: Mutex::default(),
        })
    }

    /// A call with the token.
    pub(super) fn signed(&self, call: VendorRequest) -> VendorRequest {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        call.header("authorization", &format!("Bearer {}", token.text.reveal()))
    }

    /// Has a token that is good for a while; `used` are the words that must not be repeated.
    pub(super) async fn renew(&self, used: &VendorHttp) -> Result<(), Fault> {
        let now = clock::seconds();
        let good =
            |token: &AccessToken| !token.text.is_empty() && token.ends > now + RENEWED_BEFORE;
        if good(&self.token.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let form = Serializer::new(String::new())
            .append_pair("grant_type", GRANT)
            .append_pair("assertion", &self.statement(now)?)
            .finish();
        let media_type = "application/x-www-form-urlencoded".to_owned();
        let call =
            VendorRequest::new(http::Method::POST, self.token_uri.as_str()).body(form, media_type);
        let answer = self.http.ask(call).await?;
        if !answer.is_good() {
            let fault = vendor_errors::fault_of(&answer);
            // What is wrong with the statement is wrong with the account.
            let refused = matches!(answer.status, 400 | 401 | 403);
            return Err(match fault.class {
                _ if refused => Fault::vendor(Class::Dead, fault.detail),
                _ => fault,
            });
        }
        let body = answer.json()?;
        let Some(text) = body["access_token"].as_str() else {
            return Err(Fault::vendor(
                Class::Retry,
                "the answer has no access_token",
            ));
        };
        let seconds = body["expires_in"].as_u64().unwrap_or(STATEMENT_SECONDS);
        used.secrets().learn(text);
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = AccessToken {
            text: Secret::new(text),
            ends: now + seconds,
        };
        Ok(())
    }

    /// A signed statement that the account asks for a token.
    fn statement(&self, now: u64) -> Result<String, Fault> {
        let Some(pair) = &self.pair else {
            return Err(Fault::vendor(Class::Dead, "there is no service account"));
        };
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = part(json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id}));
        let claims = part(json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": now,
            "exp": now + STATEMENT_SECONDS,
        }));
        let text = format!("{head}.{claims}");
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            text.as_bytes(),
            &mut signature,
        )
        .map_err(|_| Fault::ours("a statement cannot be signed"))?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
