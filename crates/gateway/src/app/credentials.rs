//! Who signs what is said of results: the operator's certificate, or one of the service's own.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use atelier_engine::credentials::{Chain, Signatory};
use atelier_engine::{Clock, Keyring, own_certificate};
use atelier_store::Store;

use crate::config::Config;

/// Whoever signs, unless nobody does.
pub(super) async fn signatory(
    config: &Config,
    store: &Store,
    keyring: &Keyring,
) -> Result<Option<Arc<Signatory>>> {
    let Some(chain) = chain(config, store, keyring).await? else {
        return Ok(None);
    };
    let field = if is_own(config) {
        "credentials: the service's own certificate"
    } else {
        "credentials.certificate and credentials.key"
    };
    let signatory = Signatory::new(&chain).context(field)?;
    Ok(Some(Arc::new(signatory)))
}

/// Whether the certificate is one of the service's own.
pub(crate) fn is_own(config: &Config) -> bool {
    config.credentials.certificate.as_os_str().is_empty()
}

/// The certificates and the key that sign. A build that cannot sign says so only to who asked for it by a certificate.
pub(crate) async fn chain(
    config: &Config,
    store: &Store,
    keyring: &Keyring,
) -> Result<Option<Chain>> {
    let wanted = &config.credentials;
    if !wanted.enabled || (!Signatory::BUILT && is_own(config)) {
        return Ok(None);
    }
    if is_own(config) {
        let own = own_certificate(store, keyring, Clock::of(store).await?.now_ms()).await;
        return Ok(Some(own.context("credentials")?));
    }
    let read = |path: &Path, field: &'static str| {
        std::fs::read_to_string(path).with_context(|| format!("{field} {}", path.display()))
    };
    Ok(Some(Chain {
        certificates: read(&wanted.certificate, "credentials.certificate")?,
        key: read(&wanted.key, "credentials.key")?,
    }))
}
