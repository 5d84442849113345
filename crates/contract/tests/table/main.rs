//! The whole table, driven by its own data, and the rules that are easy to miss, each named by a test.

mod artgen;
mod conform;
mod fields;
mod fuzzed;
mod good_requests;
#[path = "../../../../fuzz/inputs.rs"]
mod inputs;
mod prices;
mod rules;
mod sample;
mod shapes;
mod specs;
mod table;
