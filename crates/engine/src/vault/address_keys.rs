//! The keys that sign asset addresses. The newest signs; a replaced one goes on checking until the last address it can
//! have signed has expired. They are random, sealed, and shared by all nodes through the store.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, unavailable};
use crate::hint::Hint;
use crate::ids::random_bytes;
use crate::sign::{AddressFault, AddressSigner};

/// The settings they are kept in, each with its number behind it.
pub(crate) const PREFIX: &str = "address-key:";
/// The number of the key that every house begins with; it is derived, and only stored when the master key changes.
const FIRST: u64 = 1;
/// Nodes may sign with a replaced key for a moment, so it is kept for longer than its addresses.
const MARGIN_MS: i64 = 3_600_000;
/// The least time between two looks for a key that is not known.
const LOOK_MS: i64 = 1_000;

/// A key as it is sealed.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    made_ms: i64,
}

/// The signer in force.
pub(crate) struct AddressKeys {
    signer: RwLock<Arc<AddressSigner>>,
    looked_ms: AtomicI64,
}

impl AddressKeys {
    /// Begins with the first key.
    pub(crate) fn new(signer: AddressSigner) -> Self {
        Self {
            signer: RwLock::new(Arc::new(signer)),
            looked_ms: AtomicI64::new(i64::MIN),
        }
    }

    /// Signs and checks.
    pub(crate) fn signer(&self) -> Arc<AddressSigner> {
        let signer = self.signer.read();
        signer.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether an unknown key is worth a look: invented ones must not make a question to the store each.
    fn may_look(&self, now_ms: i64) -> bool {
        let last_ms = self.looked_ms.load(Ordering::Relaxed);
        let due = now_ms.saturating_sub(last_ms) >= LOOK_MS;
        let swap = |at| {
            let order = Ordering::Relaxed;
            self.looked_ms.compare_exchange(last_ms, at, order, order)
        };
        due && swap(now_ms).is_ok()
    }

    fn replace(&self, signer: AddressSigner) {
        let mut place = self.signer.write().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(signer);
    }
}

impl Engine {
    /// Reads the keys that are in use.
    pub async fn load_address_keys(&self) -> Result<(), atelier_store::Error> {
        let mut keys = Vec::new();
        for (name, sealed) in self.store.settings(PREFIX).await? {
            let number: Option<u64> = name[PREFIX.len()..].parse().ok();
            let Some((number, (key, made_ms))) = number.zip(self.open_key(&name, &sealed)) else {
                tracing::error!(name, "an address key cannot be opened with this master key");
                continue;
            };
            keys.push((number, key, made_ms));
        }
        if !keys.iter().any(|(number, _, _)| *number == FIRST) {
            keys.push((FIRST, self.keyring.first_address_key(), i64::MIN));
        }
        keys.sort_by_key(|(number, _, _)| std::cmp::Reverse(*number));
        // A key was replaced when the next one was made.
        let gone_ms = self.now_ms() - self.settings.longest_ms() - MARGIN_MS;
        let mut replaced_ms = i64::MAX;
        let mut live = Vec::new();
        for (number, key, made_ms) in keys {
            if replaced_ms > gone_ms {
                live.push((number.to_string(), key));
            }
            replaced_ms = made_ms;
        }
        self.address_keys.replace(AddressSigner::new(live));
        Ok(())
    }

    /// The first key under the name and in the form in which keys are stored, so that it survives another master key.
    pub(crate) fn first_address_key(&self) -> (String, Vec<u8>) {
        let kept = Kept {
            key: STANDARD_NO_PAD.encode(self.keyring.first_address_key()),
            made_ms: 0,
        };
        let text = serde_json::to_vec(&kept).expect("plain text fields");
        (format!("{PREFIX}{FIRST}"), text)
    }

    /// Makes a new key that signs from now on, on every node; its number.
    pub async fn rotate_address_key(&self, by: &str) -> Result<String, Refusal> {
        let kept = self.store.settings(PREFIX).await.map_err(unavailable)?;
        let numbers = kept
            .iter()
            .filter_map(|(name, _)| name[PREFIX.len()..].parse().ok());
        let number = numbers.max().unwrap_or(FIRST) + 1;
        let name = format!("{PREFIX}{number}");
        let fresh = Kept {
            key: STANDARD_NO_PAD.encode(random_bytes::<32>()),
            made_ms: self.now_ms(),
        };
        let text = serde_json::to_vec(&fresh).expect("plain text fields");
        let sealer = self.keyring.sealer();
        let sealed = sealer.seal(&text, name.as_bytes(), random_bytes());
        // When two rotate at once, one new key is enough for both.
        let act = self.act(by, "rotate-address-key", &number.to_string(), "");
        let stored = self.store.add_setting(&name, &sealed, Some(act)).await;
        stored.map_err(unavailable)?;
        self.load_address_keys().await.map_err(unavailable)?;
        let hint = Hint::AddressKeys.encode();
        self.store.notify(&[hint]).await.map_err(unavailable)?;
        Ok(number.to_string())
    }

    /// Checks an address. A key nobody here has heard of may have been made by another node a moment ago.
    pub(crate) async fn verify_address(&self, key: &str, query: &str) -> Result<(), AddressFault> {
        let keys = &self.address_keys;
        if !keys.signer().knows(query)
            && keys.may_look(self.now_ms())
            && let Err(error) = self.load_address_keys().await
        {
            tracing::warn!(%error, "address keys could not be read");
        }
        keys.signer().verify(key, query, self.now_ms() / 1000)
    }

    fn open_key(&self, name: &str, sealed: &str) -> Option<([u8; 32], i64)> {
        let text = self.keyring.sealer().open(sealed, name.as_bytes()).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        let key = STANDARD_NO_PAD.decode(kept.key).ok()?;
        Some((key.try_into().ok()?, kept.made_ms))
    }
}
