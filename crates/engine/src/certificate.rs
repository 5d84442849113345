//! The service's own certificate for Content Credentials: made when it is first needed, sealed, and shared by all nodes
//! through the store. Every five years there is another one, and each is good for ten.

use atelier_backends::credentials::{Chain, CredentialsError, own_chain};
use atelier_store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::ids::random_bytes;
use crate::keyring::Keyring;

/// The settings they are kept in, each with its number behind it.
pub(crate) const PREFIX: &str = "credentials-key:";
/// Whom the certificate names.
const ORGANISATION: &str = "Atelier";
/// After so long there is another one.
const ROTATE_AFTER_MS: i64 = 5 * 365 * 24 * 3_600_000;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum OwnCertificateError {
    /// It could not be made.
    #[error(transparent)]
    Made(#[from] CredentialsError),
    /// It was sealed with a key that nobody has any more.
    #[error("{0} cannot be opened with the present master key")]
    Unopened(String),
    /// The store did not answer.
    #[error("the database did not respond: {0}")]
    Store(#[from] atelier_store::Error),
}

/// The chain in force; the first node that asks makes it.
pub async fn own_certificate(
    store: &Store,
    keyring: &Keyring,
    now_ms: i64,
) -> Result<Chain, OwnCertificateError> {
    let name = format!("{PREFIX}{}", now_ms / ROTATE_AFTER_MS);
    let kept = store.settings().list(&name).await?;
    let kept = kept.into_iter().find(|(known, _)| *known == name);
    let sealed = if let Some((_, sealed)) = kept {
        sealed
    } else {
        let fresh = own_chain(ORGANISATION, now_ms / 1000)?;
        let text = [fresh.certificates, fresh.key].map(|part| STANDARD_NO_PAD.encode(part));
        let text = text.join(" ");
        let sealer = keyring.sealer();
        let sealed = sealer.seal(text.as_bytes(), name.as_bytes(), random_bytes());
        // Another node may have made one meanwhile: the one that stands is everybody's.
        store.settings().put_if_absent(&name, &sealed).await?
    };
    let opened = keyring.sealer().open(&sealed, name.as_bytes()).ok();
    let chain = opened.as_deref().and_then(read);
    chain.ok_or(OwnCertificateError::Unopened(name))
}

fn read(text: &[u8]) -> Option<Chain> {
    let (certificates, key) = std::str::from_utf8(text).ok()?.split_once(' ')?;
    let part = |text: &str| String::from_utf8(STANDARD_NO_PAD.decode(text).ok()?).ok();
    Some(Chain {
        certificates: part(certificates)?,
        key: part(key)?,
    })
}
