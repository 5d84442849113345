//! The service from outside: the real binary on a free port, spoken to over HTTP. One file per subject; the harness is
//! in `gateway.rs`. With `ATELIER_TEST_POSTGRES` set, every test runs on a fresh PostgreSQL database of its own.

mod gateway;
mod hostile_list;
mod outside;
#[macro_use]
mod vault;

mod access;
mod acts;
mod allowances;
mod artgen_story;
mod assets;
mod backends;
mod batches;
mod bodies;
mod chained;
mod cli;
mod clocks;
mod connections;
mod console;
mod crash;
mod deletion;
mod envelopes;
mod events;
mod families;
mod files;
mod first_run;
mod framing;
mod fuzzed;
mod hostile;
mod hostile_requests;
mod idempotency;
#[path = "../../../../fuzz/inputs.rs"]
mod inputs;
mod keys;
mod large_assets;
mod limits;
mod listeners;
mod looking;
mod lookups;
mod mcp;
mod metrics;
mod midjourney;
mod money;
mod operator;
mod operators;
mod public;
mod receivers;
mod references;
mod relayed;
mod shares;
mod stopping;
mod traces;
mod translation;
mod upkeep;
