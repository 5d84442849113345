//! Payments: begun by callers, told of by providers, confirmed and refunded by operators. What a provider tells is believed only if
//! it signed it, and counts once.

mod provider;
mod providers;
mod return_address;

use std::sync::Arc;

use atelier_backends::WebhookRequest;
use atelier_contract::plans::Every;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    AuditRow, EventOutcome, EventRow, NewPayment, PaymentEvent, PaymentFilter, PaymentNews,
    PaymentOutcome, PaymentPlace, PaymentRow,
};

use super::callers::{Caller, Callers};
use super::registry::no_account;
use crate::context::{Context, unavailable};
use crate::crash;
use provider::{
    HookNews, PaymentOrder, PaymentPost, PaymentProvider, ProviderEvent, RefundOrder, RefundedMoney,
};

/// The provider whose payments an operator confirms.
const MANUAL: &str = "manual";
/// How much of what a provider sent is kept.
const RAW_MOST: usize = 16 * 1024;
/// How often an event is told to the store whose payment is just being written.
const CROSSED_MOST: usize = 5;
/// What is of nobody's payment is forgotten after so long.
const STRAYS_KEPT_MS: i64 = 30 * 86_400_000;
/// Payments that one step has expire.
const AT_ONCE: i64 = 100;

/// What an account buys.
#[derive(Clone, Debug)]
pub struct PaymentRequest {
    pub product: String,
    /// Who takes the payment; not needed where there is one.
    pub provider: Option<String>,
    /// Where the browser goes afterwards.
    pub return_url: Option<String>,
}

/// What goes back to whoever has paid.
#[derive(Clone, Debug, Default)]
pub struct RefundRequest {
    /// How much of the money; all that is left when absent.
    pub money: Option<i64>,
    /// The same key refunds once.
    pub idempotency_key: Option<String>,
}

/// Takes payments.
pub struct Payments {
    context: Arc<Context>,
    callers: Arc<Callers>,
    providers: Vec<Box<dyn PaymentProvider>>,
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

    /// Begins a payment for the account of a caller.
    pub async fn create(
        &self,
        caller: &Caller,
        wish: &PaymentRequest,
    ) -> Result<PaymentRow, Refusal> {
        let provider = self.chosen(wish.provider.as_deref())?;
        let return_url = self.return_address(wish.return_url.as_deref())?;
        let now_ms = self.context.now_ms();
        let new = NewPayment {
            id: self.context.ids().uuid(),
            account_id: caller.account_id.to_string(),
            product: wish.product.clone(),
            provider: provider.name().to_owned(),
            now_ms,
            expires_ms: now_ms + provider.waits_ms(),
        };
        let (id, by) = (&new.id, &caller.key_id);
        let act = self
            .context
            .own_act(&caller.account_id, by, "payment.create", id, &wish.product);
        let payments = self.context.store().ledger().payments();
        let begun = payments.create(new, Some(act)).await.map_err(unavailable)?;
        let row = begun_row(begun)?;
        let order = PaymentOrder {
            payment: &row,
            every: self.every(&row).await?,
            return_url: &return_url,
            hook_url: &self.hook_url(provider.name()),
        };
        let opened = provider.open(&order).await;
        let place = match &opened {
            Ok(place) => place.clone(),
            // Nobody can pay it; should anybody all the same, it counts.
            Err(_) => PaymentPlace {
                pay_at: None,
                reference: None,
                failed: true,
            },
        };
        payments.place(&row.id, place).await.map_err(unavailable)?;
        opened?;
        self.one(&row.id, Some(&caller.account_id)).await
    }

    /// One payment; of an account only its own.
    pub async fn one(
        &self,
        id: &str,
        account_id: Option<&AccountId>,
    ) -> Result<PaymentRow, Refusal> {
        let account_id = account_id.map(|id| &**id);
        let found = self
            .context
            .store()
            .ledger()
            .payments()
            .one(id, account_id)
            .await;
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
        let payments = self.context.store().ledger().payments();
        payments
            .list(filter, offset, limit)
            .await
            .map_err(unavailable)
    }

    /// What was told of a payment, the latest first, and what its provider calls it.
    pub async fn told(&self, id: &str) -> Result<(Vec<EventRow>, Vec<String>), Refusal> {
        let payments = self.context.store().ledger().payments();
        let events = payments.events(id).await.map_err(unavailable)?;
        let references = payments.references(id).await.map_err(unavailable)?;
        Ok((events, references))
    }

