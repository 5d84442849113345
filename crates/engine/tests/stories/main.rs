//! Stories: one promise each, told by calling the house's steps by hand with a hand-turned clock.

mod receiver;
mod rig;
mod scripted;
mod stage;

mod address_keys;
mod adoption;
mod attempts;
mod callbacks;
#[path = "../../../../fuzz/inputs.rs"]
mod chance;
mod costs;
mod custody;
mod deadlines;
mod endings;
mod fairness;
mod fuzzed;
mod hang_ups;
mod inputs;
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
mod strangers;
mod survival;
mod tidy;
mod vault;
mod vendors;
mod workers;
