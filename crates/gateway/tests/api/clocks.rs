//! Nodes on machines whose clocks are wrong: what they agree on goes by the database's clock, and they say so.

use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::Method;
use serde_json::Value;

use crate::backends::finished;
use crate::gateway::{Gateway, Options};

/// A library that shifts the wall clock of a process; `None` where nothing can be compiled.
fn shifted_clock(folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("../store/tests/faults/clock.c");
    let library = folder.join("clock.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]);
    let made = compiler.args([&library, &source]).arg("-ldl").status();
    made.is_ok_and(|made| made.success()).then_some(library)
}

/// Whether a clock is said to be so many seconds ahead, give or take a few.
fn is_ahead(said: &Value, seconds: i64) -> bool {
    let said = said["clockAheadMs"].as_i64();
    said.is_some_and(|ms| (ms - seconds * 1_000).abs() < 10_000)
}

#[tokio::test]
async fn a_node_with_a_wrong_clock_fails_no_job_and_is_seen() {
    let first = Gateway::spawn().await;
    let caller = first.account(100).await;
    for seconds in [40, 3_600, -3_600] {
        let options = Options::default().set("TEST_CLOCK_SHIFT", &seconds.to_string());
        let (Some(options), Some(library)) =
            (options.beside(&first), shifted_clock(first.folder.path()))
        else {
            return;
        };
        let second = options.preload(&library).spawn().await;
        let prompt = "a lake [[delay 2s]]";
        let right = first.imagine(&caller.key, prompt).await;
        let wrong = second.imagine(&caller.key, prompt).await;
        for id in [right, wrong] {
            let job = finished(&second, &caller.key, &id).await;
            assert_eq!(job["status"], "SUCCESS", "{seconds} s: {job}");
        }
        let ready = second.get("", "/readyz").await;
        assert!(is_ahead(&ready.json["data"], seconds), "{}", ready.json);
        let nodes = first.operate(Method::GET, "/admin/v1/nodes", None).await;
        let rows = nodes.json["data"].as_array().expect("rows").clone();
        let others = rows.iter().filter(|row| row["self"] == false);
        assert!(
            others.into_iter().any(|row| is_ahead(row, seconds)),
            "{}",
            nodes.json
        );
    }
}
