//! TLS for requests that go out: ring, TLS 1.2 and 1.3, the machine's certificate authorities, no way to skip checks.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// The client side of TLS, trusting the machine's authorities and `roots`.
///
/// A machine without any authorities still gets a client: it simply refuses every https address, and says so once.
pub(crate) fn config(roots: &[CertificateDer<'static>]) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    match Verifier::new_with_extra_roots(roots.iter().cloned(), provider) {
        Ok(verifier) => Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth()),
        Err(error) => {
            tracing::warn!(%error, "no certificate authorities found: https addresses will be refused");
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(roots.iter().cloned());
            Ok(builder.with_root_certificates(store).with_no_client_auth())
        }
    }
}
