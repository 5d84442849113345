//! Whole jobs that cost nothing to make: accepted, leased, worked on, settled, and with a callback delivered. Compared with
//! our own durable submits in the same rounds, which is what the disk alone allows.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::time::Instant;

use crate::load;
use crate::receiver::Receiver;
use crate::report::{Spread, median, ratio, say};
use crate::service::{self, ServiceProcess, request};
use crate::sync::SMALL_SIDE;

const SUBMITTERS: usize = 64;
const SECONDS: f64 = 3.0;
/// Jobs that are not done by then have been lost.
const PATIENCE: Duration = Duration::from_mins(2);
/// A prompt that keeps the embedded engine from drawing.
const STALLED: &str = r#"{"prompt":"a lighthouse at dawn [[stall]]","timeout":1200}"#;

/// What a round gave.
struct Whole {
    per_second: f64,
    processor_ms: f64,
    submits_per_second: f64,
}

/// What is made of each job.
#[derive(Clone, Copy, PartialEq)]
enum JobOutput {
    /// A number that is only told.
    Nothing,
    /// The same, and a callback.
    Callback,
    /// A small file from a vendor that answers at once, and a callback.
    File,
}

/// Measures so many rounds and prints.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    let kinds = [
        ("no callback (aim 0.5)", JobOutput::Nothing),
        ("a callback each", JobOutput::Callback),
        (
            "a small file and a callback each (aim 2500/s)",
            JobOutput::File,
        ),
    ];
    for (name, made) in kinds {
        let (mut whole, mut submits, mut processor, mut taken) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            submits.push(submits_alone().await?);
            let round = jobs(made).await?;
            whole.push(round.per_second);
            processor.push(round.processor_ms);
            taken.push(round.submits_per_second);
        }
        say(&format!(
            "whole jobs on SQLite, {name}, {SUBMITTERS} submitters: {}/s = {:.2} of {:.0} durable submits/s alone; \
             {:.3} ms of processor each; submitted at {:.0}/s meanwhile",
            Spread::of(&whole),
            ratio(&whole, &submits),
            median(&submits),
            median(&processor),
            median(&taken),
        ));
    }
    Ok(())
}

/// How many submits a second the service takes when nothing has to be done about them.
async fn submits_alone() -> Result<f64> {
    let service = service::start(None).await?;
    let key = service::account(service.address, "submits").await?;
    let call = request("POST", "/artgen/v1/imagine", &key, STALLED, false);
    let round = load::round(service.address, SUBMITTERS, SECONDS, &call).await?;
    Ok(round.per_second)
}

async fn jobs(made: JobOutput) -> Result<Whole> {
    let service = service::start(None).await?;
    let key = service::account(service.address, "jobs").await?;
    let receiver = Receiver::start().await?;
    let side = SMALL_SIDE;
    let vendor = service::start_reference(&["serve-webui", &side.to_string()]).await?;
    let (path, body) = if made == JobOutput::File {
        service::webui(service.address, vendor.address).await?;
        let hook = &receiver.url;
        let body = format!(
            r#"{{"prompt":"a lighthouse","model":"anime-diffusion-4-5-full","width":{side},"height":{side},"hook_url":"{hook}"}}"#
        );
        ("/animegen/text-to-image", body)
    } else {
        let parent = finished(&service, &key).await?;
        let hook = format!(r#","hookUrl":"{}""#, receiver.url);
        let hook = if made == JobOutput::Callback {
            &hook
        } else {
            ""
        };
        let body = format!(r#"{{"jobId":"{parent}"{hook}}}"#);
        ("/artgen/v1/seed", body)
    };
    let call = request("POST", path, &key, &body, false);
    let (begin, before) = (Instant::now(), service.processor_seconds()?);
    let round = load::round(service.address, SUBMITTERS, SECONDS, &call).await?;
    let submitted = round.answered as f64;
    all_done(&service, begin + PATIENCE).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    if made != JobOutput::Nothing {
        let arrived = receiver.arrivals().len() as f64;
        anyhow::ensure!(arrived >= submitted, "{arrived} callbacks of {submitted}");
    }
    let processor = service.processor_seconds()? - before;
    let broken = service.check(None).await?;
    anyhow::ensure!(broken.is_empty(), "the ledger does not balance: {broken}");
    Ok(Whole {
        per_second: submitted / elapsed,
        processor_ms: processor * 1000.0 / submitted,
        submits_per_second: round.per_second,
    })
}

/// A finished picture, whose seed can be asked for.
pub(crate) async fn finished(service: &ServiceProcess, key: &str) -> Result<String> {
    let body = r#"{"prompt":"a lighthouse at dawn"}"#;
    let submit = request("POST", "/artgen/v1/imagine", key, body, true);
    let accepted = service::call(service.address, &submit).await?;
    let id = accepted["data"]["jobId"].as_str();
    let id = id.with_context(|| accepted.to_string())?.to_owned();
    let path = format!("/artgen/v1/fetch?jobId={id}");
    loop {
        let call = request("GET", &path, key, "", true);
        match service::call(service.address, &call).await?["status"].as_str() {
            Some("SUCCESS") => return Ok(id),
            Some("FAILED") => bail!("the picture was not made"),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Waits until no job is left and no callback is owed.
async fn all_done(service: &ServiceProcess, deadline: Instant) -> Result<()> {
    loop {
        let text = service::metrics(service.address).await?;
        let left = ["jobs_waiting", "jobs_running", "callbacks_due"].map(|name| {
            let line = text.lines().find_map(|line| {
                line.strip_prefix("atelier_")?
                    .strip_prefix(name)?
                    .strip_prefix(' ')
            });
            line.and_then(|number| number.parse::<u64>().ok())
        });
        if left == [Some(0); 3] {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("jobs are left: {left:?}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
