//! TLS in the process: certificate and key from files, read again when they change, so that a renewal needs no restart.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::config::TlsSettings as Setting;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// What is spoken inside, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// What a listener with TLS needs.
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
    identity: Arc<Identity>,
}

/// A certificate with its key, and where they come from.
#[derive(Debug)]
struct Identity {
    certificate: PathBuf,
    key: PathBuf,
    now: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&now))
    }
}

impl Tls {
    /// Reads the files; nothing when none are named.
    pub(crate) fn load(setting: &Setting) -> Result<Option<Self>> {
        let (certificate, key) = (setting.certificate.clone(), setting.key.clone());
        if certificate.as_os_str().is_empty() && key.as_os_str().is_empty() {
            return Ok(None);
        }
        let now = RwLock::new(read(&certificate, &key)?);
        let identity = Arc::new(Identity {
            certificate,
            key,
            now,
        });
        let provider = Arc::new(ring::default_provider());
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Identity>::clone(&identity);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("tls")?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
        Ok(Some(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            identity,
        }))
    }

    /// What makes a connection a safe one.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }

    /// Reads the files again whenever one of them changes. A pair that does not fit together is not taken: it may be
    /// half written.
    pub(super) async fn follow(self: Arc<Self>, closing: CancellationToken) {
        let mut seen = self.identity.changed();
        while closing
            .run_until_cancelled(tokio::time::sleep(LOOK_EVERY))
            .await
            .is_some()
        {
            let changed = self.identity.changed();
            if changed == seen {
                continue;
            }
            let identity = &self.identity;
            match read(&identity.certificate, &identity.key) {
                Ok(pair) => {
                    *identity.now.write().unwrap_or_else(PoisonError::into_inner) = pair;
                    seen = changed;
                    tracing::info!("certificate reloaded");
                }
                Err(error) => {
                    tracing::error!(
                        error = format!("{error:#}"),
                        "the certificate cannot be reloaded; the old one stays in use"
                    );
                }
            }
        }
    }
}

impl Identity {
    /// When the files changed last.
    fn changed(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|file| {
            std::fs::metadata(file)
                .and_then(|about| about.modified())
                .ok()
        })
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>> {
    let about = |file: &Path, name| format!("tls.{name}: {}", file.display());
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .with_context(|| about(certificate, "certificate"))?;
    if chain.is_empty() {
        bail!(
            "{}: holds no certificate",
            about(certificate, "certificate")
        );
    }
    let secret = PrivateKeyDer::from_pem_file(key).with_context(|| about(key, "key"))?;
    let pair = CertifiedKey::from_der(chain, secret, &ring::default_provider())
        .with_context(|| about(key, "key"))?;
    Ok(Arc::new(pair))
}
