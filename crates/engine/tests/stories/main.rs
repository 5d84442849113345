//! Stories: one promise each, told by calling the house's steps by hand with a hand-turned clock.

mod receiver;
mod rig;
mod scripted;
mod stage;

mod address_keys;
mod adoption;
mod archive;
mod attempts;
mod backups;
mod callbacks;
#[path = "../../../../fuzz/inputs.rs"]
mod chance;
mod costs;
#[cfg(feature = "credentials")]
mod credentials;
mod custody;
mod deadlines;
mod endings;
mod fairness;
#[path = "../../../backends/tests/vendors/formats.rs"]
mod formats;
mod freezes;
mod fuzzed;
mod hang_ups;
mod hooks;
#[path = "../../../backends/tests/vendors/hosted.rs"]
mod hosted;
mod inputs;
mod kills;
#[path = "../../../backends/tests/vendors/local.rs"]
mod local;
mod lost_submits;
mod money;
mod names;
mod places;
mod prices;
mod prompts;
mod regards;
mod repeats;
mod retention;
mod scale;
mod schedule;
mod short_work;
#[expect(dead_code, reason = "the tests of adapters need more of a server")]
#[path = "../../../backends/tests/vendors/stand.rs"]
mod stand;
mod strangers;
mod survival;
mod tidy;
mod vault;
mod vendors;
mod workers;
