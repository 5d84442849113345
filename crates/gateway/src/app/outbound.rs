//! The client for addresses outside, as the settings want it.

use anyhow::{Context as _, Result, anyhow};
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};

use super::addresses::Addresses;
use crate::config::Config;

/// The word in `outbound.allow` that stands for "loopback, when the service itself listens there".
const AUTO: &str = "auto";

/// Whether the rules can be read, and whether they let this machine's own addresses pass.
pub(crate) fn outbound_rules(config: &Config) -> Result<bool> {
    let bound = config.listen.parse().into_iter().collect();
    let addresses = Addresses::new(config, bound);
    outbound(config, &addresses)?;
    Ok(config.outbound.allow == [AUTO] && addresses.is_private(config))
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
