//! The service from outside: the real binary on a free port, spoken to over HTTP. One file per subject; the harness is
//! in `gateway.rs`. With `ATELIER_TEST_POSTGRES` set, every test runs on a fresh PostgreSQL database of its own.

#[path = "../../../store/tests/files/defaults.rs"]
mod asset_defaults;
mod gateway;
mod hostile_list;
mod outside;
#[macro_use]
mod asset_store;
#[macro_use]
#[path = "../../../../tests/shared/needs.rs"]
mod needs;

mod access;
mod acts;
mod allowances;
mod answers;
mod artgen_story;
mod assets;
mod backends;
mod banned_words;
mod batches;
mod bodies;
mod chained;
mod cli;
mod clocks;
mod connections;
mod console;
mod crash;
mod crash_points;
mod credits;
mod crowds;
mod declared;
mod deletion;
mod documented;
mod envelopes;
mod events;
mod families;
mod files;
mod first_run;
#[path = "../../../backends/tests/vendors/formats.rs"]
mod formats;
mod framing;
mod fuzzed;
mod groups;
mod hook_words;
#[path = "../../../backends/tests/vendors/hosted.rs"]
mod hosted;
mod hostile;
mod hostile_requests;
mod idempotency;
#[path = "../../../../fuzz/inputs.rs"]
mod inputs;
mod journal;
mod keys;
mod killed;
mod large_assets;
mod limited_keys;
mod limits;
mod links;
mod listeners;
#[expect(
    dead_code,
    reason = "stories of killed processes need more of the servers"
)]
#[path = "../../../backends/tests/vendors/local.rs"]
mod local;
mod long_lists;
mod looking;
mod lookups;
mod mcp;
mod memory;
mod metrics;
mod midjourney;
mod models;
mod money;
mod names;
mod operator;
mod operators;
mod own_acts;
mod own_urls;
mod payments;
mod posted;
mod public;
mod receivers;
mod references;
mod relayed;
mod searches;
mod sessions;
mod shares;
mod short_work;
mod silences;
#[expect(dead_code, reason = "the tests of adapters need more of a server")]
#[path = "../../../backends/tests/vendors/stand.rs"]
mod stand;
mod states;
mod stopping;
#[path = "../../../../tests/shared/stopwatch.rs"]
mod stopwatch;
mod strangers;
mod thumbs;
mod traces;
mod translation;
mod upkeep;
mod vendor_failures;
mod vendors;
#[path = "../../../backends/tests/vendors/verified.rs"]
mod verified;
mod vidgen;
mod words;
