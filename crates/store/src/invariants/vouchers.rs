//! Vouchers: every batch has its codes, and a code that was redeemed gave what it is worth, once.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "vouchers.codes",
        what: "batch of vouchers has not as many codes as were made",
        of: RowKind::VoucherBatches,
        broken: "voucher_batch.codes <> (SELECT COUNT(*) FROM voucher WHERE voucher.batch_id = voucher_batch.id)",
        at_work: false,
    },
    Invariant {
        name: "vouchers.granted",
        what: "voucher was redeemed and gave nothing, or something else",
        of: RowKind::Vouchers,
        // The row may have gone to the archive.
        broken: "voucher.account_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger JOIN voucher_batch ON voucher_batch.id = voucher.batch_id \
              WHERE ledger.id = voucher.ledger_id AND ledger.account_id = voucher.account_id AND ledger.kind = 'grant' \
              AND ledger.amount = voucher_batch.amount) \
            AND (EXISTS (SELECT 1 FROM ledger WHERE ledger.id = voucher.ledger_id) \
              OR NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = voucher.account_id \
                AND c.before_ms > voucher.redeemed_ms))",
        at_work: false,
    },
    Invariant {
        name: "vouchers.credit",
        what: "voucher gave quota that ends, and there is no such credit",
        of: RowKind::Vouchers,
        broken: "voucher.expires_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM credit WHERE credit.id = voucher.ledger_id \
            AND credit.account_id = voucher.account_id AND credit.source = 'voucher')",
        at_work: false,
    },
    Invariant {
        name: "vouchers.once",
        what: "two vouchers gave the same quota",
        of: RowKind::Vouchers,
        broken: "voucher.ledger_id IS NOT NULL AND EXISTS (SELECT 1 FROM voucher AS other WHERE other.batch_id = voucher.batch_id \
            AND other.account_id = voucher.account_id AND other.ledger_id = voucher.ledger_id AND other.hash <> voucher.hash)",
        at_work: false,
    },
    Invariant {
        name: "vouchers.per_account",
        what: "account has redeemed more vouchers of a batch than it may",
        of: RowKind::Vouchers,
        broken: "voucher.account_id IS NOT NULL AND (SELECT COUNT(*) FROM voucher AS other WHERE other.batch_id = voucher.batch_id \
              AND other.account_id = voucher.account_id) \
            > (SELECT voucher_batch.per_account FROM voucher_batch WHERE voucher_batch.id = voucher.batch_id)",
        at_work: false,
    },
];
