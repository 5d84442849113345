//! Durable submit over HTTP against bare axum in front of a raw batched writer of the same rows; one submitter alone against
//! one sync of the same disk; one account against a hundred.

use std::io::Write as _;

use anyhow::Result;
use tokio::time::Instant;

use crate::load::{self, Round};
use crate::report::{Spread, median, ratio, say};
use crate::service::{self, request};
use crate::writer::fresh_database;

const SECONDS: f64 = 2.0;
const BODY: &str = r#"{"prompt":"a lighthouse at dawn [[stall]]","timeout":1200}"#;
const PATH: &str = "/artgen/v1/imagine";
/// Nobody but a silent back end is there, so that accepting is what is measured: the embedded engine would begin every job.
const SETTINGS: &[(&str, &str)] = &[("ATELIER_STUDIO_ENABLED", "false")];
/// Accounts that share the load where one has it alone otherwise.
const MANY: usize = 100;
/// Syncs whose middle is what one takes.
const SYNCS: usize = 50;

/// Measures so many rounds and prints, on SQLite and, when there is a server, on PostgreSQL.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    compare(rounds, "SQLite", 0.75, None).await?;
    alone(rounds).await?;
    shared(rounds).await?;
    if let Some(server) = service::postgres() {
        return compare(rounds, "PostgreSQL", 0.7, Some(&server)).await;
    }
    say("PostgreSQL was not measured: set ATELIER_TEST_POSTGRES");
    Ok(())
}

async fn compare(rounds: usize, name: &str, aim: f64, server: Option<&str>) -> Result<()> {
    for submitters in [64, 256] {
        let (mut ours, mut theirs, mut half, mut slow) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            let place = fresh_database(server, &format!("raw{submitters}x{round}")).await?;
            let reference = service::start_reference(&["serve-writer", &place]).await?;
            let call = request("POST", PATH, "svc-api-key: x", BODY, false);
            let raw = load::round(reference.address, submitters, SECONDS, &call).await?;
            theirs.push(raw.per_second);
            drop(reference);
            let own = match server {
                Some(_) => {
                    let name = format!("own{submitters}x{round}");
                    Some(fresh_database(server, &name).await?)
                }
                None => None,
            };
            let url = own.as_deref();
            let measured = submits(url, submitters, 1).await?;
            ours.push(measured.per_second);
            half.push(measured.p50_ms);
            slow.push(measured.p99_ms);
        }
        say(&format!(
            "durable submit on {name}, {submitters} submitters: {}/s against a raw batched writer's {:.0}/s = \
             {:.2} (aim {aim}), p50 {:.1} ms, p99 {:.1} ms",
            Spread::of(&ours),
            median(&theirs),
            ratio(&ours, &theirs),
            median(&half),
            median(&slow),
        ));
    }
    Ok(())
}

/// One submitter, whose answer waits for one sync.
async fn alone(rounds: usize) -> Result<()> {
    let (mut ours, mut syncs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        syncs.push(one_sync_ms()?);
        ours.push(submits(None, 1, 1).await?.p50_ms);
    }
    say(&format!(
        "durable submit on SQLite, one submitter: p50 {:.2} ms against {:.2} ms for one sync = {:.1} (aim 2)",
        median(&ours),
        median(&syncs),
        ratio(&ours, &syncs),
    ));
    Ok(())
}

/// All submits in one account against the same load spread over many.
async fn shared(rounds: usize) -> Result<()> {
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        many.push(submits(None, MANY, MANY).await?.per_second);
        one.push(submits(None, MANY, 1).await?.per_second);
    }
    say(&format!(
        "durable submit on SQLite, {MANY} submitters: one account {:.0}/s against {MANY} accounts' {:.0}/s = {:.2} (aim 0.8)",
        median(&one),
        median(&many),
        ratio(&one, &many),
    ));
    Ok(())
}

/// Submits of so many accounts to a service of its own.
async fn submits(database: Option<&str>, submitters: usize, accounts: usize) -> Result<Round> {
    let service = service::start_with(database, SETTINGS).await?;
    let _silent = service::one_silent_place(service.address).await?;
    let mut calls = Vec::new();
    for number in 0..accounts {
        let key = service::account(service.address, &format!("submit{number}")).await?;
        calls.push(request("POST", PATH, &key, BODY, false));
    }
    load::round_of(service.address, submitters, SECONDS, &calls).await
}

/// How long the disk takes to make some more bytes of a file durable.
fn one_sync_ms() -> Result<f64> {
    let path = crate::folder::fresh("sync")?.join("file");
    let mut file = std::fs::File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..SYNCS {
        file.write_all(&[0; 8192])?;
        let begin = Instant::now();
        file.sync_data()?;
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(median(&times))
}
