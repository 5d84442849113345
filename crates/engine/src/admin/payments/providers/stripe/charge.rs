//! Charges of a saved customer, who is not there: one for each payment, whose identifier is Stripe's idempotency key and stands in its
//! metadata.

use serde_json::Value;

use super::super::super::provider::{ChargeFault, ChargeOrder};
use super::amount::to_stripe;
use super::call::{Api, ApiFault};
use super::event::{OF_ACCOUNT, OF_PAYMENT};

/// Charges the customer with the card that Stripe has saved; what Stripe calls the payment.
pub(super) async fn make(api: &Api, order: &ChargeOrder<'_>) -> Result<Vec<String>, ChargeFault> {
    let (payment, customer) = (order.payment, order.customer);
    // Stripe forgets keys after a day: what was tried before is looked for first.
    if order.again
        && let Some(made) = made_before(api, customer, &payment.id).await?
    {
        return references(&made);
    }
    let refused = |why: &str| ChargeFault::Refused(why.to_owned());
    let methods = format!("v1/customers/{customer}/payment_methods?limit=1");
    let methods = api.get(&methods).await.map_err(fault)?;
    let Some(method) = methods["data"][0]["id"].as_str() else {
        return Err(refused("Stripe has no payment method of the customer"));
    };
    let amount = to_stripe(payment.money, &payment.currency);
    let amount = amount.ok_or_else(|| refused("Stripe does not take this amount"))?;
    let fields = [
        ("amount", amount.to_string()),
        ("currency", payment.currency.to_ascii_lowercase()),
        ("customer", customer.to_owned()),
        ("payment_method", method.to_owned()),
        ("off_session", "true".to_owned()),
        ("confirm", "true".to_owned()),
        ("description", payment.product.clone()),
        ("metadata[atelier_payment]", payment.id.clone()),
        ("metadata[atelier_account]", payment.account_id.clone()),
        ("metadata[atelier_topup]", "1".to_owned()),
    ];
    debug_assert_eq!(
        (OF_PAYMENT, OF_ACCOUNT),
        ("atelier_payment", "atelier_account")
    );
    let made = api
        .post("v1/payment_intents", &fields, Some(&payment.id))
        .await;
    references(&made.map_err(fault)?)
}

/// A charge of ours that Stripe has made.
async fn made_before(api: &Api, customer: &str, id: &str) -> Result<Option<Value>, ChargeFault> {
    let path = format!("v1/payment_intents?customer={customer}&limit=100");
    let mut list = api.get(&path).await.map_err(fault)?;
    let all = list["data"].as_array_mut().map(std::mem::take);
    let mut all = all.unwrap_or_default().into_iter();
    Ok(all.find(|one| one["metadata"][OF_PAYMENT] == id))
}

fn references(made: &Value) -> Result<Vec<String>, ChargeFault> {
    match (made["status"].as_str(), made["id"].as_str()) {
        (Some("succeeded"), Some(id)) => Ok(vec![id.to_owned()]),
        (Some("processing" | "succeeded") | None, _) => {
            Err(ChargeFault::Unknown(ApiFault::Unknown.into_refusal()))
        }
        (Some(status), _) => Err(ChargeFault::Refused(format!("the charge is {status}"))),
    }
}

fn fault(fault: ApiFault) -> ChargeFault {
    match fault {
        ApiFault::Refused { why, .. } => ChargeFault::Refused(why),
        ApiFault::Unknown => ChargeFault::Unknown(ApiFault::Unknown.into_refusal()),
    }
}
