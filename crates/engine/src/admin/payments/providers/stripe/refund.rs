//! Money that goes back at Stripe: once for each refund of ours, whose identifier is Stripe's idempotency key and stands in its metadata.

use serde_json::Value;

use super::super::super::provider::{ChargeFault, RefundOrder, RefundedMoney};
use super::amount::{from_stripe, to_stripe};
use super::call::{Api, ApiFault};

/// What a refund of ours carries: which one it is.
const OF_REFUND: &str = "atelier_refund";

pub(super) async fn make(api: &Api, order: &RefundOrder<'_>) -> Result<RefundedMoney, ChargeFault> {
    let mut references = order.references.iter();
    let Some(intent) = references.find(|one| one.starts_with("pi_")) else {
        let why = "Stripe did not say which charge this was; refund it there";
        return Err(ChargeFault::Refused(why.into()));
    };
    let currency = &order.payment.currency;
    let refused = |why: &str| ChargeFault::Refused(why.to_owned());
    let money = to_stripe(order.refund.money, currency);
    let money = money.ok_or_else(|| refused("Stripe does not take this amount of the currency"))?;
    // Stripe forgets keys after a day: what was tried before is looked for first.
    if order.again
        && let Some(made) = made_before(api, intent, &order.refund.id).await?
    {
        return total(&made, currency);
    }
    let fields = [
        ("payment_intent", intent.clone()),
        ("amount", money.to_string()),
        ("metadata[atelier_refund]", order.refund.id.clone()),
        ("expand[]", "charge".to_owned()),
    ];
    let made = api
        .post("v1/refunds", &fields, Some(&order.refund.id))
        .await;
    total(&made.map_err(fault)?, currency)
}

/// A refund of ours that Stripe has made.
async fn made_before(api: &Api, intent: &str, id: &str) -> Result<Option<Value>, ChargeFault> {
    let path = format!("v1/refunds?payment_intent={intent}&limit=100&expand[]=data.charge");
    let mut list = api.get(&path).await.map_err(fault)?;
    let all = list["data"].as_array_mut().map(std::mem::take);
    let mut all = all.unwrap_or_default().into_iter();
    Ok(all.find(|one| one["metadata"][OF_REFUND] == id))
}

/// All that went back so far: events of it may come before this answer does.
fn total(refund: &Value, currency: &str) -> Result<RefundedMoney, ChargeFault> {
    if refund["status"] == "failed" || refund["status"] == "canceled" {
        let why = refund["failure_reason"].as_str().unwrap_or("unknown");
        return Err(ChargeFault::Refused(format!("the refund failed: {why}")));
    }
    let total = refund["charge"]["amount_refunded"].as_i64();
    let total = total.and_then(|total| from_stripe(total, currency));
    let unread = || ChargeFault::Unknown(ApiFault::Unknown.into_refusal());
    total.map(RefundedMoney::Total).ok_or_else(unread)
}

fn fault(fault: ApiFault) -> ChargeFault {
    match fault {
        ApiFault::Refused { why, .. } => ChargeFault::Refused(why),
        ApiFault::Unknown => ChargeFault::Unknown(ApiFault::Unknown.into_refusal()),
    }
}
