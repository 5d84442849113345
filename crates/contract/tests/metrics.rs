//! The names of metrics: everything that reads them names some that exist, and every one follows the conventions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use atelier_contract::metrics::{METRICS, MetricKind};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
/// Files that ask for metrics.
const READERS: &[&str] = &[
    "packaging/watching/alerts.yml",
    "packaging/watching/alerts.test.yml",
    "packaging/watching/dashboard.json",
];
const DOCUMENT: &str = "docs/metrics.md";

fn read(path: &str) -> String {
    fs::read_to_string(format!("{ROOT}{path}")).expect(path)
}

/// Every word of a text that begins as a metric does.
fn named(text: &str) -> BTreeSet<String> {
    let part = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let words = text.split(part);
    let begins = |word: &&str| word.starts_with("atelier_") || word.starts_with("process_");
    words.filter(begins).map(str::to_owned).collect()
}

/// The promise: no alert and no panel asks for what nobody counts.
#[test]
fn alerts_and_dashboard_ask_for_metrics_that_exist() {
    for path in READERS {
        let names = named(&read(path));
        assert!(names.len() > 3, "{path} asks for something");
        for name in names {
            let known = METRICS.iter().any(|metric| metric.is_read_as(&name));
            assert!(known, "{path} asks for {name}, which is not in the table");
        }
    }
}

/// The promise: what is counted can be seen by whoever imports the dashboard and the alerts.
#[test]
fn nearly_every_metric_is_on_the_dashboard_or_in_an_alert() {
    /// For looking into something, not for watching it.
    const ASIDE: &[&str] = &[
        "atelier_build_info",
        "atelier_jobs_in_hand",
        "atelier_share_largest",
        "atelier_worker_average_seconds",
        "atelier_worker_slots",
        "atelier_callback_duration_seconds",
        "atelier_spans_total",
        "process_open_fds",
    ];
    let asked: BTreeSet<String> = READERS.iter().flat_map(|path| named(&read(path))).collect();
    for metric in METRICS {
        let shown = asked.iter().any(|name| metric.is_read_as(name));
        let aside = ASIDE.contains(&metric.name);
        assert!(shown != aside, "{} is shown: {shown}", metric.name);
    }
}

#[test]
fn names_follow_the_conventions_of_prometheus() {
    let mut seen = BTreeSet::new();
    for metric in METRICS {
        let name = metric.name;
        assert!(seen.insert(name), "{name} is there twice");
        assert_eq!(
            name.ends_with("_total"),
            metric.kind == MetricKind::Counter,
            "{name}: counters and only they end with _total"
        );
        let millis = name.contains("_ms") || name.contains("milli") || name.contains("micro");
        assert!(!millis, "{name}: base units only");
        assert!(metric.about.ends_with('.'), "{name}: a sentence");
        if let MetricKind::Histogram(scale) = metric.kind {
            assert!(scale.bounds.is_sorted(), "{name}: steps ascend");
        }
    }
}

/// The promise: no metric has a row for each account, whose number is not the operator's.
#[test]
fn no_label_names_an_account() {
    for metric in METRICS {
        for label in metric.labels {
            let personal = ["account", "user", "key", "job", "path"].contains(label);
            assert!(!personal, "{} has a row for each {label}", metric.name);
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "tests are told what to do by the environment"
)]
fn the_list_of_metrics_is_fresh() {
    let made = document();
    if std::env::var("ATELIER_TEST_UPDATE").is_ok() {
        fs::write(format!("{ROOT}{DOCUMENT}"), &made).expect("written");
    }
    let stale = "docs/metrics.md is stale; run the test with ATELIER_TEST_UPDATE=1";
    assert!(
        fs::read_to_string(format!("{ROOT}{DOCUMENT}")).is_ok_and(|kept| kept == made),
        "{stale}"
    );
}

fn document() -> String {
    let mut text = String::from(
        "# Metrics\n\n\
         `GET /metrics` responds in Prometheus's text format. A listener with the role `metrics` on loopback needs no token. On any\n\
         other one, and on the main listener of a public service, send a viewer's token. Counters and histograms belong to the node\n\
         that is scraped and start at zero with its process; labels without events are missing. No label names an account.\n\n\
         `packaging/watching` has a scrape configuration, alert rules and a Grafana dashboard for them.\n\n\
         | name | kind | labels | meaning |\n|---|---|---|---|\n",
    );
    for metric in METRICS {
        let labels = metric.labels.iter().map(|label| format!("`{label}`"));
        let labels: Vec<String> = labels.collect();
        let (name, kind, labels) = (metric.name, metric.kind.word(), labels.join(", "));
        let _ = writeln!(text, "| `{name}` | {kind} | {labels} | {} |", metric.about);
    }
    text
}
