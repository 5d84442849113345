//! Whether back ends still do what is expected of them: local servers, one of which has changed its answers.

use atelier_contract::pages::verify::{Verification, VerifyBody};
use serde_json::{Value, json};

use crate::rig::{Rig, worker};
use crate::stand::Stand;
use crate::verified::{painter, runway};

/// A back end with one worker account.
async fn connect(rig: &Rig, name: &str, vendor: &str, stand: &Stand, settings: Value) -> String {
    let change = json!({
        "name": name,
        "vendor": vendor,
        "base_url": stand.url("/v1"),
        "settings": settings,
        "operations": ["imgmodel.generations"],
    });
    let backends = rig.engine.admin().backends();
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let change = worker(&json!({ "name": "main", "credential": "sk-very-secret" }));
    let made = backends.create_worker("root", &id, change).await;
    made.expect("a worker account");
    id
}

async fn tried(rig: &Rig, id: &str, body: Value) -> Verification {
    let body: VerifyBody = serde_json::from_value(body).expect("a body");
    let backends = rig.engine.admin().backends();
    let tried = backends.verify("root", id, body, &[]).await;
    tried.expect("a report")
}

/// The outcomes of the routes, and why each is not good.
fn outcomes(report: &Verification) -> Vec<(&'static str, String)> {
    let rows = report.routes.iter();
    rows.map(|row| (row.outcome.word(), row.about.clone().unwrap_or_default()))
        .collect()
}

#[tokio::test]
async fn of_three_back_ends_the_one_that_changed_its_answers_is_found() {
    let rig = Rig::with_vendors().await;
    let (first, second, third) = (painter(), runway("status"), runway("state"));
    let item = |usd: f64| json!({"imgmodel": {"unit": "item", "usd": usd}});
    let painting = json!({"image_model": "painter", "costs": item(0.03)});
    let first_id = connect(&rig, "painter", "openai", &first, painting).await;
    let well = json!({"costs": item(0.05), "poll_seconds": 1});
    let second_id = connect(&rig, "runway", "runway", &second, well.clone()).await;
    let third_id = connect(&rig, "changed", "runway", &third, well).await;

    for id in [&first_id, &second_id, &third_id] {
        let planned = tried(&rig, id, json!({"plan": true})).await;
        assert_eq!(planned.problem, None);
        assert_eq!(outcomes(&planned), [("planned", String::new())]);
    }
    assert_eq!(
        first.asked("POST").len() + second.asked("POST").len(),
        0,
        "nothing is ordered"
    );

    let good = tried(&rig, &first_id, json!({})).await;
    assert_eq!(outcomes(&good), [("good", String::new())]);
    assert_eq!(good.spent.micros(), 30_000, "what the operator says");
    let sent = first.asked("POST")[0].json();
    assert_eq!((&sent["model"], &sent["n"]), (&json!("painter"), &json!(1)));
    let good = tried(&rig, &second_id, json!({})).await;
    assert_eq!(outcomes(&good), [("good", String::new())]);
    let cost = good.routes[0].cost.as_ref().expect("a cost");
    assert_eq!(
        (cost.amount.micros(), good.spent.micros()),
        (40_000, 50_000)
    );

    let changed = tried(&rig, &third_id, json!({"seconds": 4})).await;
    let (outcome, about) = outcomes(&changed).remove(0);
    assert!(
        outcome == "changed" && about.contains("nonsense"),
        "{outcome} {about}"
    );
    assert_eq!(third.asked("DELETE").len(), 1, "it is not left running");
    assert_eq!(changed.spent.micros(), 50_000, "it may have been paid for");
}

#[tokio::test]
async fn no_more_is_spent_than_was_given() {
    let rig = Rig::with_vendors().await;
    let stand = painter();
    let costs = json!({"imgmodel": {"unit": "item", "usd": 0.03}});
    let settings = json!({"image_model": "painter", "costs": costs});
    let id = connect(&rig, "painter", "openai", &stand, settings).await;
    let poor = tried(&rig, &id, json!({"spend": 0.02})).await;
    assert_eq!((outcomes(&poor)[0].0, poor.spent.micros()), ("skipped", 0));
    let unpriced = json!({"image_model": "painter"});
    let other = connect(&rig, "unpriced", "openai", &stand, unpriced).await;
    let unknown = tried(&rig, &other, json!({"spend": 100})).await;
    let (outcome, about) = outcomes(&unknown).remove(0);
    assert!(
        outcome == "skipped" && about.contains("unit cost"),
        "{about}"
    );
    assert_eq!(stand.asked("POST").len(), 0);
}

#[tokio::test]
async fn a_job_that_costs_more_than_was_entered_is_told() {
    let rig = Rig::with_vendors().await;
    let stand = runway("status");
    let costs = json!({"imgmodel": {"unit": "item", "usd": 0.01}});
    let id = connect(&rig, "runway", "runway", &stand, json!({"costs": costs})).await;
    let dear = tried(&rig, &id, json!({})).await;
    let (outcome, about) = outcomes(&dear).remove(0);
    assert!(
        outcome == "changed" && about.contains("0.04"),
        "{outcome} {about}"
    );
    assert_eq!(dear.spent.micros(), 40_000);
}

#[tokio::test]
async fn a_back_end_without_a_worker_account_is_not_well() {
    let rig = Rig::with_vendors().await;
    let change = json!({"name": "empty", "vendor": "runway", "base_url": "http://127.0.0.1:9/v1"});
    let backends = rig.engine.admin().backends();
    let made = backends.create("root", change.into()).await;
    let made = made.expect("a back end");
    let condition = |view: &atelier_contract::pages::backends::BackendView| {
        view.health.as_ref().map(|health| health.condition.word())
    };
    assert_eq!(condition(&made), Some("no_account"));
    backends
        .probe("root", &made.id, None)
        .await
        .expect_err("nobody can ask");
    let report = tried(&rig, &made.id, json!({})).await;
    assert!(report.problem.is_some() && report.routes.is_empty());
}

#[tokio::test]
async fn a_worker_account_is_well_once_somebody_has_asked_its_vendor() {
    let rig = Rig::with_vendors().await;
    let stand = runway("status");
    let id = connect(&rig, "runway", "runway", &stand, json!({})).await;
    let condition = async || {
        let shown = rig.engine.admin().backends().one(&id).await.expect("shown");
        shown.accounts[0].health.condition.word()
    };
    assert_eq!(condition().await, "untested");
    let probed = rig.engine.admin().backends().probe("root", &id, None).await;
    probed.expect("well");
    assert_eq!(condition().await, "well");
}
