//! Stripe's events in the words of all providers. What is not about payments that began here is left alone.

use atelier_contract::Refusal;
use atelier_store::PaymentNews;
use serde_json::Value;

use super::super::super::provider::ProviderEvent;
use super::amount::from_stripe;

/// What payments of ours carry: which they are, and whose.
pub(super) const OF_PAYMENT: &str = "atelier_payment";
pub(super) const OF_ACCOUNT: &str = "atelier_account";
/// What charges of saved customers carry besides.
const OF_TOPUP: &str = "atelier_topup";

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
        "payment_intent.succeeded" => intent(object, PaymentNews::Paid),
        // One that is made at a page may be tried again there.
        "payment_intent.payment_failed" if object["metadata"][OF_TOPUP] == "1" => {
            intent(object, PaymentNews::Failed)
        }
        "charge.refunded" => Some(charge(object)),
        "refund.failed" => Some(failed_refund(object)),
        "charge.refund.updated" if object["status"] == "failed" => Some(failed_refund(object)),
        "charge.dispute.created" => dispute(object, false),
        "charge.dispute.closed" => dispute(object, true),
        "invoice.paid" => invoice(object, true),
        "invoice.payment_failed" => invoice(object, false),
        "invoice_payment.paid" => invoice_payment(object),
        "customer.subscription.deleted" => subscription(object),
        _ => None,
    };
    Ok(read.map(|read| ProviderEvent {
        // Where two kinds of events report the same, each object counts once.
        event_id: if read.event_id.is_empty() {
            id.to_owned()
        } else {
            read.event_id
        },
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
fn about<const N: usize>(
    object: &Value,
    news: PaymentNews,
    amount: &Value,
    references: [Option<String>; N],
) -> ProviderEvent {
    let currency = object["currency"].as_str().map(str::to_ascii_uppercase);
    let money = amount.as_i64().zip(currency.as_deref());
    ProviderEvent {
        event_id: String::new(),
        payment_id: text(&object["metadata"][OF_PAYMENT]),
        references: references.into_iter().flatten().collect(),
        account_id: text(&object["metadata"][OF_ACCOUNT]),
        subscription: None,
        customer: None,
        news,
        money: money.and_then(|(amount, currency)| from_stripe(amount, currency)),
        currency,
        raw: String::new(),
    }
}

/// Sessions that began elsewhere say nothing of a payment here.
fn session(object: &Value, news: PaymentNews) -> Option<ProviderEvent> {
    let subscription = id_of(&object["subscription"]);
    let references = [
        id_of(&object["payment_intent"]),
        id_of(&object["invoice"]),
        id_of(object),
        subscription.clone(),
    ];
    let read = about(object, news, &object["amount_total"], references);
    read.payment_id.is_some().then_some(ProviderEvent {
        subscription,
        customer: id_of(&object["customer"]),
        ..read
    })
}

/// What began elsewhere says nothing of a payment here.
fn intent(object: &Value, news: PaymentNews) -> Option<ProviderEvent> {
    let references = [id_of(object), id_of(&object["latest_charge"])];
    let read = about(object, news, &object["amount"], references);
    read.payment_id.is_some().then_some(read)
}

fn charge(object: &Value) -> ProviderEvent {
    let references = [
        id_of(&object["payment_intent"]),
        id_of(&object["invoice"]),
        id_of(object),
    ];
    let amount = &object["amount_refunded"];
    about(object, PaymentNews::Refunded, amount, references)
}

fn failed_refund(object: &Value) -> ProviderEvent {
    let references = [id_of(&object["payment_intent"]), id_of(&object["charge"])];
    let amount = &object["amount"];
    ProviderEvent {
        event_id: format!("failed_{}", id_of(object).unwrap_or_default()),
        ..about(object, PaymentNews::RefundFailed, amount, references)
    }
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
    let references = [id_of(&object["payment_intent"]), id_of(&object["charge"])];
    Some(about(object, news, &object["amount"], references))
}

/// Invoices of subscriptions; older and newer versions say in different places which one it is.
fn invoice(object: &Value, is_paid: bool) -> Option<ProviderEvent> {
    let newer = &object["parent"]["subscription_details"];
    let subscription = id_of(&object["subscription"]).or_else(|| id_of(&newer["subscription"]))?;
    let paid_by = &object["payments"]["data"][0]["payment"]["payment_intent"];
    let references = [
        id_of(object),
        id_of(&object["payment_intent"]).or_else(|| id_of(paid_by)),
        Some(subscription.clone()),
    ];
    let is_first = object["billing_reason"] == "subscription_create";
    let news = match (is_paid, is_first) {
        (true, true) => PaymentNews::Paid,
        (true, false) => PaymentNews::Renewed,
        // Whether the first one is made is reported of its session.
        (false, true) => return None,
        (false, false) => PaymentNews::RenewalFailed,
    };
    let said = [newer, &object["subscription_details"]].map(|details| &details["metadata"]);
    let said = |name: &str| said.iter().find_map(|metadata| text(&metadata[name]));
    let read = about(object, news, &object["amount_paid"], references);
    Some(ProviderEvent {
        payment_id: said(OF_PAYMENT),
        account_id: said(OF_ACCOUNT),
        subscription: Some(subscription),
        ..read
    })
}

/// In newer versions the charge of an invoice is reported beside it.
fn invoice_payment(object: &Value) -> Option<ProviderEvent> {
    let name = id_of(&object["payment"]["payment_intent"])?;
    let news = PaymentNews::Linked { name };
    let references = [id_of(&object["invoice"])];
    Some(about(object, news, &object["amount_paid"], references))
}

fn subscription(object: &Value) -> Option<ProviderEvent> {
    let subscription = id_of(object)?;
    let references = [Some(subscription.clone())];
    let news = PaymentNews::SubscriptionEnded;
    Some(ProviderEvent {
        subscription: Some(subscription),
        ..about(object, news, &Value::Null, references)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is reported is made for it"
    )]
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
        let single = json!({ "id": "in_1", "amount_paid": 300, "currency": "eur" });
        assert!(read_one("invoice.paid", single).is_none());
        assert!(read_one("customer.created", json!({})).is_none());
    }

    #[test]
    fn invoices_of_older_and_newer_versions_say_the_same() {
        for invoice in [
            json!({ "id": "in_1", "amount_paid": 300, "currency": "eur", "subscription": "sub_1", "payment_intent": "pi_1",
                "subscription_details": { "metadata": { "atelier_payment": "P" } } }),
            json!({ "id": "in_1", "amount_paid": 300, "currency": "eur",
                "payments": { "data": [{ "payment": { "payment_intent": "pi_1" } }] },
                "parent": { "subscription_details": { "subscription": "sub_1", "metadata": { "atelier_payment": "P" } } } }),
        ] {
            let paid = read_one("invoice.paid", invoice.clone()).expect("news");
            assert_eq!(paid.references, ["in_1", "pi_1", "sub_1"]);
            assert_eq!(paid.payment_id.as_deref(), Some("P"));
            assert_eq!(
                (paid.news, paid.subscription.as_deref()),
                (PaymentNews::Renewed, Some("sub_1"))
            );
            let failed = read_one("invoice.payment_failed", invoice.clone()).expect("news");
            assert_eq!(failed.news, PaymentNews::RenewalFailed);
            let mut first = invoice;
            first["billing_reason"] = json!("subscription_create");
            let paid = read_one("invoice.paid", first.clone()).expect("news");
            assert_eq!(paid.news, PaymentNews::Paid, "the payment that began it");
            assert!(read_one("invoice.payment_failed", first).is_none());
        }
        let linked = json!({ "id": "inpay_1", "invoice": "in_1", "amount_paid": 300, "currency": "eur",
            "payment": { "type": "payment_intent", "payment_intent": "pi_1" } });
        let linked = read_one("invoice_payment.paid", linked).expect("news");
        let name = "pi_1".to_owned();
        assert_eq!(
            (linked.news, linked.references),
            (PaymentNews::Linked { name }, vec!["in_1".to_owned()])
        );
    }

    #[test]
    fn a_refund_that_failed_is_one_event_however_it_is_reported() {
        let refund = json!({ "id": "re_1", "payment_intent": "pi_1", "charge": "ch_1", "amount": 300, "currency": "eur", "status": "failed" });
        for kind in ["refund.failed", "charge.refund.updated"] {
            let failed = read_one(kind, refund.clone()).expect("news");
            assert_eq!(
                (&*failed.event_id, failed.news),
                ("failed_re_1", PaymentNews::RefundFailed)
            );
        }
        let mut made = refund;
        made["status"] = json!("succeeded");
        assert!(read_one("charge.refund.updated", made).is_none());
    }
}
