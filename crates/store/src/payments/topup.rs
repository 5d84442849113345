//! The purchase of a top-up: whether it is due, within its cap, and that there is one at a time is decided under the lock of its account.

use atelier_contract::Quota;

use super::create::{INSERT, read};
use super::row::{COLUMNS, PaymentRow};
use crate::Result;
use crate::db::{Conn, args};
use crate::products;
use crate::topups;

/// A purchase that may be due.
#[derive(Clone, Debug)]
pub struct TopupPurchase {
    /// Identifier of the payment, if there is to be one.
    pub id: String,
    pub account_id: String,
    /// When this month began, and when the next one does.
    pub month_ms: i64,
    pub next_month_ms: i64,
    pub now_ms: i64,
    pub expires_ms: i64,
}

/// What became of a [`TopupPurchase`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopupOutcome {
    /// Nothing is to be bought now.
    Waits,
    /// The saved customer is to be charged.
    Charge {
        payment: Box<PaymentRow>,
        /// What the provider calls the customer.
        customer: String,
        /// Whether it was tried before, so that it may have been charged.
        again: bool,
    },
}

pub(super) async fn begin(conn: &mut Conn, new: &TopupPurchase) -> Result<TopupOutcome> {
    let (account_id, now_ms) = (&*new.account_id, new.now_ms);
    let Some(due) = topups::look(conn, account_id, (new.month_ms, now_ms)).await? else {
        return Ok(TopupOutcome::Waits);
    };
    let Some(customer) = due.customer else {
        topups::stop(conn, account_id, "no customer is saved at the provider").await?;
        return Ok(TopupOutcome::Waits);
    };
    let later = (topups::soon(now_ms), None);
    let sql = format!(
        "SELECT {COLUMNS} FROM payment WHERE account_id = $1 AND topup = 1 AND state = 'pending' LIMIT 1"
    );
    let open: Option<PaymentRow> = conn.maybe(&sql, args![account_id]).await?;
    if let Some(payment) = open {
        topups::wait(conn, account_id, later).await?;
        return Ok(TopupOutcome::Charge {
            payment: Box::new(payment),
            customer,
            again: true,
        });
    }
    if due.balance >= due.row.threshold {
        return Ok(TopupOutcome::Waits);
    }
    let product = products::definition(conn, &due.row.product).await?;
    let Some((product, revision)) = product.filter(|(product, _)| product.plan.is_none()) else {
        topups::stop(conn, account_id, "the product is not for sale any more").await?;
        return Ok(TopupOutcome::Waits);
    };
    if due.spent.saturating_add(product.money) > due.row.monthly_cap {
        let why = "the cap of this month is reached";
        topups::wait(conn, account_id, (new.next_month_ms, Some(why))).await?;
        return Ok(TopupOutcome::Waits);
    }
    let values = args![
        &new.id,
        account_id,
        &product.name,
        i64::from(revision),
        &due.row.provider,
        product.money,
        &product.currency,
        product.quota.unwrap_or(Quota::ZERO).thousandths(),
        product.credit_days,
        None::<&str>,
        now_ms,
        new.expires_ms,
        None::<i64>,
        Some(1_i64)
    ];
    conn.run(INSERT, values).await?;
    topups::wait(conn, account_id, later).await?;
    Ok(TopupOutcome::Charge {
        payment: Box::new(read(conn, &new.id).await?),
        customer,
        again: false,
    })
}
