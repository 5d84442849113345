//! Events: what providers report, and what operators say in their place. Each counts once.

use atelier_backends::WebhookRequest;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{AuditRow, EventOutcome, PaymentEvent, PaymentRow};

use super::Payments;
use super::provider::{HookNews, PaymentPost, ProviderEvent};
use crate::context::unavailable;
use crate::crash;

/// How much of what a provider sent is kept.
const RAW_MOST: usize = 16 * 1024;
/// How often an event is offered to the store whose payment is just being written.
const CROSSED_MOST: usize = 5;

impl Payments {
    /// Has count what a provider reports; what it is answered.
    pub async fn hook(
        &self,
        provider: &str,
        query: &str,
        post: &WebhookRequest,
    ) -> Result<&'static str, Refusal> {
        let now_ms = self.context.now_ms();
        let provider = self.named(provider)?;
        let post = PaymentPost {
            query,
            post,
            now_ms,
        };
        let meters = self.context.meters();
        let read = provider.read(&post);
        if read.is_err() {
            meters.payment_event(provider.name(), "refused");
        }
        let HookNews { events, answer } = read?;
        for event in events {
            let event = self.event(provider.name(), event);
            let (name, event_id) = (event.provider.clone(), event.event_id.clone());
            let outcome = self.record(event, None).await?;
            meters.payment_event(provider.name(), word(&outcome));
            match outcome {
                EventOutcome::Applied(row) => {
                    let (payment, state) = (row.id, row.state.word());
                    tracing::info!(
                        provider = name,
                        event = event_id,
                        payment,
                        state,
                        "a payment event counts"
                    );
                }
                EventOutcome::Mismatch(why) => {
                    tracing::warn!(
                        provider = name,
                        event = event_id,
                        why,
                        "a payment event does not fit"
                    );
                }
                EventOutcome::Known | EventOutcome::Unmatched | EventOutcome::Crossed => {}
            }
        }
        Ok(answer)
    }

    /// Records what is said here of a payment, with the act of the operator who says it; the payment after it.
    pub(super) async fn acted(
        &self,
        row: &PaymentRow,
        event: ProviderEvent,
        act: Option<AuditRow>,
    ) -> Result<PaymentRow, Refusal> {
        let event = PaymentEvent {
            answered: true,
            ..self.event(&row.provider, event)
        };
        let outcome = self.record(event, act).await?;
        crash::point("admin.acted");
        match outcome {
            EventOutcome::Mismatch(why) => Err(Refusal::new(Code::Conflict, why)),
            _ => self.one(&row.id, None).await,
        }
    }

    pub(super) async fn record(
        &self,
        event: PaymentEvent,
        act: Option<AuditRow>,
    ) -> Result<EventOutcome, Refusal> {
        for _ in 0..CROSSED_MOST {
            let recorded = self.stored().record(event.clone(), act.clone()).await;
            let recorded = recorded.map_err(unavailable)?;
            crash::point("payment.recorded");
            if let EventOutcome::Applied(row) = &recorded
                && row.plan.is_some()
            {
                // The account may be in another group now.
                self.callers
                    .void_account(&AccountId::from(&*row.account_id));
            }
            if recorded != EventOutcome::Crossed {
                return Ok(recorded);
            }
        }
        Err(Refusal::new(
            Code::Overloaded,
            "the payment is being written; send the event again",
        ))
    }

    pub(super) fn event(&self, provider: &str, event: ProviderEvent) -> PaymentEvent {
        PaymentEvent {
            provider: provider.to_owned(),
            event_id: event.event_id,
            payment_id: event.payment_id,
            references: event.references,
            account_id: event.account_id,
            subscription: event.subscription,
            customer: event.customer,
            news: event.news,
            money: event.money,
            currency: event.currency,
            raw: beginning(event.raw),
            answered: false,
            ledger_id: self.context.ids().uuid(),
            new_id: self.context.ids().uuid(),
            now_ms: self.context.now_ms(),
        }
    }
}

/// What metrics call an outcome.
fn word(outcome: &EventOutcome) -> &'static str {
    match outcome {
        EventOutcome::Applied(_) => "applied",
        EventOutcome::Known => "known",
        EventOutcome::Mismatch(_) => "mismatch",
        EventOutcome::Unmatched | EventOutcome::Crossed => "unmatched",
    }
}

/// So much of a text as is kept.
fn beginning(mut text: String) -> String {
    // One of the databases knows no such byte.
    text.retain(|c| c != '\0');
    text.truncate(text.floor_char_boundary(RAW_MOST));
    text
}
