//! How calls carry the credential: in a line of the head, in the query, or as a signature over the whole call. The credential
//! has no placeholder anywhere else, so it cannot come to stand in a body or in the path.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;
use schemars::JsonSchema;
use serde::Deserialize;

use super::keyed_hash::{HashAlgorithm, HashText};
use super::names::{TemplatePlace, TemplateScope};
use super::signers::{HashSigner, QuerySigner};
use super::text::TextTemplate;
use crate::field_error::FieldError;
use crate::http::VendorHttp;
use crate::sigv4::{SigV4Form, SigV4Scope, SigV4Signer};
use crate::vendor::Secret;

/// How calls carry the credential.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum SignSettings {
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// A line of the head, such as `x-api-key: KEY`.
    Header {
        /// The name of the line.
        name: String,
        /// What stands before the key, such as `Token `.
        #[serde(default)]
        prefix: String,
    },
    /// A field of the query.
    Query {
        /// The name of the field.
        name: String,
    },
    /// `Authorization: Basic …`, with the credential as `user:password`.
    Basic,
    /// A hash of the call with a secret; the credential is `key:secret`.
    Hmac {
        /// The hash.
        #[serde(default)]
        algorithm: HashAlgorithm,
        /// How its bytes are written.
        #[serde(default)]
        text: HashText,
        /// What is hashed, such as `{{method}}\n{{path}}\n{{timestamp}}\n{{body}}`.
        over: String,
        /// Lines of the head, such as `{"x-signature": "{{signature}}"}`.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// Fields of the query.
        #[serde(default)]
        query: BTreeMap<String, String>,
    },
    /// The signature of AWS in its version 4, or one like it; the credential is `access:secret`, or `access:secret:token`.
    Sigv4 {
        /// Whose form it has.
        #[serde(default)]
        form: SigV4Form,
        /// The region, such as `us-east-1`; Tencent's has none.
        #[serde(default)]
        region: String,
        /// The service, such as `bedrock`.
        service: String,
    },
    /// There is no credential.
    None,
}

impl SignSettings {
    /// Whether there is nothing to sign with.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The way to the vendor with the credential.
    pub(super) fn applied(
        self,
        http: VendorHttp,
        credential: &Secret,
    ) -> Result<VendorHttp, FieldError> {
        let place = |name: &str| format!("settings.sign.{name}");
        let key = credential.reveal();
        Ok(match self {
            Self::None => http,
            Self::Bearer => http.with_bearer(key)?,
            Self::Basic => {
                let value = format!("Basic {}", STANDARD.encode(key));
                http.with_header("authorization", "credential", &value)?
                    .with_secret(key)
            }
            Self::Header { name, prefix } => {
                let line = HeaderName::from_bytes(name.to_lowercase().as_bytes())
                    .map_err(|_| FieldError::new(place("name"), "is not the name of a header"))?;
                if prefix.chars().any(char::is_control) {
                    return Err(FieldError::new(place("prefix"), "must be one line"));
                }
                http.with_line(line, "credential", &format!("{prefix}{key}"))?
                    .with_secret(key)
            }
            Self::Query { name } => {
                let signer = QuerySigner {
                    name,
                    key: credential.clone(),
                };
                http.with_secret(key).with_signer(signer)
            }
            Self::Hmac {
                algorithm,
                text,
                over,
                headers,
                query,
            } => {
                let (key, secret) = key.split_once(':').unwrap_or((key, ""));
                let scope = TemplateScope::plain(TemplatePlace::Signature);
                let over = TextTemplate::parse(&over, &scope, &place("over"))?;
                if let Some(name) = over.names().find(|name| *name == "signature") {
                    let why = format!("{{{{{name}}}}} cannot be a part of itself");
                    return Err(FieldError::new(place("over"), why));
                }
                let signer = HashSigner {
                    key: key.to_owned(),
                    secret: Secret::new(secret),
                    algorithm,
                    text,
                    over,
                    headers: lines(&headers, &scope, &place("headers"))?,
                    query: texts(&query, &scope, &place("query"))?,
                };
                signer.check(&place("headers"))?;
                http.with_secret(secret).with_signer(signer)
            }
            Self::Sigv4 {
                form,
                region,
                service,
            } => {
                if service.is_empty() {
                    return Err(FieldError::new(place("service"), "must be given"));
                }
                if region.is_empty() && form != SigV4Form::Tencent {
                    return Err(FieldError::new(place("region"), "must be given"));
                }
                let secrets: BTreeSet<&str> = key.splitn(3, ':').skip(1).collect();
                let http = secrets.into_iter().fold(http, VendorHttp::with_secret);
                http.with_signer(SigV4Signer::new(form, key, SigV4Scope { region, service }))
            }
        })
    }
}

fn texts(
    written: &BTreeMap<String, String>,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<Vec<(String, TextTemplate)>, FieldError> {
    let text = |(name, text): (&String, &String)| {
        let place = format!("{place}.{name}");
        Ok((name.clone(), TextTemplate::parse(text, scope, &place)?))
    };
    written.iter().map(text).collect()
}

fn lines(
    written: &BTreeMap<String, String>,
    scope: &TemplateScope<'_>,
    place: &str,
) -> Result<Vec<(HeaderName, TextTemplate)>, FieldError> {
    let named = |(name, text): (String, TextTemplate)| {
        let line = HeaderName::from_bytes(name.to_lowercase().as_bytes());
        let line = line
            .ok()
            .filter(|line| !matches!(line.as_str(), "host" | "content-length" | "connection"));
        let why = "is not the name of a header that can be set";
        let line = line.ok_or_else(|| FieldError::new(format!("{place}.{name}"), why))?;
        Ok((line, text))
    };
    texts(written, scope, place)?
        .into_iter()
        .map(named)
        .collect()
}
