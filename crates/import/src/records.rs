//! What other programs keep, in the words of none of them.

use atelier_contract::LimitWindow;

use crate::money::Units;
use crate::vendors::VendorTarget;

/// Whether something is in use there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// It is.
    Enabled,
    /// It is kept and switched off.
    Disabled,
    /// It was deleted, and the row is still there.
    Deleted,
    /// It is not to be taken over, and why.
    Unusable(String),
}

/// Somebody who spends: a user, a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAccount {
    /// The table.
    pub table: &'static str,
    /// What names the row there.
    pub origin: String,
    /// What that program calls it; a later run tells by it whether it reads the same database.
    pub name: String,
    /// E-mail address, if it has one.
    pub email: Option<String>,
    /// What is left of its money; none where nothing bounds it there.
    pub balance: Option<Units>,
    /// Whether it is in use.
    pub state: SourceState,
    /// Its group of prices.
    pub group: Option<String>,
    /// Unfinished jobs it may have in a queue.
    pub max_queue: Option<i64>,
    /// When it was made.
    pub created_ms: Option<i64>,
    /// What of it is not taken over, and what to do.
    pub notes: Vec<String>,
}

/// How a key is known there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignKey {
    /// By the SHA-256 of the whole key, in hexadecimal.
    Hash(String),
    /// By the whole key.
    Whole(String),
    /// By what stands between `sk-` and the first dash.
    Cut(String),
}

/// A caller's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceKey {
    /// The table.
    pub table: &'static str,
    /// What names the row there; never the key itself.
    pub origin: String,
    /// Whose it is.
    pub owner: String,
    /// How it is known.
    pub secret: ForeignKey,
    /// What people see of it.
    pub shown: String,
    /// What its owner calls it.
    pub name: String,
    /// Whether it works.
    pub state: SourceState,
    /// When it stops working.
    pub expires_ms: Option<i64>,
    /// What it may still spend, by window.
    pub limits: Vec<(LimitWindow, Units)>,
    /// The models it may name; empty for all.
    pub models: Vec<String>,
    /// The networks it may come from; empty for all.
    pub addresses: Vec<String>,
    /// When it was made.
    pub created_ms: Option<i64>,
    /// What of it is not taken over.
    pub notes: Vec<String>,
}

/// A group of prices.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceGroup {
    /// Its name there.
    pub name: String,
    /// What prices are multiplied with.
    pub factor: Units,
}

/// A credential at a vendor.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceCredential {
    /// What tells it from others of the channel.
    pub name: String,
    /// The credential.
    pub secret: String,
    /// Whether it is switched off there.
    pub paused: bool,
}

impl std::fmt::Debug for SourceCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SourceCredential({}, paused {})", self.name, self.paused)
    }
}

/// A model of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceModel {
    /// As callers name it.
    pub name: String,
    /// As the vendor names it.
    pub upstream: String,
}

/// What a model costs a call there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePrice {
    /// The model.
    pub model: String,
    /// How much, in their unit.
    pub amount: Units,
}

/// A way to a vendor.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceChannel {
    /// The table.
    pub table: &'static str,
    /// What names the row there.
    pub origin: String,
    /// What operators call it.
    pub name: String,
    /// Where it leads, or why that cannot be taken over.
    pub target: Result<VendorTarget, String>,
    /// Its credentials.
    pub credentials: Vec<SourceCredential>,
    /// Whether it is in use.
    pub enabled: bool,
    /// The higher, the sooner it is used.
    pub priority: i64,
    /// Its share among those of one priority.
    pub weight: i64,
    /// What it makes.
    pub models: Vec<SourceModel>,
    /// What of it is not taken over.
    pub notes: Vec<String>,
}
