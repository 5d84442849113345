//! A vendor fails in every way there is: every job ends right, is charged for what was delivered only, is submitted no
//! more often than the vendor can take, and the pool draws the right conclusion.

use std::time::Duration;

use atelier_backends::WebhookRequest;
use atelier_contract::JobState;
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;

/// Sets up a back end on the stage with a worker account for each name; their identifiers.
pub(crate) async fn cast(
    rig: &Rig,
    stage: &str,
    lost: &str,
    workers: &[&str],
) -> (String, Vec<String>) {
    let change = json!({
        "vendor": "stage",
        "name": format!("stage {stage} {lost} {}", workers.join(" ")),
        "base_url": "http://127.0.0.1:9",
        "settings": { "stage": stage, "lost": lost },
        "rank": 1,
    });
    let made = rig
        .engine
        .admin()
        .backends()
        .create("root", change.into())
        .await;
    let backend = made.expect("a back end").id;
    let mut ids = Vec::new();
    for name in workers {
        let change = worker(&json!({ "name": name, "credential": name, "concurrency": 4 }));
        let made = rig
            .engine
            .admin()
            .backends()
            .create_worker("root", &backend, change)
            .await;
        ids.push(made.expect("a worker").id);
    }
    (backend, ids)
}

/// The condition of each worker account by its name. One that was not asked yet counts as well: nothing is held against it.
pub(crate) async fn conditions(rig: &Rig, backend: &str) -> Vec<(String, String)> {
    let shown = rig
        .engine
        .admin()
        .backends()
        .one(backend)
        .await
        .expect("a back end");
    let accounts = shown.accounts.iter();
    accounts
        .map(|one| {
            let condition = match one.health.condition.word() {
                "untested" => "well",
                word => word,
            };
            (one.spec.name.to_string(), condition.to_owned())
        })
        .collect()
}

