//! What every payment provider does: it says where a payment is made, reads what it is sent, gives money back and ends subscriptions.

use atelier_backends::WebhookRequest;
use atelier_contract::plans::Every;
use atelier_contract::{Code, Refusal};
use atelier_store::{PaymentNews, PaymentPlace, PaymentRow, RefundRow};
use futures_util::future::BoxFuture;

/// The provider whose payments an operator confirms.
pub(super) const MANUAL: &str = "manual";

/// A provider of payments.
pub(super) trait PaymentProvider: Send + Sync {
    /// Its name, as callers and addresses have it.
    fn name(&self) -> &'static str;

    /// How long a payment is waited for.
    fn waits_ms(&self) -> i64;

    /// Whether a payment for a plan comes again by itself.
    fn subscribes(&self) -> bool {
        false
    }

    /// Whether it can save a customer, to be charged later without being there.
    fn saves(&self) -> bool {
        false
    }

    /// Refuses what it does not take, before anything is written down.
    fn check(&self, wish: &PaymentTerms<'_>) -> Result<(), Refusal>;

    /// Asks for a place where a payment is made.
    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>>;

    /// Reads what it sends, and refuses what someone else does.
    fn read(&self, post: &PaymentPost<'_>) -> Result<HookNews, Refusal>;

    /// Gives money back.
    fn refund<'a>(
        &'a self,
        order: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, ChargeFault>>;

    /// Charges a saved customer; what the provider calls the payment.
    fn charge<'a>(
        &'a self,
        _: &'a ChargeOrder<'a>,
    ) -> BoxFuture<'a, Result<Vec<String>, ChargeFault>> {
        let why = "this provider saves no customers".to_owned();
        Box::pin(std::future::ready(Err(ChargeFault::Refused(why))))
    }

    /// Ends a subscription: with the period that was paid for, or at once.
    fn cancel<'a>(
        &'a self,
        reference: &'a str,
        at_once: bool,
    ) -> BoxFuture<'a, Result<(), Refusal>>;
}

/// What is to be paid, and how.
pub(super) struct PaymentTerms<'a> {
    pub(super) money: i64,
    pub(super) currency: &'a str,
    /// How often it comes again, where it is for a plan.
    pub(super) every: Option<Every>,
    /// Where the browser goes afterwards.
    pub(super) return_url: &'a str,
}

/// A payment that a place is asked for.
pub(super) struct PaymentOrder<'a> {
    pub(super) payment: &'a PaymentRow,
    pub(super) terms: PaymentTerms<'a>,
    /// What the provider calls the customer, where it has saved one before.
    pub(super) customer: Option<&'a str>,
    /// Where the provider reports what became of it.
    pub(super) hook_url: &'a str,
}

/// What was posted, or asked, as it came.
pub(super) struct PaymentPost<'a> {
    pub(super) query: &'a str,
    pub(super) post: &'a WebhookRequest,
    pub(super) now_ms: i64,
}

/// What a provider reported, and what it is answered.
pub(super) struct HookNews {
    pub(super) events: Vec<ProviderEvent>,
    pub(super) answer: &'static str,
}

/// An event in the words of all providers.
#[derive(Debug)]
pub(super) struct ProviderEvent {
    pub(super) event_id: String,
    pub(super) payment_id: Option<String>,
    /// The surest first.
    pub(super) references: Vec<String>,
    pub(super) account_id: Option<String>,
    pub(super) subscription: Option<String>,
    pub(super) customer: Option<String>,
    pub(super) news: PaymentNews,
    pub(super) money: Option<i64>,
    pub(super) currency: Option<String>,
    pub(super) raw: String,
}

/// Money to be given back.
pub(super) struct RefundOrder<'a> {
    pub(super) payment: &'a PaymentRow,
    /// Its identifier gives money back once.
    pub(super) refund: &'a RefundRow,
    /// What the provider calls the payment.
    pub(super) references: &'a [String],
    /// Whether it was tried before, so that it may have been made.
    pub(super) again: bool,
}

/// What a refund comes to.
pub(super) enum RefundedMoney {
    /// So much more has gone back.
    More,
    /// So much has gone back, all together.
    Total(i64),
}

/// Why a refund was not made, or a charge.
pub(super) enum ChargeFault {
    /// The provider does not make it.
    Refused(String),
    /// It may have been made, or may be made later.
    Unknown(Refusal),
}

/// A saved customer to be charged.
pub(super) struct ChargeOrder<'a> {
    /// Its identifier charges once.
    pub(super) payment: &'a PaymentRow,
    pub(super) customer: &'a str,
    /// Whether it was tried before, so that it may have been made.
    pub(super) again: bool,
}

/// What a stranger is answered.
pub(super) fn not_signed() -> Refusal {
    Refusal::new(Code::Forbidden, "the signature is not right")
}
