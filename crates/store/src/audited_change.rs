//! A change and the line that tells of it, in the audit list or in the list of an account, are one commit.

use crate::Result;
use crate::audit::{self, AuditRow};
use crate::audit_chain;
use crate::pending::ChangeFn;
use crate::store_core::StoreCore;

/// A change of the store, and the row that says who made it: one commit, both or neither.
struct AuditedChange<I, T> {
    input: I,
    row: Option<AuditRow>,
    act: ChangeFn<I, T>,
    happened: fn(&T) -> bool,
}

/// Has the writer do a change and write down who made it, in the same commit. What did not happen leaves no row.
pub(crate) async fn run<I, T>(
    store: &StoreCore,
    input: I,
    row: Option<AuditRow>,
    act: ChangeFn<I, T>,
    happened: fn(&T) -> bool,
) -> Result<T>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    let acted = AuditedChange {
        input,
        row,
        act,
        happened,
    };
    store
        .change_alone(acted, |conn, acted| {
            Box::pin(async move {
                let answer = (acted.act)(conn, &acted.input).await?;
                if let Some(row) = acted.row.as_ref().filter(|_| (acted.happened)(&answer)) {
                    match &row.account_id {
                        Some(account_id) => audit::append_own(conn, account_id, row).await?,
                        None => audit_chain::append(conn, row).await?,
                    }
                }
                Ok(answer)
            })
        })
        .await
}
