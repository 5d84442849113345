//! Top-ups: what an account wants bought by itself, and the purchases. A purchase is written down before its customer is charged, and charged
//! under its identifier until the answer is known.

use atelier_contract::pages::payments::TopupView;
use atelier_contract::{AccountId, Code, LimitWindow, Quota, Refusal};
use atelier_store::{AuditRow, NewTopup, PaymentNews, PaymentRow, TopupOutcome, TopupPurchase};

use super::super::callers::Caller;
use super::provider::{ChargeFault, ChargeOrder, ProviderEvent};
use super::requests::TopupRequest;
use super::{Payments, own_event};
use crate::context::unavailable;
use crate::crash;

/// Accounts that one step looks at.
const AT_ONCE: i64 = 20;
/// A purchase is not given up while its outcome is not known.
const WAITS_MS: i64 = 365 * 86_400_000;

impl Payments {
    /// The top-up of an account.
    pub async fn topup(&self, account_id: &AccountId) -> Result<TopupView, Refusal> {
        let topups = self.context.store().ledger().topups();
        let row = topups.of(account_id).await.map_err(unavailable)?;
        let (month_ms, _) = LimitWindow::Month.span(self.context.now_ms());
        let spent = topups.spent(account_id, month_ms).await;
        let row = row.as_ref();
        let mut view = TopupView {
            product: row.map(|row| row.product.clone()),
            provider: row.map(|row| row.provider.clone()),
            threshold: row.map(|row| row.threshold),
            monthly_cap: row.map(|row| row.monthly_cap),
            spent_this_month: spent.map_err(unavailable)?,
            active: row.is_some_and(|row| row.active),
            why: row.and_then(|row| row.why.clone()),
            can_save: Vec::new(),
            saved: Vec::new(),
        };
        for provider in self.providers.iter().filter(|one| one.saves()) {
            let name = provider.name().to_owned();
            let customer = topups.customer(account_id, &name).await;
            let is_saved = customer.map_err(unavailable)?.is_some();
            view.saved.extend(is_saved.then(|| name.clone()));
            view.can_save.push(name);
        }
        Ok(view)
    }

    /// Sets the top-up of a caller's account.
    pub async fn set_topup(
        &self,
        caller: &Caller,
        wish: &TopupRequest,
    ) -> Result<TopupView, Refusal> {
        let account_id = &caller.account_id;
        let provider = self.saving(wish.provider.as_deref())?;
        let product = self.sold(&wish.product).await?.definition;
        if product.plan.is_some() {
            let message = "gives a period of a plan; a top-up buys quota";
            return Err(Refusal::invalid("product", message));
        }
        if wish.threshold <= Quota::ZERO || wish.threshold > Quota::MOST {
            let message = format!("must be above 0 and at most {}", Quota::MOST);
            return Err(Refusal::invalid("threshold", message));
        }
        if wish.monthly_cap < product.money {
            let message = format!("must be at least what the product costs, {}", product.money);
            return Err(Refusal::invalid("monthlyCap", message));
        }
        let topups = self.context.store().ledger().topups();
        let customer = topups.customer(account_id, &provider).await;
        if customer.map_err(unavailable)?.is_none() {
            let message =
                format!("{provider} has saved no way to pay; buy once with \"save\": true");
            return Err(Refusal::field(Code::Conflict, "provider", message));
        }
        let by = &caller.key_id;
        let act = self
            .context
            .own_act(account_id, by, "topup.set", account_id, &product.name);
        let new = NewTopup {
            account_id: account_id.to_string(),
            provider,
            product: product.name,
            threshold: wish.threshold,
            monthly_cap: wish.monthly_cap,
            now_ms: self.context.now_ms(),
        };
        topups.set(new, Some(act)).await.map_err(unavailable)?;
        self.topup(account_id).await
    }

    /// Takes the top-up of a caller's account away.
    pub async fn remove_own_topup(&self, caller: &Caller) -> Result<TopupView, Refusal> {
        let (account_id, by) = (&caller.account_id, &caller.key_id);
        let act = self
            .context
            .own_act(account_id, by, "topup.remove", account_id, "");
        self.remove_topup_by(account_id, act).await
    }

