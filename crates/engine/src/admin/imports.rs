//! What is taken over from other programs: what is there already, and pages of accounts and keys, each one commit with its line in
//! the audit list. A page that was taken over is not taken over again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use atelier_contract::pages::keys::KeyTerms;
use atelier_contract::{Code, Quota, Refusal, Scopes};
use atelier_store::{ImportPage, ImportedAccount, ImportedKey, ImportedRow};

use super::key_terms::to_store;
use super::registry::older_node;
use crate::context::{Context, unavailable};
use crate::crash;

/// Why an older release may not work beside limited keys.
const LACKS: &str = "keeps to no limits of keys";

/// An account of another program, as it shall be here.
#[derive(Clone, Debug)]
pub struct AccountImport {
    /// What names the row there.
    pub origin: String,
    /// What that program calls it.
    pub name: String,
    /// E-mail address; it counts as verified.
    pub email: String,
    /// What it brings along.
    pub balance: Quota,
    /// Whether its keys are refused.
    pub disabled: bool,
    /// Its group; none of the one that all begin in.
    pub group: Option<String>,
    /// Unfinished jobs allowed per queue; the usual number when absent.
    pub max_queue: Option<i64>,
    /// When it was made there.
    pub created_ms: Option<i64>,
}

/// A key of another program, as it shall be here.
#[derive(Clone, Debug)]
pub struct KeyImport {
    /// What names the row there.
    pub origin: String,
    /// The account here.
    pub account_id: String,
    /// What stands for it, of [`crate::key::foreign_hash`].
    pub hash: String,
    /// What people see of it.
    pub shown: String,
    /// A name by which its owner tells keys apart.
    pub name: String,
    /// When it stops working.
    pub expires_ms: Option<i64>,
    /// What it may spend and do.
    pub terms: KeyTerms,
    /// When it was made there.
    pub created_ms: Option<i64>,
}

/// Letters that a key shows, and of its name.
const SHOWN_MOST: usize = 9;
const NAME_MOST: usize = 100;

/// Takes over what other programs have.
pub struct Imports {
    context: Arc<Context>,
}

impl Imports {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// What some accounts of a source became here, by their origin.
    pub async fn accounts(
        &self,
        source: &str,
        origins: &[String],
    ) -> Result<HashMap<String, ImportedRow>, Refusal> {
        let imports = self.context.store().imports();
        let found = imports.accounts(source, origins).await;
        Ok(by_origin(found.map_err(unavailable)?))
    }

    /// What some keys of a source became here, by their origin.
    pub async fn keys(
        &self,
        source: &str,
        origins: &[String],
    ) -> Result<HashMap<String, ImportedRow>, Refusal> {
        let imports = self.context.store().imports();
        let found = imports.keys(source, origins).await;
        Ok(by_origin(found.map_err(unavailable)?))
    }

    /// Those of some e-mail addresses, in lower case, that an account has.
    pub async fn emails_taken(&self, emails: &[String]) -> Result<HashSet<String>, Refusal> {
        let imports = self.context.store().imports();
        let found = imports.emails_taken(emails).await.map_err(unavailable)?;
        Ok(found.into_iter().collect())
    }

    /// Those of some hashes that a key has.
    pub async fn hashes_taken(&self, hashes: &[String]) -> Result<HashSet<String>, Refusal> {
        let imports = self.context.store().imports();
        let found = imports.hashes_taken(hashes).await.map_err(unavailable)?;
        Ok(found.into_iter().collect())
    }

    /// What the accounts of a source brought along, as the ledger says.
    pub async fn brought(&self, source: &str) -> Result<Quota, Refusal> {
        let sum = self.context.store().imports().brought(source).await;
        sum.map_err(unavailable)
    }

    /// Takes over a page of accounts.
    pub async fn take_accounts(
        &self,
        by: &str,
        source: &str,
        accounts: Vec<AccountImport>,
    ) -> Result<(), Refusal> {
        let now_ms = self.context.now_ms();
        let count = accounts.len();
        let usual = self.context.settings().jobs.max_queue;
        let rows = accounts.into_iter().map(|account| ImportedAccount {
            id: self.context.ids().uuid(),
            origin: account.origin,
            name: account.name,
            email: account.email,
            max_queue: account.max_queue.unwrap_or(usual),
            disabled: account.disabled,
            group: account.group,
            balance: account.balance,
            ledger_id: self.context.ids().uuid(),
            created_ms: account.created_ms.unwrap_or(now_ms),
        });
        let page = ImportPage {
            source: source.to_owned(),
            rows: rows.collect(),
            now_ms,
            alive_since_ms: self.context.alive_since_ms(),
        };
        let act = self
            .context
            .act(by, "import.accounts", source, count.to_string());
        let imports = self.context.store().imports();
        let taken = imports.add_accounts(page, act).await;
        taken.map_err(conflict)?;
        crash::point("admin.acted");
        Ok(())
    }

    /// Takes over a page of keys.
    pub async fn take_keys(
        &self,
        by: &str,
        source: &str,
        keys: Vec<KeyImport>,
    ) -> Result<(), Refusal> {
        let now_ms = self.context.now_ms();
        let count = keys.len();
        let rows = keys.into_iter().map(|key| ImportedKey {
            id: self.context.ids().uuid(),
            origin: key.origin,
            account_id: key.account_id,
            hash: key.hash,
            prefix: key.shown.chars().take(SHOWN_MOST).collect(),
            name: key.name.chars().take(NAME_MOST).collect(),
            scopes: Scopes::ALL.to_string(),
            created_ms: key.created_ms.unwrap_or(now_ms),
            expires_ms: key.expires_ms,
            terms: to_store(&key.terms),
        });
        let page = ImportPage {
            source: source.to_owned(),
            rows: rows.collect(),
            now_ms,
            alive_since_ms: self.context.alive_since_ms(),
        };
        let act = self
            .context
            .act(by, "import.keys", source, count.to_string());
        let imports = self.context.store().imports();
        let taken = imports.add_keys(page, act).await.map_err(conflict)?;
        crash::point("admin.acted");
        match taken {
            None => Ok(()),
            Some(node) => Err(older_node(&node, LACKS)),
        }
    }
}

fn conflict(error: atelier_store::Error) -> Refusal {
    match error {
        atelier_store::Error::Conflict(why) => Refusal::new(Code::Conflict, why),
        other => unavailable(other),
    }
}

fn by_origin(rows: Vec<ImportedRow>) -> HashMap<String, ImportedRow> {
    let rows = rows.into_iter();
    rows.map(|row| (row.origin.clone(), row)).collect()
}
