//! What was taken over from other programs: every account brought along what the ledger says.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[Invariant {
    name: "imports.granted",
    what: "account that was taken over brought along something else than the ledger says",
    of: RowKind::ImportedAccounts,
    // The row may have gone to the archive.
    broken: "imported.amount <> COALESCE((SELECT ledger.amount FROM ledger WHERE ledger.account_id = imported.target \
          AND ledger.idempotency_key = 'import:' || imported.source || ':' || imported.origin), 0) \
        AND NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = imported.target \
          AND c.before_ms > imported.imported_ms)",
    at_work: false,
}];
