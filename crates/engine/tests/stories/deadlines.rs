//! An accepted job is final within five seconds of its time limit: when thousands are due at once, and when the asset store
//! does not answer.

use std::path::PathBuf;
use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_contract::{JobState, Secret};
use atelier_store::files::{AssetSettings, Files};
use atelier_store::{JobFilter, NewAsset};
use futures_util::StreamExt as _;

use crate::asset_defaults::asset_defaults;
use crate::rig::Rig;
use crate::stopwatch::Stopwatch;

const JOBS: i64 = 5_000;
const LATE: Duration = Duration::from_secs(5);
/// Less than an asset store is waited for, and more than a machine stands still.
const BEFORE_THE_STORE: Duration = Duration::from_secs(12);

async fn unfinished(rig: &Rig) -> i64 {
    let mut left = 0;
    for state in [JobState::Waiting, JobState::Running] {
        let filter = JobFilter {
            state: Some(state),
            limit: 1,
            ..JobFilter::default()
        };
        left += rig.store.jobs().list(filter).await.expect("a count").total;
    }
    left
}

/// How long it takes until every job is final.
async fn until_all_final(rig: &Rig) -> Duration {
    let began = Stopwatch::start();
    while unfinished(rig).await > 0 && began.elapsed() < 4 * LATE {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_jobs_due_at_once_are_final_in_time() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let caller = rig.account(100_000).await;
    let submits = futures_util::stream::iter(0..JOBS).map(|number| {
        let (rig, caller) = (&rig, &caller);
        async move {
            let prompt = format!("hang {number}");
            rig.imagine(caller, &prompt).await.expect("accepted");
        }
    });
    submits.buffer_unordered(200).collect::<Vec<()>>().await;
    let running = rig.engine.run().await.expect("it runs");
    assert_eq!(unfinished(&rig).await, JOBS);
    rig.clock.advance(300_001);
    let took = until_all_final(&rig).await;
    eprintln!("{JOBS} jobs were timed out in {took:?}");
    assert!(took < LATE, "{took:?}");
    assert_eq!(
        rig.purse(&caller).await,
        ("100000".to_owned(), "0".to_owned())
    );
    rig.check_books().await;
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn an_asset_store_that_never_answers_delays_no_deadline() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let silent = silent.expect("a listener that nobody accepts from");
    let settings = AssetSettings {
        url: "s3://media".into(),
        endpoint: format!("http://{}", silent.local_addr().expect("an address")),
        access_key: Secret::new("key"),
        secret_key: Secret::new("secret"),
        ..asset_defaults()
    };
    let files = Files::open(&settings, PathBuf::new()).expect("a bucket");
    let rig = Rig::keeping(files).await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "hang a fox").await.expect("accepted");
    let rows = (0..300).map(|number| NewAsset {
        key: format!("out/job/{number}.png"),
        job_id: String::new(),
        account_id: String::new(),
        media_type: "image/png".into(),
        bytes: 1,
        expires_ms: 1,
        created_ms: 1,
    });
    rig.store
        .assets()
        .note_inputs(rows.collect())
        .await
        .expect("noted");
    let running = tokio::time::timeout(BEFORE_THE_STORE, rig.engine.run()).await;
    let running = running.expect("the start does not wait").expect("it runs");
    rig.clock.advance(300_001);
    let took = until_all_final(&rig).await;
    assert!(took < BEFORE_THE_STORE, "{took:?}");
    running.stop(Duration::from_millis(100)).await;
}
