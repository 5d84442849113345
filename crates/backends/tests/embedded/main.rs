//! The embedded engine, asked the way the service asks it.

mod artgen;
mod films;
mod pictures;
mod sandbox;
mod studio;
