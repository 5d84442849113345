//! Stories: one promise each, told by calling the service's steps by hand with a hand-turned clock.

#[path = "../../../store/tests/files/defaults.rs"]
mod asset_defaults;
mod defaults;
mod receiver;
mod rig;
mod scripted;
mod stage;

mod address_keys;
mod adoption;
mod archive;
mod assets;
mod attempts;
mod backups;
mod callbacks;
#[path = "../../../../fuzz/inputs.rs"]
mod chance;
mod child_keys;
mod cleaner;
mod costs;
#[cfg(feature = "credentials")]
mod credentials;
mod custody;
mod day;
mod deadlines;
mod disconnects;
mod endings;
mod fairness;
mod field_support;
#[path = "../../../backends/tests/vendors/formats.rs"]
mod formats;
mod freezes;
mod fuzzed;
mod group_prices;
mod groups;
mod hooks;
mod hopeless;
#[path = "../../../backends/tests/vendors/hosted.rs"]
mod hosted;
mod inputs;
mod kills;
#[path = "../../../backends/tests/vendors/local.rs"]
mod local;
mod lost_submits;
mod model_changes;
mod model_outages;
mod models;
mod money;
mod names;
mod posted;
mod prices;
mod prompts;
mod rehearsals;
mod repeats;
mod retention;
mod scale;
mod schedule;
mod set_back;
mod short_work;
mod slots;
#[expect(dead_code, reason = "the tests of adapters need more of a server")]
#[path = "../../../backends/tests/vendors/stand.rs"]
mod stand;
#[path = "../../../../tests/shared/stopwatch.rs"]
mod stopwatch;
mod survival;
mod unusable_workers;
mod vendors;
#[path = "../../../backends/tests/vendors/verified.rs"]
mod verified;
mod verify;
mod workers;