    /// Takes the top-up of an account away.
    pub async fn remove_topup(
        &self,
        by: &str,
        account_id: &AccountId,
    ) -> Result<TopupView, Refusal> {
        let act = self.context.act(by, "account.topup.remove", account_id, "");
        self.remove_topup_by(account_id, act).await
    }

    async fn remove_topup_by(
        &self,
        account_id: &AccountId,
        act: AuditRow,
    ) -> Result<TopupView, Refusal> {
        let topups = self.context.store().ledger().topups();
        let removed = topups.remove(account_id, Some(act)).await;
        crash::point("admin.acted");
        if !removed.map_err(unavailable)? {
            return Err(Refusal::new(Code::NotFound, "the account has no top-up"));
        }
        self.topup(account_id).await
    }

    /// Buys what is to be bought; whether there may be more.
    pub(super) async fn topup_step(&self) -> Result<bool, atelier_store::Error> {
        let now_ms = self.context.now_ms();
        let topups = self.context.store().ledger().topups();
        let due = topups.due(now_ms, AT_ONCE).await?;
        for account_id in &due {
            let (month_ms, next_month_ms) = LimitWindow::Month.span(now_ms);
            let purchase = TopupPurchase {
                id: self.context.ids().uuid(),
                account_id: account_id.clone(),
                month_ms,
                next_month_ms,
                now_ms,
                expires_ms: now_ms + WAITS_MS,
            };
            let begun = self.stored().begin_topup(purchase).await?;
            crash::point("payment.begun");
            if let TopupOutcome::Charge {
                payment,
                customer,
                again,
            } = begun
            {
                self.charge(&payment, (&customer, again)).await?;
            }
        }
        Ok(due.len() as i64 >= AT_ONCE)
    }

    /// Charges a customer for a payment, and has that count.
    async fn charge(
        &self,
        payment: &PaymentRow,
        (customer, again): (&str, bool),
    ) -> Result<(), atelier_store::Error> {
        let Ok(provider) = self.named(&payment.provider) else {
            return Ok(());
        };
        let order = ChargeOrder {
            payment,
            customer,
            again,
        };
        let charged = provider.charge(&order).await;
        crash::point("payment.charged");
        let event = match charged {
            Ok(references) => ProviderEvent {
                event_id: format!("charge_{}", payment.id),
                references,
                money: Some(payment.money),
                ..own_event(payment)
            },
            Err(ChargeFault::Refused(why)) => {
                let topups = self.context.store().ledger().topups();
                let now_ms = self.context.now_ms();
                topups.failed(&payment.account_id, &why, now_ms).await?;
                tracing::warn!(payment = payment.id, why, "a top-up was not paid");
                ProviderEvent {
                    event_id: format!("charge_failed_{}", payment.id),
                    news: PaymentNews::Failed,
                    ..own_event(payment)
                }
            }
            // The next step asks again.
            Err(ChargeFault::Unknown(_)) => return Ok(()),
        };
        let event = self.event(&payment.provider, event);
        if let Err(refusal) = self.record(event, None).await {
            let (payment, error) = (&payment.id, refusal.message);
            tracing::warn!(payment, error, "a top-up could not be written down");
        }
        Ok(())
    }

    /// The provider that has saved a customer: the one that is named, or the only one that can.
    fn saving(&self, name: Option<&str>) -> Result<String, Refusal> {
        let saving = self.providers.iter().filter(|one| one.saves());
        let saving: Vec<&str> = saving.map(|one| one.name()).collect();
        let found = match (name, &*saving) {
            (Some(name), _) => saving.iter().find(|one| **one == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let known = saving.join(", ");
        let found = found.map(|name| (*name).to_owned());
        found.ok_or_else(|| match known.as_str() {
            "" => Refusal::new(Code::NotFound, "no provider here can save a way to pay"),
            _ => Refusal::invalid("provider", format_args!("must be one of {known}")),
        })
    }
}
