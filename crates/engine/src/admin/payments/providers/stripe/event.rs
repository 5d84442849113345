//! Stripe's events in the words of all providers. What is not about payments that began here is nobody's business.

use atelier_contract::Refusal;
use atelier_store::PaymentNews;
use serde_json::Value;

use super::super::super::provider::ProviderEvent;
use super::amount::from_stripe;

/// What payments of ours carry: which they are, and whose.
pub(super) const OF_PAYMENT: &str = "atelier_payment";
pub(super) const OF_ACCOUNT: &str = "atelier_account";

/// An event; `None` when nothing follows from it.
pub(super) fn read(event: &Value, body: &[u8]) -> Result<Option<ProviderEvent>, Refusal> {
    let id = event["id"].as_str().ok_or_else(|| Refusal::missing("id"))?;
    let object = &event["data"]["object"];
    let read = match event["type"].as_str().unwrap_or_default() {
        "checkout.session.completed" if object["payment_status"] != "unpaid" => {
            session(object, PaymentNews::Paid)
        }
        "checkout.session.async_payment_succeeded" => session(object, PaymentNews::Paid),
        "checkout.session.async_payment_failed" => session(object, PaymentNews::Failed),
        "checkout.session.expired" => session(object, PaymentNews::Expired),
        "charge.refunded" => Some(charge(object)),
        "charge.dispute.created" => dispute(object, false),
        "charge.dispute.closed" => dispute(object, true),
        "invoice.paid" => invoice(object),
        _ => None,
    };
    Ok(read.map(|read| ProviderEvent {
        event_id: id.to_owned(),
        raw: String::from_utf8_lossy(body).into_owned(),
        ..read
    }))
}

