//! What the engine goes by: its sections of the configuration, and where the service is reached.

use atelier_backends::guard::is_public_https;
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
        payments: config.payments.clone(),
        receipts: config.receipts.clone(),
        limits: config.limits.clone(),
        urls: urls(config, addresses),
        signatory: None,
    }
}

fn urls(config: &Config, addresses: &Addresses) -> PublicUrls {
    PublicUrls {
        base: addresses.base_url.clone(),
        origin: config.origin_url.clone(),
        cdn: config.cdn_url.clone(),
        legacy: config.legacy_cdn_url.clone(),
        hooks: hooks(&config.hook_base_url, &addresses.base_url),
        follow_request: addresses.unnamed.is_some(),
    }
}

/// Where vendors may post. An address that only this network knows is of no use to them, and some refuse the order for it.
fn hooks(set: &str, base_url: &str) -> String {
    if !set.is_empty() {
        return set.trim_end_matches('/').to_owned();
    }
    if is_public_https(base_url) {
        base_url.to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_are_told_of_no_address_that_they_cannot_reach() {
        for base_url in [
            "http://127.0.0.1:8080",
            "https://localhost",
            "https://10.0.0.7",
            "http://media.example.com",
        ] {
            assert_eq!(hooks("", base_url), "", "{base_url}");
        }
        let public = "https://media.example.com";
        assert_eq!(hooks("", public), public);
        assert_eq!(
            hooks("http://10.0.0.7:8080/", public),
            "http://10.0.0.7:8080"
        );
    }
}
