//! Where callbacks go: those of one account to one host wait together.

use atelier_contract::AccountId;
use atelier_store::Delivery;

/// An account and a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) account_id: AccountId,
    pub(crate) host: String,
}

impl Route {
    /// The route a delivery belongs to.
    pub(crate) fn of(delivery: &Delivery) -> Self {
        Self {
            account_id: delivery.account_id.as_str().into(),
            host: delivery.host.clone(),
        }
    }
}
