//! What the engine goes by: the sections of the configuration that are its own, read as they are written, and what the
//! gateway makes of the rest. `config/default.toml` holds the defaults.

mod payments;
mod period;
mod prompts;
mod receipts;
mod retention;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use atelier_backends::credentials::Signatory;
use atelier_contract::settings::{Limits, within};
use serde::Deserialize;

use crate::base_url;
use crate::tracer::Telemetry;

pub(crate) use payments::PAYMENT_PROVIDERS;
pub use payments::{EpaySettings, ManualSettings, PaymentSettings, StripeSettings};
pub use period::{Days, Hours, Minutes, Period, Seconds};
pub use prompts::{PromptSettings, Translation};
pub use receipts::ReceiptSettings;
pub use retention::Retention;

/// The longest pause between two looks at something.
const HOUR_MS: i64 = 3_600_000;

/// Everything the engine goes by. Its sections can be read from a whole configuration; what is others' there is skipped.
#[derive(Clone, Debug, Deserialize)]
pub struct Settings {
    /// How jobs are run.
    pub jobs: JobSettings,
    /// How callbacks are posted.
    pub callbacks: CallbackSettings,
    /// How long things are kept.
    pub retention: Retention,
    /// What prompts may say.
    pub prompts: PromptSettings,
    /// Who puts prompts into English.
    pub translation: Translation,
    pub telemetry: Telemetry,
    /// What quota is worth.
    pub prices: PriceSettings,
    /// Who takes payments.
    pub payments: PaymentSettings,
    /// Receipts of what accounts were charged for.
    pub receipts: ReceiptSettings,
    /// What one account may take.
    pub limits: Limits,
    /// Where the service is reached.
    #[serde(skip)]
    pub urls: PublicUrls,
    /// Who signs what is said of results, if anybody does.
    #[serde(skip)]
    pub signatory: Option<Arc<Signatory>>,
}

/// How jobs are run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSettings {
    /// Unfinished jobs a new account may have in one queue.
    #[serde(deserialize_with = "within::<_, _, 1, 1_000_000>")]
    pub max_queue: i64,
    /// How long a node may work on a job without saying that it still does.
    pub lease_s: Seconds,
    /// How often it says so.
    #[serde(deserialize_with = "period::pause")]
    pub renew_s: Seconds,
    /// How often progress is written down, at most.
    #[serde(deserialize_with = "within::<_, _, 1, { HOUR_MS }>")]
    pub progress_ms: u64,
    /// How long a loop sleeps when nothing wakes it, and twice as long as a waiting call does.
    #[serde(deserialize_with = "within::<_, _, 1, { HOUR_MS }>")]
    pub idle_ms: u64,
    /// How often the sweeper looks for overdue jobs.
    #[serde(deserialize_with = "within::<_, _, 1, { HOUR_MS }>")]
    pub sweep_ms: u64,
    /// How often the slow round of the sweeper goes.
    #[serde(deserialize_with = "period::pause")]
    pub tidy_s: Seconds,
    /// How often a job may be begun before it is given up.
    #[serde(deserialize_with = "within::<_, _, 1, 1_000_000>")]
    pub tries: i64,
    /// Pause before a job is tried again, times the number of tries.
    #[serde(deserialize_with = "within::<_, _, 0, { HOUR_MS }>")]
    pub retry_pause_ms: i64,
    /// Vendors asked about running jobs at once.
    #[serde(deserialize_with = "within::<_, _, 1, 100_000>")]
    pub polls_at_once: usize,
    /// How often the pool is compared with what is stored.
    #[serde(deserialize_with = "within::<_, _, 1, { HOUR_MS }>")]
    pub refresh_ms: u64,
    /// Memory for rendered results.
    #[serde(deserialize_with = "within::<_, _, 0, 1_048_576>")]
    pub result_cache_mib: u64,
}

/// How callbacks are posted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackSettings {
    /// Waits between tries of a callback.
    pub schedule_s: Vec<u64>,
    /// Callbacks in flight at once.
    #[serde(deserialize_with = "within::<_, _, 1, 100_000>")]
    pub parallel: usize,
    /// Callbacks of one account in flight at once to one host.
    #[serde(deserialize_with = "within::<_, _, 1, 100_000>")]
    pub parallel_per_host: i64,
}

/// Where prices come from, and what they are worth.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSettings {
    /// A file whose prices replace those that are built in; empty for none.
    pub file: PathBuf,
    /// What one unit of quota is sold for, in dollars; 0 when nobody says.
    pub quota_usd: f64,
}

/// Where the service is reached, as it follows from its listeners and settings.
#[derive(Clone, Debug, Default)]
pub struct PublicUrls {
    /// The URL of the service, without a slash at its end.
    pub base: String,
    /// Where `originImage` URLs start; empty for `base`.
    pub origin: String,
    /// Where `cdnImage` URLs start; empty for `base`.
    pub cdn: String,
    /// Another start under which the service's own files answer; empty for none.
    pub legacy: String,
    /// Where vendors may post that a job is worth a look; empty for nowhere.
    pub hooks: String,
    /// Whether `base` is a guess. What is rendered for a caller then starts with the URL under which the caller reached the service.
    pub follow_request: bool,
}

impl PublicUrls {
    /// The URL of the service, as the caller of this task sees it.
    pub fn base(&self) -> Cow<'_, str> {
        let seen = base_url::current().filter(|_| self.follow_request);
        seen.map_or(Cow::Borrowed(&self.base), |base| base.to_string().into())
    }

    /// Where `originImage` URLs start.
    pub(crate) fn origin(&self) -> Cow<'_, str> {
        self.or_base(&self.origin)
    }

    /// Where `cdnImage` URLs start.
    pub(crate) fn cdn(&self) -> Cow<'_, str> {
        self.or_base(&self.cdn)
    }

    fn or_base<'a>(&'a self, url: &'a str) -> Cow<'a, str> {
        match url.trim_end_matches('/') {
            "" => self.base(),
            url => url.into(),
        }
    }

    /// What follows the start of a URL of the service. While callers reach it under any URL, any start will do: what counts of a
    /// file's URL is its signature.
    pub(crate) fn path_of<'a>(&self, url: &'a str) -> Option<&'a str> {
        let starts = [&self.base, &self.origin, &self.cdn, &self.legacy];
        let starts = starts.iter().map(|start| start.trim_end_matches('/'));
        let starts = starts.filter(|start| !start.is_empty());
        // One may begin as another does: the longest is meant.
        let paths = starts.filter_map(|start| url.strip_prefix(start));
        let known = paths.min_by_key(|path| path.len());
        known.or_else(|| {
            let (_, rest) = url.split_once("://").filter(|_| self.follow_request)?;
            rest.find('/').map(|at| &rest[at..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_begins_as_another_does_is_known() {
        let urls = PublicUrls {
            base: "https://media.example.com".into(),
            cdn: "https://media.example.com/cdn/".into(),
            ..PublicUrls::default()
        };
        for (url, path) in [
            (
                "https://media.example.com/assets/a.png",
                Some("/assets/a.png"),
            ),
            (
                "https://media.example.com/cdn/assets/a.png",
                Some("/assets/a.png"),
            ),
            ("https://elsewhere.example/assets/a.png", None),
        ] {
            assert_eq!(urls.path_of(url), path, "{url}");
        }
    }
}
