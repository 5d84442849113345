//! From a stored or fresh request to its order: loads the jobs it refers to and lets the operation decide.

use std::sync::Arc;

use atelier_contract::family::Request;
use atelier_contract::operation::{Context, Order};
use atelier_contract::{Code, Job, Quota, Refusal};

use crate::engine::{Engine, unavailable};

/// A request with everything it refers to.
pub(crate) struct Ordered {
    pub(crate) order: Order,
    pub(crate) parent: Option<Arc<Job>>,
    pub(crate) cited: Vec<Arc<Job>>,
}

impl Engine {
    /// Loads what a request refers to, among the account's own jobs only, and orders it.
    pub(crate) async fn ordered(
        &self,
        account_id: &str,
        request: &dyn Request,
    ) -> Result<Ordered, Refusal> {
        let parent = match request.parent() {
            Some(id) => Some(Arc::new(self.job(account_id, &id).await?)),
            None => None,
        };
        let names = request.cites();
        let mut cited = Vec::new();
        if !names.is_empty() {
            let rows = self
                .store
                .jobs_by_alias(account_id, &names)
                .await
                .map_err(unavailable)?;
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
        })
    }

    /// What an order costs by the prices in force.
    pub(crate) fn priced(&self, order: &Order) -> Result<Quota, Refusal> {
        self.tariff().total(&order.price).map_err(|error| {
            tracing::error!(%error, "an operation has no price");
            Refusal::new(
                Code::Internal,
                "the request has no price; tell the operator",
            )
        })
    }
}
