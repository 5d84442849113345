//! What the engine goes by: its sections of the configuration, and where the service is reached.

use atelier_engine::{PublicUrls, Settings};

use super::addresses::Addresses;
use crate::config::Config;

/// What the engine goes by.
pub(super) fn settings(config: &Config, addresses: &Addresses) -> Settings {
    Settings {
        jobs: config.jobs.clone(),
        callbacks: config.callbacks.clone(),
        retention: config.retention.clone(),
        prompts: config.prompts.clone(),
        translation: config.translation.clone(),
        telemetry: config.telemetry.clone(),
        prices: config.prices.clone(),
        limits: config.limits.clone(),
        urls: urls(config, addresses),
        signatory: None,
    }
}

fn urls(config: &Config, addresses: &Addresses) -> PublicUrls {
    let or_base = |url: &String| {
        if url.is_empty() {
            addresses.base_url.clone()
        } else {
            url.clone()
        }
    };
    PublicUrls {
        origin: or_base(&config.origin_url),
        cdn: or_base(&config.cdn_url),
        others: vec![addresses.base_url.clone(), config.legacy_cdn_url.clone()],
        hooks: addresses.base_url.clone(),
    }
}
