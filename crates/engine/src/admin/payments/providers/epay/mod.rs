//! Gateways that speak the epay protocol: the payer is sent to a signed address, and the gateway asks one of ours when it was paid.

mod sign;

use atelier_contract::currency::{decimal, minor};
use atelier_contract::{Code, Refusal, Secret};
use atelier_store::{PaymentNews, PaymentPlace};
use futures_util::future::BoxFuture;

use super::super::provider::{
    HookNews, PaymentOrder, PaymentPost, PaymentProvider, ProviderEvent, RefundOrder,
    RefundedMoney, not_signed,
};
use crate::context::Context;
use sign::{address, is_signed, query_pairs};

/// The one currency of the protocol.
const CURRENCY: &str = "CNY";
/// The word of a payment that was made.
const PAID: &str = "TRADE_SUCCESS";
/// What the gateway wants to hear; it asks again until it does.
const TAKEN: &str = "success";
const WAITS_MS: i64 = 86_400_000;

struct Epay {
    base_url: String,
    merchant: String,
    key: Secret,
}

pub(super) fn build(context: &Context) -> Result<Option<Box<dyn PaymentProvider>>, String> {
    let settings = &context.settings().payments.epay;
    if settings.base_url.is_empty() {
        return Ok(None);
    }
    Ok(Some(Box::new(Epay {
        base_url: format!("{}/", settings.base_url.trim_end_matches('/')),
        merchant: settings.merchant.clone(),
        key: settings.key.clone(),
    })))
}

impl PaymentProvider for Epay {
    fn name(&self) -> &'static str {
        "epay"
    }

    fn waits_ms(&self) -> i64 {
        WAITS_MS
    }

    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>> {
        Box::pin(std::future::ready(self.place(order)))
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
        if field("pid").as_deref() != Some(&*self.merchant) {
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
    ) -> BoxFuture<'a, Result<RefundedMoney, Refusal>> {
        Box::pin(std::future::ready(Ok(RefundedMoney::More)))
    }
}

impl Epay {
    fn place(&self, order: &PaymentOrder<'_>) -> Result<PaymentPlace, Refusal> {
        let payment = order.payment;
        if payment.currency != CURRENCY {
            let message = format!(
                "epay takes {CURRENCY} and the product costs {}",
                payment.currency
            );
            return Err(Refusal::field(Code::InvalidParameter, "provider", message));
        }
        let money = decimal(payment.money, CURRENCY);
        let fields = [
            ("pid", &*self.merchant),
            ("out_trade_no", &*payment.id),
            ("notify_url", order.hook_url),
            ("return_url", order.return_url),
            ("name", &*payment.product),
            ("money", &*money),
            ("param", &*payment.account_id),
        ];
        Ok(PaymentPlace {
            pay_at: Some(address(&self.base_url, &fields, self.key.reveal())),
            reference: None,
            failed: false,
        })
    }
}
