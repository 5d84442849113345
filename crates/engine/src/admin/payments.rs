//! Payments: begun by callers, reported by providers, confirmed and refunded by operators. An event counts once, and only if its provider
//! signed it.

mod begin;
mod events;
mod provider;
mod providers;
mod refunds;
mod requests;
mod return_address;
mod subscriptions;
mod topups;

use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{EventRow, PaymentFilter, PaymentNews, PaymentRow, RefundRow};

use super::callers::Callers;
use crate::context::{Context, unavailable};
use provider::{MANUAL, PaymentProvider, ProviderEvent};
pub use requests::{PaymentRequest, RefundRequest, TopupRequest};

/// Events of no payment here are forgotten after so long.
const STRAYS_KEPT_MS: i64 = 30 * 86_400_000;
/// Payments that one step has expire.
const AT_ONCE: i64 = 100;
/// What a provider did not answer is tried again after so long.
const AGAIN_MS: i64 = 60_000;

/// Takes payments.
pub struct Payments {
    context: Arc<Context>,
    callers: Arc<Callers>,
    providers: Vec<Box<dyn PaymentProvider>>,
}

/// What is known of a payment beside its row.
pub struct PaymentDetails {
    /// The latest first.
    pub events: Vec<EventRow>,
    /// The latest first.
    pub refunds: Vec<RefundRow>,
    /// What its provider calls it, and what belongs to it there.
    pub references: Vec<String>,
}

impl Payments {
    pub(super) fn new(context: Arc<Context>, callers: Arc<Callers>) -> Self {
        Self {
            providers: providers::all(&context),
            context,
            callers,
        }
    }

    /// The names of those who take payments.
    pub fn providers(&self) -> Vec<String> {
        let names = self.providers.iter().map(|one| one.name().to_owned());
        names.collect()
    }

    /// One payment; of an account only its own.
    pub async fn one(
        &self,
        id: &str,
        account_id: Option<&AccountId>,
    ) -> Result<PaymentRow, Refusal> {
        let account_id = account_id.map(|id| &**id);
        let found = self.stored().one(id, account_id).await;
        found.map_err(unavailable)?.ok_or_else(absent)
    }

    /// A page of payments, the latest first, and how many there are.
    pub async fn list(
        &self,
        filter: &PaymentFilter,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<PaymentRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let listed = self.stored().list(filter, offset, limit).await;
        listed.map_err(unavailable)
    }

    /// What is known of a payment beside its row.
    pub async fn details(&self, id: &str) -> Result<PaymentDetails, Refusal> {
        let payments = self.stored();
        Ok(PaymentDetails {
            events: payments.events(id).await.map_err(unavailable)?,
            refunds: payments.refunds(id).await.map_err(unavailable)?,
            references: payments.references(id).await.map_err(unavailable)?,
        })
    }

    /// Events that do not fit, the latest first, and how many there are.
    pub async fn mismatches(&self, page: i64, limit: i64) -> Result<(Vec<EventRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let listed = self.stored().mismatches(offset, limit).await;
        listed.map_err(unavailable)
    }

    /// An operator says that a payment was made that no provider reports.
    pub async fn confirm(&self, by: &str, id: &str) -> Result<PaymentRow, Refusal> {
        let row = self.one(id, None).await?;
        if row.provider != MANUAL {
            let message = format!(
                "only payments of the provider {MANUAL} are confirmed; {} reports this one",
                row.provider
            );
            return Err(Refusal::new(Code::Conflict, message));
        }
        let event = ProviderEvent {
            event_id: format!("confirm_{id}"),
            news: PaymentNews::Paid,
            money: Some(row.money),
            ..own_event(&row)
        };
        let act = self.context.act(by, "payment.confirm", id, "");
        self.acted(&row, event, Some(act)).await
    }

    /// Has payments expire that no one made, and forgets events of no payment here; whether there may be more.
    pub async fn tidy_step(&self) -> Result<bool, atelier_store::Error> {
        let now_ms = self.context.now_ms();
        let tidied = self
            .stored()
            .tidy(now_ms, now_ms - STRAYS_KEPT_MS, AT_ONCE)
            .await?;
        Ok(tidied >= AT_ONCE.unsigned_abs())
    }

    fn stored(&self) -> atelier_store::Payments<'_> {
        self.context.store().ledger().payments()
    }

    fn named(&self, name: &str) -> Result<&dyn PaymentProvider, Refusal> {
        let mut providers = self.providers.iter();
        let found = providers.find(|one| one.name() == name);
        let found = found.map(|one| &**one);
        found.ok_or_else(|| Refusal::new(Code::NotFound, "there is no such payment provider"))
    }
}

/// What is said here of a payment.
fn own_event(row: &PaymentRow) -> ProviderEvent {
    ProviderEvent {
        event_id: String::new(),
        payment_id: Some(row.id.clone()),
        references: Vec::new(),
        account_id: Some(row.account_id.clone()),
        subscription: None,
        customer: None,
        news: PaymentNews::Paid,
        money: None,
        currency: Some(row.currency.clone()),
        raw: String::new(),
    }
}

fn absent() -> Refusal {
    Refusal::new(Code::NotFound, "there is no such payment")
}
