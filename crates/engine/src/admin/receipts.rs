//! Receipts: signed when they are asked for, with the newest key. Public keys are shown for ever; the other part of each is random and
//! sealed.

use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::pages::receipts::ReceiptView;
use atelier_contract::receipts::{ReceiptKey, ReceiptKeys, ReceiptPayload, SignedReceipt};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{NewReceiptKey, ReceiptKeyRow, ReceiptRow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::context::{Context, unavailable};
use crate::crash;
use crate::ids::random_bytes;

/// The settings that the sealed parts are kept in, each with the name of its key behind it.
pub(crate) const RECEIPT_KEYS: &str = "receipt-key:";
/// Looks for the newest key before another node must have added it.
const TRIES: usize = 5;

/// The key that signs, as this node has it opened.
struct OpenKey {
    kid: String,
    pair: Ed25519KeyPair,
}

/// What accounts were charged for.
pub struct Receipts {
    context: Arc<Context>,
    open: RwLock<Option<Arc<OpenKey>>>,
}

impl Receipts {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            open: RwLock::default(),
        }
    }

    /// The receipt of a job, signed.
    pub async fn one(&self, account_id: &AccountId, job_id: &str) -> Result<ReceiptView, Refusal> {
        let found = self.stored().of(account_id, job_id).await;
        let row = found.map_err(unavailable)?.ok_or_else(|| {
            let message = "the job has no receipt: it was not charged, it ended before receipts were switched on, or it is archived";
            Refusal::new(Code::NotFound, message)
        })?;
        let key = self.key().await?;
        shown(&row, &key)
    }

    /// A page of the receipts of an account, the latest first, signed, and how many there are.
    pub async fn list(
        &self,
        account_id: &AccountId,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<ReceiptView>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let listed = self.stored().list(account_id, offset, limit).await;
        let (rows, total) = listed.map_err(unavailable)?;
        if rows.is_empty() {
            return Ok((Vec::new(), total));
        }
        let key = self.key().await?;
        let rows = rows.iter().map(|row| shown(row, &key));
        Ok((rows.collect::<Result<_, _>>()?, total))
    }

    /// All public keys, the newest first.
    pub async fn keys(&self) -> Result<ReceiptKeys, Refusal> {
        let rows = self.stored().keys().await.map_err(unavailable)?;
        let keys = rows.iter().filter_map(|row| {
            let public = URL_SAFE_NO_PAD.decode(&row.public).ok()?;
            Some(ReceiptKey::new(&row.kid, &public))
        });
        Ok(ReceiptKeys {
            keys: keys.collect(),
        })
    }

    /// Makes a new key that signs from now on; its name.
    pub async fn rotate(&self, by: &str) -> Result<String, Refusal> {
        let newest = self.newest().await?.map(|row| row.kid);
        let kid = self.add(newest, by).await?;
        crash::point("admin.acted");
        kid.ok_or_else(|| {
            let message = "someone else has made a new key at the same time";
            Refusal::new(Code::Conflict, message)
        })
    }

    /// The key that signs: the newest that this master key opens. The first is made when it is needed.
    async fn key(&self) -> Result<Arc<OpenKey>, Refusal> {
        for _ in 0..TRIES {
            let newest = self.newest().await?;
            let Some(row) = newest else {
                self.add(None, "receipts").await?;
                continue;
            };
            if let Some(open) = self.opened().filter(|open| open.kid == row.kid) {
                return Ok(open);
            }
            let setting = format!("{RECEIPT_KEYS}{}", row.kid);
            let sealed = self.context.store().settings().get(&setting).await;
            let sealed = sealed.map_err(unavailable)?;
            let Some(pair) = sealed.and_then(|sealed| self.unseal(&setting, &sealed)) else {
                // What was sealed with a master key that is lost signs nothing any more; what it has signed can be checked for ever.
                let kid = row.kid;
                tracing::error!(
                    kid,
                    "the key of receipts cannot be opened with this master key; a new one is made"
                );
                self.add(Some(kid), "receipts").await?;
                continue;
            };
            let open = Arc::new(OpenKey { kid: row.kid, pair });
            let mut place = self.open.write().unwrap_or_else(PoisonError::into_inner);
            *place = Some(open.clone());
            return Ok(open);
        }
        Err(Refusal::new(
            Code::Overloaded,
            "the key of receipts is being changed; try again",
        ))
    }

    fn opened(&self) -> Option<Arc<OpenKey>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    fn unseal(&self, setting: &str, sealed: &str) -> Option<Ed25519KeyPair> {
        let sealer = self.context.keyring().sealer();
        let seed = sealer.open(sealed, setting.as_bytes()).ok()?;
        Ed25519KeyPair::from_seed_unchecked(&seed).ok()
    }

    async fn newest(&self) -> Result<Option<ReceiptKeyRow>, Refusal> {
        let keys = self.stored().keys().await.map_err(unavailable)?;
        Ok(keys.into_iter().next())
    }

    /// Adds a key after the one that was seen; its name, unless someone else was faster.
    async fn add(&self, seen: Option<String>, by: &str) -> Result<Option<String>, Refusal> {
        let seed = random_bytes::<32>();
        let internal = || Refusal::new(Code::Internal, "no key could be made");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| internal())?;
        let kid = self.context.ids().uuid();
        let setting = format!("{RECEIPT_KEYS}{kid}");
        let sealer = self.context.keyring().sealer();
        let new = NewReceiptKey {
            row: ReceiptKeyRow {
                kid: kid.clone(),
                public: URL_SAFE_NO_PAD.encode(pair.public_key()),
                created_ms: self.context.now_ms(),
            },
            sealed: sealer.seal(&seed, setting.as_bytes(), random_bytes()),
            setting,
            seen,
        };
        let act = self.context.act(by, "receipts.key", &kid, "");
        let added = self.stored().add_key(new, Some(act)).await;
        Ok(added.map_err(unavailable)?.then_some(kid))
    }

    fn stored(&self) -> atelier_store::Receipts<'_> {
        self.context.store().ledger().receipts()
    }
}

fn shown(row: &ReceiptRow, key: &OpenKey) -> Result<ReceiptView, Refusal> {
    let unreadable = |_| Refusal::new(Code::Internal, "the receipt cannot be read");
    let payload: ReceiptPayload = serde_json::from_str(&row.payload).map_err(unreadable)?;
    let unsigned = SignedReceipt::unsigned(&key.kid, &row.payload);
    let signature = key.pair.sign(unsigned.as_bytes());
    Ok(ReceiptView {
        number: row.number,
        hash: row.hash.clone(),
        kid: key.kid.clone(),
        signed: SignedReceipt::whole(&unsigned, signature.as_ref()),
        payload,
    })
}
