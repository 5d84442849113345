//! What the figures of the other parts leave out, because they are measured with it switched off: limits of rates, and Content
//! Credentials where the program was built with them. Two services take turns that differ in nothing else.

use anyhow::Result;

use crate::jobs;
use crate::load;
use crate::report::{median, ratio, say};
use crate::service::{self, ServiceProcess, request};
use crate::sync::SMALL_SIDE;

const CONNECTIONS: usize = 64;
const SECONDS: f64 = 2.0;
/// So many that nobody is ever refused, and every call is counted.
const COUNTED: &[(&str, &str)] = &[
    ("ATELIER_LIMITS_SUBMITS_PER_SECOND", "1000000"),
    ("ATELIER_LIMITS_SUBMITS_BURST", "1000000"),
    ("ATELIER_LIMITS_CALLS_PER_SECOND", "1000000"),
    ("ATELIER_LIMITS_CALLS_BURST", "1000000"),
    ("ATELIER_CREDENTIALS_ENABLED", "false"),
];
const PLAIN: &[(&str, &str)] = &[("ATELIER_CREDENTIALS_ENABLED", "false")];
const SIGNED: &[(&str, &str)] = &[("ATELIER_CREDENTIALS_ENABLED", "true")];
const SIGNATURES: &str = r#"atelier_credentials_total{outcome="signed"}"#;

/// A service, what is asked of it, and the vendor behind it.
struct Side {
    service: ServiceProcess,
    call: Vec<u8>,
    _vendor: ServiceProcess,
}

/// What is asked.
#[derive(Clone, Copy)]
enum CallKind {
    Fetch,
    Picture,
}

/// Measures so many rounds and prints.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    compare(rounds, "limits of rates, a fetch", CallKind::Fetch, COUNTED).await?;
    let what = "limits of rates, a small synchronous picture";
    compare(rounds, what, CallKind::Picture, COUNTED).await?;
    let what = "Content Credentials, a small synchronous picture";
    let with = compare(rounds, what, CallKind::Picture, SIGNED).await?;
    let told = service::metrics(with.service.address).await?;
    let signed = told.lines().find_map(|line| line.strip_prefix(SIGNATURES));
    if signed.is_none_or(|count| count.trim() == "0") {
        say("but nothing was signed: the program was built without Content Credentials");
    }
    Ok(())
}

/// The same calls to one without and one with it; the one with.
async fn compare(
    rounds: usize,
    what: &str,
    asked: CallKind,
    settings: &[(&str, &str)],
) -> Result<Side> {
    let sides = [side(asked, PLAIN).await?, side(asked, settings).await?];
    let mut rates = [Vec::new(), Vec::new()];
    let mut processor = [Vec::new(), Vec::new()];
    for number in 0..=rounds {
        for (at, side) in sides.iter().enumerate() {
            let before = side.service.processor_seconds()?;
            let round = load::round(side.service.address, CONNECTIONS, SECONDS, &side.call).await?;
            let seconds = side.service.processor_seconds()? - before;
            // The first round only warms up.
            if number > 0 {
                rates[at].push(round.per_second);
                processor[at].push(seconds * 1e6 / round.answered.max(1) as f64);
            }
        }
    }
    say(&format!(
        "{what}: {:.0}/s with and {:.0}/s without = {:.2}; {:.1} and {:.1} µs of processor each = {:.2}",
        median(&rates[1]),
        median(&rates[0]),
        ratio(&rates[1], &rates[0]),
        median(&processor[1]),
        median(&processor[0]),
        ratio(&processor[1], &processor[0]),
    ));
    let [_, with] = sides;
    Ok(with)
}

async fn side(asked: CallKind, settings: &[(&str, &str)]) -> Result<Side> {
    let side = SMALL_SIDE;
    let vendor = service::start_reference(&["serve-vendor", &side.to_string()]).await?;
    let service = service::start_with(None, settings).await?;
    let key = service::account(service.address, "costs").await?;
    service::backend(service.address, vendor.address).await?;
    let body = format!(r#"{{"prompt":"a lighthouse","model":"art-2","size":"{side}x{side}"}}"#);
    let path = "/v1/images/generations";
    let call = match asked {
        CallKind::Picture => request("POST", path, &key, &body, false),
        CallKind::Fetch => {
            let id = jobs::finished(&service, &key).await?;
            request(
                "GET",
                &format!("/artgen/v1/fetch?jobId={id}"),
                &key,
                "",
                false,
            )
        }
    };
    Ok(Side {
        service,
        call,
        _vendor: vendor,
    })
}
