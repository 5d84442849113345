//! The caller's view of callbacks: what was sent, sending it again, and the secret it is signed with.

use atelier_contract::{Code, Refusal};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, unavailable};
use crate::ids::random_bytes;
use crate::sign::new_webhook_secret;
use crate::views::{CallbackView, TryView};

/// After a rotation both secrets sign for this long.
const BOTH_SIGN_MS: i64 = 24 * 3_600_000;

/// Replaced secrets that still sign, at most: so many signatures fit into a header.
const OLDER_MOST: usize = 8;

/// An account's signing secrets, as they are sealed.
#[derive(Serialize, Deserialize)]
struct Secrets {
    current: String,
    /// Replaced ones and until when each signs, newest first.
    #[serde(default)]
    older: Vec<(String, i64)>,
}

impl Engine {
    /// Callbacks in pages, newest first, of one account or of all.
    pub async fn callbacks(
        &self,
        account_id: Option<&str>,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<CallbackView>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let (rows, total) = self
            .store
            .deliveries(account_id, None, offset, limit)
            .await
            .map_err(unavailable)?;
        Ok((rows.into_iter().map(view).collect(), total))
    }

    /// One callback of an account and its tries, oldest first, as far as they are still remembered.
    pub async fn callback(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<(CallbackView, Vec<TryView>), Refusal> {
        let row = self.store.delivery(account_id, id).await;
        let row = row
            .map_err(unavailable)?
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such callback"))?;
        let log = self.store.delivery_log(id).await.map_err(unavailable)?;
        let tries = log.into_iter().map(|one| TryView {
            attempt: one.attempt,
            time_ms: one.time_ms,
            status: one.status,
            error: one.error,
            duration_ms: one.duration_ms,
            answer: one.answer_start,
        });
        Ok((view(row), tries.collect()))
    }

    /// Sends a callback again, now.
    pub async fn redeliver(&self, account_id: &str, id: &str) -> Result<(), Refusal> {
        if self
            .store
            .redeliver(account_id, id, self.now_ms())
            .await
            .map_err(unavailable)?
        {
            self.wake_callbacks();
            return Ok(());
        }
        Err(Refusal::new(
            Code::NotFound,
            "no such callback, or it is being sent right now",
        ))
    }

    /// Sends every callback again that was given up since a time; says how many.
    pub async fn redeliver_since(&self, account_id: &str, since_ms: i64) -> Result<u64, Refusal> {
        let count = self
            .store
            .redeliver_failed(account_id, since_ms, self.now_ms())
            .await
            .map_err(unavailable)?;
        self.wake_callbacks();
        Ok(count)
    }

    /// The secret callbacks are signed with.
    pub async fn callback_secret(&self, account_id: &str) -> Result<String, Refusal> {
        Ok(self.secrets(account_id).await?.current)
    }

    /// A new secret; the old one goes on signing beside it for a day, however often it is changed.
    pub async fn rotate_callback_secret(&self, account_id: &str) -> Result<String, Refusal> {
        loop {
            let sealed = self.sealed_secrets(account_id).await?;
            let mut secrets = self.open_secrets(account_id, &sealed)?;
            let fresh = new_webhook_secret(&random_bytes::<32>());
            let old = std::mem::replace(&mut secrets.current, fresh);
            let now_ms = self.now_ms();
            secrets.older.retain(|(_, until_ms)| *until_ms > now_ms);
            if secrets.older.len() >= OLDER_MOST {
                let message = "the secret was changed too often today; wait until the oldest one no longer signs";
                return Err(Refusal::new(Code::RateLimited, message));
            }
            secrets.older.insert(0, (old, now_ms + BOTH_SIGN_MS));
            let new = self.seal_secrets(account_id, &secrets);
            let name = setting_name(account_id);
            let stored = self.store.replace_setting(&name, &sealed, &new).await;
            // Somebody else may have changed it meanwhile: then theirs goes on signing too.
            if stored.map_err(unavailable)? {
                return Ok(secrets.current);
            }
        }
    }

    /// The secrets that sign now: the current one, and replaced ones for a day.
    pub(crate) async fn signing_secrets(&self, account_id: &str) -> Result<Vec<String>, Refusal> {
        let secrets = self.secrets(account_id).await?;
        let now_ms = self.now_ms();
        let older = secrets.older.into_iter();
        let older = older.filter(|(_, until_ms)| *until_ms > now_ms);
        Ok(std::iter::once(secrets.current)
            .chain(older.map(|(secret, _)| secret))
            .collect())
    }

    async fn secrets(&self, account_id: &str) -> Result<Secrets, Refusal> {
        let sealed = self.sealed_secrets(account_id).await?;
        self.open_secrets(account_id, &sealed)
    }

    async fn sealed_secrets(&self, account_id: &str) -> Result<String, Refusal> {
        let name = setting_name(account_id);
        if let Some(sealed) = self.store.setting(&name).await.map_err(unavailable)? {
            return Ok(sealed);
        }
        let fresh = Secrets {
            current: new_webhook_secret(&random_bytes::<32>()),
            older: Vec::new(),
        };
        let sealed = self.seal_secrets(account_id, &fresh);
        let kept = self.store.put_setting_if_absent(&name, &sealed).await;
        kept.map_err(unavailable)
    }

    fn open_secrets(&self, account_id: &str, sealed: &str) -> Result<Secrets, Refusal> {
        let name = setting_name(account_id);
        let opened = self.keyring.sealer().open(sealed, name.as_bytes()).ok();
        opened
            .and_then(|text| serde_json::from_slice(&text).ok())
            .ok_or_else(|| {
                tracing::error!(
                    account = account_id,
                    "a callback secret cannot be opened with this master key"
                );
                Refusal::new(
                    Code::Internal,
                    "the callback secret cannot be read; tell the operator",
                )
            })
    }

    fn seal_secrets(&self, account_id: &str, secrets: &Secrets) -> String {
        let text = serde_json::to_vec(secrets).expect("plain text fields");
        self.keyring
            .sealer()
            .seal(&text, setting_name(account_id).as_bytes(), random_bytes())
    }
}

fn view(row: atelier_store::Delivery) -> CallbackView {
    CallbackView {
        next_attempt_ms: (row.state == "due").then_some(row.next_ms),
        id: row.id,
        job_id: row.job_id,
        url: row.url,
        status: row.state,
        attempts: row.attempts,
        last_status: row.last_status,
        last_error: row.last_error,
    }
}

/// Sealed secrets are settings under this name.
pub(crate) const SECRETS: &str = "callback-secret:";

fn setting_name(account_id: &str) -> String {
    format!("{SECRETS}{account_id}")
}
