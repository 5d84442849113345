//! Durable submit over HTTP against bare axum in front of a raw batched writer of the same rows.

use anyhow::Result;

use crate::load;
use crate::report::{median, ratio, say};
use crate::service::{self, request};

const ROUNDS: usize = 3;
const SECONDS: f64 = 2.0;
const BODY: &str = r#"{"prompt":"a lighthouse at dawn [[stall]]","timeout":1200}"#;
/// Nobody but a silent back end is there, so that accepting is what is measured: the embedded engine would begin every job.
const SETTINGS: &[(&str, &str)] = &[("ATELIER_STUDIO_ENABLED", "false")];

/// Measures and prints, on SQLite and, when there is a server, on PostgreSQL.
pub(crate) async fn run() -> Result<()> {
    compare("SQLite", None).await?;
    if let Some(server) = service::postgres() {
        return compare("PostgreSQL", Some(&server)).await;
    }
    say("PostgreSQL was not measured: set ATELIER_TEST_POSTGRES");
    Ok(())
}

async fn compare(name: &str, server: Option<&str>) -> Result<()> {
    for submitters in [64, 256] {
        let (mut ours, mut theirs, mut half, mut slow) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let place =
                crate::writer::fresh_database(server, &format!("raw{submitters}x{round}")).await?;
            let reference = service::start_reference(&["serve-writer", &place.url]).await?;
            let call = request("POST", "/artgen/v1/imagine", "svc-api-key: x", BODY, false);
            theirs.push(
                load::round(reference.address, submitters, SECONDS, &call)
                    .await?
                    .per_second,
            );
            drop(reference);

            let place = match server {
                Some(_) => Some(
                    crate::writer::fresh_database(server, &format!("own{submitters}x{round}"))
                        .await?,
                ),
                None => None,
            };
            let url = place.as_ref().map(|place| place.url.as_str());
            let service = service::start_with(url, SETTINGS).await?;
            let _silent = service::one_silent_place(service.address).await?;
            let key = service::account(service.address, "submit").await?;
            let call = request("POST", "/artgen/v1/imagine", &key, BODY, false);
            let measured = load::round(service.address, submitters, SECONDS, &call).await?;
            ours.push(measured.per_second);
            half.push(measured.p50_ms);
            slow.push(measured.p99_ms);
        }
        say(&format!(
            "durable submit on {name}, {submitters} submitters: {:.0}/s against a raw batched writer's {:.0}/s = \
             {:.2} (aim 0.5), p50 {:.1} ms, p99 {:.1} ms",
            median(&ours),
            median(&theirs),
            ratio(&ours, &theirs),
            median(&half),
            median(&slow),
        ));
    }
    Ok(())
}
