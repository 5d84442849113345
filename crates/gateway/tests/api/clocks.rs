//! Wall clocks that are wrong, or set while the service works: of its own machine, and of the database that nodes share. Nothing
//! waits longer or ends earlier for it, and it is seen.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::backends::{connect, finished};
use crate::batches::{imagine, open, submit, until};
use crate::gateway::{Gateway, Options};

needs!(
    postgres:
    a_node_with_a_wrong_clock_fails_no_job_and_is_seen,
    a_database_clock_that_is_set_changes_nothing_for_jobs,
);

needs!(
    sqlite:
    a_wall_clock_that_is_set_changes_nothing_for_jobs,
    an_end_is_told_although_the_clock_was_set_back,
);

/// A library that shifts the wall clock of a process. The compiler is the one that links this test.
pub(crate) fn shifted_clock(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("../store/tests/faults/clock.c");
    let library = folder.join("clock.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]);
    let made = compiler.args([&library, &source]).arg("-ldl").status();
    assert!(made.expect("cc is installed").success());
    library
}

/// Whether a clock is said to be so many seconds ahead, give or take a few.
fn is_ahead(said: &Value, seconds: i64) -> bool {
    let said = said["clockAheadMs"].as_i64();
    said.is_some_and(|ms| (ms - seconds * 1_000).abs() < 10_000)
}

async fn a_node_with_a_wrong_clock_fails_no_job_and_is_seen() {
    let first = Gateway::spawn().await;
    let caller = first.account(100).await;
    for seconds in [40, 3_600, -3_600] {
        let options = Options::default().set("TEST_CLOCK_SHIFT", &seconds.to_string());
        let options = options.beside(&first).expect("on PostgreSQL");
        let library = shifted_clock(first.folder.path());
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

/// A service whose work is done by another one, and what was asked of it.
struct Worked {
    front: Gateway,
    back: Gateway,
    key: String,
}

impl Worked {
    async fn by(back: Gateway, front: Gateway) -> Self {
        let upstream = back.account(1_000).await;
        connect(&front, &back.base_url, &upstream.key).await;
        let key = front.account(1_000).await.key;
        Self { front, back, key }
    }

    /// A job that takes its vendor so long.
    async fn begin(&self, seconds: u32) -> String {
        let prompt = format!("a lake [[delay {seconds}s]]");
        self.front.imagine(&self.key, &prompt).await
    }

    /// A clock that was just set is seen, and the service is ready; a minute later it may have been taken over.
    async fn is_seen(&self, seconds: i64) {
        let ready = self.front.get("", "/readyz").await;
        assert_eq!(ready.status, 200, "{}", ready.json);
        assert!(is_ahead(&ready.json["data"], seconds), "{}", ready.json);
    }

    /// Jobs end as they would have, whatever was set meanwhile.
    async fn end(&self, ids: &[String], why: &str) {
        for id in ids {
            let job = finished(&self.front, &self.key, id).await;
            assert_eq!(job["status"], "SUCCESS", "{why}: {job}");
        }
        let (_, held) = self.front.balance(&self.key).await;
        assert!(held.abs() < f64::EPSILON, "{why}: {held} is held");
    }
}

/// The promise: a wall clock that is set while jobs are at a vendor neither keeps them from being asked about nor fails them,
/// and no more does one that was set while the service was away.
async fn a_wall_clock_that_is_set_changes_nothing_for_jobs() {
    let back = Gateway::spawn().await;
    let folder = tempfile::tempdir().expect("a folder");
    let library = shifted_clock(folder.path());
    let file = folder.path().join("seconds");
    let set = |seconds: i64| std::fs::write(&file, seconds.to_string()).expect("written");
    set(0);
    let options = || {
        let options = Options::default().set("TEST_CLOCK_FILE", &file.display().to_string());
        options.preload(&library)
    };
    let front = options().spawn().await;
    let mut worked = Worked::by(back, front).await;
    for seconds in [-3_600, -3_720, 0, 3_600] {
        let before = worked.begin(3).await;
        // Its vendor has it by the time the clock is set.
        while worked
            .back
            .operate(Method::GET, "/admin/v1/stats", None)
            .await
            .json["data"]["running"]
            == 0
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        set(seconds);
        let after = worked.begin(1).await;
        worked.is_seen(seconds).await;
        worked.end(&[before, after], &format!("{seconds} s")).await;
    }
    let audit = worked.front.command(&["audit", "--live"]);
    assert!(!audit.contains("did not end"), "{audit}");
    for seconds in [-3_600, 3_600] {
        let kept = worked.begin(2).await;
        worked.front.kill();
        set(seconds);
        worked.front = worked.front.restart(options());
        let after = worked.begin(1).await;
        worked
            .end(&[kept, after], &format!("{seconds} s while away"))
            .await;
        let ready = worked.front.get("", "/readyz").await;
        assert!(is_ahead(&ready.json["data"], 0), "{}", ready.json);
    }
}

/// The promise: whoever follows an account is told of every end, also of one that a clock which was set back dates before what
/// was told; and so is whoever comes back to an account or a batch with an event of a time that is yet to come.
async fn an_end_is_told_although_the_clock_was_set_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = shifted_clock(folder.path());
    let file = folder.path().join("seconds");
    let set = |seconds: i64| std::fs::write(&file, seconds.to_string()).expect("written");
    set(0);
    let options = Options::default().set("TEST_CLOCK_FILE", &file.display().to_string());
    let gateway = options.preload(&library).spawn().await;
    let key = gateway.account(100).await.key;
    let body = json!({ "requests": [imagine("a lake [[stall]]")] });
    let batch = submit(&gateway, &key, &body, None).await.json["data"].clone();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let id = text(&batch["answers"][0]["data"]["jobId"]);
    let mut stream = open(&gateway, &key, "/jobs/v1/events", None).await;
    // From here on there is nothing to tell of it until it ends.
    let told = until(&mut stream, |_, job| job["status"] == "ON_QUEUE").await;
    let last = told.last().expect("an event").0;
    set(-3_600);
    let deadline = Instant::now() + Duration::from_mins(3);
    let mut ready = gateway.get("", "/readyz").await.json;
    assert!(is_ahead(&ready["data"], -3_600), "{ready}");
    while !is_ahead(&ready["data"], 0) {
        assert!(Instant::now() < deadline, "it is taken over: {ready}");
        sleep(Duration::from_millis(500)).await;
        ready = gateway.get("", "/readyz").await.json;
    }
    let cancel = format!("/jobs/v1/{id}/cancel");
    let cancelled = gateway.post(&key, &cancel, json!({})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
    let ended = |_: &str, job: &Value| job["jobId"] == *id && job["status"] == "FAILED";
    let told = until(&mut stream, ended).await;
    assert!(told.iter().any(|(_, job)| ended("", job)), "{told:?}");

    let mut stream = open(&gateway, &key, "/jobs/v1/events", Some(last)).await;
    let told = until(&mut stream, ended).await;
    let (now, _) = told.last().expect("an event");
    assert!(*now < last, "an event of the time that is shown: {now}");
    let path = format!("/jobs/v1/batch/{}/events", text(&batch["batchId"]));
    let mut stream = open(&gateway, &key, &path, Some(last)).await;
    assert_eq!(stream.status(), 200, "there may be more");
    let told = until(&mut stream, |kind, _| kind == "batch").await;
    let (_, end) = told.last().expect("an end");
    assert_eq!(end["done"], true, "{end}");
}

/// Has a database tell another time than its server: what is named like its clock stands before it.
fn set_database_clock(front: &Gateway, seconds: i64) {
    front.sql(&format!("UPDATE clock_set SET seconds = {seconds}"));
}

/// The same of a database that tells another time from one moment to the next, as after a fail-over to another machine.
async fn a_database_clock_that_is_set_changes_nothing_for_jobs() {
    let front = Gateway::spawn().await;
    front.sql(
        "CREATE TABLE clock_set (seconds BIGINT NOT NULL); INSERT INTO clock_set VALUES (0); \
         CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS \
         'SELECT pg_catalog.clock_timestamp() + make_interval(secs => seconds) FROM public.clock_set'; \
         DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$",
    );
    let back = Options::default().spawn().await;
    let mut worked = Worked::by(back, front.restart(Options::default())).await;
    for seconds in [-60, 60, -3_600, 3_600] {
        let before = worked.begin(3).await;
        set_database_clock(&worked.front, seconds);
        let after = worked.begin(1).await;
        worked.is_seen(seconds).await;
        worked.end(&[before, after], &format!("{seconds} s")).await;
    }
    // Another node that joins while the database's clock is wrong does not take the jobs of the first for lost.
    let kept = worked.begin(5).await;
    set_database_clock(&worked.front, -3_600);
    let options = Options::default().beside(&worked.front);
    let second = options.expect("on PostgreSQL").spawn().await;
    worked.end(&[kept], "beside another node").await;
    let nodes = second.operate(Method::GET, "/admin/v1/nodes", None).await;
    let rows = nodes.json["data"].as_array().expect("rows").clone();
    assert!(rows.len() > 1, "each sees the other: {}", nodes.json);
    drop(second);
    let kept = worked.begin(2).await;
    worked.front.kill();
    set_database_clock(&worked.front, 3_600);
    worked.front = worked.front.restart(Options::default());
    worked.end(&[kept], "set while away").await;
}
