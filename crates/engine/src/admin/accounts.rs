//! Accounts: what callers see of themselves, and what the operator does to them.

use std::sync::Arc;

use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_fairness::limits::{HolderLimits, LimitOverrides};
use atelier_store::{
    Account, AccountFilter, AccountPatch, GroupedUsage, LedgerFilter, LedgerRow, NewAccount,
    UsageQuestion, UsageRow,
};

use super::callers::Callers;
use super::keys::first_key;
use crate::context::{Context, unavailable};
use crate::crash;

/// The longest e-mail address that is taken.
const EMAIL_MOST: usize = 254;

/// What an operator says of a new account.
#[derive(Clone, Debug)]
pub struct NewAccountRequest {
    /// E-mail address, unique in any case.
    pub email: String,
    /// Quota granted at once.
    pub balance: Quota,
    /// Unfinished jobs allowed per queue; the usual number when absent.
    pub max_queue: Option<i64>,
    /// Whether the address counts as verified.
    pub email_verified: bool,
}

/// Accounts and their quota.
pub struct Accounts {
    context: Arc<Context>,
    callers: Arc<Callers>,
    /// What single accounts have of what all share.
    allowances: Arc<LimitOverrides>,
}

impl Accounts {
    pub(super) fn new(
        context: Arc<Context>,
        callers: Arc<Callers>,
        allowances: Arc<LimitOverrides>,
    ) -> Self {
        Self {
            context,
            callers,
            allowances,
        }
    }

    /// What single accounts have of what all share.
    pub(crate) fn allowances(&self) -> &Arc<LimitOverrides> {
        &self.allowances
    }

    /// Takes over what operators gave single accounts of what all share.
    pub(crate) async fn load_allowances(&self) -> Result<(), atelier_store::Error> {
        let own = |number: i64| u32::try_from(number).ok().filter(|number| *number > 0);
        let all = self
            .context
            .store()
            .accounts()
            .allowances()
            .await?
            .into_iter();
        let all = all.map(|(id, stored)| {
            let allowance = HolderLimits {
                submits_per_second: own(stored.submits_per_second),
                calls_per_second: own(stored.calls_per_second),
                share_percent: own(stored.share_percent),
            };
            (id.into(), allowance)
        });
        self.allowances.replace(all.collect());
        Ok(())
    }

    /// The account of a caller.
    pub async fn own(&self, account_id: &AccountId) -> Result<Account, Refusal> {
        let account = self.context.store().accounts().find_own(account_id).await;
        account.map_err(unavailable)?.ok_or_else(no_account)
    }

    /// An account, for an operator.
    pub async fn one(&self, account_id: &AccountId) -> Result<Account, Refusal> {
        let account = self
            .context
            .store()
            .accounts()
            .find(account_id)
            .await
            .map_err(unavailable)?;
        account.ok_or_else(no_account)
    }

    /// A new account with its first key, which is shown this once.
    pub async fn create(
        &self,
        by: &str,
        new: NewAccountRequest,
    ) -> Result<(Account, String), Refusal> {
        check_email(&new.email)?;
        if new.balance < Quota::ZERO {
            return Err(Refusal::invalid("balance", "must not be negative"));
        }
        let max_queue = new
            .max_queue
            .unwrap_or(self.context.settings().jobs.max_queue);
        check_max_queue(max_queue)?;
        let now_ms = self.context.now_ms();
        let id = AccountId::new(self.context.ids().uuid());
        let account = NewAccount {
            id: id.to_string(),
            email: new.email,
            email_verified_ms: new.email_verified.then_some(now_ms),
            balance: new.balance,
            max_queue,
            ledger_id: self.context.ids().uuid(),
            now_ms,
        };
        let (first_key, api_key) = first_key(&self.context, &id);
        let act = self
            .context
            .act(by, "account.create", &account.id, &account.email);
        let account = self
            .context
            .store()
            .accounts()
            .create(account, Some(first_key), Some(act))
            .await
            .map_err(|error| match error {
                atelier_store::Error::Conflict(_) => {
                    Refusal::field(Code::Conflict, "email", "has an account already")
                }
                other => unavailable(other),
            })?;
        crash::point("admin.acted");
        Ok((account, api_key))
    }

