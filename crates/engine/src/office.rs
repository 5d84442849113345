//! The office: accounts and their keys, operators and sessions, back ends and worker accounts, prices, secrets, and what
//! operators see. Each is a room of its own; this is the door to all.

mod accounts;
mod backends;
mod banned;
mod callers;
mod custody;
mod keys;
mod margins;
mod operators;
mod overview;
mod preview;
mod prices;
mod registry;
mod reports;
mod secrets;
mod sessions;
mod show;
mod trail;

use std::sync::Arc;

use crate::floor::Floor;
use crate::house::House;
use crate::jobs::Jobs;
use crate::vault::Vault;
use accounts::Accounts;
use backends::Backends;
use callers::Callers;
use custody::Custody;
use keys::Keys;
use operators::Operators;
use registry::Registry;
use reports::Reports;
use secrets::Secrets;
use sessions::Sessions;

pub(crate) use banned::BannedWords;
pub use callers::{Believed, Caller};
pub use keys::{KeyHolder, KeyView, KeyWish};
pub use operators::{Operator, OperatorView, ROOT};
pub(crate) use prices::Prices;
pub use reports::{Here, Moment, Served};
pub use secrets::ResealError;
pub(crate) use sessions::KEEP_MS as SESSION_KEEP_MS;
pub use sessions::{Opener, Visitor};
pub use trail::{AttemptView, Trail};

/// What the office uses of the other parts.
pub(crate) struct Doors {
    pub(crate) house: Arc<House>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) floor: Arc<Floor>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) prices: Arc<Prices>,
    pub(crate) banned: Arc<BannedWords>,
}

/// Looks after accounts, back ends and prices.
pub struct Office {
    accounts: Accounts,
    backends: Backends,
    banned: Arc<BannedWords>,
    callers: Arc<Callers>,
    custody: Custody,
    keys: Keys,
    operators: Arc<Operators>,
    prices: Arc<Prices>,
    reports: Reports,
    secrets: Secrets,
    sessions: Sessions,
}

impl Office {
    pub(crate) fn new(doors: Doors) -> Self {
        let Doors {
            house,
            vault,
            floor,
            jobs,
            prices,
            banned,
        } = doors;
        let callers = Arc::new(Callers::new(house.clone()));
        let operators = Arc::new(Operators::new(house.clone(), callers.clone()));
        let registry = Arc::new(Registry::new(house.clone(), floor.clone()));
        Self {
            accounts: Accounts::new(house.clone(), callers.clone()),
            backends: Backends::new(house.clone(), floor.clone(), registry.clone()),
            custody: Custody::new(house.clone(), floor.clone(), registry),
            keys: Keys::new(house.clone(), callers.clone()),
            reports: Reports::new(house.clone(), floor, jobs, (vault.clone(), prices.clone())),
            secrets: Secrets::new(house.clone(), vault),
            sessions: Sessions::new(house, callers.clone(), operators.clone()),
            banned,
            callers,
            operators,
            prices,
        }
    }

    /// Accounts and their quota.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// The operator's back ends and their worker accounts.
    pub fn backends(&self) -> &Backends {
        &self.backends
    }

    /// The words that no prompt may contain.
    pub fn banned(&self) -> &BannedWords {
        &self.banned
    }

    /// Who is behind a key.
    pub fn callers(&self) -> &Callers {
        &self.callers
    }

    /// Callers' own worker accounts.
    pub fn custody(&self) -> &Custody {
        &self.custody
    }

    /// Keys of accounts.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Named operators and viewers.
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// The prices in force.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// What the house is doing and has done.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// The sealed secrets of the house.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Sessions of the console.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
