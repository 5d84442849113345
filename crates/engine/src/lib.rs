//! The working house: a call becomes a job, is worked on, settled, delivered and kept.
//!
//! Invariants: the engine never sees a caller's socket; a job becomes final in one function (`floor::settle`); quota moves
//! only inside the store's commits; every loop is a step that can be called by hand; time and identifiers are parameters.

pub mod archive;
pub mod audit;
mod auditor;
pub mod backup;
mod certificate;
mod clock;
mod courier;
pub mod crash;
mod engine;
mod floor;
mod handover;
mod hint;
mod house;
mod ids;
mod intake;
mod jobs;
pub mod key;
mod keyring;
mod lately;
mod loops;
mod meters;
mod names;
mod office;
mod order;
mod render;
pub mod seal;
mod settings;
pub mod sign;
mod tidy;
mod tracer;
mod vault;
mod views;
mod wake;

pub use atelier_backends::guard::names_own_machine;
pub use atelier_backends::{Post, allowances, credentials, heavy, shares};
pub use atelier_store::AllowancePatch;
pub use atelier_store::MARKS_MOST;
pub use certificate::{OwnCertificateError, own_certificate};
pub use clock::{Clock, ServiceClock, SimulatedMachine};
pub use courier::Courier;
pub use engine::{Engine, Parts};
pub use floor::{Floor, Worker};
pub use ids::{Ids, random_bytes};
pub use intake::{BulkAnswer, BulkCall, BulkView, Call, Intake, Submitted};
pub use jobs::{Jobs, refusal_of};
pub use keyring::Keyring;
pub use loops::Running;
pub use meters::Meters;
pub use office::{
    AttemptView, Believed, Caller, Here, KeyHolder, KeyView, KeyWish, Moment, Office, Opener,
    Operator, OperatorView, ROOT, ResealError, Served, Trail, Visitor,
};
pub use settings::{Moderation, Settings, Translation};
pub use tracer::{Kind as SpanKind, Open as OpenSpan, Telemetry, TraceContext, Tracer};
pub use vault::{ASSETS, Asset, Uploads, Vault};
pub use views::{
    AccountChange, AccountView, AuditView, CallbackView, JobMark, JobsFilter, JobsPage, LedgerView,
    NewAccountRequest, TryView, UploadView, UsageView,
};
pub use wake::Changes;
