//! The client for addresses outside, as the settings want it.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, anyhow};
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};

use super::addresses::Addresses;
use crate::config::Config;

/// The word in `outbound.allow` that stands for "loopback, when the service itself listens there".
const AUTO: &str = "auto";

/// Whether the rules can be read, and whether they let this machine's own addresses pass. A service that listens under a name
/// is said to let none pass: where the name leads is known once it listens.
pub(crate) fn outbound_rules(config: &Config) -> Result<bool> {
    let listeners = config.listeners.iter().map(|one| &one.address);
    let listeners = listeners.filter(|address| !address.is_empty());
    let listed = std::iter::once(&config.listen).chain(listeners);
    let bound: Vec<Option<SocketAddr>> = listed.map(|address| address.parse().ok()).collect();
    let all_known = bound.iter().all(Option::is_some);
    let addresses = Addresses::new(config, bound.into_iter().flatten().collect());
    outbound(config, &addresses)?;
    Ok(config.outbound.allow == [AUTO] && all_known && addresses.is_private(config))
}

pub(super) fn outbound(config: &Config, addresses: &Addresses) -> Result<OutboundClient> {
    let rules = &config.outbound;
    let explicit = (rules.allow != [AUTO]).then_some(rules.allow.as_slice());
    let policy = Policy::from_settings(
        &rules.ports,
        explicit,
        addresses.is_private(config),
        &addresses.bound,
        &addresses.urls(config),
    )
    .map_err(|why| anyhow!(why))?;
    let (usual, callbacks) = (Limits::default(), &config.callbacks);
    let limits = Limits {
        at_once: usual.at_once.max(callbacks.parallel),
        // Places for several accounts whose receivers share a host.
        per_receiver: usual
            .per_receiver
            .max(4 * usize::try_from(callbacks.parallel_per_host).unwrap_or(0)),
        ..usual
    };
    OutboundClient::new(policy, limits).context("the client for outbound requests")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ListenerSetting, Role};

    /// The promise: the doctor says what a service with these settings would do, whichever of its addresses decides it.
    #[test]
    fn every_address_that_is_listened_on_counts() {
        let allowed = |listen: &str, more: &[&str]| {
            let mut config = Config::defaults();
            config.listen = listen.into();
            let listener = |address: &&str| ListenerSetting {
                address: (*address).into(),
                host: String::new(),
                role: Role::Metrics,
                plain: true,
            };
            config.listeners = more.iter().map(listener).collect();
            outbound_rules(&config).expect("rules that can be read")
        };
        assert!(allowed("127.0.0.1:8080", &[]));
        assert!(allowed("127.0.0.1:8080", &["[::1]:9090", ""]));
        assert!(!allowed("127.0.0.1:8080", &["0.0.0.0:9090"]));
        assert!(!allowed("127.0.0.1:8080", &["127.0.0.1:9090", "[::]:9091"]));
        assert!(!allowed("0.0.0.0:8080", &[]));
        // Where a name leads is not known here.
        assert!(!allowed("media.lan:8080", &[]));
        assert!(!allowed("127.0.0.1:8080", &["media.lan:9090"]));
    }
}
