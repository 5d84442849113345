//! The secrets that sign an account's callbacks: one that signs now, and replaced ones for a day.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use atelier_contract::webhook::new_webhook_secret;
use atelier_contract::{AccountId, Code, Refusal};
use serde::{Deserialize, Serialize};

use crate::context::{Context, unavailable};
use crate::ids::random_bytes;

/// After a rotation both secrets sign for this long.
const BOTH_SIGN_MS: i64 = 24 * 3_600_000;

/// Replaced secrets that still sign, at most: so many signatures fit into a header.
const OLDER_MOST: usize = 8;

/// Sealed secrets are settings under this name.
pub(crate) const PREFIX: &str = "callback-secret:";

/// What another node changed is seen after this; until then the secret signs that goes on signing for a day.
const BELIEVED_MS: i64 = 1_000;
/// Accounts whose secrets are remembered, at most.
const REMEMBERED: usize = 1_000;

/// The signing secrets of accounts, remembered for a moment.
#[derive(Default)]
pub(super) struct SigningSecrets(Mutex<HashMap<AccountId, (i64, Vec<String>)>>);

impl SigningSecrets {
    /// The secrets that sign now.
    pub(super) async fn signing(
        &self,
        context: &Context,
        account_id: &AccountId,
    ) -> Result<Vec<String>, Refusal> {
        let now_ms = context.now_ms();
        if let Some((read_ms, secrets)) = self.known().get(account_id)
            && (0..BELIEVED_MS).contains(&(now_ms - read_ms))
        {
            return Ok(secrets.clone());
        }
        let secrets = signing(context, account_id, SecretReader::Service).await?;
        let mut known = self.known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(account_id.clone(), (now_ms, secrets.clone()));
        Ok(secrets)
    }

    /// An account's secrets were changed.
    pub(super) fn forget(&self, account_id: &AccountId) {
        self.known().remove(account_id);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<AccountId, (i64, Vec<String>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who wants to know a secret.
#[derive(Clone, Copy)]
pub(super) enum SecretReader {
    /// Its account, which has its share of reads.
    Account,
    /// The service, which signs with it: callbacks of others do not wait for what the account reads besides.
    Service,
}

/// An account's signing secrets, as they are sealed.
#[derive(Serialize, Deserialize)]
struct StoredSecrets {
    current: String,
    /// Replaced ones and until when each signs, newest first.
    #[serde(default)]
    older: Vec<(String, i64)>,
}

/// The secret callbacks of an account are signed with.
pub(super) async fn current(context: &Context, account_id: &AccountId) -> Result<String, Refusal> {
    let secrets = read(context, account_id, SecretReader::Account).await?;
    Ok(secrets.current)
}

/// A new secret; the old one goes on signing beside it for a day, however often it is changed. Whether the account may is asked
/// once, when nothing else speaks against it.
pub(super) async fn rotate<E: From<Refusal>>(
    context: &Context,
    account_id: &AccountId,
    may: impl FnOnce() -> Result<(), E>,
) -> Result<String, E> {
    let mut may = Some(may);
    loop {
        let sealed = sealed(context, account_id, SecretReader::Account).await?;
        let mut secrets = open(context, account_id, &sealed)?;
        let fresh = new_webhook_secret(&random_bytes::<32>());
        let old = std::mem::replace(&mut secrets.current, fresh);
        let now_ms = context.now_ms();
        secrets.older.retain(|(_, until_ms)| *until_ms > now_ms);
        if secrets.older.len() >= OLDER_MOST {
            let message =
                "the secret was changed too often today; wait until the oldest one no longer signs";
            return Err(Refusal::new(Code::RateLimited, message).into());
        }
        if let Some(may) = may.take() {
            may()?;
        }
        secrets.older.insert(0, (old, now_ms + BOTH_SIGN_MS));
        let new = seal(context, account_id, &secrets);
        let name = setting_name(account_id);
        let act = context.own_act(account_id, "", "secret.rotate", "callbacks", "");
        let stored = context
            .store()
            .settings()
            .replace(&name, &sealed, &new, Some(act));
        // Somebody else may have changed it meanwhile: then theirs goes on signing too.
        if stored.await.map_err(unavailable)? {
            return Ok(secrets.current);
        }
    }
}

/// The secrets that sign now: the current one, and replaced ones for a day.
pub(super) async fn signing(
    context: &Context,
    account_id: &AccountId,
    reader: SecretReader,
) -> Result<Vec<String>, Refusal> {
    let secrets = read(context, account_id, reader).await?;
    let now_ms = context.now_ms();
    let older = secrets.older.into_iter();
    let older = older.filter(|(_, until_ms)| *until_ms > now_ms);
    Ok(std::iter::once(secrets.current)
        .chain(older.map(|(secret, _)| secret))
        .collect())
}

async fn read(
    context: &Context,
    account_id: &AccountId,
    reader: SecretReader,
) -> Result<StoredSecrets, Refusal> {
    let sealed = sealed(context, account_id, reader).await?;
    open(context, account_id, &sealed)
}

async fn sealed(
    context: &Context,
    account_id: &AccountId,
    reader: SecretReader,
) -> Result<String, Refusal> {
    let (name, settings) = (setting_name(account_id), context.store().settings());
    let found = match reader {
        SecretReader::Account => settings.get_for(account_id, &name).await,
        SecretReader::Service => settings.get(&name).await,
    };
    if let Some(sealed) = found.map_err(unavailable)? {
        return Ok(sealed);
    }
    let fresh = StoredSecrets {
        current: new_webhook_secret(&random_bytes::<32>()),
        older: Vec::new(),
    };
    let sealed = seal(context, account_id, &fresh);
    let kept = context
        .store()
        .settings()
        .put_if_absent(&name, &sealed)
        .await;
    kept.map_err(unavailable)
}

fn open(context: &Context, account_id: &AccountId, sealed: &str) -> Result<StoredSecrets, Refusal> {
    let name = setting_name(account_id);
    let opened = context
        .keyring()
        .sealer()
        .open(sealed, name.as_bytes())
        .ok();
    opened
        .and_then(|text| serde_json::from_slice(&text).ok())
        .ok_or_else(|| {
            tracing::error!(
                account = %account_id,
                "a callback secret cannot be decrypted with this master key"
            );
            Refusal::new(
                Code::Internal,
                "the callback secret cannot be read; tell the operator",
            )
        })
}

fn seal(context: &Context, account_id: &AccountId, secrets: &StoredSecrets) -> String {
    let text = serde_json::to_vec(secrets).expect("plain text fields");
    let sealer = context.keyring().sealer();
    sealer.seal(&text, setting_name(account_id).as_bytes(), random_bytes())
}

fn setting_name(account_id: &AccountId) -> String {
    format!("{PREFIX}{account_id}")
}
