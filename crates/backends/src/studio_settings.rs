//! How the embedded engine works: the section `[studio]` of the configuration, which a build without it reads too.

use atelier_contract::settings::within;
use serde::Deserialize;

/// How the embedded engine works. `config/default.toml` holds the defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudioSettings {
    /// Whether it works at all.
    pub enabled: bool,
    /// Its place in the order of fall-back among the back ends, lowest first.
    #[serde(deserialize_with = "within::<_, _, -1_000_000, 1_000_000>")]
    pub rank: i64,
    /// Whether it also takes over from other back ends that are ill.
    pub fallback: bool,
    /// Operations or families it may serve; empty for all.
    pub operations: Vec<String>,
    /// Jobs it takes at once.
    #[serde(deserialize_with = "within::<_, _, 1, 100_000>")]
    pub slots: usize,
    /// Pieces of CPU work at once; one more is for short work alone. 0 for one per core.
    #[serde(deserialize_with = "within::<_, _, 0, 1024>")]
    pub threads: usize,
    /// Memory all its work together may take.
    #[serde(deserialize_with = "within::<_, _, 16, 1_048_576>")]
    pub memory_mib: u32,
    /// How fast it seems.
    pub pace: Tempo,
    /// Whether words in double brackets steer it.
    pub sandbox: bool,
}

/// How fast the embedded engine seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tempo {
    /// As fast as it can.
    Instant,
    /// The typical durations of the interface, with rising progress.
    Realistic,
}
