//! Gateways that speak the epay protocol: the payer is sent to a signed URL, and the gateway calls one of ours when it was paid.

mod sign;

use atelier_contract::currency::{decimal, minor};
use atelier_contract::{Code, Refusal, Secret};
use atelier_store::{PaymentNews, PaymentPlace};
use futures_util::future::BoxFuture;

use super::super::provider::{
    ChargeFault, HookNews, PaymentOrder, PaymentPost, PaymentProvider, PaymentTerms, ProviderEvent,
    RefundOrder, RefundedMoney, not_signed,
};
use crate::context::Context;
use sign::{address, is_signed, query_pairs};

/// The one currency of the protocol.
const CURRENCY: &str = "CNY";
/// The word of a payment that was made.
const PAID: &str = "TRADE_SUCCESS";
/// What the gateway wants to hear; it calls again until it does.
const TAKEN: &str = "success";
const WAITS_MS: i64 = 86_400_000;

struct Epay {
    base_url: String,
    merchant: String,
    key: Secret,
}

pub(super) fn build(context: &Context) -> Option<Box<dyn PaymentProvider>> {
    let settings = &context.settings().payments.epay;
    let provider = || -> Box<dyn PaymentProvider> {
        Box::new(Epay {
            base_url: format!("{}/", settings.base_url.trim_end_matches('/')),
            merchant: settings.merchant.clone(),
            key: settings.key.clone(),
        })
    };
    (!settings.base_url.is_empty()).then(provider)
}

impl PaymentProvider for Epay {
    fn name(&self) -> &'static str {
        "epay"
    }

    fn waits_ms(&self) -> i64 {
        WAITS_MS
    }

    /// The fields of a pay URL and of a notification are signed alike, one after the other with nothing that tells a name from a value: a
    /// return address could otherwise hold the fields of a notification.
    fn check(&self, wish: &PaymentTerms<'_>) -> Result<(), Refusal> {
        if wish.currency != CURRENCY {
            let message = format!("epay takes {CURRENCY}, the product costs {}", wish.currency);
            return Err(Refusal::field(Code::InvalidParameter, "provider", message));
        }
        if wish.return_url.contains(['&', '=']) {
            let message = "must have neither & nor = in it for epay, so no query";
            return Err(Refusal::invalid("returnUrl", message));
        }
        Ok(())
    }

    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>> {
        let place = self.check(&order.terms).map(|()| self.place(order));
        Box::pin(std::future::ready(place))
    }

    fn read(&self, post: &PaymentPost<'_>) -> Result<HookNews, Refusal> {
        // Some ask with the fields in the query, others post them as a form.
        let body = String::from_utf8_lossy(&post.post.body);
        let given = if post.query.is_empty() {
            &*body
        } else {
            post.query
        };
        let pairs = query_pairs(given);
        if !is_signed(&pairs, self.key.reveal()) {
            return Err(not_signed());
        }
        let field = |name: &str| {
            let mut pairs = pairs.iter();
            let found = pairs.find(|(key, _)| key == name);
            found
                .map(|(_, value)| value.clone())
                .filter(|value| !value.is_empty())
        };
        // What has these is the URL that a payer was sent to, not what the gateway says of it.
        let is_order = field("notify_url").is_some() || field("return_url").is_some();
        if is_order || field("pid").as_deref() != Some(&*self.merchant) {
            return Err(not_signed());
        }
        let trade = field("trade_no").ok_or_else(|| Refusal::missing("trade_no"))?;
        let payment_id = field("out_trade_no").ok_or_else(|| Refusal::missing("out_trade_no"))?;
        let paid = field("trade_status").as_deref() == Some(PAID);
        let event = ProviderEvent {
            event_id: trade.clone(),
            payment_id: Some(payment_id),
            references: vec![trade],
            account_id: field("param"),
            subscription: None,
            customer: None,
            news: PaymentNews::Paid,
            money: field("money").and_then(|money| minor(&money, CURRENCY)),
            currency: Some(CURRENCY.into()),
            raw: sign::without_sign(&pairs),
        };
        Ok(HookNews {
            events: paid.then_some(event).into_iter().collect(),
            answer: TAKEN,
        })
    }

    /// The protocol has no way to give money back that all gateways know: the operator does so there.
    fn refund<'a>(
        &'a self,
        _: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, ChargeFault>> {
        Box::pin(std::future::ready(Ok(RefundedMoney::More)))
    }

    /// Nothing comes again by itself there.
    fn cancel<'a>(&'a self, _: &'a str, _: bool) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Epay {
    fn place(&self, order: &PaymentOrder<'_>) -> PaymentPlace {
        let payment = order.payment;
        let money = decimal(payment.money, CURRENCY);
        let fields = [
            ("pid", &*self.merchant),
            ("out_trade_no", &*payment.id),
            ("notify_url", order.hook_url),
            ("return_url", order.terms.return_url),
            ("name", &*payment.product),
            ("money", &*money),
            ("param", &*payment.account_id),
        ];
        PaymentPlace {
            pay_at: Some(address(&self.base_url, &fields, self.key.reveal())),
            reference: None,
            failed: false,
        }
    }
}
