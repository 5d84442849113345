//! Atelier: a self-hosted, quota-metered gateway for generated media.
//!
//! Invariants: the gateway never writes SQL; every answer is made in `http/reply.rs`; `app` alone imports the store and
//! the back ends, and builds the engine over them; settings come from `config`; `commands` alone uses the command line.

mod access_log;
mod app;
mod catalogue;
mod commands;
mod config;
mod counts;
mod disk;
mod edition_cache;
mod http;
mod logging;
mod mcp;
mod memory;
mod network;
mod openapi;
mod pages;
mod secrets;
mod server;

use std::process::ExitCode;

use atelier_cli::{Fault, screen};

/// A call makes a dozen small allocations; with this one they cost half of what the C library's cost, and what many
/// threads gave back is found again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match commands::COMMAND_LINE.run() {
        Ok(code) => code,
        Err(error) => {
            screen::note(format!("atelier: {}", screen::cause(&error)));
            Fault::exit_code(&error)
        }
    }
}