    /// What was told and does not fit, the latest first, and how much of that there is.
    pub async fn mismatches(&self, page: i64, limit: i64) -> Result<(Vec<EventRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let payments = self.context.store().ledger().payments();
        payments
            .mismatches(offset, limit)
            .await
            .map_err(unavailable)
    }

    /// An operator says that a payment was made that no provider tells of.
    pub async fn confirm(&self, by: &str, id: &str) -> Result<PaymentRow, Refusal> {
        let row = self.one(id, None).await?;
        if row.provider != MANUAL {
            let message = format!(
                "only payments of {MANUAL} are confirmed; {} tells of this one",
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
        self.acted(&row, event, act).await
    }

    /// Gives money back, and takes the quota back that it was paid for.
    pub async fn refund(
        &self,
        by: &str,
        id: &str,
        wish: &RefundRequest,
    ) -> Result<PaymentRow, Refusal> {
        let row = self.one(id, None).await?;
        let left = row.money - row.refunded - row.disputed;
        let money = wish.money.unwrap_or(left);
        if row.paid_ms.is_none() || money < 1 || money > left {
            let left = if row.paid_ms.is_some() {
                left.max(0)
            } else {
                0
            };
            let message = format!("there are {left} of {} left to refund", row.currency);
            return Err(Refusal::field(Code::Conflict, "money", message));
        }
        // The same wish twice at once is one: what was refunded until now is in its name.
        let key = match &wish.idempotency_key {
            Some(key) => format!("refund_{id}_{key}"),
            None => format!("refund_{id}_{}_{money}", row.refunded),
        };
        let references = self
            .context
            .store()
            .ledger()
            .payments()
            .references(id)
            .await;
        let order = RefundOrder {
            payment: &row,
            references: &references.map_err(unavailable)?,
            money,
            key: &key,
        };
        let refunded = self.named(&row.provider)?.refund(&order).await?;
        let (news, told) = match refunded {
            RefundedMoney::More => (PaymentNews::RefundedMore, money),
            RefundedMoney::Total(total) => (PaymentNews::Refunded, total),
        };
        let event = ProviderEvent {
            event_id: key.clone(),
            news,
            money: Some(told),
            ..own_event(&row)
        };
        let act = self.context.act(
            by,
            "payment.refund",
            id,
            format!("{money} {}", row.currency),
        );
        self.acted(&row, event, act).await
    }

    /// Has count what a provider tells; what it is answered.
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
        let HookNews { events, answer } = provider.read(&post)?;
        for event in events {
            let event = self.event(provider.name(), event);
            let (name, event_id) = (event.provider.clone(), event.event_id.clone());
            match self.record(event, None).await? {
                EventOutcome::Applied(row) => {
                    let (payment, state) = (row.id, row.state.word());
                    tracing::info!(
                        provider = name,
                        event = event_id,
                        payment,
                        state,
                        "a payment was told of"
                    );
                }
                EventOutcome::Mismatch(why) => {
                    tracing::warn!(
                        provider = name,
                        event = event_id,
                        why,
                        "a payment does not fit"
                    );
                }
                EventOutcome::Known | EventOutcome::Unmatched | EventOutcome::Crossed => {}
            }
        }
        Ok(answer)
    }

    /// Has payments expire that nobody made, and forgets what was told of nobody's; whether there may be more.
    pub async fn tidy_step(&self) -> Result<bool, atelier_store::Error> {
        let now_ms = self.context.now_ms();
        let payments = self.context.store().ledger().payments();
        let done = payments
            .tidy(now_ms, now_ms - STRAYS_KEPT_MS, AT_ONCE)
            .await?;
        Ok(done >= AT_ONCE.unsigned_abs())
    }

    /// Records what an operator says of a payment, with the act; the payment after it.
    async fn acted(
        &self,
        row: &PaymentRow,
        event: ProviderEvent,
        act: AuditRow,
    ) -> Result<PaymentRow, Refusal> {
        let event = self.event(&row.provider, event);
        let outcome = self.record(event, Some(act)).await?;
        crash::point("admin.acted");
        match outcome {
            EventOutcome::Mismatch(why) => Err(Refusal::new(Code::Conflict, why)),
            _ => self.one(&row.id, None).await,
        }
    }

    async fn record(
        &self,
        event: PaymentEvent,
        act: Option<AuditRow>,
    ) -> Result<EventOutcome, Refusal> {
        for _ in 0..CROSSED_MOST {
            let payments = self.context.store().ledger().payments();
            let recorded = payments.record(event.clone(), act.clone()).await;
            let recorded = recorded.map_err(unavailable)?;
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
            "the payment is being written; tell it again",
        ))
    }

