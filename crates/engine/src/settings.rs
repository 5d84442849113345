//! The numbers the service runs by. Every queue, wait, try and lifetime is named here; the gateway reads them from the
//! configuration.

use std::fmt;
use std::sync::Arc;

use atelier_backends::credentials::Signatory;
use atelier_contract::PromptRule;
use atelier_contract::family::ResultLifetime;

use crate::tracer::Telemetry;

/// A moderation endpoint in OpenAI's format.
#[derive(Clone)]
pub struct Moderation {
    /// Where it is, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Its key; empty for none.
    pub key: String,
    /// The model to name; empty for the endpoint's own.
    pub model: String,
    /// Whether input pictures are judged too.
    pub pictures: bool,
    /// Whether calls are refused while it cannot be asked.
    pub fail_closed: bool,
}

impl fmt::Debug for Moderation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moderation")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Who puts prompts into English.
#[derive(Clone)]
pub struct Translation {
    /// Where it is: a LibreTranslate, or an endpoint that speaks as OpenAI's does, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Its key; empty for none.
    pub key: String,
    /// The language model to ask; empty for a LibreTranslate.
    pub model: String,
}

impl fmt::Debug for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Translation")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Limits, schedules and addresses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a node may work on a job without saying that it still does.
    pub lease_ms: i64,
    /// How often it says so.
    pub renew_ms: u64,
    /// How often progress is written down, at most.
    pub progress_ms: u64,
    /// How long a loop sleeps when nothing wakes it, and twice as long as a waiting call does.
    pub idle_ms: u64,
    /// How often the sweeper looks for overdue jobs.
    pub sweep_ms: u64,
    /// How often a job may be begun before it is given up.
    pub tries_most: i64,
    /// Pause before a job is tried again, times the number of tries.
    pub retry_pause_ms: i64,
    /// How long an idempotency key is remembered.
    pub idempotency_ms: i64,
    /// Unfinished jobs a new account may have in one queue.
    pub max_queue: i64,
    /// Bytes of files that may be kept for one account, unless its own record says otherwise.
    pub max_storage: i64,
    /// Keys of one account that may work at once.
    pub keys_most: i64,
    /// Waits between tries of a callback, in seconds.
    pub callback_schedule_s: Vec<u64>,
    /// Callbacks in flight at once.
    pub callbacks_at_once: usize,
    /// Callbacks of one account in flight at once to one host.
    pub callbacks_per_host: i64,
    /// How long addresses of each class work, in milliseconds: hour, day, three days, month.
    pub keep_ms: [i64; 4],
    /// How long inline inputs are kept.
    pub input_keep_ms: i64,
    /// How long the tries of finished callbacks, the attempts of final jobs and the acts of callers are kept.
    pub log_keep_ms: i64,
    /// How long words of failed jobs are kept.
    pub failed_keep_ms: i64,
    /// How long acts of operators are kept.
    pub audit_keep_ms: i64,
    /// How long keys that were revoked or expired are kept.
    pub key_keep_ms: i64,
    /// A file that no row knows is an orphan once it is this old: younger ones may belong to a job about to settle.
    pub orphan_ms: i64,
    /// How often the slow round of the sweeper goes.
    pub tidy_ms: u64,
    /// Words that no prompt may contain, by rule.
    pub prompt_rules: Vec<PromptRule>,
    /// Refused prompts of an account in one family and on one UTC day after which it is paused there; 0 for never.
    pub refused_prompts_a_day: u32,
    /// Who is asked about words and pictures before they are accepted, if anybody is.
    pub moderation: Option<Moderation>,
    /// Who puts prompts into English before they are worked with, if anybody does.
    pub translation: Option<Translation>,
    /// Where `originImage` addresses start.
    pub origin_url: String,
    /// Where `cdnImage` addresses start.
    pub cdn_url: String,
    /// Other starts under which the service's own files answer, such as the main and the legacy host.
    pub own_urls: Vec<String>,
    /// Vendors asked about running jobs at once.
    pub polls_at_once: usize,
    /// How often the pool is compared with what is stored, in milliseconds.
    pub refresh_ms: u64,
    /// Where vendors may post that a job is worth a look; empty for nowhere.
    pub hook_base_url: String,
    /// What one unit of quota is sold for, in dollars; 0 when nobody says.
    pub quota_usd: f64,
    /// Bytes of rendered results kept in memory.
    pub result_cache_bytes: u64,
    /// Where spans go.
    pub telemetry: Telemetry,
    /// Who signs what is said of results, if anybody does.
    pub signatory: Option<Arc<Signatory>>,
}

impl Default for Settings {
    fn default() -> Self {
        const HOUR: i64 = 3_600_000;
        Self {
            lease_ms: 30_000,
            renew_ms: 10_000,
            progress_ms: 1_000,
            idle_ms: 1_000,
            sweep_ms: 1_000,
            tries_most: 3,
            retry_pause_ms: 2_000,
            idempotency_ms: 24 * HOUR,
            max_queue: 10,
            max_storage: 5 * 1024 * 1024 * 1024,
            keys_most: 100,
            callback_schedule_s: vec![5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200],
            callbacks_at_once: 256,
            callbacks_per_host: 32,
            keep_ms: [HOUR, 24 * HOUR, 72 * HOUR, 31 * 24 * HOUR],
            input_keep_ms: 31 * 24 * HOUR,
            log_keep_ms: 30 * 24 * HOUR,
            failed_keep_ms: 7 * 24 * HOUR,
            audit_keep_ms: 400 * 24 * HOUR,
            key_keep_ms: 90 * 24 * HOUR,
            orphan_ms: HOUR,
            tidy_ms: 600_000,
            prompt_rules: Vec::new(),
            refused_prompts_a_day: 30,
            moderation: None,
            translation: None,
            origin_url: "http://127.0.0.1:8080".into(),
            cdn_url: "http://127.0.0.1:8080".into(),
            own_urls: Vec::new(),
            polls_at_once: 128,
            refresh_ms: 5_000,
            hook_base_url: String::new(),
            quota_usd: 0.0,
            result_cache_bytes: 16 * 1024 * 1024,
            telemetry: Telemetry::default(),
            signatory: None,
        }
    }
}

impl Settings {
    /// The longest that any address works.
    pub fn longest_ms(&self) -> i64 {
        self.keep_ms.into_iter().max().unwrap_or(0)
    }

    /// How long addresses of a class work.
    pub fn lifetime_ms(&self, keep: ResultLifetime) -> i64 {
        self.keep_ms[match keep {
            ResultLifetime::Hour => 0,
            ResultLifetime::Day => 1,
            ResultLifetime::ThreeDays => 2,
            ResultLifetime::Month => 3,
        }]
    }
}
