//! What the engine goes by: its sections of the configuration, and where the service is reached.

use std::sync::Arc;

use atelier_backends::guard::is_public_https;
use atelier_engine::{MachineLook, PublicUrls, Settings};

use super::addresses::Addresses;
use crate::certificate;
use crate::config::Config;
use crate::disk;
use crate::http::names::machine_name;

/// What the engine goes by.
pub(super) fn settings(config: &Config, addresses: &Addresses) -> Settings {
    Settings {
        jobs: config.jobs.clone(),
        callbacks: config.callbacks.clone(),
        retention: config.retention.clone(),
        exports: config.exports.clone(),
        statements: config.statements.clone(),
        prompts: config.prompts.clone(),
        translation: config.translation.clone(),
        telemetry: config.telemetry.clone(),
        prices: config.prices.clone(),
        payments: config.payments.clone(),
        receipts: config.receipts.clone(),
        limits: config.limits.clone(),
        urls: urls(config, addresses),
        machine: machine(config),
        signatory: None,
    }
}

/// What the engine may ask of this machine.
fn machine(config: &Config) -> MachineLook {
    let (of_disk, of_certificates) = (config.clone(), config.clone());
    MachineLook {
        name: machine_name().unwrap_or_default(),
        disk: Some(Arc::new(move || disk::room(&of_disk))),
        certificates: Some(Arc::new(move || certificates(&of_certificates))),
    }
}

/// The certificates that somebody has to renew, and when each ends.
fn certificates(config: &Config) -> Vec<(String, i64)> {
    let (tls, credentials) = (&config.tls, &config.credentials);
    let files = [
        ("tls.certificate", &tls.certificate),
        ("credentials.certificate", &credentials.certificate),
    ];
    let set = files
        .into_iter()
        .filter(|(_, file)| !file.as_os_str().is_empty());
    set.filter_map(|(name, file)| Some((name.to_owned(), certificate::over_ms_of(file)?)))
        .collect()
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
        hooks: hooks(&config.hook_base_url, &addresses.base_url),
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
