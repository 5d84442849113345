//! The service's own secrets, derived by purpose from one master key, so that no key serves two uses.

use atelier_contract::{AttemptId, hex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::seal::{SealKey, Sealer};

/// The master key and what is derived from it.
#[derive(Clone)]
pub struct Keyring {
    master: [u8; 32],
}

impl Keyring {
    /// Takes the master key.
    pub fn new(master: [u8; 32]) -> Self {
        Self { master }
    }

    /// The key that signs asset addresses until the first rotation; its id is `1`.
    pub fn first_address_key(&self) -> [u8; 32] {
        self.derive("asset-address")
    }

    /// Seals secrets before they are stored.
    pub fn sealer(&self) -> Sealer {
        let current = SealKey {
            id: "1".into(),
            bytes: self.derive("seal"),
        };
        Sealer::new(current, Vec::new())
    }

    /// The word that lets a vendor post about one attempt of a job at a back end.
    pub(crate) fn hook_token(&self, backend_id: &str, attempt: &AttemptId) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.derive("vendor-hook"))
            .expect("any length is a key");
        mac.update(backend_id.as_bytes());
        mac.update(b"\0");
        mac.update(attempt.as_bytes());
        format!("{attempt}.{}", hex(&mac.finalize().into_bytes()[..16]))
    }

    /// The attempt that a vendor may post about with a word, if the word is ours.
    pub(crate) fn hook_attempt(&self, backend_id: &str, token: &str) -> Option<AttemptId> {
        let (attempt, _) = token.rsplit_once('.')?;
        let attempt = AttemptId::new(attempt);
        let ours = self.hook_token(backend_id, &attempt);
        bool::from(ours.as_bytes().ct_eq(token.as_bytes())).then_some(attempt)
    }

    /// What proves that a request comes from the page that a session was given to.
    pub(crate) fn session_proof(&self, word: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.derive("session-proof"))
            .expect("any length is a key");
        mac.update(word.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// What is kept of an address that was given something once: nobody reads the address in it.
    pub(crate) fn address_digest(&self, address: &str) -> String {
        hex(&self.digest("welcome-address", address))
    }

    /// The number whose last digits are the code of a sign-in link, by the hash of its word.
    pub(crate) fn link_code(&self, hash: &str) -> u64 {
        let digest = self.digest("link-code", hash);
        let first = digest.iter().take(8);
        first.fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }

    fn digest(&self, purpose: &str, text: &str) -> [u8; 32] {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.derive(purpose)).expect("any length is a key");
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }

    fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.master).expect("any length is a key");
        mac.update(b"atelier/");
        mac.update(purpose.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyring")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is stored was sealed or signed with keys that were derived like this: the value is from another program.
    #[test]
    fn a_purpose_always_gives_the_same_key() {
        let keyring = Keyring::new([7; 32]);
        assert_eq!(
            hex(&keyring.first_address_key()),
            "d1658cd019448c7ab1f14845eaa918d9693a6dae7c92e9096fedf25488b65414"
        );
        assert_ne!(keyring.derive("seal"), keyring.derive("asset-address"));
    }
}
