//! Stripe: the payer is sent to a Checkout session, and Stripe posts signed events. Cards are entered there and nowhere else.

mod amount;
mod event;
mod session;
mod signature;

use std::time::Duration;

use atelier_backends::http::{VendorHttp, VendorRequest};
use atelier_contract::{Code, Refusal, Secret};
use atelier_store::PaymentPlace;
use futures_util::future::BoxFuture;
use serde_json::Value;
use url::form_urlencoded;

use super::super::provider::{
    HookNews, PaymentOrder, PaymentPost, PaymentProvider, RefundOrder, RefundedMoney, not_signed,
};
use crate::context::Context;

/// A session may be open for a day at most, by Stripe's clock.
const WAITS_MS: i64 = 23 * 3_600_000;
const PATIENCE: Duration = Duration::from_secs(20);
/// What answers look like; without it they would be what the account at Stripe was made with.
const VERSION: &str = "2024-06-20";

struct Stripe {
    http: VendorHttp,
    webhook_secret: Secret,
}

pub(super) fn build(context: &Context) -> Result<Option<Box<dyn PaymentProvider>>, String> {
    let settings = &context.settings().payments.stripe;
    if settings.secret_key.is_empty() {
        return Ok(None);
    }
    let wrong = |error: atelier_backends::FieldError| format!("payments.stripe: {error}");
    let http = context.outbound().vendor(&settings.base_url, true);
    let bearer = format!("Bearer {}", settings.secret_key.reveal());
    let http = http.and_then(|http| http.with_header("authorization", "secret_key", &bearer));
    Ok(Some(Box::new(Stripe {
        http: http.map_err(wrong)?,
        webhook_secret: settings.webhook_secret.clone(),
    })))
}

impl PaymentProvider for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn waits_ms(&self) -> i64 {
        WAITS_MS
    }

    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>> {
        Box::pin(async move {
            let fields = session::fields(order)?;
            let made = self
                .post("v1/checkout/sessions", &fields, &order.payment.id)
                .await?;
            let text = |name: &str| made[name].as_str().map(str::to_owned);
            let (Some(pay_at), Some(reference)) = (text("url"), text("id")) else {
                return Err(unusable());
            };
            Ok(PaymentPlace {
                pay_at: Some(pay_at),
                reference: Some(reference),
                failed: false,
            })
        })
    }

    fn read(&self, post: &PaymentPost<'_>) -> Result<HookNews, Refusal> {
        let given = post.post.headers.get("stripe-signature");
        let given = given
            .and_then(|given| given.to_str().ok())
            .unwrap_or_default();
        let (secret, body) = (self.webhook_secret.reveal(), &post.post.body);
        if !signature::is_signed(secret, given, body, post.now_ms / 1_000) {
            return Err(not_signed());
        }
        let read: Value = serde_json::from_slice(body)
            .map_err(|_| Refusal::new(Code::InvalidBody, "the event is no JSON"))?;
        Ok(HookNews {
            events: event::read(&read, body)?.into_iter().collect(),
            answer: "ok",
        })
    }

    fn refund<'a>(
        &'a self,
        wish: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, Refusal>> {
        Box::pin(async move {
            let mut references = wish.references.iter();
            let Some(intent) = references.find(|one| one.starts_with("pi_")) else {
                let message = "Stripe did not say which charge this was; refund it there";
                return Err(Refusal::new(Code::Conflict, message));
            };
            let currency = &wish.payment.currency;
            let money = amount::to_stripe(wish.money, currency).ok_or_else(no_amount)?;
            let fields = [
                ("payment_intent", intent.clone()),
                ("amount", money.to_string()),
                ("expand[]", "charge".to_owned()),
            ];
            let made = self.post("v1/refunds", &fields, wish.key).await?;
            // All that went back so far: events of it may come before this answer does.
            let total = made["charge"]["amount_refunded"].as_i64();
            let total = total.and_then(|total| amount::from_stripe(total, currency));
            total.map(RefundedMoney::Total).ok_or_else(unusable)
        })
    }
}

impl Stripe {
    /// Posts a form. The same key does the same once, so that a call may be repeated.
    async fn post(
        &self,
        path: &str,
        fields: &[(&str, String)],
        key: &str,
    ) -> Result<Value, Refusal> {
        let form_type = "application/x-www-form-urlencoded".to_owned();
        let call = VendorRequest::new("POST".parse().map_err(|_| unusable())?, path)
            .body(form(fields), form_type)
            .header("idempotency-key", key)
            .header("stripe-version", VERSION)
            .within(PATIENCE);
        let answer = self.http.submit(call).await.map_err(|fault| {
            tracing::warn!(why = fault.detail, "Stripe does not answer");
            Refusal::new(
                Code::Overloaded,
                "the payment provider does not answer; try again",
            )
        })?;
        if !answer.is_good() {
            tracing::warn!(
                status = answer.status,
                why = answer.start(),
                "Stripe refused a call"
            );
            return Err(unusable());
        }
        answer.json().map_err(|_| unusable())
    }
}

fn form(fields: &[(&str, String)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

fn unusable() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "the payment provider did not take it; the operator's log says why",
    )
}

fn no_amount() -> Refusal {
    Refusal::invalid("money", "is no amount that Stripe takes in this currency")
}
