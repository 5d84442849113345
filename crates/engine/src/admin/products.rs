//! Products: what accounts can buy, made, changed and removed by operators. Every change is one commit with its audit row.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::currency::decimal;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::payments::ProductView;
use atelier_contract::products::ProductDefinition;
use atelier_contract::time::timestamp;
use atelier_contract::{Code, Refusal};
use atelier_store::{AuditRow, PRODUCT_EDITION, RevisionChange, RevisionDraft, RevisionOutcome};

use super::models::take_revision;
use super::registry::{CROSSED_MOST, crossed, older_node};
use crate::context::{Context, unavailable};
use crate::crash;

/// Products that one installation may have.
const PRODUCTS_MOST: usize = 1_000;

/// Everything that was stored at one moment.
struct SeenProducts {
    edition: Option<String>,
    rows: Vec<ProductView>,
}

impl SeenProducts {
    fn find(&self, name: &str) -> Option<&ProductView> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.definition.name.eq_ignore_ascii_case(name))
    }

    fn one(&self, name: &str, made_on: Option<u32>) -> Result<&ProductView, Refusal> {
        let found = self.find(name).ok_or_else(|| absent(name))?;
        match made_on {
            Some(made_on) if made_on != found.revision => {
                let message = format!(
                    "the product {} is at revision {} now, not {made_on}; look at it and make the change on that",
                    found.definition.name, found.revision
                );
                Err(Refusal::field(Code::Conflict, "revision", message))
            }
            _ => Ok(found),
        }
    }
}

/// What accounts can buy.
pub struct Products {
    context: Arc<Context>,
}

impl Products {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// Every product, by name.
    pub async fn list(&self) -> Result<Vec<ProductView>, Refusal> {
        Ok(self.seen().await?.rows)
    }

    /// One product, by its name.
    pub async fn one(&self, name: &str) -> Result<ProductView, Refusal> {
        self.seen().await?.one(name, None).cloned()
    }

