//! Every setting, typed. `config/default.toml` holds the defaults and a sentence about each; there is no setting that
//! is not in it.

mod check;
mod declared;
mod error;
pub(crate) mod explain;
pub(crate) mod load;

use std::path::PathBuf;

use atelier_contract::Secret;
use atelier_contract::pages::backends::DeclaredBackend;
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
    pub(crate) worker_threads: usize,
    pub(crate) base_url: String,
    pub(crate) origin_url: String,
    pub(crate) cdn_url: String,
    pub(crate) legacy_cdn_url: String,
    pub(crate) listeners: Vec<ListenerSetting>,
    pub(crate) names: Vec<String>,
    pub(crate) stop_within_s: u64,
    pub(crate) drain_s: u64,
    pub(crate) log: Log,
    pub(crate) telemetry: Telemetry,
    pub(crate) tls: TlsSettings,
    pub(crate) proxies: ProxySettings,
    pub(crate) cors: Cors,
    pub(crate) limits: Limits,
    pub(crate) jobs: Jobs,
    pub(crate) prompts: Prompts,
    pub(crate) translation: Translation,
    pub(crate) credentials: Credentials,
    pub(crate) prices: PriceSettings,
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
    pub(crate) studio: Studio,
    #[serde(deserialize_with = "declared::read")]
    pub(crate) backends: Vec<DeclaredBackend>,
}

/// What a listener serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Everything.
    #[default]
    Main,
    /// `POST /v1/images/generations` alone.
    Alt,
    /// Everything, with artgen image submits on the caller's own accounts.
    Custody,
    /// Result files alone.
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

/// What is written to the log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) level: String,
    pub(crate) format: String,
    pub(crate) requests: bool,
    pub(crate) access: PathBuf,
    pub(crate) slow_ms: u64,
}

/// Who is told what happened to jobs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Telemetry {
    pub(crate) otlp_endpoint: String,
    pub(crate) service_name: String,
    pub(crate) sample: f64,
}

/// What a caller may take of the machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) connections_per_address: usize,
    pub(crate) header_timeout_s: u64,
    pub(crate) idle_timeout_s: u64,
    pub(crate) write_timeout_s: u64,
    pub(crate) body_grace_s: u64,
    pub(crate) body_bytes_per_s: u64,
    pub(crate) body_mib_per_s: u32,
    pub(crate) body_memory_mib: u64,
    pub(crate) answer_memory_mib: u64,
    pub(crate) target_bytes: usize,
    pub(crate) headers: usize,
    pub(crate) header_bytes: usize,
    pub(crate) http2_streams: u32,
    pub(crate) requests: u64,
    pub(crate) large_requests: u64,
    pub(crate) submits_per_second: u32,
    pub(crate) submits_burst: u32,
    pub(crate) calls_per_second: u32,
    pub(crate) calls_burst: u32,
    pub(crate) open_per_second: u32,
    pub(crate) open_burst: u32,
    pub(crate) acts_per_hour: u32,
    pub(crate) acts_burst: u32,
    pub(crate) wrong_keys_per_minute: u32,
    pub(crate) keys_per_account: i64,
    pub(crate) storage_mib: i64,
    pub(crate) disk_free_mib: u64,
    pub(crate) disk_free_percent: u64,
    pub(crate) event_streams: u64,
    pub(crate) downloads: u64,
    pub(crate) download_mib_per_s: u32,
}

/// How jobs are run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jobs {
    pub(crate) max_queue: i64,
    pub(crate) lease_s: i64,
    pub(crate) renew_s: u64,
    pub(crate) progress_ms: u64,
    pub(crate) idle_ms: u64,
    pub(crate) sweep_ms: u64,
    pub(crate) tidy_s: u64,
    pub(crate) tries: i64,
    pub(crate) retry_pause_ms: i64,
    pub(crate) polls_at_once: usize,
    pub(crate) refresh_ms: u64,
    pub(crate) result_cache_mib: u64,
}

/// What prompts may say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prompts {
    pub(crate) banned: Vec<String>,
    pub(crate) families: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) refused_a_day: u32,
    pub(crate) moderation_url: String,
    pub(crate) moderation_key: Secret,
    pub(crate) moderation_model: String,
    pub(crate) moderation_pictures: bool,
    pub(crate) moderation_fail_closed: bool,
}

/// Who puts prompts into English.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Translation {
    pub(crate) url: String,
    pub(crate) key: Secret,
    pub(crate) model: String,
}

/// Who signs what is said of results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) enabled: bool,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A rule about words, for some families or for all.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) families: Vec<String>,
    pub(crate) words: Vec<String>,
}

/// Where prices come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceSettings {
    pub(crate) file: PathBuf,
    pub(crate) quota_usd: f64,
}

/// Where the service may connect to on a caller's behalf.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutboundRules {
    pub(crate) ports: Vec<u16>,
    pub(crate) allow: Vec<String>,
}

/// How callbacks are posted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallbackSettings {
    pub(crate) schedule_s: Vec<u64>,
    pub(crate) parallel: usize,
    pub(crate) parallel_per_host: i64,
}

/// Where result files are kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssetSettings {
    pub(crate) url: String,
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) path_style: bool,
    pub(crate) access_key: Secret,
    pub(crate) secret_key: Secret,
}

/// How long things are kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retention {
    pub(crate) answer_minutes: i64,
    pub(crate) image_hours: i64,
    pub(crate) video_hours: i64,
    pub(crate) small_image_days: i64,
    pub(crate) input_days: i64,
    pub(crate) idempotency_hours: i64,
    pub(crate) log_days: i64,
    pub(crate) failed_days: i64,
    pub(crate) audit_days: i64,
    pub(crate) key_days: i64,
    pub(crate) orphan_minutes: i64,
}

/// The embedded engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "studio"),
    expect(
        dead_code,
        reason = "read for what it says, but there is no engine to obey it"
    )
)]
pub(crate) struct Studio {
    pub(crate) enabled: bool,
    pub(crate) rank: i64,
    pub(crate) fallback: bool,
    pub(crate) operations: Vec<String>,
    pub(crate) slots: usize,
    pub(crate) threads: usize,
    pub(crate) memory_mib: u32,
    pub(crate) pace: StudioTempo,
    pub(crate) sandbox: bool,
}

/// How fast the embedded engine seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StudioTempo {
    /// As fast as it can.
    Instant,
    /// As slow as real back ends.
    Realistic,
}

#[cfg(test)]
impl Config {
    /// The defaults, for tests of single parts.
    pub(crate) fn defaults() -> Self {
        load::Sources::default()
            .config()
            .expect("the defaults are complete")
    }
}