    fn event(&self, provider: &str, event: ProviderEvent) -> PaymentEvent {
        PaymentEvent {
            provider: provider.to_owned(),
            event_id: event.event_id,
            payment_id: event.payment_id,
            references: event.references,
            account_id: event.account_id,
            news: event.news,
            money: event.money,
            currency: event.currency,
            raw: beginning(event.raw),
            ledger_id: self.context.ids().uuid(),
            new_id: self.context.ids().uuid(),
            now_ms: self.context.now_ms(),
        }
    }

    fn named(&self, name: &str) -> Result<&dyn PaymentProvider, Refusal> {
        let mut providers = self.providers.iter();
        let found = providers.find(|one| one.name() == name);
        let found = found.map(|one| &**one);
        found.ok_or_else(|| Refusal::new(Code::NotFound, "there is no such provider of payments"))
    }

    /// Who takes a payment: whoever is named, or the only one.
    fn chosen(&self, name: Option<&str>) -> Result<&dyn PaymentProvider, Refusal> {
        let known = self.providers().join(", ");
        match (name, &*self.providers) {
            (_, []) => Err(Refusal::new(Code::NotFound, "nobody takes payments here")),
            (None, [only]) => Ok(&**only),
            (None, _) => {
                let message = format!("is required, one of {known}");
                Err(Refusal::field(Code::MissingParameter, "provider", message))
            }
            (Some(name), _) => self
                .named(name)
                .map_err(|_| Refusal::invalid("provider", format_args!("must be one of {known}"))),
        }
    }

    /// Where a provider tells what became of payments.
    fn hook_url(&self, provider: &str) -> String {
        let urls = &self.context.settings().urls;
        let base = if urls.hooks.is_empty() {
            urls.base()
        } else {
            &urls.hooks
        };
        format!("{base}/hooks/pay/{provider}")
    }

    fn return_address(&self, given: Option<&str>) -> Result<String, Refusal> {
        let settings = self.context.settings();
        let own = &settings.urls.others;
        return_address::checked(
            given,
            settings.urls.base(),
            own,
            &settings.payments.return_origins,
        )
    }

    /// How often a payment for a plan comes again.
    async fn every(&self, payment: &PaymentRow) -> Result<Option<Every>, Refusal> {
        let Some(plan) = &payment.plan else {
            return Ok(None);
        };
        let plans = self.context.store().ledger().plans().current().await;
        let mut plans = plans.map_err(unavailable)?.into_iter();
        let found = plans.find(|row| row.name.eq_ignore_ascii_case(plan));
        let definition = found.and_then(|row| serde_json::from_str(&row.definition).ok());
        let definition: Option<atelier_contract::plans::PlanDefinition> = definition;
        Ok(definition.map(|definition| definition.every))
    }
}

/// What is said here of a payment.
fn own_event(row: &PaymentRow) -> ProviderEvent {
    ProviderEvent {
        event_id: String::new(),
        payment_id: Some(row.id.clone()),
        references: Vec::new(),
        account_id: Some(row.account_id.clone()),
        news: PaymentNews::Paid,
        money: None,
        currency: Some(row.currency.clone()),
        raw: String::new(),
    }
}

fn begun_row(begun: PaymentOutcome) -> Result<PaymentRow, Refusal> {
    match begun {
        PaymentOutcome::Done(row) => Ok(row),
        PaymentOutcome::NoProduct => Err(Refusal::invalid("product", "there is no such product")),
        PaymentOutcome::NoPlan(plan) => {
            let message = format!("gives a period of the plan {plan}, which is not there");
            Err(Refusal::invalid("product", message))
        }
        PaymentOutcome::OtherPlan(plan) => {
            let message = format!("the account has the plan {plan}, which is to end first");
            Err(Refusal::field(Code::Conflict, "product", message))
        }
        PaymentOutcome::TooMany { most } => {
            let message = format!("{most} payments are waited for already; make one of them");
            Err(Refusal::new(Code::Conflict, message))
        }
        PaymentOutcome::Paused => Err(Refusal::new(Code::Forbidden, "the account is paused")),
        PaymentOutcome::NoAccount => Err(no_account()),
    }
}

/// So much of a text as is kept.
fn beginning(mut text: String) -> String {
    // One of the databases knows no such byte.
    text.retain(|c| c != '\0');
    text.truncate(text.floor_char_boundary(RAW_MOST));
    text
}

fn absent() -> Refusal {
    Refusal::new(Code::NotFound, "no such payment")
}
