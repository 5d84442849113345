//! The service's own secrets, derived by purpose from one master key, so that no key serves two uses.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::seal::Sealer;

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
        Sealer::new(("1".into(), self.derive("seal")), Vec::new())
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
