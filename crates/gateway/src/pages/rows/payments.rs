//! Products and payments as operators and callers see them.

use atelier_contract::currency::decimal;
use atelier_contract::pages::payments::{
    AccountPayment, OfferView, PaymentEventView, PaymentView, ProductView, RefundView,
};
use atelier_contract::time::timestamp;
use atelier_engine::records::{EventRow, PaymentRow, RefundRow};

/// A product as its buyer sees it.
pub(crate) fn offer_view(product: ProductView) -> OfferView {
    let ProductView {
        definition: product,
        price,
        ..
    } = product;
    OfferView {
        name: product.name,
        price,
        money: product.money,
        currency: product.currency,
        quota: product.quota,
        plan: product.plan,
        credit_days: product.credit_days,
    }
}

/// A payment as its payer sees it.
pub(crate) fn payment_view(row: PaymentRow) -> PaymentView {
    PaymentView {
        id: row.id,
        pay_at: row.pay_at,
        state: row.state.word().to_owned(),
        product: row.product,
        provider: row.provider,
        price: decimal(row.money, &row.currency),
        money: row.money,
        currency: row.currency,
        quota: row.quota,
        plan: row.plan,
        topup: row.topup,
        refunded: row.refunded,
        taken_back: row.taken,
        created_at: timestamp(row.created_ms),
        expires_at: timestamp(row.expires_ms),
        paid_at: row.paid_ms.map(timestamp),
    }
}

/// A payment as operators see it.
pub(crate) fn account_payment(row: PaymentRow) -> AccountPayment {
    AccountPayment {
        id: row.id,
        account_id: row.account_id,
        state: row.state.word().to_owned(),
        product: row.product,
        product_revision: row.product_revision,
        provider: row.provider,
        price: decimal(row.money, &row.currency),
        money: row.money,
        currency: row.currency,
        quota: row.quota,
        plan: row.plan,
        renews: row.renews_id,
        refunded: row.refunded,
        disputed: row.disputed,
        taken_back: row.taken,
        ledger_id: row.ledger_id,
        created_at: timestamp(row.created_ms),
        expires_at: timestamp(row.expires_ms),
        paid_at: row.paid_ms.map(timestamp),
    }
}

/// A refund as operators see it.
pub(crate) fn refund_view(row: RefundRow) -> RefundView {
    RefundView {
        id: row.id,
        money: row.money,
        state: row.state,
        why: row.why,
        created_at: timestamp(row.created_ms),
    }
}

/// An event of a payment provider.
pub(crate) fn event_view(row: EventRow) -> PaymentEventView {
    PaymentEventView {
        provider: row.provider,
        event_id: row.event_id,
        payment_id: row.payment_id,
        kind: row.kind,
        outcome: row.outcome,
        why: row.why,
        money: row.money,
        currency: row.currency,
        raw: row.raw,
        received_at: timestamp(row.received_ms),
    }
}
