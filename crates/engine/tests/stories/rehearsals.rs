//! Rehearsals: a back end that is tried gets copies of requests after they were answered, and nobody notices anything of it.

use std::time::Duration;

use atelier_contract::pages::rehearsal::{Rehearsal, RehearsalState};
use atelier_contract::{Code, JobState};
use serde_json::{Value, json};

use crate::models::fields;
use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

/// A back end that is rehearsed, whose only worker account is `one`.
async fn tried(rig: &Rig, stage: &str, shadow: Value, costs: Value) -> String {
    let change = json!({
        "vendor": "stage", "name": format!("tried {stage}"), "base_url": "http://127.0.0.1:9",
        "settings": { "stage": stage, "lost": "unknown", "costs": costs }, "rank": 1, "shadow": shadow,
    });
    let backends = rig.engine.admin().backends();
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let account = worker(&json!({ "name": "one", "credential": "one", "concurrency": 4 }));
    let made = backends.create_worker("root", &id, account).await;
    made.expect("a worker account");
    id
}

fn per_call(usd: f64) -> Value {
    json!({ "artgen": { "unit": "call", "usd": usd } })
}

async fn shown(rig: &Rig) -> Rehearsal {
    let mut all = rig.engine.rehearsals().list().await.expect("a list");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Has every copy made that waits; how the rehearsal stands then.
async fn rehearsed(rig: &Rig) -> Rehearsal {
    // A copy asks its vendor again by the machine's own time.
    for _ in 0..2_000 {
        while rig.engine.rehearsals().step() {}
        if rig.engine.rehearsals().is_idle() {
            return shown(rig).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("copies do not end");
}

#[tokio::test]
async fn copies_are_compared_and_leave_nothing_behind() {
    let (_real, tried_stage) = (Stage::named("answers"), Stage::named("copies"));
    let rig = Rig::with_vendors().await;
    cast(&rig, "answers", "unknown", &["real"]).await;
    let id = tried(
        &rig,
        "copies",
        json!({ "share": 1, "cap": 5 }),
        per_call(0.03),
    )
    .await;
    let caller = rig.account(100).await;
    let job = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.until_final(&caller, &job).await;
    let (purse, files) = (rig.purse(&caller).await, rig.stored().await);
    assert_eq!(tried_stage.taken("a fox"), 0, "only afterwards");
    let report = rehearsed(&rig).await;
    assert_eq!((report.id, report.calls, report.alike), (id, 1, 1));
    assert_eq!(
        (report.state, report.spent.micros()),
        (RehearsalState::Running, 30_000)
    );
    let sum = &report.sums[0];
    assert_eq!(
        (&*sum.operation, sum.copied.succeeded),
        ("artgen.imagine", 1)
    );
    assert_eq!((sum.copied.cost.micros(), sum.answered.costed), (30_000, 0));
    assert_eq!(tried_stage.taken("a fox"), 1);
    assert_eq!(tried_stage.books().hooks, [None], "nobody is called back");
    assert_eq!(
        (rig.purse(&caller).await, rig.stored().await),
        (purse, files)
    );
    assert_eq!(rig.state(&caller, &job).await, JobState::Succeeded);
    rig.check_books().await;
}

#[tokio::test]
async fn what_differs_is_shown_with_what_the_vendor_said() {
    let (_real, _copies) = (Stage::named("differs"), Stage::named("differs-too"));
    let rig = Rig::with_vendors().await;
    cast(&rig, "differs", "unknown", &["real"]).await;
    tried(
        &rig,
        "differs-too",
        json!({ "share": 1, "cap": 5 }),
        per_call(0.03),
    )
    .await;
    let caller = rig.account(100).await;
    for prompt in ["down-at-one a fox", "costly 30", "refused a fox"] {
        let job = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &job).await;
    }
    let report = rehearsed(&rig).await;
    assert_eq!((report.calls, report.alike), (3, 2), "both refuse the same");
    let sum = &report.sums[0];
    assert_eq!(
        (sum.status, sum.answered.succeeded, sum.copied.succeeded),
        (1, 2, 1)
    );
    assert_eq!(
        (sum.answered.costed, sum.answered.cost.micros()),
        (1, 300_000)
    );
    let call = &report.latest[0];
    assert_eq!(call.differs, ["status"]);
    assert!(call.answered.succeeded && !call.copied.succeeded);
    assert!(
        call.answered.backend.starts_with("stage differs"),
        "{call:?}"
    );
    assert!(
        call.said
            .as_ref()
            .is_some_and(|said| said.contains("says the script")),
        "{call:?}"
    );
    // What the vendor reports counts; what was refused cost nothing.
    assert_eq!(report.spent.micros(), 300_000);
    rig.engine
        .rehearsals()
        .clear("root", &report.id)
        .await
        .expect("begun anew");
    let anew = shown(&rig).await;
    assert_eq!(
        (anew.calls, anew.spent.micros(), anew.latest.len()),
        (0, 0, 0)
    );
}

#[tokio::test]
async fn no_more_is_copied_than_may_be_spent() {
    let (_real, copies) = (Stage::named("capped-real"), Stage::named("capped-copies"));
    let rig = Rig::with_vendors().await;
    cast(&rig, "capped-real", "unknown", &["real"]).await;
    let id = tried(
        &rig,
        "capped-copies",
        json!({ "share": 1, "cap": 0.1 }),
        per_call(0.04),
    )
    .await;
    let caller = rig.account(100).await;
    for _ in 0..4 {
        let job = rig.imagine(&caller, "a fox").await.expect("accepted");
        rig.until_final(&caller, &job).await;
        rehearsed(&rig).await;
    }
    let report = shown(&rig).await;
    assert_eq!((report.calls, report.missed.cap_spent), (2, 2));
    assert_eq!(report.spent.micros(), 80_000);
    assert_eq!(copies.taken("a fox"), 2);
    // Nobody knows what it costs: nothing is made.
    let unsaid = json!({ "settings": { "stage": "capped-copies", "lost": "unknown" }, "shadow": { "share": 1, "cap": 9 } });
    let backends = rig.engine.admin().backends();
    backends
        .change("root", &id, unsaid.into())
        .await
        .expect("changed");
    let job = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.until_final(&caller, &job).await;
    let report = rehearsed(&rig).await;
    assert_eq!((report.calls, report.missed.no_cost), (2, 1));
    assert_eq!(copies.taken("a fox"), 2);
}

#[tokio::test]
async fn no_job_goes_to_a_back_end_that_is_rehearsed() {
    let copies = Stage::named("alone");
    let rig = Rig::with_vendors().await;
    let id = tried(
        &rig,
        "alone",
        json!({ "share": 1, "cap": 5 }),
        per_call(0.01),
    )
    .await;
    let caller = rig.account(100).await;
    let refused = rig
        .imagine(&caller, "a fox")
        .await
        .expect_err("nobody takes it");
    assert_eq!(refused.code, Code::NoAvailableAccount);
    // It takes jobs as soon as it is rehearsed no longer.
    let backends = rig.engine.admin().backends();
    let change = json!({ "shadow": null });
    let changed = backends.change("root", &id, change.into()).await;
    assert!(changed.expect("changed").shadow.is_none());
    let job = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.until_final(&caller, &job).await;
    assert_eq!(rig.state(&caller, &job).await, JobState::Succeeded);
    assert_eq!(copies.taken("a fox"), 1, "as a job, and not as a copy");
    assert!(
        rig.engine
            .rehearsals()
            .list()
            .await
            .expect("a list")
            .is_empty()
    );
    for (shadow, field) in [
        (json!({ "share": 2, "cap": 1 }), "shadow.share"),
        (json!({ "share": 0.5 }), "shadow.cap"),
        (json!({ "share": 0.5, "cap": -1 }), "shadow.cap"),
    ] {
        let change = fields(json!({ "shadow": shadow }));
        let change = atelier_contract::pages::patch::Patch::new(change);
        let refused = backends.change("root", &id, change).await.expect_err(field);
        assert_eq!(refused.field.as_deref(), Some(field), "{refused:?}");
    }
}

#[tokio::test]
async fn what_belongs_to_somebody_is_not_copied() {
    let (_real, copies) = (Stage::named("owned-real"), Stage::named("owned-copies"));
    let rig = Rig::with_vendors().await;
    cast(&rig, "owned-real", "unknown", &["real"]).await;
    tried(
        &rig,
        "owned-copies",
        json!({ "share": 1, "cap": 5 }),
        per_call(0.01),
    )
    .await;
    let caller = rig.account(100).await;
    let first = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.until_final(&caller, &first).await;
    assert_eq!(rehearsed(&rig).await.calls, 1);
    // Whoever made the first one makes what follows it.
    let body = json!({ "jobId": first.as_str(), "action": "variation1" });
    let next = rig.call(&caller, "artgen.action", body, false).await;
    let next = next.expect("accepted");
    rig.until_final(&caller, &next).await;
    // Nobody wants to know of one that was cancelled.
    let away = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &away)
        .await
        .expect("cancelled");
    let report = rehearsed(&rig).await;
    assert_eq!(report.calls, 1);
    assert_eq!(copies.books().arrived.len(), 1);
}
