//! What every provider of payments does: it says where one is made, reads what it is told, and gives money back.

use atelier_backends::WebhookRequest;
use atelier_contract::{Code, Refusal};
use atelier_store::{PaymentNews, PaymentPlace, PaymentRow};
use futures_util::future::BoxFuture;

/// Somebody who takes payments.
pub(super) trait PaymentProvider: Send + Sync {
    /// Its name, as callers and addresses have it.
    fn name(&self) -> &'static str;

    /// How long a payment is waited for.
    fn waits_ms(&self) -> i64;

    /// Asks for a place where a payment is made.
    fn open<'a>(
        &'a self,
        order: &'a PaymentOrder<'a>,
    ) -> BoxFuture<'a, Result<PaymentPlace, Refusal>>;

    /// Reads what it tells, and refuses what somebody else does.
    fn read(&self, post: &PaymentPost<'_>) -> Result<HookNews, Refusal>;

    /// Gives money back.
    fn refund<'a>(
        &'a self,
        wish: &'a RefundOrder<'a>,
    ) -> BoxFuture<'a, Result<RefundedMoney, Refusal>>;
}

/// A payment that a place is asked for.
pub(super) struct PaymentOrder<'a> {
    pub(super) payment: &'a PaymentRow,
    /// How often it comes again, where it is for a plan.
    pub(super) every: Option<atelier_contract::plans::Every>,
    /// Where the browser goes afterwards.
    pub(super) return_url: &'a str,
    /// Where the provider tells what became of it.
    pub(super) hook_url: &'a str,
}

/// What was posted, or asked, as it came.
pub(super) struct PaymentPost<'a> {
    pub(super) query: &'a str,
    pub(super) post: &'a WebhookRequest,
    pub(super) now_ms: i64,
}

/// What a provider told, and what it is answered.
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
    pub(super) news: PaymentNews,
    pub(super) money: Option<i64>,
    pub(super) currency: Option<String>,
    pub(super) raw: String,
}

/// Money to be given back.
pub(super) struct RefundOrder<'a> {
    pub(super) payment: &'a PaymentRow,
    /// What the provider calls it.
    pub(super) references: &'a [String],
    pub(super) money: i64,
    /// The same key gives back once.
    pub(super) key: &'a str,
}

/// What a refund comes to.
pub(super) enum RefundedMoney {
    /// So much more has gone back.
    More,
    /// So much has gone back, all together.
    Total(i64),
}

/// What a stranger is told.
pub(super) fn not_signed() -> Refusal {
    Refusal::new(Code::Forbidden, "the signature is not right")
}
