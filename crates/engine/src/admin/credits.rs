//! Quota that ends: what an account has of it, how an operator grants it, and the booking of what ended while nobody asked.

use std::fmt;
use std::sync::Arc;

use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_store::{Account, AccountCredits, Credit, CreditEnd, CreditKind, CreditOutcome};

use super::registry::{no_account, older_node};
use crate::context::{Context, unavailable};
use crate::crash;

/// Accounts whose ended credits one commit books.
const AT_ONCE: i64 = 100;

/// What an operator grants, or takes away.
#[derive(Clone, Debug)]
pub struct CreditRequest {
    /// How much; negative to take away.
    pub amount: Quota,
    /// Why, for the ledger.
    pub reason: String,
    /// The same key credits once.
    pub idempotency_key: Option<String>,
    /// When what is granted ends.
    pub expires_ms: Option<i64>,
}

impl CreditRequest {
    /// Refuses what cannot be granted, with the field.
    fn check(&self, now_ms: i64) -> Result<(), Refusal> {
        if self.amount == Quota::ZERO {
            return Err(Refusal::invalid("amount", "must not be 0"));
        }
        let Some(expires_ms) = self.expires_ms else {
            return Ok(());
        };
        check_end("expires", expires_ms, now_ms)?;
        if self.amount < Quota::ZERO {
            let message = "is only for quota that is granted";
            return Err(Refusal::invalid("expires", message));
        }
        Ok(())
    }
}

/// For the audit list.
impl fmt::Display for CreditRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.amount)?;
        if let Some(expires_ms) = self.expires_ms {
            write!(f, " until {}", timestamp(expires_ms))?;
        }
        write!(f, " {}", self.reason)
    }
}

/// Credits of accounts.
pub struct Credits {
    context: Arc<Context>,
}

impl Credits {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// What an account has now, and what of it ends.
    pub async fn of(&self, account_id: &AccountId) -> Result<AccountCredits, Refusal> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let found = store.ledger().credits().of(account_id, now_ms).await;
        found.map_err(unavailable)?.ok_or_else(no_account)
    }

    /// Grants quota, or takes some away.
    pub async fn credit(
        &self,
        by: &str,
        account_id: &AccountId,
        request: CreditRequest,
    ) -> Result<Account, Refusal> {
        let now_ms = self.context.now_ms();
        request.check(now_ms)?;
        let detail = request.to_string();
        let CreditRequest {
            amount,
            reason,
            idempotency_key,
            expires_ms,
        } = request;
        let kind = if amount > Quota::ZERO {
            CreditKind::Grant
        } else {
            CreditKind::Adjust
        };
        let alive_since_ms = self.context.alive_since_ms();
        let credit = Credit {
            id: self.context.ids().uuid(),
            account_id: account_id.to_string(),
            amount,
            kind,
            reason,
            idempotency_key,
            end: expires_ms.map(|expires_ms| CreditEnd {
                expires_ms,
                alive_since_ms,
            }),
            now_ms,
        };
        let act = self.context.act(by, "account.credit", account_id, detail);
        let ledger = self.context.store().ledger();
        let credited = ledger.credit(credit, Some(act)).await;
        let credited = credited.map_err(unavailable)?;
        crash::point("admin.acted");
        match credited {
            CreditOutcome::Done(account) | CreditOutcome::Repeated(account) => Ok(account),
            CreditOutcome::TooLow(account) => {
                let message = format!("the balance of {} cannot go below 0", account.balance);
                Err(Refusal::invalid("amount", message))
            }
            CreditOutcome::Mismatch => Err(Refusal::field(
                Code::Conflict,
                "idempotency_key",
                "was used for another amount, reason or end",
            )),
            CreditOutcome::TooMany { most } => Err(too_many(most)),
            CreditOutcome::OlderNode(node) => Err(older_node(&node, NOT_KNOWN)),
            CreditOutcome::NoAccount => Err(no_account()),
        }
    }

    /// Books what ended of accounts that do nothing; whether there may be more.
    pub async fn end_step(&self) -> Result<bool, atelier_store::Error> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        Ok(store.ledger().credits().end_due(now_ms, AT_ONCE).await? > 0)
    }

    /// Books everything that was over by a moment, so that it stays so.
    pub(crate) async fn end_overdue(&self, by_ms: i64) -> Result<(), atelier_store::Error> {
        let credits = self.context.store().ledger().credits();
        while credits.end_due(by_ms, AT_ONCE).await? > 0 {}
        Ok(())
    }
}

/// What an older release lacks.
pub(super) const NOT_KNOWN: &str = "knows no quota that ends";

/// Refuses an end that has come.
pub(super) fn check_end(field: &str, expires_ms: i64, now_ms: i64) -> Result<(), Refusal> {
    if expires_ms > now_ms {
        return Ok(());
    }
    Err(Refusal::invalid(field, "must be in the future"))
}

/// Refuses one more credit.
pub(super) fn too_many(most: i64) -> Refusal {
    let message = format!(
        "the account has {most} credits that have not ended, as many as it may; wait until some are spent or over"
    );
    Refusal::new(Code::Conflict, message)
}
