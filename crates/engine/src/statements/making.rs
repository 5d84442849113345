//! A statement is made once: whoever asks for it later gets the one that stands.

use atelier_contract::AccountId;
use atelier_contract::month::Month;
use atelier_store::{Account, Statement, Store};

use super::compute::{StatementIssuer, StatementWish, compute};
use super::error::StatementError;

/// A month is over for its statement this long after its end: what was dated in it is written down by then.
pub(super) const SETTLED_MS: i64 = 300_000;
/// A statement is added up anew so often when others change what is beside it.
const TRIES: usize = 5;

/// The statement of an account for a month: the one that is there, or a new one. Of two that are made at once one stands.
pub(super) async fn make(
    store: &Store,
    issuer: &StatementIssuer,
    account: &Account,
    month: Month,
    now_ms: i64,
) -> Result<Statement, StatementError> {
    let (statements, account_id) = (store.ledger().statements(), account.id.as_str());
    if let Some(known) = statements.find(account_id, month.number()).await? {
        return Ok(known);
    }
    if month.until_ms() + SETTLED_MS > now_ms {
        return Err(StatementError::NotOver(month));
    }
    if month.until_ms() <= account.created_ms {
        return Err(StatementError::Earlier(month));
    }
    for _ in 0..TRIES {
        let wish = StatementWish {
            account_id,
            email: &account.email,
            month,
            now_ms,
        };
        let statement = compute(store, issuer, wish).await?;
        if statements.add(statement, issuer.logo.clone()).await?
            && let Some(stands) = statements.find(account_id, month.number()).await?
        {
            return Ok(stands);
        }
    }
    Err(StatementError::Crossed(month))
}

/// The account with an identifier, as far as statements name it.
pub(super) async fn account_of(
    store: &Store,
    account_id: &AccountId,
) -> Result<Account, StatementError> {
    let found = store.accounts().find(account_id).await?;
    found.ok_or(StatementError::NoAccount)
}