/// Script, what a lost submit means, message of the job (none for success), submits the vendor took, quota spent, and
/// the conditions of the workers `one` and `two` afterwards.
type Case = (
    &'static str,
    &'static str,
    Option<&'static str>,
    usize,
    &'static str,
    [&'static str; 2],
);

const DOWN: Option<&str> = Some("[Internal error] the back end failed");
const DENIED: Option<&str> = Some("[Image denied] not this");
const UNKNOWN: Option<&str> = Some("[Internal error] the outcome at the back end is unknown");
const GONE: Option<&str> =
    Some("[Internal error] the result was no longer there when it was fetched");
const LATE: Option<&str> = Some("Job Timeout");
const WELL: [&str; 2] = ["well", "well"];

const CASES: &[Case] = &[
    ("plain", "unknown", None, 1, "4", WELL),
    ("at-once", "unknown", None, 1, "4", WELL),
    ("slow", "unknown", None, 1, "4", WELL),
    ("hang", "unknown", LATE, 0, "0", WELL),
    ("down", "unknown", DOWN, 0, "0", WELL),
    ("down-once", "unknown", None, 1, "4", WELL),
    ("down-at-one", "unknown", None, 1, "4", WELL),
    ("html", "unknown", None, 1, "4", WELL),
    ("throttled", "unknown", None, 1, "4", ["cooling", "well"]),
    ("broke", "unknown", None, 1, "4", ["out_of_credit", "well"]),
    ("banned", "unknown", None, 1, "4", ["banned", "well"]),
    ("refused", "unknown", DENIED, 0, "0", WELL),
    (
        "nonsense",
        "unknown",
        Some("[Invalid parameter] no such size"),
        0,
        "0",
        WELL,
    ),
    ("cut-before", "unknown", None, 1, "4", WELL),
    ("cut-unsent", "unknown", UNKNOWN, 0, "0", WELL),
    ("cut-unsent", "look_up", None, 1, "4", WELL),
    ("cut-unsent", "repeat", None, 1, "4", WELL),
    ("cut-after", "unknown", UNKNOWN, 1, "0", WELL),
    ("cut-after", "look_up", None, 1, "4", WELL),
    ("cut-after", "repeat", None, 2, "4", WELL),
    ("garbage", "unknown", UNKNOWN, 1, "0", WELL),
    ("garbage", "look_up", None, 1, "4", WELL),
    ("poll-down", "unknown", None, 1, "4", WELL),
    (
        "poll-throttled",
        "unknown",
        None,
        1,
        "4",
        ["cooling", "well"],
    ),
    ("poll-hang", "unknown", LATE, 1, "0", WELL),
    ("poll-huge", "unknown", LATE, 1, "0", ["open", "well"]),
    ("limbo", "unknown", LATE, 1, "0", WELL),
    ("wrong-id", "unknown", GONE, 1, "0", WELL),
    ("gone", "unknown", GONE, 1, "0", WELL),
    ("late-refusal", "unknown", DENIED, 1, "0", WELL),
    ("fails-once", "unknown", None, 2, "4", WELL),
    ("fails", "unknown", DOWN, 3, "0", WELL),
    ("parts", "unknown", None, 3, "4", WELL),
    ("parts-busy", "unknown", None, 3, "4", ["cooling", "well"]),
    ("parts-denied", "unknown", DENIED, 2, "0", WELL),
    ("parts-cut", "unknown", UNKNOWN, 3, "0", WELL),
];

#[tokio::test]
async fn whatever_the_vendor_does_the_job_ends_right_and_is_charged_right() {
    for (number, case) in CASES.iter().enumerate() {
        let (script, lost, message, taken, spent, expected) = *case;
        let name = format!("case-{number}");
        let stage = Stage::named(&name);
        let rig = Rig::with_vendors().await;
        let (backend, _) = cast(&rig, &name, lost, &["one", "two"]).await;
        let caller = rig.account(100).await;
        let prompt = format!("{script} {number}");
        let id = rig.imagine(&caller, &prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        let job = rig.job(&caller, &id).await;
        let label = format!("{script} with {lost}: {:?}", job.message);
        assert_eq!(job.message.as_deref(), message, "{label}");
        assert_eq!(
            job.state == JobState::Succeeded,
            message.is_none(),
            "{label}"
        );
        assert_eq!(stage.taken(&prompt), taken, "{label}: submits taken");
        assert_eq!(job.quota.to_string(), spent, "{label}: charged");
        rig.rest().await;
        let found = conditions(&rig, &backend).await;
        let found: Vec<&str> = found
            .iter()
            .map(|(_, condition)| condition.as_str())
            .collect();
        // Either worker may have been the one; the time-outs below pass any rest.
        let mut sorted = (found.clone(), expected.to_vec());
        sorted.0.sort_unstable();
        sorted.1.sort_unstable();
        assert_eq!(sorted.0, sorted.1, "{label}: {found:?}");
        let spent: i64 = spent.parse().expect("a number");
        assert_eq!(
            rig.purse(&caller).await,
            ((100 - spent).to_string(), "0".into()),
            "{label}"
        );
        rig.check_books().await;
    }
}

#[tokio::test]
async fn what_a_back_end_finds_on_the_way_that_it_cannot_do_the_next_one_does() {
    let (stage, rig) = (Stage::named("unable later"), Rig::with_vendors().await);
    for (rank, name) in [(1, "poor"), (500, "rich")] {
        let (backend, _) = cast(&rig, "unable later", "unknown", &[name]).await;
        let change = json!({ "rank": rank }).into();
        let changed = rig
            .engine
            .admin()
            .backends()
            .change("root", &backend, change)
            .await;
        changed.expect("changed");
    }
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "unable-later 1").await;
    let id = id.expect("accepted");
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(stage.taken("unable-later 1"), 2, "each took it once");
    assert_eq!(rig.purse(&caller).await, ("96".into(), "0".into()));
}

#[tokio::test]
async fn what_one_back_end_cannot_do_the_next_one_is_asked_for_and_each_only_once() {
    let (stage, rig) = (Stage::named("unable"), Rig::with_vendors().await);
    let (first, _) = cast(&rig, "unable", "unknown", &["poor one"]).await;
    cast(&rig, "unable", "repeat", &["poor two"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "unable 1").await.expect("accepted");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    let message = job.message.expect("a message");
    assert!(
        message.ends_with("cannot"),
        "the last one's words: {message}"
    );
    assert_eq!(stage.books().arrived.len(), 2, "each was asked once");
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));

    let (able, workers) = cast(&rig, "unable", "look_up", &["rich"]).await;
    let id = rig.imagine(&caller, "unable 2").await.expect("accepted");
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(stage.taken("unable 2"), 1);
    assert_eq!(rig.purse(&caller).await, ("96".into(), "0".into()));

    // It is waited for while it is busy.
    let full = worker(&json!({ "concurrency": 1 }));
    let changed = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &able, &workers[0], full)
        .await;
    changed.expect("changed");
    let ranked = async |rank: i64| {
        let change = json!({ "rank": rank }).into();
        let changed = rig
            .engine
            .admin()
            .backends()
            .change("root", &able, change)
            .await;
        changed.expect("changed");
    };
    ranked(0).await;
    let busy = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    ranked(5).await;
    let before = stage.books().arrived.len();
    let id = rig.imagine(&caller, "unable 3").await.expect("accepted");
    for _ in 0..5 {
        rig.rest().await;
        rig.clock.advance(1_000);
    }
    assert_eq!(rig.state(&caller, &id).await, JobState::Waiting);
    assert_eq!(stage.books().arrived.len(), before + 2, "each asked once");
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &busy)
        .await
        .expect("cancelled");
    rig.clock.advance(1_000);
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    for (_, condition) in conditions(&rig, &first).await {
        assert_eq!(condition, "well", "it is not held against anybody");
    }
    rig.check_books().await;
}

