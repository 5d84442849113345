//! Vouchers as operators and callers see them.

use atelier_contract::fields::{Count, OperatorDate};
use atelier_contract::pages::vouchers::{NewVouchers, RedeemedView, VoucherBatchView};
use atelier_contract::time::timestamp;
use atelier_engine::records::{Redeemed, VoucherBatch, VoucherTerms};

/// What the codes of a new batch are worth.
pub(crate) fn voucher_terms(new: &NewVouchers) -> VoucherTerms {
    VoucherTerms {
        note: new.note.as_deref().unwrap_or_default().to_owned(),
        amount: new.amount,
        per_account: new.per_account.map_or(1, Count::get),
        expires_ms: new.expires.map(OperatorDate::ms),
        credit_expires_ms: new.credit_expires.map(OperatorDate::ms),
        credit_days: new.credit_days.map(Count::get),
    }
}

/// A batch as the operator sees it.
pub(crate) fn batch_view(batch: VoucherBatch) -> VoucherBatchView {
    let VoucherBatch { terms, .. } = batch;
    VoucherBatchView {
        id: batch.id,
        note: terms.note,
        count: batch.codes,
        redeemed: batch.redeemed,
        amount: terms.amount,
        per_account: terms.per_account,
        expires: terms.expires_ms.map(timestamp),
        credit_expires: terms.credit_expires_ms.map(timestamp),
        credit_days: terms.credit_days,
        created_at: timestamp(batch.created_ms),
        revoked_at: batch.revoked_ms.map(timestamp),
    }
}

/// Credit from the code.
pub(crate) fn redeemed_view(redeemed: Redeemed) -> RedeemedView {
    RedeemedView {
        id: redeemed.ledger_id,
        batch: redeemed.batch_id,
        amount: redeemed.amount,
        expires: redeemed.expires_ms.map(timestamp),
        redeemed_at: timestamp(redeemed.redeemed_ms),
    }
}