    /// Makes a product.
    pub async fn create(&self, by: &str, fields: Fields) -> Result<ProductView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let definition = Patch::<ProductDefinition>::new(fields.clone()).made()?;
            if seen.find(&definition.name).is_some() {
                let message = format!(
                    "the product {} is there already; change it instead",
                    definition.name
                );
                return Err(Refusal::field(Code::Conflict, "name", message));
            }
            if seen.rows.len() >= PRODUCTS_MOST {
                let message =
                    format_args!("there are {PRODUCTS_MOST} products already; remove one first");
                return Err(Refusal::invalid("name", message));
            }
            self.check(&definition).await?;
            let act = self.act(by, "product.create", &definition);
            let name = definition.name.clone();
            if self.append(&seen, drafted(definition, None), act).await? {
                return self.one(&name).await;
            }
        }
        Err(crossed())
    }

    /// Changes some fields of a product, for payments that begin from now on.
    pub async fn change(
        &self,
        by: &str,
        name: &str,
        mut fields: Fields,
    ) -> Result<ProductView, Refusal> {
        let made_on = take_revision(&mut fields, 1)?;
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let old = seen.one(name, made_on)?;
            let before = without_nulls(&fields, &old.definition);
            let definition = Patch::<ProductDefinition>::new(fields.clone()).over(&before)?;
            if definition.name != old.definition.name {
                let message = "cannot be changed; make another product";
                return Err(Refusal::invalid("name", message));
            }
            if definition == old.definition {
                return Ok(old.clone());
            }
            self.check(&definition).await?;
            let act = self.act(by, "product.change", &definition);
            let draft = drafted(definition, Some(old.revision));
            if self.append(&seen, draft, act).await? {
                return self.one(name).await;
            }
        }
        Err(crossed())
    }

    /// Takes a product off sale; what was bought and what is being paid for stays.
    pub async fn remove(
        &self,
        by: &str,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<ProductView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let old = seen.one(name, made_on)?;
            let act = self.act(by, "product.remove", &old.definition);
            let draft = RevisionDraft {
                removed: true,
                ..drafted(old.definition.clone(), Some(old.revision))
            };
            if self.append(&seen, draft, act).await? {
                return Ok(old.clone());
            }
        }
        Err(crossed())
    }

    /// Refuses what could not be sold, with the field.
    async fn check(&self, definition: &ProductDefinition) -> Result<(), Refusal> {
        definition.check()?;
        let Some(plan) = &definition.plan else {
            return Ok(());
        };
        let plans = self.context.store().ledger().plans().current().await;
        let mut plans = plans.map_err(unavailable)?.into_iter();
        if plans.any(|row| !row.removed && row.name.eq_ignore_ascii_case(plan)) {
            return Ok(());
        }
        Err(Refusal::invalid(
            "plan",
            format_args!("there is no plan {plan}"),
        ))
    }

    fn act(&self, by: &str, action: &str, definition: &ProductDefinition) -> AuditRow {
        let ProductDefinition {
            money, currency, ..
        } = definition;
        let gives = match (&definition.quota, &definition.plan) {
            (Some(quota), _) => quota.to_string(),
            (None, plan) => plan.clone().unwrap_or_default(),
        };
        let detail = format!("{gives} for {} {currency}", decimal(*money, currency));
        self.context.act(by, action, &definition.name, detail)
    }

    /// Writes a revision down; false when something else was changed since it was looked at.
    async fn append(
        &self,
        seen: &SeenProducts,
        draft: RevisionDraft,
        act: AuditRow,
    ) -> Result<bool, Refusal> {
        let change = RevisionChange {
            drafts: vec![draft],
            seen_edition: seen.edition.clone(),
            seen_beside: None,
            edition: act.id.clone(),
            changed_ms: self.context.now_ms(),
            alive_since_ms: self.context.alive_since_ms(),
        };
        let products = self.context.store().ledger().products();
        let written = products.append(change, Some(act)).await;
        match written.map_err(unavailable)? {
            RevisionOutcome::Written(_) => {}
            // Whoever named a revision finds another one at the next look.
            RevisionOutcome::Crossed
            | RevisionOutcome::Conflict { .. }
            | RevisionOutcome::InUse { .. } => return Ok(false),
            RevisionOutcome::OlderNode(node) => return Err(older_node(&node, "knows no products")),
        }
        crash::point("admin.acted");
        Ok(true)
    }

    /// Everything that is stored, as one change may go by it.
    async fn seen(&self) -> Result<SeenProducts, Refusal> {
        // The edition is read first: what changes in between is noticed when the change is written.
        let store = self.context.store();
        let edition = store.settings().get(PRODUCT_EDITION).await;
        let edition = edition.map_err(unavailable)?;
        let rows = store.ledger().products().current().await;
        let rows = rows.map_err(unavailable)?;
        let there = rows.into_iter().filter(|row| !row.removed);
        let rows = there.filter_map(|row| {
            let (name, revision) = (&row.name, row.revision);
            let unread =
                |error| tracing::warn!(%error, name, revision, "a stored product cannot be read");
            let read = serde_json::from_str(&row.definition);
            let definition: ProductDefinition = read.map_err(unread).ok()?;
            Some(ProductView {
                price: decimal(definition.money, &definition.currency),
                definition,
                revision,
                changed_at: timestamp(row.changed_ms),
            })
        });
        Ok(SeenProducts {
            edition,
            rows: rows.collect(),
        })
    }
}

/// A product without what a change takes away: null is how that is said.
fn without_nulls(fields: &Fields, definition: &ProductDefinition) -> ProductDefinition {
    let is_null = |name| fields.get(name).is_some_and(serde_json::Value::is_null);
    let mut left = definition.clone();
    if is_null("quota") {
        left.quota = None;
    }
    if is_null("plan") {
        left.plan = None;
    }
    if is_null("credit_days") {
        left.credit_days = None;
    }
    left
}

fn drafted(definition: ProductDefinition, expected_revision: Option<u32>) -> RevisionDraft {
    RevisionDraft {
        definition: serde_json::to_string(&definition).unwrap_or_default(),
        name: definition.name,
        removed: false,
        expected_revision,
    }
}

fn absent(name: &str) -> Refusal {
    let message = format!("there is no product {}", name.to_ascii_lowercase());
    Refusal::new(Code::NotFound, message)
}
