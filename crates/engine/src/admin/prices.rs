//! Prices that were changed at run time: one set for all nodes, changed at once or not at all.

use std::sync::Arc;

use atelier_contract::{Quota, Refusal, Tariff};

use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;

/// Changed prices are settings under this name.
const PRICE: &str = "price:";
/// The setting that is different after every change, so that a look costs one row.
const EDITION: &str = "price_edition";

/// The prices in force here.
pub struct Prices {
    context: Arc<Context>,
    held: std::sync::RwLock<(Arc<Tariff>, Option<String>)>,
}

impl Prices {
    pub(crate) fn new(context: Arc<Context>, tariff: Tariff) -> Arc<Self> {
        Arc::new(Self {
            context,
            held: std::sync::RwLock::new((Arc::new(tariff), None)),
        })
    }

    /// The prices in force.
    pub fn tariff(&self) -> Arc<Tariff> {
        let held = self.held.read();
        Arc::clone(&held.unwrap_or_else(std::sync::PoisonError::into_inner).0)
    }

    /// Takes over prices that were changed at run time.
    pub async fn load(&self) -> Result<(), atelier_store::Error> {
        // The edition is read first: prices that change in between are looked at once more.
        let edition = self.context.store().settings().get(EDITION).await?;
        let mut tariff = Tariff::clone(&self.tariff());
        for (name, amount) in self.context.store().settings().list(PRICE).await? {
            let key = name.strip_prefix(PRICE).unwrap_or(&name);
            let taken = Quota::parse(&amount).map(|amount| tariff.set(key, amount));
            if !matches!(taken, Some(Ok(()))) {
                tracing::warn!(
                    key,
                    amount,
                    "a stored price belongs to no operation any more"
                );
            }
        }
        self.replace(tariff, edition);
        Ok(())
    }

    /// Looks whether another node changed prices, and takes them over.
    pub async fn step(&self) -> Result<(), atelier_store::Error> {
        if self.context.store().settings().get(EDITION).await? == self.edition() {
            return Ok(());
        }
        self.load().await
    }

    /// Changes prices, for requests from now on and on every node.
    pub async fn set(&self, by: &str, prices: Vec<(String, Quota)>) -> Result<(), Refusal> {
        let mut tariff = Tariff::clone(&self.tariff());
        for (key, amount) in &prices {
            tariff
                .set(key, *amount)
                .map_err(|error| Refusal::invalid("prices", error))?;
        }
        let detail: Vec<String> = prices
            .iter()
            .map(|(key, amount)| format!("{key}={amount}"))
            .collect();
        let act = self
            .context
            .act(by, "prices.change", "prices", detail.join(" "));
        let mut settings: Vec<(String, String)> = prices
            .iter()
            .map(|(key, amount)| (format!("{PRICE}{key}"), amount.to_string()))
            .collect();
        settings.push((EDITION.to_owned(), act.id.clone()));
        let kept = self
            .context
            .store()
            .settings()
            .put_all(settings, Some(act))
            .await;
        kept.map_err(unavailable)?;
        crash::point("admin.acted");
        self.load().await.map_err(unavailable)?;
        self.context.broadcast(Hint::Prices);
        Ok(())
    }

    /// What was read last.
    fn edition(&self) -> Option<String> {
        let held = self.held.read();
        held.unwrap_or_else(std::sync::PoisonError::into_inner)
            .1
            .clone()
    }

    fn replace(&self, tariff: Tariff, edition: Option<String>) {
        let held = self.held.write();
        *held.unwrap_or_else(std::sync::PoisonError::into_inner) = (Arc::new(tariff), edition);
    }
}
