//! From a stored or fresh request to its order: loads the jobs it refers to and lets the operation decide.

use std::sync::Arc;

use atelier_contract::family::Request;
use atelier_contract::operation::{Context, Order};
use atelier_contract::tariff::Price;
use atelier_contract::{Code, Job, Quota, Refusal};

use crate::engine::{Engine, unavailable};

/// A request with everything it refers to.
pub(crate) struct Ordered {
    pub(crate) order: Order,
    pub(crate) parent: Option<Arc<Job>>,
    pub(crate) cited: Vec<Arc<Job>>,
    pub(crate) maker: Maker,
}

/// Who made the jobs that a request refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// It refers to none.
    Nobody,
    /// Whoever works inside this process.
    House,
    /// A worker account.
    Worker(String),
}

impl Maker {
    fn of(worker: Option<String>) -> Self {
        worker.map_or(Self::House, Self::Worker)
    }
}

impl Engine {
    /// Loads what a request refers to, among the account's own jobs only, and orders it.
    pub(crate) async fn ordered(
        &self,
        account_id: &str,
        request: &dyn Request,
    ) -> Result<Ordered, Refusal> {
        let mut maker = Maker::Nobody;
        let mut parent = None;
        if let Some(id) = request.parent() {
            let row = self.store.job(account_id, id.as_str()).await;
            let row = row.map_err(unavailable)?;
            let row = row.ok_or_else(Refusal::job_not_found)?;
            maker = Maker::of(row.worker.clone());
            parent = Some(Arc::new(self.hydrate(row)));
        }
        let names = request.cites();
        let mut cited = Vec::new();
        if !names.is_empty() {
            let rows = self
                .store
                .jobs_by_alias(account_id, &names)
                .await
                .map_err(unavailable)?;
            if let Some(row) = rows.first().filter(|_| maker == Maker::Nobody) {
                maker = Maker::of(row.worker.clone());
            }
            cited = rows.into_iter().map(|row| self.hydrate(row)).collect();
        }
        let order = request.order(Context {
            parent: parent.as_deref(),
            cited: &cited,
        })?;
        Ok(Ordered {
            order,
            parent,
            cited: cited.into_iter().map(Arc::new).collect(),
            maker,
        })
    }

    /// What a price comes to by the amounts in force.
    pub(crate) fn priced(&self, price: &Price) -> Result<Quota, Refusal> {
        self.tariff().total(price).map_err(|error| {
            tracing::error!(%error, "an operation has no price");
            Refusal::new(
                Code::Internal,
                "the request has no price; tell the operator",
            )
        })
    }
}
