//! The beginning of a payment: what it costs is checked with the provider first, then it is written down, then the provider is asked where
//! it is made.

use atelier_contract::plans::{Every, PlanDefinition};
use atelier_contract::products::ProductDefinition;
use atelier_contract::{Code, Refusal};
use atelier_store::{NewPayment, PaymentOutcome, PaymentPlace, PaymentRow, RevisionRow};

use super::super::callers::Caller;
use super::super::registry::{CROSSED_MOST, crossed, no_account};
use super::provider::{PaymentOrder, PaymentProvider, PaymentTerms};
use super::requests::PaymentRequest;
use super::{Payments, return_address};
use crate::context::unavailable;
use crate::crash;

/// A product as it is now.
pub(super) struct SoldProduct {
    pub(super) definition: ProductDefinition,
    revision: u32,
    /// How often it is paid for, where it gives a period of a plan.
    every: Option<Every>,
}

impl Payments {
    /// Begins a payment for the account of a caller.
    pub async fn create(
        &self,
        caller: &Caller,
        wish: &PaymentRequest,
    ) -> Result<PaymentRow, Refusal> {
        let provider = self.chosen(wish.provider.as_deref())?;
        let return_url = self.return_address(wish.return_url.as_deref())?;
        for _ in 0..CROSSED_MOST {
            let product = self.sold(&wish.product).await?;
            let terms = PaymentTerms {
                money: product.definition.money,
                currency: &product.definition.currency,
                every: product.every,
                return_url: &return_url,
            };
            provider.check(&terms)?;
            if wish.save && (!provider.saves() || product.definition.plan.is_some()) {
                let message = format!(
                    "{} saves no customer for this product; leave it out",
                    provider.name()
                );
                return Err(Refusal::invalid("save", message));
            }
            let begun = self.begin(caller, (provider, wish.save), &product).await?;
            if begun == PaymentOutcome::Crossed {
                continue;
            }
            let row = begun_row(begun)?;
            crash::point("payment.begun");
            self.open(provider, &row, terms).await?;
            return self.one(&row.id, Some(&caller.account_id)).await;
        }
        Err(crossed())
    }

    /// Writes a payment down.
    async fn begin(
        &self,
        caller: &Caller,
        (provider, saves): (&dyn PaymentProvider, bool),
        product: &SoldProduct,
    ) -> Result<PaymentOutcome, Refusal> {
        let now_ms = self.context.now_ms();
        let name = &product.definition.name;
        let new = NewPayment {
            id: self.context.ids().uuid(),
            account_id: caller.account_id.to_string(),
            product: name.clone(),
            product_revision: product.revision,
            provider: provider.name().to_owned(),
            subscribes: provider.subscribes(),
            saves,
            now_ms,
            expires_ms: now_ms + provider.waits_ms(),
        };
        let (id, by) = (&new.id, &caller.key_id);
        let act = self
            .context
            .own_act(&caller.account_id, by, "payment.create", id, name);
        let begun = self.stored().create(new, Some(act)).await;
        begun.map_err(unavailable)
    }

    /// Asks the provider where a payment is made, and writes that down.
    async fn open(
        &self,
        provider: &dyn PaymentProvider,
        row: &PaymentRow,
        terms: PaymentTerms<'_>,
    ) -> Result<(), Refusal> {
        let topups = self.context.store().ledger().topups();
        let customer = topups.customer(&row.account_id, provider.name()).await;
        let customer = customer.map_err(unavailable)?;
        let order = PaymentOrder {
            payment: row,
            terms,
            customer: customer.as_deref(),
            hook_url: &self.hook_url(provider.name()),
        };
        let opened = provider.open(&order).await;
        crash::point("payment.opened");
        // No one can pay one that was not opened; should it be paid all the same, it counts.
        let place = opened.as_ref().map_or(
            PaymentPlace {
                pay_at: None,
                reference: None,
                failed: true,
            },
            Clone::clone,
        );
        let placed = self.stored().place(&row.id, place).await;
        placed.map_err(unavailable)?;
        opened.map(|_| ())
    }

    /// A product as it is now.
    pub(super) async fn sold(&self, name: &str) -> Result<SoldProduct, Refusal> {
        let products = self.context.store().ledger().products().current().await;
        let row = latest(products.map_err(unavailable)?, name);
        let absent = || Refusal::invalid("product", "there is no such product");
        let row = row.ok_or_else(absent)?;
        let read = serde_json::from_str::<ProductDefinition>(&row.definition);
        let definition = read.map_err(|_| absent())?;
        let mut every = None;
        if let Some(plan) = &definition.plan {
            let plans = self.context.store().ledger().plans().current().await;
            let plan_row =
                latest(plans.map_err(unavailable)?, plan).ok_or_else(|| no_plan(plan))?;
            let read = serde_json::from_str::<PlanDefinition>(&plan_row.definition);
            every = Some(read.map_err(|_| no_plan(plan))?.every);
        }
        Ok(SoldProduct {
            definition,
            revision: row.revision,
            every,
        })
    }

    /// Who takes a payment: the one that is named, or the only one.
    fn chosen(&self, name: Option<&str>) -> Result<&dyn PaymentProvider, Refusal> {
        let known = self.providers().join(", ");
        match (name, &*self.providers) {
            (_, []) => Err(Refusal::new(
                Code::NotFound,
                "this service takes no payments",
            )),
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

    /// Where a provider reports what became of payments.
    fn hook_url(&self, provider: &str) -> String {
        let urls = &self.context.settings().urls;
        let base = if urls.hooks.is_empty() {
            &urls.base
        } else {
            &urls.hooks
        };
        format!("{base}/hooks/pay/{provider}")
    }

    fn return_address(&self, given: Option<&str>) -> Result<String, Refusal> {
        let settings = self.context.settings();
        let allowed = &settings.payments.return_origins;
        let urls = &settings.urls;
        let own = [urls.base.clone(), urls.legacy.clone()];
        return_address::checked(given, &urls.base(), &own, allowed)
    }
}

/// What is there of a name.
fn latest(rows: Vec<RevisionRow>, name: &str) -> Option<RevisionRow> {
    let mut rows = rows.into_iter().filter(|row| !row.removed);
    rows.find(|row| row.name.eq_ignore_ascii_case(name))
}

fn no_plan(plan: &str) -> Refusal {
    let message = format!("gives a period of the plan {plan}, which does not exist");
    Refusal::invalid("product", message)
}

fn begun_row(begun: PaymentOutcome) -> Result<PaymentRow, Refusal> {
    let conflict = |message: String| Err(Refusal::field(Code::Conflict, "product", message));
    match begun {
        PaymentOutcome::Done(row) => Ok(*row),
        PaymentOutcome::NoProduct => Err(Refusal::invalid("product", "there is no such product")),
        PaymentOutcome::NoPlan(plan) => Err(no_plan(&plan)),
        PaymentOutcome::OtherPlan(plan) => conflict(format!(
            "the account has the plan {plan}; end it first, then the new one begins after its period"
        )),
        PaymentOutcome::Subscribed => {
            conflict("the account has a subscription; end its plan first".to_owned())
        }
        PaymentOutcome::TooMany { most } => conflict(format!(
            "the account has {most} payments that are not made yet; pay one of them or wait until one expires"
        )),
        PaymentOutcome::Crossed => Err(crossed()),
        PaymentOutcome::Paused => Err(Refusal::new(Code::Forbidden, "the account is paused")),
        PaymentOutcome::NoAccount => Err(no_account()),
    }
}
