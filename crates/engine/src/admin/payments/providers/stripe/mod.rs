//! Stripe: the payer is sent to a Checkout session, and Stripe posts signed events. Cards are entered there and nowhere else.

mod amount;
mod call;
mod charge;
mod event;
mod refund;
mod session;
mod signature;

use atelier_contract::{Code, Refusal, Secret};
use atelier_store::PaymentPlace;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::provider::{
    ChargeFault, ChargeOrder, HookNews, PaymentOrder, PaymentPost, PaymentProvider, PaymentTerms,
    RefundOrder, RefundedMoney, not_signed,
};
use crate::context::Context;
use call::{Api, ApiFault, unusable};

/// A session may be open for a day at most, by Stripe's clock.
const WAITS_MS: i64 = 23 * 3_600_000;

struct Stripe {
    api: Api,
    webhook_secret: Secret,
}

pub(super) fn build(context: &Context) -> Option<Box<dyn PaymentProvider>> {
    let settings = &context.settings().payments.stripe;
    if settings.secret_key.is_empty() {
        return None;
    }
    let http = context.outbound().vendor(&settings.base_url, true);
    let bearer = format!("Bearer {}", settings.secret_key.reveal());
    let http = http.and_then(|http| http.with_header("authorization", "secret_key", &bearer));
    let wrong = |error| tracing::error!(%error, "payments.stripe cannot be used");
    let api = Api(http.map_err(wrong).ok()?);
    let webhook_secret = settings.webhook_secret.clone();
    Some(Box::new(Stripe {
        api,
        webhook_secret,
    }))
}

impl PaymentProvider for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn waits_ms(&self) -> i64 {
        WAITS_MS
    }

    fn subscribes(&self) -> bool {
        true
    }

    fn saves(&self) -> bool {
        true
    }

    fn check(&self, wish: &PaymentTerms<'_>) -> Result<(), Refusal> {
        amount::to_stripe(wish.money, wish.currency).ok_or_else(|| {
            let message = "costs an amount that Stripe does not take in this currency";
            Refusal::invalid("product", message)
        })?;
        session::interval(wish.every).map(|_| ())
    }

    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>> {
        Box::pin(async move {
            let fields = session::fields(order)?;
            let key = &*order.payment.id;
            let made = self.api.post("v1/checkout/sessions", &fields, Some(key));
            let made = made.await.map_err(ApiFault::into_refusal)?;
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
            .map_err(|_| Refusal::new(Code::InvalidBody, "the event is not JSON"))?;
        Ok(HookNews {
            events: event::read(&read, body)?.into_iter().collect(),
            answer: "ok",
        })
    }

    fn refund<'a>(
        &'a self,
        order: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, ChargeFault>> {
        Box::pin(refund::make(&self.api, order))
    }

    fn charge<'a>(
        &'a self,
        order: &'a ChargeOrder<'a>,
    ) -> BoxFuture<'a, Result<Vec<String>, ChargeFault>> {
        Box::pin(charge::make(&self.api, order))
    }

    fn cancel<'a>(
        &'a self,
        reference: &'a str,
        at_once: bool,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(async move {
            let path = format!("v1/subscriptions/{reference}");
            let ended = if at_once {
                self.api.delete(&path).await
            } else {
                let fields = [("cancel_at_period_end", "true".to_owned())];
                self.api.post(&path, &fields, None).await
            };
            match ended {
                // One that is not there any more has ended.
                Ok(_) | Err(ApiFault::Refused { status: 404, .. }) => Ok(()),
                Err(fault) => Err(fault.into_refusal()),
            }
        })
    }
}
