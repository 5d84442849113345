//! Every setting, typed. `config/default.toml` holds the defaults and a sentence about each; there is no setting that
//! is not in it. A section that one part goes by is that part's own type.

mod check;
mod declared;
mod error;
pub(crate) mod explain;
pub(crate) mod load;
mod wording;

use std::path::PathBuf;

use atelier_backends::StudioSettings;
use atelier_contract::Secret;
use atelier_contract::models::ModelDefinition;
use atelier_contract::pages::backends::DeclaredBackend;
use atelier_contract::settings::{Limits, within};
use atelier_engine::{
    CallbackSettings, JobSettings, PaymentSettings, PriceSettings, PromptSettings, ReceiptSettings,
    Retention, Telemetry, Translation,
};
use atelier_store::files::AssetSettings;
use serde::Deserialize;

/// Everything that can be set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) database: Secret,
    pub(crate) database_pooler: Secret,
    pub(crate) admin_token: Secret,
    pub(crate) master_key: Secret,
    pub(crate) strict: bool,
    pub(crate) demo_account: bool,
    #[serde(deserialize_with = "within::<_, _, 0, 1024>")]
    pub(crate) worker_threads: usize,
    pub(crate) base_url: String,
    pub(crate) hook_base_url: String,
    pub(crate) origin_url: String,
    pub(crate) cdn_url: String,
    pub(crate) legacy_cdn_url: String,
    pub(crate) listeners: Vec<ListenerSetting>,
    pub(crate) names: Vec<String>,
    #[serde(deserialize_with = "within::<_, _, 1, 86_400>")]
    pub(crate) stop_within_s: u64,
    #[serde(deserialize_with = "within::<_, _, 0, 86_400>")]
    pub(crate) drain_s: u64,
    pub(crate) log: Log,
    pub(crate) telemetry: Telemetry,
    pub(crate) tls: TlsSettings,
    pub(crate) proxies: ProxySettings,
    pub(crate) cors: Cors,
    pub(crate) answers: Answers,
    pub(crate) limits: Limits,
    pub(crate) jobs: JobSettings,
    pub(crate) prompts: PromptSettings,
    pub(crate) translation: Translation,
    pub(crate) credentials: Credentials,
    pub(crate) prices: PriceSettings,
    pub(crate) payments: PaymentSettings,
    pub(crate) receipts: ReceiptSettings,
    pub(crate) outbound: OutboundRules,
    pub(crate) callbacks: CallbackSettings,
    pub(crate) assets: AssetSettings,
    pub(crate) retention: Retention,
    #[cfg_attr(
        not(feature = "studio"),
        expect(
            dead_code,
            reason = "read for what it says, but there is no engine to obey it"
        )
    )]
    pub(crate) studio: StudioSettings,
    #[serde(deserialize_with = "declared::read")]
    pub(crate) backends: Vec<DeclaredBackend>,
    #[serde(deserialize_with = "declared::read_models")]
    pub(crate) models: Vec<ModelDefinition>,
}

impl Config {
    /// Where it listens, first the main address; each with its setting.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = (String, &str)> {
        let more = self.listeners.iter().enumerate().map(|(place, one)| {
            let setting = format!("listeners[{place}].address");
            (setting, one.address.as_str())
        });
        let more = more.filter(|(_, address)| !address.is_empty());
        std::iter::once(("listen".to_owned(), self.listen.as_str())).chain(more)
    }
}

/// What a listener serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// All paths of the service.
    #[default]
    Main,
    /// `POST /v1/images/generations` alone.
    Alt,
    /// Everything, with artgen image submits on the caller's own accounts.
    Custody,
    /// Result files and nothing else.
    Cdn,
    /// `/metrics` and the health endpoints alone.
    Metrics,
}

/// A listener besides the main one, or a host name on it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListenerSetting {
    #[serde(default)]
    pub(crate) address: String,
    #[serde(default)]
    pub(crate) host: String,
    pub(crate) role: Role,
    #[serde(default)]
    pub(crate) plain: bool,
}

/// The certificate of all listeners that are not plain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsSettings {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl TlsSettings {
    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        !self.certificate.as_os_str().is_empty()
    }
}

/// What stands before the service.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProxySettings {
    pub(crate) trusted: Vec<String>,
    pub(crate) protocol: bool,
}

/// Which pages may read answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cors {
    pub(crate) origins: Vec<String>,
}

/// How results are waited for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answers {
    #[serde(deserialize_with = "within::<_, _, 0, 3_600>")]
    pub(crate) keep_alive_s: u64,
}

/// What is written to the log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) level: String,
    pub(crate) format: String,
    pub(crate) requests: bool,
    pub(crate) access: PathBuf,
    #[serde(deserialize_with = "within::<_, _, 0, 86_400_000>")]
    pub(crate) slow_ms: u64,
}

/// Who signs what is said of results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) enabled: bool,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Where the service may connect to on a caller's behalf.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutboundRules {
    pub(crate) ports: Vec<u16>,
    pub(crate) allow: Vec<String>,
}
