//! The command line: calls a service over HTTP, as everybody does, and shows what it answers.
//!
//! Invariants: what it knows of a service is the catalogue, which the program hands in, and what the service answers;
//! it uses neither engine nor store nor back ends; what acts on an installation of this machine is brought by the program.

mod client;
mod command;
mod command_line;
mod commands;
mod receipts;
#[cfg(test)]
mod sample;
mod terminal;

pub use client::fault::{ExitReason, Fault};
pub use command::{Command, Entry, Group, block_on};
pub use command_line::CommandLine;
pub use terminal::screen;