/// What something is called that may be there whole, or by its identifier alone.
fn id_of(value: &Value) -> Option<String> {
    let id = value.as_str().or_else(|| value["id"].as_str());
    id.map(str::to_owned)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// An event about an object that names its currency.
fn told(
    object: &Value,
    news: PaymentNews,
    amount: &Value,
    references: [Option<String>; 4],
) -> ProviderEvent {
    let currency = object["currency"].as_str().map(str::to_ascii_uppercase);
    let money = amount.as_i64().zip(currency.as_deref());
    ProviderEvent {
        event_id: String::new(),
        payment_id: text(&object["metadata"][OF_PAYMENT]),
        references: references.into_iter().flatten().collect(),
        account_id: text(&object["metadata"][OF_ACCOUNT]),
        news,
        money: money.and_then(|(amount, currency)| from_stripe(amount, currency)),
        currency,
        raw: String::new(),
    }
}

/// Sessions that began elsewhere say nothing of a payment here.
fn session(object: &Value, news: PaymentNews) -> Option<ProviderEvent> {
    let references = [
        id_of(&object["payment_intent"]),
        id_of(&object["invoice"]),
        id_of(object),
        id_of(&object["subscription"]),
    ];
    let told = told(object, news, &object["amount_total"], references);
    told.payment_id.is_some().then_some(told)
}

fn charge(object: &Value) -> ProviderEvent {
    let references = [
        id_of(&object["payment_intent"]),
        id_of(&object["invoice"]),
        id_of(object),
        None,
    ];
    told(
        object,
        PaymentNews::Refunded,
        &object["amount_refunded"],
        references,
    )
}

/// An inquiry moves no money, so that it is no dispute yet.
fn dispute(object: &Value, is_closed: bool) -> Option<ProviderEvent> {
    let status = object["status"].as_str().unwrap_or_default();
    let dispute = id_of(object)?;
    if status.starts_with("warning_") {
        return None;
    }
    let news = if is_closed {
        let won = status == "won";
        PaymentNews::DisputeClosed { dispute, won }
    } else {
        PaymentNews::Disputed { dispute }
    };
    let references = [
        id_of(&object["payment_intent"]),
        id_of(&object["charge"]),
        None,
        None,
    ];
    Some(told(object, news, &object["amount"], references))
}

/// Invoices of subscriptions; older and newer versions say in different places which one it is.
fn invoice(object: &Value) -> Option<ProviderEvent> {
    let newer = &object["parent"]["subscription_details"];
    let subscription = id_of(&object["subscription"]).or_else(|| id_of(&newer["subscription"]))?;
    let paid_by = &object["payments"]["data"][0]["payment"]["payment_intent"];
    let references = [
        id_of(object),
        id_of(&object["payment_intent"]).or_else(|| id_of(paid_by)),
        Some(subscription),
        None,
    ];
    let said = [newer, &object["subscription_details"]].map(|details| &details["metadata"]);
    let said = |name: &str| said.iter().find_map(|metadata| text(&metadata[name]));
    let told = told(
        object,
        PaymentNews::Renewed,
        &object["amount_paid"],
        references,
    );
    Some(ProviderEvent {
        payment_id: said(OF_PAYMENT),
        account_id: said(OF_ACCOUNT),
        ..told
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_one(kind: &str, object: Value) -> Option<ProviderEvent> {
        let event = json!({ "id": "evt_1", "type": kind, "data": { "object": object } });
        read(&event, b"{}").expect("an event")
    }

    #[test]
    fn events_are_read_as_they_come() {
        let session = json!({
            "id": "cs_1", "payment_intent": "pi_1", "amount_total": 300, "currency": "eur", "payment_status": "paid",
            "metadata": { "atelier_payment": "P", "atelier_account": "A" }
        });
        let paid = read_one("checkout.session.completed", session.clone()).expect("news");
        assert_eq!(
            (paid.news, paid.money, paid.currency.as_deref()),
            (PaymentNews::Paid, Some(300), Some("EUR"))
        );
        assert_eq!(paid.references, ["pi_1", "cs_1"]);
        assert_eq!(
            (paid.payment_id.as_deref(), paid.account_id.as_deref()),
            (Some("P"), Some("A"))
        );
        let mut unpaid = session.clone();
        unpaid["payment_status"] = json!("unpaid");
        assert!(read_one("checkout.session.completed", unpaid).is_none());
        let mut foreign = session;
        foreign["metadata"] = json!({});
        assert!(read_one("checkout.session.completed", foreign).is_none());
        let dispute = json!({ "id": "dp_1", "charge": "ch_1", "payment_intent": "pi_1", "amount": 300, "currency": "eur", "status": "won" });
        let closed = read_one("charge.dispute.closed", dispute.clone()).expect("news");
        assert_eq!(
            closed.news,
            PaymentNews::DisputeClosed {
                dispute: "dp_1".into(),
                won: true
            }
        );
        let mut inquiry = dispute;
        inquiry["status"] = json!("warning_needs_response");
        assert!(read_one("charge.dispute.created", inquiry).is_none());
        for invoice in [
            json!({ "id": "in_1", "amount_paid": 300, "currency": "eur", "subscription": "sub_1", "payment_intent": "pi_1",
                "subscription_details": { "metadata": { "atelier_payment": "P" } } }),
            json!({ "id": "in_1", "amount_paid": 300, "currency": "eur",
                "payments": { "data": [{ "payment": { "payment_intent": "pi_1" } }] },
                "parent": { "subscription_details": { "subscription": "sub_1", "metadata": { "atelier_payment": "P" } } } }),
        ] {
            let paid = read_one("invoice.paid", invoice).expect("news");
            assert_eq!(paid.references, ["in_1", "pi_1", "sub_1"]);
            assert_eq!(paid.payment_id.as_deref(), Some("P"));
        }
        let single = json!({ "id": "in_1", "amount_paid": 300, "currency": "eur" });
        assert!(read_one("invoice.paid", single).is_none());
        assert!(read_one("customer.created", json!({})).is_none());
    }
}
