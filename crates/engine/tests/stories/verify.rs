//! Whether back ends still do what is expected of them: local servers, one of which has changed its answers.

use std::sync::atomic::{AtomicU32, Ordering};

use atelier_contract::models::ModelDefinition;
use atelier_contract::pages::verify::{Verification, VerifyBody};
use serde_json::{Value, json};

use crate::models::fields;
use crate::rig::{Rig, worker};
use crate::stand::{Stand, base64, json as answer, png, status};
use crate::verified::{painter, runway, runway_of};

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
    tried_with(rig, id, body, &[]).await
}

async fn tried_with(rig: &Rig, id: &str, body: Value, models: &[ModelDefinition]) -> Verification {
    let body: VerifyBody = serde_json::from_value(body).expect("a body");
    let backends = rig.engine.admin().backends();
    let tried = backends.verify("root", id, body, models).await;
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

/// The promise: what came is held against what was asked for, though callers would get it enlarged.
#[tokio::test]
async fn a_picture_that_comes_smaller_than_before_is_told() {
    let rig = Rig::with_vendors().await;
    let costs = json!({"costs": {"imgmodel": {"unit": "item", "usd": 0.05}}});
    for (size, outcome) in [
        ((2048, 2048), "good"),
        ((1024, 1024), "good"),
        ((256, 256), "changed"),
    ] {
        let stand = runway_of("status", size);
        let name = format!("runway {}", size.0);
        let id = connect(&rig, &name, "runway", &stand, costs.clone()).await;
        let report = tried(&rig, &id, json!({})).await;
        let (found, about) = outcomes(&report).remove(0);
        assert_eq!(found, outcome, "{size:?}: {about}");
        assert_eq!(
            about.contains("256x256 came"),
            found == "changed",
            "{about}"
        );
    }
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
    // Another credential, or another way, has shown nothing.
    let backends = rig.engine.admin().backends();
    let account = backends.one(&id).await.expect("shown").accounts[0]
        .id
        .clone();
    let change = worker(&json!({ "credential": "sk-another-secret" }));
    let changed = backends.change_worker("root", &id, &account, change).await;
    changed.expect("changed");
    assert_eq!(condition().await, "untested");
    backends.probe("root", &id, None).await.expect("well");
    assert_eq!(condition().await, "well");
    let settings = json!({ "settings": { "poll_seconds": 2 } });
    let changed = backends.change("root", &id, settings.into()).await;
    changed.expect("changed");
    assert_eq!(condition().await, "untested");
}

#[tokio::test]
async fn what_is_closed_is_not_ordered_from_and_what_is_taken_counts_against_the_cap() {
    let rig = Rig::with_vendors().await;
    let stand = runway("status");
    let costs = json!({"imgmodel": {"unit": "item", "usd": 0.05}});
    let id = connect(&rig, "runway", "runway", &stand, json!({"costs": costs})).await;
    let backends = rig.engine.admin().backends();
    let account = backends.one(&id).await.expect("shown").accounts[0]
        .id
        .clone();
    let said = async |said: Value| {
        let changed = backends.change_worker("root", &id, &account, worker(&said));
        changed.await.expect("changed");
    };
    for state in ["paused", "draining"] {
        said(json!({ "state": state })).await;
        let report = tried(&rig, &id, json!({})).await;
        let (outcome, about) = outcomes(&report).remove(0);
        assert!(
            outcome == "skipped" && about.contains("no worker account"),
            "{state}: {about}"
        );
        assert_eq!(report.spent.micros(), 0);
    }
    assert_eq!(stand.asked("POST").len(), 0, "nothing is ordered");
    said(json!({ "state": "active", "cost_cap": 0.04 })).await;
    let good = tried(&rig, &id, json!({})).await;
    assert_eq!(outcomes(&good)[0].0, "good");
    let shown = backends.one(&id).await.expect("shown");
    let told = serde_json::to_value(&shown.accounts[0].costs).expect("JSON");
    assert_eq!(told, json!([{ "currency": "USD", "amount": 0.04 }]));
    let over = tried(&rig, &id, json!({})).await;
    assert_eq!(
        (outcomes(&over)[0].0, stand.asked("POST").len()),
        ("skipped", 1)
    );
}

/// The promise: a probe asks also for the models that the catalogue's routes name there, and only for those in use.
#[tokio::test]
async fn a_probe_asks_for_the_models_that_routes_name() {
    let rig = Rig::with_vendors().await;
    let stand = painter();
    let settings = json!({"image_model": "painter"});
    let id = connect(&rig, "painter", "openai", &stand, settings).await;
    let (models, backends) = (rig.engine.admin().models(), rig.engine.admin().backends());
    backends.probe("root", &id, None).await.expect("well");
    for (name, backend) in [("by-id", &*id), ("by-name", "painter")] {
        let route = json!({ "backend": backend, "model": "sculptor" });
        let model = json!({ "name": name, "like": "imgmodel.generations", "routes": [route] });
        models
            .create("root", fields(&model))
            .await
            .expect("a model");
        let refused = backends.probe("root", &id, None).await;
        let refused = refused.expect_err("it has no such model");
        assert!(refused.message.contains("sculptor"), "{}", refused.message);
        let planned = tried(&rig, &id, json!({"plan": true})).await;
        assert!(planned.problem.is_some_and(|why| why.contains("sculptor")));
        let off = fields(&json!({ "enabled": false }));
        models.change("root", name, off).await.expect("changed");
        backends.probe("root", &id, None).await.expect("well");
    }
    let shown = backends.one(&id).await.expect("shown");
    assert_eq!(shown.accounts[0].health.condition.word(), "well");
}

/// A model of the catalogue that one back end makes.
fn leading_to(name: &str, like: &str, backend: &str) -> ModelDefinition {
    let model = json!({ "name": name, "like": like, "routes": [{ "backend": backend }] });
    serde_json::from_value(model).expect("a model")
}

#[tokio::test]
async fn after_a_job_that_took_more_than_was_entered_nothing_more_is_ordered() {
    let rig = Rig::with_vendors().await;
    let stand = runway("status");
    let costs = json!({"imgmodel": {"unit": "item", "usd": 0.01}});
    let id = connect(&rig, "runway", "runway", &stand, json!({"costs": costs})).await;
    let models = [
        leading_to("one", "imgmodel.generations", &id),
        // The operator does not let the back end do this.
        leading_to("other", "imgmodel.chat", &id),
    ];
    let dear = tried_with(&rig, &id, json!({}), &models).await;
    let routes: Vec<&str> = dear.routes.iter().map(|row| row.route.as_str()).collect();
    assert_eq!(routes, ["one", "imgmodel.generations"]);
    let found = outcomes(&dear);
    assert_eq!(
        (found[0].0, found[1].0),
        ("changed", "skipped"),
        "{found:?}"
    );
    assert!(found[1].1.contains("took more"), "{found:?}");
    assert_eq!(stand.asked("POST").len(), 1);
}

#[tokio::test]
async fn what_cannot_be_tried_is_a_row_that_says_why() {
    let rig = Rig::with_vendors().await;
    let stand = painter();
    let reported = json!({"image_model": "painter", "dialect": "localai",
        "costs": {"imgmodel": {"unit": "reported", "usd": 1}}});
    let id = connect(&rig, "reported", "openai", &stand, reported).await;
    let report = tried(&rig, &id, json!({"spend": 0})).await;
    let (outcome, about) = outcomes(&report).remove(0);
    assert!(outcome == "skipped" && about.contains("reports"), "{about}");
    assert_eq!(stand.asked("POST").len(), 0, "a price is a price");

    let settings = json!({ "settings": { "image_model": "painter" }, "operations": ["design"] });
    let backends = rig.engine.admin().backends();
    let changed = backends.change("root", &id, settings.into()).await;
    changed.expect("changed");
    let models = [leading_to("edits", "design.replace_background", &id)];
    for body in [json!({ "plan": true }), json!({})] {
        let report = tried_with(&rig, &id, body, &models).await;
        let edits = report.routes.iter().find(|row| row.route == "edits");
        let edits = edits.expect("a row");
        assert_eq!(edits.outcome.word(), "skipped");
        let about = edits.about.clone().unwrap_or_default();
        assert!(about.contains("picture"), "{about}");
    }
}

#[tokio::test]
async fn several_starts_of_which_the_last_was_refused_are_counted() {
    let rig = Rig::with_vendors().await;
    let asked = AtomicU32::new(0);
    let stand = Stand::new(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => {
            let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
            answer(&json!({"data": [{"b64_json": picture}]}))
        }
        _ => status(
            400,
            &json!({"error": {"code": "moderation_blocked", "message": "no"}}),
        ),
    });
    let painting = json!({"image_model": "painter", "grids": true, "images_per_call": 1,
        "costs": {"artgen": {"unit": "item", "usd": 0.01}}});
    let id = connect(&rig, "grids", "openai", &stand, painting).await;
    let only = json!({ "operations": ["artgen.imagine"] });
    let backends = rig.engine.admin().backends();
    let changed = backends.change("root", &id, only.into()).await;
    changed.expect("changed");
    let report = tried(&rig, &id, json!({})).await;
    assert_eq!(outcomes(&report)[0].0, "failed");
    assert_eq!(stand.asked("POST").len(), 2);
    assert_eq!(report.spent.micros(), 40_000, "one of them was made");
}
