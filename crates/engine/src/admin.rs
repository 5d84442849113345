//! The admin part: accounts and their keys, operators and sessions, back ends and worker accounts, prices, secrets, and what
//! operators see. Each is a room of its own; this is the door to all.

mod accounts;
mod backend_views;
mod backends;
mod banned_words;
mod callers;
mod credits;
mod custody;
mod foreign_keys;
mod groups;
mod imports;
mod key_judgement;
mod key_request;
mod key_terms;
mod keys;
mod margins;
mod models;
mod operators;
mod overview;
mod payments;
mod plans;
mod preview;
mod prices;
mod products;
mod receipts;
mod registry;
mod reports;
mod reprice;
mod secrets;
mod sessions;
mod trail;
mod vouchers;

use std::sync::Arc;

use atelier_fairness::limits::LimitOverrides;

use crate::assets::Assets;
use crate::context::Context;
use crate::jobs::Jobs;
use crate::model_revisions::ModelRevisions;
use crate::runner::Runner;
use accounts::Accounts;
use backends::Backends;
use callers::Callers;
use credits::Credits;
use custody::Custody;
use imports::Imports;
use keys::Keys;
use models::{ModelDeps, Models};
use operators::Operators;
use payments::Payments;
use plans::Plans;
use products::Products;
use receipts::Receipts;
use registry::Registry;
use reports::Reports;
use secrets::SealedSecrets;
use sessions::Sessions;
use vouchers::Vouchers;

pub use accounts::NewAccountRequest;
pub(crate) use banned_words::BannedWords;
pub use callers::{CachedCaller, Caller};
pub use credits::CreditRequest;
pub use custody::CustodyRequest;
pub(crate) use groups::Groups;
pub use groups::{GroupEdit, GroupReport};
pub use imports::{AccountImport, KeyImport};
pub use key_request::{KeyEdit, KeyHolder, KeyRequest};
pub use key_terms::{KeyPolicy, stored_terms};
pub use models::{ModelEdit, ModelReport, RouteHealth};
pub use operators::{Operator, ROOT};
pub use payments::{PaymentRequest, RefundRequest, TopupRequest};
pub(crate) use prices::Prices;
pub use reports::{NodeStats, ServedJobView, ServiceStats};
pub use secrets::ResealError;
pub(crate) use sessions::KEEP_MS as SESSION_KEEP_MS;
pub use sessions::{Principal, SessionCredential};
pub use trail::Trail;
pub use vouchers::codes_csv;

/// What the admin part uses of the other parts.
pub(crate) struct AdminDeps {
    pub(crate) context: Arc<Context>,
    pub(crate) allowances: Arc<LimitOverrides>,
    pub(crate) assets: Arc<Assets>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) prices: Arc<Prices>,
    pub(crate) groups: Arc<Groups>,
    pub(crate) models: Arc<ModelRevisions>,
    pub(crate) banned: Arc<BannedWords>,
}

/// Looks after accounts, back ends and prices.
pub struct Admin {
    accounts: Accounts,
    backends: Backends,
    banned: Arc<BannedWords>,
    callers: Arc<Callers>,
    credits: Credits,
    custody: Custody,
    groups: Arc<Groups>,
    imports: Imports,
    keys: Keys,
    models: Models,
    operators: Arc<Operators>,
    payments: Payments,
    plans: Plans,
    prices: Arc<Prices>,
    products: Products,
    receipts: Receipts,
    reports: Reports,
    secrets: SealedSecrets,
    sessions: Sessions,
    vouchers: Vouchers,
}

impl Admin {
    pub(crate) fn new(deps: AdminDeps) -> Self {
        let AdminDeps {
            context,
            allowances,
            assets,
            runner,
            jobs,
            prices,
            groups,
            models,
            banned,
        } = deps;
        let callers = Arc::new(Callers::new(context.clone()));
        let operators = Arc::new(Operators::new(context.clone(), callers.clone()));
        let registry = Arc::new(Registry::new(context.clone(), runner.clone()));
        Self {
            accounts: Accounts::new(context.clone(), callers.clone(), allowances),
            backends: Backends::new(context.clone(), runner.clone(), registry.clone()),
            credits: Credits::new(context.clone()),
            custody: Custody::new(context.clone(), runner.clone(), registry),
            imports: Imports::new(context.clone()),
            keys: Keys::new(context.clone(), callers.clone()),
            models: Models::new(ModelDeps {
                context: context.clone(),
                runner: runner.clone(),
                assets: assets.clone(),
                prices: prices.clone(),
                groups: groups.clone(),
                revisions: models.clone(),
            }),
            payments: Payments::new(context.clone(), callers.clone()),
            products: Products::new(context.clone()),
            receipts: Receipts::new(context.clone()),
            plans: Plans::new(context.clone(), callers.clone(), groups.clone()),
            reports: Reports {
                started_ms: context.steady_ms(),
                context: context.clone(),
                runner,
                jobs,
                assets: assets.clone(),
                prices: prices.clone(),
                models,
                groups: groups.clone(),
            },
            secrets: SealedSecrets::new(context.clone(), assets),
            vouchers: Vouchers::new(context.clone()),
            sessions: Sessions::new(context, callers.clone(), operators.clone()),
            banned,
            callers,
            groups,
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

    /// Quota that ends.
    pub fn credits(&self) -> &Credits {
        &self.credits
    }

    /// Callers' own worker accounts.
    pub fn custody(&self) -> &Custody {
        &self.custody
    }

    /// Groups of accounts and their prices.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What is taken over from other programs.
    pub fn imports(&self) -> &Imports {
        &self.imports
    }

    /// Where keys are issued, listed and revoked.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The operator's models.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Named operators and viewers.
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// What accounts buy.
    pub fn payments(&self) -> &Payments {
        &self.payments
    }

    /// What they can buy.
    pub fn products(&self) -> &Products {
        &self.products
    }

    /// What accounts were charged for.
    pub fn receipts(&self) -> &Receipts {
        &self.receipts
    }

    /// Plans and the accounts that have one.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The prices in force.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// What the service is doing and has done.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// The sealed secrets of the service.
    pub fn secrets(&self) -> &SealedSecrets {
        &self.secrets
    }

    /// Codes that are worth quota.
    pub fn vouchers(&self) -> &Vouchers {
        &self.vouchers
    }

    /// Sessions of the console.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
