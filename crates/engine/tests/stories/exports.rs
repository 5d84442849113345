//! Exports of each day: made once, whoever makes them and whatever happens to whoever does.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use atelier_contract::pages::exports::ExportFormat;
use atelier_engine::{Engine, Settings};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::rig::{Rig, START_MS, settings};

const DAY_MS: i64 = 24 * 3_600_000;

/// Exports at two in the morning.
fn daily(format: ExportFormat) -> Settings {
    let mut settings = settings();
    settings.exports.schedule = serde_json::from_str("\"02:00\"").expect("a time of day");
    settings.exports.format = format;
    settings
}

async fn until_idle(engine: &Arc<Engine>) {
    while engine.exports().step().await.expect("a step") {}
}

/// The lists of contents by their kind, and the text of the files that they name.
async fn made(rig: &Rig) -> BTreeMap<String, (Value, String)> {
    let mut found = BTreeMap::new();
    for name in rig.stored().await {
        if !name.ends_with(".json") {
            continue;
        }
        let list = rig.files.read(&name).await.expect("a list");
        let list: Value = serde_json::from_slice(&list).expect("JSON");
        let mut text = String::new();
        for part in list["parts"].as_array().expect("parts") {
            let name = part["name"].as_str().expect("a name");
            let bytes = rig.files.read(name).await.expect("a part");
            assert_eq!(part["bytes"], bytes.len());
            GzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .expect("whole");
        }
        let kind = format!(
            "{} {}",
            list["day"].as_str().expect("a day"),
            list["kind"].as_str().expect("a kind")
        );
        found.insert(kind, (list, text));
    }
    found
}

/// The promise: what a day had is there once after its time, with everybody's rows and no others.
#[tokio::test]
async fn a_day_is_exported_once_when_it_is_over() {
    let rig = Rig::new().await;
    let (one, two) = (rig.account(100).await, rig.account(100).await);
    // 08:00, so that the next two o'clock is tomorrow.
    assert_eq!(START_MS % DAY_MS, 8 * 3_600_000);
    rig.imagine(&one, "a fox").await.expect("accepted");
    rig.imagine(&two, "a crow").await.expect("accepted");
    rig.settle_down().await;
    let first = rig.node_with("first", daily(ExportFormat::Csv));
    let second = rig.node_with("second", daily(ExportFormat::Csv));
    until_idle(&first).await;
    let (runs, _) = first.exports().daily(1, 10).await.expect("a list");
    assert!(
        runs.iter().all(|(run, _)| run.entries == 0),
        "the day before had nothing"
    );
    rig.clock.advance(DAY_MS);
    rig.imagine(&one, "of the next day")
        .await
        .expect("accepted");
    rig.settle_down().await;
    // Both at once: each takes what the other has not.
    let (a, b) = tokio::join!(until_idle(&first), until_idle(&second));
    let ((), ()) = (a, b);
    until_idle(&second).await;
    let found = made(&rig).await;
    let (list, jobs) = &found["2027-01-15 jobs"];
    assert_eq!(list["rows"], 2);
    assert_eq!(
        jobs.lines().count(),
        3,
        "a line of names and two jobs: {jobs}"
    );
    assert!(jobs.contains("a fox") && jobs.contains("a crow") && !jobs.contains("of the next day"));
    assert!(jobs.contains(one.account_id.as_str()) && jobs.contains(two.account_id.as_str()));
    let (ledger, _) = &found["2027-01-15 ledger"];
    assert_eq!(ledger["rows"], 6, "a grant, a hold and a capture of each");
    assert_eq!(found["2027-01-15 usage"].0["rows"], 2);
    let before = rig.stored().await;
    until_idle(&first).await;
    assert_eq!(rig.stored().await, before, "nothing is made again");
    rig.clock.advance(3 * DAY_MS);
    until_idle(&first).await;
    let found = made(&rig).await;
    assert!(
        found["2027-01-16 jobs"].1.contains("of the next day"),
        "days that were missed are made up for"
    );
    assert!(found.contains_key("2027-01-17 jobs") && found.contains_key("2027-01-18 jobs"));
}

/// The promise: a node that dies in the middle leaves no row out and none twice, and one that was away spoils nothing.
#[tokio::test]
async fn an_export_goes_on_where_a_dead_node_left_it() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    for number in 0..3 {
        rig.imagine(&caller, &format!("fox {number}"))
            .await
            .expect("accepted");
    }
    rig.settle_down().await;
    rig.clock.advance(DAY_MS);
    let dead = rig.node_with("dead", daily(ExportFormat::Jsonl));
    // One step plans and writes the only part of the first export; its list of contents is missing.
    assert!(dead.exports().step().await.expect("a step"));
    let heir = rig.node_with("heir", daily(ExportFormat::Jsonl));
    until_idle(&heir).await;
    let found = made(&rig).await;
    assert!(
        !found.contains_key("2027-01-15 jobs"),
        "it is the dead node's for a while: {found:?}"
    );
    assert!(
        found.contains_key("2027-01-15 ledger"),
        "the others are not"
    );
    rig.clock.advance(10 * 60_000);
    until_idle(&heir).await;
    let found = made(&rig).await;
    let (list, jobs) = &found["2027-01-15 jobs"];
    assert_eq!(list["rows"], 3);
    let ids: Vec<Value> = jobs
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(ids.len(), 3);
    // The node was only away, and comes back.
    until_idle(&dead).await;
    assert_eq!(made(&rig).await["2027-01-15 jobs"].0, *list);
}

/// The promise: an asset store that is away for a while costs time and nothing else.
#[tokio::test]
async fn an_export_waits_for_where_it_goes() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    rig.clock.advance(DAY_MS);
    let node = rig.node_with("node", daily(ExportFormat::Csv));
    rig.break_asset_store();
    until_idle(&node).await;
    let (runs, total) = node.exports().daily(1, 10).await.expect("a list");
    assert_eq!(total, 3);
    assert!(
        runs.iter().any(|(run, _)| run.error.is_some()),
        "it is told why: {runs:?}"
    );
    rig.mend_asset_store();
    rig.clock.advance(2 * 60_000);
    for _ in 0..4 {
        until_idle(&node).await;
    }
    let found = made(&rig).await;
    assert_eq!(found["2027-01-15 jobs"].0["rows"], 1);
    let (runs, _) = node.exports().daily(1, 10).await.expect("a list");
    assert!(
        runs.iter()
            .all(|(run, _)| run.ended_ms.is_some() && run.error.is_none()),
        "{runs:?}"
    );
}