    /// A page of the accounts that a filter asks for, and how many there are of them.
    pub async fn list(
        &self,
        filter: &AccountFilter,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Account>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let accounts = self.context.store().accounts();
        let page = accounts.list(filter, offset, limit).await;
        page.map_err(unavailable)
    }

    /// Changes what the patch names, and has every node look the callers of the account up again.
    pub async fn change(
        &self,
        by: &str,
        id: &AccountId,
        mut patch: AccountPatch,
    ) -> Result<Account, Refusal> {
        if let Some(email) = &patch.email {
            check_email(email)?;
        }
        if let Some(max_queue) = patch.max_queue {
            check_max_queue(max_queue)?;
        }
        if let Some(limit) = patch.credit_limit
            && !(Quota::ZERO..=Quota::MOST).contains(&limit)
        {
            let message = format!("must be from 0 to {}", Quota::MOST);
            return Err(Refusal::invalid("credit_limit", message));
        }
        patch.alive_since_ms = self.context.alive_since_ms();
        let act = self.context.act(by, "account.change", id, patch.summary());
        let account = self
            .context
            .store()
            .accounts()
            .update(id, patch, Some(act))
            .await
            .map_err(|error| match error {
                atelier_store::Error::NoGroup(_) => Refusal::invalid("group", error),
                other => unavailable(other),
            })?;
        crash::point("admin.acted");
        self.callers.void_account(id);
        // Should this fail, the next look takes it over.
        if let Err(error) = self.load_allowances().await {
            tracing::warn!(%error, "the limits of accounts could not be read");
        }
        account.ok_or_else(no_account)
    }

    /// Removes everything of an account that has no unfinished job, but its ledger.
    pub async fn delete(&self, by: &str, id: &AccountId) -> Result<(), Refusal> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let act = self.context.act(by, "account.delete", id, "");
        let deleted = store.accounts().delete(id, now_ms, Some(act)).await;
        let deleted = deleted.map_err(unavailable)?;
        crash::point("admin.acted");
        self.callers.void_account(id);
        if deleted { Ok(()) } else { Err(no_account()) }
    }

    /// Movements of quota in pages, newest first.
    pub async fn ledger(
        &self,
        account_id: Option<&AccountId>,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<LedgerRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let owner = account_id.map(AccountId::as_str);
        let page = self
            .context
            .store()
            .ledger()
            .list(owner, offset, limit)
            .await;
        page.map_err(unavailable)
    }

    /// Some movements of an account's quota, newest first, and how many there are of those that one look sees.
    pub async fn some_ledger(
        &self,
        filter: &LedgerFilter,
    ) -> Result<(Vec<LedgerRow>, i64), Refusal> {
        let page = self.context.store().ledger().filtered(filter).await;
        page.map_err(unavailable)
    }

    /// What an account consumed, by who or what consumed it.
    pub async fn usage_by(&self, asked: &UsageQuestion) -> Result<GroupedUsage, Refusal> {
        let used = self.context.store().statistics().usage_by(asked).await;
        used.map_err(unavailable)
    }

    /// What an account consumed, by day and operation.
    pub async fn usage(
        &self,
        account_id: &AccountId,
        from_ms: i64,
        to_ms: i64,
    ) -> Result<Vec<UsageRow>, Refusal> {
        let used = self
            .context
            .store()
            .statistics()
            .usage(account_id, from_ms, to_ms)
            .await;
        used.map_err(unavailable)
    }
}

fn no_account() -> Refusal {
    Refusal::new(Code::NotFound, "no such account")
}

fn check_email(email: &str) -> Result<(), Refusal> {
    let plain =
        email.len() <= EMAIL_MOST && !email.chars().any(|c| c.is_whitespace() || c.is_control());
    match email.split_once('@') {
        Some((name, host))
            if plain && !name.is_empty() && !host.is_empty() && !host.contains('@') =>
        {
            Ok(())
        }
        _ => Err(Refusal::invalid("email", "must be an e-mail address")),
    }
}

fn check_max_queue(max_queue: i64) -> Result<(), Refusal> {
    if (1..=1_000_000).contains(&max_queue) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "max_queue",
        "must be a whole number from 1 to 1000000",
    ))
}
