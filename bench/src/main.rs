//! One command that starts the service and its own bare references and compares them in interleaved rounds.
//! Figures on a shared machine are noisy; the ratios inside one run are the claim.
//!
//! `cargo run --release -p atelier-bench` runs everything; `-- fetch`, `-- submit`, `-- jobs`, `-- sync`, `-- callbacks`, `-- events`,
//! `-- costs` or `-- start` one part (`-- jobs short` and the like with fewer rounds), `-- soak 30` puts it under load for thirty minutes and looks for what grows.
//! PostgreSQL is measured too when `ATELIER_TEST_POSTGRES` holds the address of a server to make databases on.

mod callbacks;
mod costs;
mod events;
mod fetch;
mod folder;
mod jobs;
mod load;
mod pace;
mod proxy;
mod receiver;
mod reference;
mod report;
mod service;
mod soak;
mod start;
mod submit;
mod sync;
mod writer;

use anyhow::{Context as _, Result};

/// Rounds of the full form of a part, and of a short one to look with.
const ROUNDS: usize = 7;
const SHORT: usize = 3;

/// Where vendors that speak like OpenAI, or like a web interface for Stable Diffusion, are asked for pictures.
const PICTURES: &str = "/v1/images/generations";
const WEBUI: &str = "/sdapi/v1/txt2img";
const PROGRESS: &str = "/sdapi/v1/progress";

#[tokio::main]
async fn main() -> Result<()> {
    let ran = run().await;
    folder::clear();
    ran
}

async fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve-fixed", body] => reference::serve_fixed(body).await,
        ["serve-writer", database] => reference::serve_writer(database).await,
        ["serve-vendor", side] => {
            reference::serve_vendor(PICTURES, sync::answer(side.parse()?)?, None).await
        }
        ["serve-webui", side] => {
            let picture = sync::picture(side.parse()?)?;
            let body = format!(r#"{{"images":["{picture}"],"info":"{{\"seed\":7}}"}}"#);
            reference::serve_vendor(WEBUI, body, Some(PROGRESS)).await
        }
        ["serve-answer", file] => {
            reference::serve_vendor(PICTURES, std::fs::read_to_string(file)?, None).await
        }
        ["serve-proxy", vendor, folder] => proxy::serve(vendor.parse()?, folder.as_ref()).await,
        ["load", address, connections, seconds] => {
            load::command(address.parse()?, connections.parse()?, seconds.parse()?).await
        }
        ["pace", address, connections, seconds, rate] => {
            let (connections, seconds) = (connections.parse()?, seconds.parse()?);
            pace::command(address.parse()?, connections, seconds, rate.parse()?).await
        }
        [] => all(ROUNDS).await,
        ["short"] => all(SHORT).await,
        ["events"] => events::run().await,
        ["fetch"] => fetch::run(ROUNDS).await,
        ["fetch", "short"] => fetch::run(SHORT).await,
        ["jobs"] => jobs::run(ROUNDS).await,
        ["jobs", "short"] => jobs::run(SHORT).await,
        ["submit"] => submit::run(ROUNDS).await,
        ["submit", "short"] => submit::run(SHORT).await,
        ["sync"] => sync::run(ROUNDS).await,
        ["sync", "short"] => sync::run(SHORT).await,
        ["callbacks"] => callbacks::run(ROUNDS).await,
        ["callbacks", "short"] => callbacks::run(SHORT).await,
        ["costs"] => costs::run(ROUNDS).await,
        ["costs", "short"] => costs::run(SHORT).await,
        ["start"] => start::run().await,
        ["soak", minutes] => soak::run(minutes.parse().context("minutes")?).await,
        _ => anyhow::bail!(
            "known parts are start, fetch, submit, jobs, sync, callbacks, events, costs and soak MINUTES; `short` behind fetch, submit, \
             jobs, sync, callbacks or costs for fewer rounds"
        ),
    }
}

async fn all(rounds: usize) -> Result<()> {
    start::run().await.context("start")?;
    fetch::run(rounds).await.context("fetch")?;
    submit::run(rounds).await.context("submit")?;
    jobs::run(rounds).await.context("jobs")?;
    sync::run(rounds).await.context("sync")?;
    callbacks::run(rounds).await.context("callbacks")?;
    events::run().await.context("events")
}
