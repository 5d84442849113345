//! What an account has, and what of it ends.

use atelier_contract::pages::credits::{CreditView, CreditsView};
use atelier_contract::time::timestamp;
use atelier_engine::records::{AccountCredits, CreditRow};

/// As its owner and operators see it.
pub(crate) fn credits_view(credits: AccountCredits) -> CreditsView {
    CreditsView {
        base: credits.base,
        held: credits.base_held,
        debt: credits.debt,
        credit_limit: credits.credit_limit,
        credits: credits.credits.into_iter().map(credit_view).collect(),
    }
}

fn credit_view(row: CreditRow) -> CreditView {
    CreditView {
        id: row.id,
        source: row.source,
        note: row.origin,
        amount: row.amount,
        left: row.left,
        held: row.held,
        spent: row.spent,
        lapsed: row.lapsed,
        expires: timestamp(row.expires_ms),
    }
}
