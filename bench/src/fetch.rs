//! Fetch of a finished job against bare axum that answers with the same bytes.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::load;
use crate::report::{median, ratio, say};
use crate::service::{self, request};

const SECONDS: f64 = 3.0;

/// Measures so many rounds and prints.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    let service = service::start(None).await?;
    let key = service::account(service.address, "fetch").await?;
    let submit = request(
        "POST",
        "/artgen/v1/imagine",
        &key,
        r#"{"prompt":"a lighthouse at dawn"}"#,
        true,
    );
    let accepted = service::call(service.address, &submit).await?;
    let id = accepted["data"]["jobId"]
        .as_str()
        .with_context(|| accepted.to_string())?;
    let path = format!("/artgen/v1/fetch?jobId={id}");
    let body = loop {
        let body = service::call(service.address, &request("GET", &path, &key, "", true)).await?;
        match body["status"].as_str() {
            Some("SUCCESS") => break body.to_string(),
            Some("FAILED") => anyhow::bail!("{body}"),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    };
    let reference = service::start_reference(&["serve-fixed", &body]).await?;
    let call = request("GET", &path, &key, "", false);
    for (connections, aim) in [(64, 0.85), (256, 0.75)] {
        let (mut ours, mut theirs, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            theirs.push(
                load::round(reference.address, connections, SECONDS, &call)
                    .await?
                    .per_second,
            );
            let round = load::round(service.address, connections, SECONDS, &call).await?;
            ours.push(round.per_second);
            slow.push(round.p99_ms);
        }
        say(&format!(
            "fetch, {connections} connections: {:.0}/s against bare axum's {:.0}/s = {:.2} (aim {aim}), p99 {:.1} ms",
            median(&ours),
            median(&theirs),
            ratio(&ours, &theirs),
            median(&slow),
        ));
    }
    Ok(())
}
