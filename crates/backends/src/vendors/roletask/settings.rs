//! What an operator may set, and how calls are signed.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::clock;
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest};
use crate::models::ModelSettings;
use crate::task_vendor::TimingSettings;
use crate::vendor::Secret;

/// How long a signed token is good for, in seconds.
const TOKEN_SECONDS: u64 = 1800;

/// Makers of videos whose APIs take pictures with roles and answer with a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Maker {
    /// ByteDance Ark: Seedance, Seedream.
    #[default]
    Ark,
    /// MiniMax: Hailuo.
    Minimax,
    /// MiniMax by the first version of its interface: Hailuo 02 and 2.3.
    MinimaxV1,
    /// Alibaba Model Studio: Wan, Qwen-Image.
    Dashscope,
    /// Kuaishou: Kling.
    Kling,
    /// Kling by the older of its interfaces.
    KlingV1,
}

impl Maker {
    /// Whether calls may be signed with a pair of keys.
    fn has_pairs(self) -> bool {
        matches!(self, Self::Kling | Self::KlingV1)
    }
}

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RoleTaskSettings {
    pub(super) dialect: Maker,
    #[serde(flatten)]
    pub(super) models: ModelSettings,
    /// Videos with sound.
    pub(super) audio: bool,
    /// The shortest and the longest video, where the table does not know the model.
    pub(super) video_seconds: Option<[u32; 2]>,
    /// More fields for every call, such as `service_tier`.
    pub(super) fields: BTreeMap<String, Value>,
    #[serde(flatten)]
    pub(super) timing: TimingSettings,
    /// A pair of keys to sign with.
    #[serde(skip)]
    pair: Option<(String, Secret)>,
}

impl RoleTaskSettings {
    /// The way to the vendor with its credential: a key, or for Kling also a pair `access:secret`.
    pub(super) fn signed(&mut self, http: VendorHttp, key: &str) -> Result<VendorHttp, FieldError> {
        match key.split_once(':') {
            Some((access, secret)) if self.dialect.has_pairs() => {
                self.pair = Some((access.to_owned(), Secret::new(secret)));
                Ok(http.with_secret(secret).with_secret(access))
            }
            _ => http.with_bearer(key),
        }
    }

    /// A call with its signature, where calls have one of their own.
    pub(super) fn sign(&self, call: VendorRequest) -> VendorRequest {
        let Some((access, secret)) = &self.pair else {
            return call;
        };
        let token = token(access, secret, clock::seconds());
        call.header("authorization", &format!("Bearer {token}"))
    }

    /// A body with the operator's own fields.
    pub(super) fn with_fields(&self, mut body: Value) -> Value {
        for (name, value) in &self.fields {
            body[name] = value.clone();
        }
        body
    }
}

/// A JSON web token, signed with HMAC-SHA-256.
fn token(access: &str, secret: &Secret, now: u64) -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(json!({"alg": "HS256", "typ": "JWT"}));
    let claims = json!({"iss": access, "exp": now + TOKEN_SECONDS, "nbf": now.saturating_sub(5)});
    let text = format!("{head}.{}", part(claims));
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()) else {
        return text;
    };
    mac.update(text.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    format!("{text}.{signature}")
}
