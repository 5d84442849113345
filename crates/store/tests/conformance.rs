//! Every promise of the store, kept on SQLite and on PostgreSQL. A case is written once and runs on each; its
//! name carries the database. PostgreSQL cases are ignored unless they are asked for, and need `ATELIER_TEST_POSTGRES`, a URL
//! whose role may create databases.

#[path = "conformance/rig.rs"]
#[macro_use]
mod rig;

#[path = "conformance/accept.rs"]
mod accept;
#[path = "conformance/accounts.rs"]
mod accounts;
#[path = "conformance/acts.rs"]
mod acts;
#[path = "conformance/archive.rs"]
mod archive;
#[path = "conformance/assets.rs"]
mod assets;
#[path = "conformance/attempt.rs"]
mod attempt;
#[path = "conformance/backend_changes.rs"]
mod backend_changes;
#[path = "conformance/bulk.rs"]
mod bulk;
#[path = "conformance/chain.rs"]
mod chain;
#[path = "conformance/claims.rs"]
mod claims;
#[path = "conformance/clock.rs"]
mod clock;
#[path = "conformance/costs.rs"]
mod costs;
#[path = "conformance/coverage.rs"]
mod coverage;
#[path = "conformance/credit_limits.rs"]
mod credit_limits;
#[path = "conformance/credits.rs"]
mod credits;
#[path = "conformance/deletion.rs"]
mod deletion;
#[path = "conformance/deliveries.rs"]
mod deliveries;
#[path = "conformance/fill.rs"]
mod fill;
#[path = "conformance/groups.rs"]
mod groups;
#[path = "conformance/imports.rs"]
mod imports;
#[path = "conformance/invariants.rs"]
mod invariants;
#[path = "conformance/jobs.rs"]
mod jobs;
#[path = "conformance/key_changes.rs"]
mod key_changes;
#[path = "conformance/keys.rs"]
mod keys;
#[path = "conformance/lanes.rs"]
mod lanes;
#[path = "conformance/lease.rs"]
mod lease;
#[path = "conformance/ledger.rs"]
mod ledger;
#[path = "conformance/links.rs"]
mod links;
#[path = "conformance/migrations.rs"]
mod migrations;
#[path = "conformance/model.rs"]
mod model;
#[path = "conformance/models.rs"]
mod models;
#[path = "conformance/operators.rs"]
mod operators;
#[path = "conformance/pages.rs"]
mod pages;
#[path = "conformance/paid_plans.rs"]
mod paid_plans;
#[path = "conformance/payments.rs"]
mod payments;
#[path = "conformance/plans.rs"]
mod plans;
#[path = "conformance/postgres_only.rs"]
mod postgres_only;
#[path = "conformance/races.rs"]
mod races;
#[path = "conformance/receipts.rs"]
mod receipts;
#[path = "conformance/refunds.rs"]
mod refunds;
#[path = "conformance/rehearsals.rs"]
mod rehearsals;
#[path = "conformance/retention.rs"]
mod retention;
#[path = "conformance/schema.rs"]
mod schema;
#[path = "conformance/search.rs"]
mod search;
#[path = "conformance/service.rs"]
mod service;
#[path = "conformance/sessions.rs"]
mod sessions;
#[path = "conformance/settle.rs"]
mod settle;
#[path = "conformance/shares.rs"]
mod shares;
#[path = "conformance/short.rs"]
mod short;
#[path = "conformance/spenders.rs"]
mod spenders;
#[path = "conformance/spending.rs"]
mod spending;
#[path = "../../../tests/shared/stopwatch.rs"]
mod stopwatch;
#[path = "conformance/topups.rs"]
mod topups;
#[path = "conformance/uploads.rs"]
mod uploads;
#[path = "conformance/vouchers.rs"]
mod vouchers;
#[path = "conformance/workers.rs"]
mod workers;
#[path = "conformance/writer.rs"]
mod writer;
