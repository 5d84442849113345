//! What is refused both by a start and by what tries one without starting.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};

use crate::app::{self, Addresses};
use crate::config::Config;

/// Whether the URLs of the database can be read.
pub(super) fn check_databases(config: &Config) -> Result<()> {
    let databases = [
        ("database", &config.database),
        ("database_pooler", &config.database_pooler),
    ];
    for (setting, url) in databases.iter().filter(|(_, url)| !url.is_empty()) {
        app::check_address(url.reveal()).context(*setting)?;
    }
    Ok(())
}

/// Refuses what is only warned of, if that is wanted.
pub(super) fn refuse_warnings(config: &Config, addresses: &Addresses) -> Result<()> {
    let warnings = app::warnings(config, addresses);
    match warnings.first().filter(|_| config.strict) {
        Some(warning) => bail!("{warning} (refused because of `strict`)"),
        None => Ok(()),
    }
}

/// What a listen address is.
pub(super) async fn resolve(setting: &str, address: &str) -> Result<Vec<SocketAddr>> {
    let port = address
        .rsplit_once(':')
        .and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_none() {
        bail!("{setting}: must be an address and a port, such as 127.0.0.1:8080, is `{address}`");
    }
    let resolved = tokio::net::lookup_host(address).await;
    let resolved = resolved.with_context(|| format!("{setting}: {address} cannot be looked up"))?;
    Ok(resolved.collect())
}
