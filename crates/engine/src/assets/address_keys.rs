//! The keys that sign asset addresses. The newest signs; a replaced one goes on checking until the last address it can
//! have signed has expired. They are random, sealed, and shared by all nodes through the store.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::context::{Context, unavailable};
use crate::hint::Hint;
use crate::ids::random_bytes;
use crate::sign::{AddressFault, AddressSigner};

/// The settings they are kept in, each with its number behind it.
pub(crate) const PREFIX: &str = "address-key:";
/// The number of the key that every service begins with; it is derived, and only stored when the master key changes.
const FIRST: u64 = 1;
/// Nodes may sign with a replaced key for a moment, so it is kept for longer than its addresses.
const MARGIN_MS: i64 = 3_600_000;
/// The least time between two looks for a key that is not known.
const LOOK_MS: i64 = 1_000;

/// What is encrypted and stored of a key.
#[derive(Serialize, Deserialize)]
struct SealedKey {
    key: String,
    made_ms: i64,
}

/// The signer in force.
pub(crate) struct AddressKeys {
    context: Arc<Context>,
    signer: RwLock<Arc<AddressSigner>>,
    looked_ms: AtomicI64,
}

impl AddressKeys {
    /// Begins with the first key.
    pub(crate) fn new(context: Arc<Context>) -> Self {
        let first = (FIRST.to_string(), context.keyring().first_address_key());
        let signer = AddressSigner::new(vec![first]);
        Self {
            context,
            signer: RwLock::new(Arc::new(signer)),
            looked_ms: AtomicI64::new(i64::MIN),
        }
    }

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

    /// Reads the keys that are in use.
    pub(crate) async fn load(&self) -> Result<(), atelier_store::Error> {
        let mut keys = Vec::new();
        for (name, sealed) in self.context.store().settings().list(PREFIX).await? {
            let number: Option<u64> = name[PREFIX.len()..].parse().ok();
            let Some((number, (key, made_ms))) = number.zip(self.open_key(&name, &sealed)) else {
                tracing::error!(name, "a URL key cannot be decrypted with this master key");
                continue;
            };
            keys.push((number, key, made_ms));
        }
        if !keys.iter().any(|(number, _, _)| *number == FIRST) {
            keys.push((FIRST, self.context.keyring().first_address_key(), i64::MIN));
        }
        keys.sort_by_key(|(number, _, _)| std::cmp::Reverse(*number));
        // A key was replaced when the next one was made.
        let gone_ms =
            self.context.now_ms() - self.context.settings().retention.longest_ms() - MARGIN_MS;
        let mut replaced_ms = i64::MAX;
        let mut live = Vec::new();
        for (number, key, made_ms) in keys {
            if replaced_ms > gone_ms {
                live.push((number.to_string(), key));
            }
            replaced_ms = made_ms;
        }
        self.replace(AddressSigner::new(live));
        Ok(())
    }

    /// The first key under the name and in the form in which keys are stored, so that it survives another master key.
    pub(crate) fn first(&self) -> (String, Vec<u8>) {
        let kept = SealedKey {
            key: STANDARD_NO_PAD.encode(self.context.keyring().first_address_key()),
            made_ms: 0,
        };
        let text = serde_json::to_vec(&kept).expect("plain text fields");
        (format!("{PREFIX}{FIRST}"), text)
    }

    /// Makes a new key that signs from now on, on every node; its number.
    pub(crate) async fn rotate(&self, by: &str) -> Result<String, Refusal> {
        let kept = self
            .context
            .store()
            .settings()
            .list(PREFIX)
            .await
            .map_err(unavailable)?;
        let numbers = kept
            .iter()
            .filter_map(|(name, _)| name[PREFIX.len()..].parse().ok());
        let number = numbers.max().unwrap_or(FIRST) + 1;
        let name = format!("{PREFIX}{number}");
        let fresh = SealedKey {
            key: STANDARD_NO_PAD.encode(random_bytes::<32>()),
            made_ms: self.context.now_ms(),
        };
        let text = serde_json::to_vec(&fresh).expect("plain text fields");
        let sealer = self.context.keyring().sealer();
        let sealed = sealer.seal(&text, name.as_bytes(), random_bytes());
        // When two rotate at once, one new key is enough for both.
        let context = &self.context;
        let act = context.act(by, "rotate-address-key", &number.to_string(), "");
        let stored = context
            .store()
            .settings()
            .add(&name, &sealed, Some(act))
            .await;
        stored.map_err(unavailable)?;
        self.load().await.map_err(unavailable)?;
        let hint = Hint::AddressKeys.encode();
        self.context
            .store()
            .nodes()
            .notify(&[hint])
            .await
            .map_err(unavailable)?;
        Ok(number.to_string())
    }

    /// Checks an address. A key nobody here has heard of may have been made by another node a moment ago.
    pub(crate) async fn verify(&self, key: &str, query: &str) -> Result<(), AddressFault> {
        if !self.signer().knows(query)
            && self.may_look(self.context.steady_ms())
            && let Err(error) = self.load().await
        {
            tracing::warn!(%error, "URL keys could not be read");
        }
        self.signer()
            .verify(key, query, self.context.now_ms() / 1000)
    }

    fn open_key(&self, name: &str, sealed: &str) -> Option<([u8; 32], i64)> {
        let text = self
            .context
            .keyring()
            .sealer()
            .open(sealed, name.as_bytes())
            .ok()?;
        let kept: SealedKey = serde_json::from_slice(&text).ok()?;
        let key = STANDARD_NO_PAD.decode(kept.key).ok()?;
        Some((key.try_into().ok()?, kept.made_ms))
    }
}
