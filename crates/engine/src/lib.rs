//! The engine: a call becomes a job, is worked on, settled, delivered and kept.
//!
//! Invariants: the engine never sees a caller's socket; a job becomes final in one function (`runner::settle`); quota moves
//! only inside the store's commits; every loop is a step that can be called by hand; time and identifiers are parameters.

mod admin;
pub mod archive;
mod assets;
pub mod audit;
mod auditor;
pub mod backup;
mod base_url;
mod callback_queue;
mod callbacks;
mod certificate;
mod cleaner;
mod clock;
mod context;
pub mod crash;
mod engine;
mod hint;
mod ids;
mod intake;
mod jobs;
pub mod key;
mod keyring;
mod loops;
mod meters;
mod model_revisions;
mod names;
mod order;
mod recent_names;
pub mod records;
mod render;
mod runner;
pub mod seal;
mod settings;
pub mod sign;
mod tracer;
mod wake;

pub use admin::{
    Admin, CachedCaller, Caller, CreditRequest, CustodyRequest, GroupEdit, GroupReport, KeyEdit,
    KeyHolder, KeyPolicy, KeyRequest, ModelEdit, ModelReport, NewAccountRequest, NodeStats,
    Operator, PaymentRequest, Principal, ROOT, RefundRequest, ResealError, RouteHealth,
    ServedJobView, ServiceStats, SessionCredential, TopupRequest, Trail, codes_csv, stored_terms,
};
pub use assets::{ASSETS, Asset, Assets, Links, Uploads};
pub use atelier_backends::guard::names_own_machine;
pub use atelier_backends::hooks::MOST_KEPT;
pub use atelier_backends::{WebhookRequest, credentials};
pub use base_url::{with_base_url, with_base_url_now};
pub use callbacks::Callbacks;
pub use certificate::{OwnCertificateError, own_certificate};
pub use clock::{Clock, ServiceClock, SimulatedMachine};
pub use engine::{Engine, Parts};
pub use ids::{Ids, random_bytes};
pub use intake::{BulkAnswer, BulkCall, BulkView, Call, Intake, QuoteTerms, Submission};
pub use jobs::{Jobs, refusal_of};
pub use keyring::Keyring;
pub use loops::RunningEngine;
pub use meters::Meters;
pub use runner::{EmbeddedWorker, HookListener, ModelOutlook, Runner};
pub use settings::{
    CallbackSettings, Days, EpaySettings, Hours, JobSettings, ManualSettings, Minutes,
    PaymentSettings, Period, PriceSettings, PromptSettings, PublicUrls, ReceiptSettings, Retention,
    Seconds, Settings, StripeSettings, Translation,
};
pub use tracer::{OpenSpan, SpanKind, Telemetry, TraceContext, Tracer};
pub use wake::Changes;
