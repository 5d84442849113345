//! What a Checkout session is asked for with.

use atelier_contract::Refusal;
use atelier_contract::plans::Every;

use super::super::super::provider::PaymentOrder;
use super::amount;
use super::call::unusable;
use super::event::{OF_ACCOUNT, OF_PAYMENT};

/// The most days that Stripe lets pass between two payments.
const DAYS_MOST: i64 = 1_095;

/// The fields of a session.
pub(super) fn fields(order: &PaymentOrder<'_>) -> Result<Vec<(&'static str, String)>, Refusal> {
    let payment = order.payment;
    let amount = amount::to_stripe(payment.money, &payment.currency).ok_or_else(unusable)?;
    let mut fields = vec![
        ("client_reference_id", payment.account_id.clone()),
        ("success_url", order.terms.return_url.to_owned()),
        ("cancel_url", order.terms.return_url.to_owned()),
        ("expires_at", (payment.expires_ms / 1_000).to_string()),
        ("line_items[0][quantity]", "1".to_owned()),
        (
            "line_items[0][price_data][currency]",
            payment.currency.to_ascii_lowercase(),
        ),
        ("line_items[0][price_data][unit_amount]", amount.to_string()),
        (
            "line_items[0][price_data][product_data][name]",
            payment.product.clone(),
        ),
    ];
    let mut say = |names: [&'static str; 2]| {
        let said = [payment.id.clone(), payment.account_id.clone()];
        fields.extend(names.into_iter().zip(said));
    };
    debug_assert_eq!(
        (OF_PAYMENT, OF_ACCOUNT),
        ("atelier_payment", "atelier_account")
    );
    say(["metadata[atelier_payment]", "metadata[atelier_account]"]);
    if payment.plan.is_none() {
        // Charges carry what the intent does, so that refunds say what they are of.
        say([
            "payment_intent_data[metadata][atelier_payment]",
            "payment_intent_data[metadata][atelier_account]",
        ]);
        fields.push(("mode", "payment".to_owned()));
        if payment.saves {
            let use_later = "payment_intent_data[setup_future_usage]";
            fields.push((use_later, "off_session".to_owned()));
            fields.push(match order.customer {
                Some(customer) => ("customer", customer.to_owned()),
                None => ("customer_creation", "always".to_owned()),
            });
        }
        return Ok(fields);
    }
    say([
        "subscription_data[metadata][atelier_payment]",
        "subscription_data[metadata][atelier_account]",
    ]);
    fields.push(("mode", "subscription".to_owned()));
    let (interval, count) = interval(order.terms.every)?;
    fields.push((
        "line_items[0][price_data][recurring][interval]",
        interval.to_owned(),
    ));
    fields.push((
        "line_items[0][price_data][recurring][interval_count]",
        count.to_string(),
    ));
    Ok(fields)
}

pub(super) fn interval(every: Option<Every>) -> Result<(&'static str, i64), Refusal> {
    match every {
        Some(Every::Year) => Ok(("year", 1)),
        Some(Every::Days { days }) if days <= DAYS_MOST => Ok(("day", days)),
        Some(Every::Days { .. }) => {
            let message = format!("Stripe takes a payment every {DAYS_MOST} days at least");
            Err(Refusal::invalid("product", message))
        }
        Some(Every::Month) | None => Ok(("month", 1)),
    }
}