#[tokio::test]
async fn a_vendors_post_has_its_job_asked_about_at_once_and_is_not_believed() {
    let (stage, rig) = (Stage::named("hooks"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "hooks", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let asked_once = async |prompt: &str| {
        let before = stage.books().polls;
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        while stage.books().polls == before {
            rig.rest().await;
        }
        id
    };
    let done = asked_once("patient").await;
    rig.rest().await;
    assert_eq!(stage.books().polls, 1, "the vendor asked for patience");
    let hook = stage.books().hooks[0].clone().expect("an address");
    let base = format!("https://own.example/hooks/v1/{backend}/");
    let token = hook.strip_prefix(&base).expect("the own address");
    let post = WebhookRequest::default();
    let last = if token.ends_with('0') { '1' } else { '0' };
    let altered = format!("{}{last}", &token[..token.len() - 1]);
    for (backend, token) in [(&*backend, "x"), ("another", token), (&*backend, &*altered)] {
        let heard = rig.engine.runner().vendor_hook(backend, token, &post).await;
        assert_eq!(heard, Ok(false), "{backend} {token}");
    }
    let runner = rig.engine.runner();
    assert_eq!(runner.vendor_hook(&backend, token, &post).await, Ok(true));
    rig.rest().await;
    // On a busy machine the answer takes its time; the clock stands, so that nothing but the post has it asked about.
    for _ in 0..6_000 {
        if rig.state(&caller, &done).await.is_final() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stage.books().polls, 2);
    assert_eq!(rig.state(&caller, &done).await, JobState::Succeeded);

    // A post about a job that is not done changes nothing but the time of a question.
    let running = asked_once("limbo").await;
    let hook = stage.books().hooks[1].clone().expect("an address");
    let token = hook.strip_prefix(&base).expect("the own address");
    for _ in 0..3 {
        let runner = rig.engine.runner();
        assert_eq!(runner.vendor_hook(&backend, token, &post).await, Ok(true));
        rig.rest().await;
        assert_eq!(rig.state(&caller, &running).await, JobState::Running);
    }
    rig.check_books().await;
}

#[tokio::test]
async fn a_throttled_worker_rests_for_as_long_as_the_vendor_asked() {
    let (stage, rig) = (Stage::named("rests"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "rests", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig
        .imagine(&caller, "throttled-briefly")
        .await
        .expect("accepted");
    rig.rest().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Waiting);
    assert_eq!(
        conditions(&rig, &backend).await,
        [("one".into(), "cooling".into())]
    );
    rig.clock.advance(30_000);
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 1, "left alone");
    rig.clock.advance(11_000);
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 2, "asked again");
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    rig.check_books().await;
}

#[tokio::test]
async fn five_failures_open_the_circuit_and_one_job_at_a_time_probes() {
    let (stage, rig) = (Stage::named("circuit"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "circuit", "unknown", &["one"]).await;
    let caller = rig.account(1_000).await;
    for number in 0..6 {
        rig.imagine(&caller, &format!("down {number}"))
            .await
            .expect("accepted");
    }
    rig.rest().await;
    assert_eq!(
        conditions(&rig, &backend).await,
        [("one".into(), "open".into())]
    );
    let before = stage.books().arrived.len();
    for number in 0..3 {
        rig.imagine(&caller, &format!("plain {number}"))
            .await
            .expect("accepted");
    }
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), before, "nobody gets through");
    rig.clock.advance(31_000);
    rig.engine.runner().run_step().await.expect("a step");
    rig.until_quiet().await;
    assert_eq!(stage.books().arrived.len(), before + 1, "one probe");
    for _ in 0..30 {
        rig.rest().await;
        rig.clock.advance(30_000);
        rig.engine.runner().sweep_step().await.expect("swept");
    }
    assert_eq!(
        rig.store
            .statistics()
            .counts()
            .await
            .expect("counts")
            .running,
        0
    );
    rig.check_books().await;
}

#[tokio::test]
async fn a_picture_that_cannot_be_read_says_nothing_about_a_worker() {
    let (stage, rig) = (Stage::named("link"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "link", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let body = json!({ "url": "http://127.0.0.1:9/none.png" });
    let id = rig.call(&caller, "artgen.describe", body, false).await;
    let id = id.expect("accepted");
    rig.until_final(&caller, &id).await;
    let message = rig.job(&caller, &id).await.message.unwrap_or_default();
    assert!(message.starts_with("[Invalid link]"), "{message}");
    assert!(stage.books().arrived.is_empty());
    let shown = rig
        .engine
        .admin()
        .backends()
        .one(&backend)
        .await
        .expect("shown");
    assert!(shown.accounts[0].health.recent.is_empty());
    rig.check_books().await;
}
