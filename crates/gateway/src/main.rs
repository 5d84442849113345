//! Atelier: a self-hosted, quota-metered gateway for generated media.
//!
//! Invariants: the gateway never writes SQL; status codes and envelopes live in `http/reply.rs`; `app.rs` alone builds
//! the store, the back ends and the engine; settings come from `config`.

mod app;
mod catalogue;
mod cli;
mod config;
mod counts;
mod first_run;
mod http;
mod logging;
mod openapi;
mod pages;
mod secrets;
mod server;
mod shares;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("atelier: {error:#}");
            ExitCode::FAILURE
        }
    }
}
