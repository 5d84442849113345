//! The embedded engine, asked the way the service asks it.

#[macro_use]
#[path = "../../../../tests/shared/needs.rs"]
mod needs;

mod artgen;
mod defaults;
mod films;
mod flags;
mod pictures;
mod probe;
mod sandbox;
mod studio;

#[path = "../../../studio/tests/words/measure.rs"]
#[expect(dead_code, reason = "only some of the measures are needed here")]
mod measure;
