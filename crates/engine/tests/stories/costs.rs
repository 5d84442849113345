//! What vendors say that they took: kept, added up, shown against what callers paid, and capped.

use atelier_contract::{Code, JobState};
use atelier_engine::NoticeOwner;
use serde_json::json;

use crate::models::{create, draw, fields, fox};
use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

#[tokio::test]
async fn a_cap_in_the_vendors_money_closes_on_what_was_reported() {
    let (stage, rig) = (Stage::named("capped"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "capped", "unknown", &["one"]).await;
    let backends = rig.engine.admin().backends();
    let cap = worker(&json!({ "cost_cap": 0.5 }));
    let changed = backends.change_worker("root", &backend, &workers[0], cap);
    changed.await.expect("changed");
    let caller = rig.account(100).await;
    for prompt in ["costly 30", "costly 25"] {
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    }
    let shown = backends.one(&backend).await.expect("shown");
    let told = serde_json::to_value(&shown.accounts[0].costs).expect("JSON");
    assert_eq!(told, json!([{ "currency": "USD", "amount": 0.55 }]));
    rig.engine.runner().workers().load().await.expect("loaded");
    let refused = rig.imagine(&caller, "costly 1").await;
    let refused = refused.expect_err("it has had all it may have");
    assert_eq!(refused.code, Code::NoAvailableAccount);
    assert_eq!(stage.taken("costly 1"), 0);

    let anew = worker(&json!({ "clear_spent": true }));
    let changed = backends.change_worker("root", &backend, &workers[0], anew);
    changed.await.expect("changed");
    let id = rig.imagine(&caller, "costly 1").await.expect("accepted");
    rig.until_final(&caller, &id).await;
    let stats = rig.engine.admin().reports().stats().await.expect("stats");
    let margins = serde_json::to_value(&stats.margins).expect("JSON");
    let expected = json!([{ "vendor": "stage", "backend": "stage capped unknown one", "family": "artgen", "model": "7",
        "jobs": 3, "quota": 12, "currency": "USD", "cost": 0.56, "costPerQuota": 0.046667, "marginUsd": 0.04 }]);
    assert_eq!(margins, expected);
    rig.check_books().await;
}

#[tokio::test]
async fn what_a_vendor_says_is_left_is_shown_with_the_health_and_survives_a_restart() {
    let (_stage, mut rig) = (Stage::named("left"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "left", "unknown", &["rich"]).await;
    rig.clock.advance(1_000);
    let at = rig.clock.now_ms();
    let backends = rig.engine.admin().backends();
    let probed = backends.probe("root", &backend, None).await;
    probed.expect("well");
    for _ in 0..2 {
        let backends = rig.engine.admin().backends();
        let shown = backends.one(&backend).await.expect("shown");
        let health = serde_json::to_value(&shown.accounts[0].health).expect("JSON");
        assert_eq!(
            health["balance"],
            json!({ "currency": "USD", "amount": 12.5, "at_ms": at })
        );
        rig.restart().await;
        let loaded = rig.engine.runner().workers().load().await;
        loaded.expect("the pool");
    }
}

#[tokio::test]
async fn what_the_parts_of_a_job_cost_is_added_up_and_kept_when_a_later_one_fails() {
    let (_stage, rig) = (Stage::named("parts cost"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "parts cost", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    for (prompt, total) in [("parts", 0.3), ("parts-denied", 0.5), ("parts-cut", 0.7)] {
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        let backends = rig.engine.admin().backends();
        let shown = backends.one(&backend).await.expect("shown");
        let told = serde_json::to_value(&shown.accounts[0].costs).expect("JSON");
        assert_eq!(
            told,
            json!([{ "currency": "USD", "amount": total }]),
            "{prompt}"
        );
    }
    rig.check_books().await;
}

/// The promise: what is sold at a loss is on the operator's first page within the hour, and what costs nobody knows what as
/// well; the margins of the month have both.
#[tokio::test]
async fn a_loss_shows_on_the_first_page_in_the_same_hour_and_leaves_it_later() {
    let (_stage, rig) = (Stage::named("day"), Rig::with_vendors().await);
    let (priced, _) = cast(&rig, "day", "unknown", &["one"]).await;
    let caller = rig.account(1_000).await;
    let made = async |prompt: &str| {
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    };
    let first_page = async || {
        let shown = rig.engine.admin().reports().overview().await;
        serde_json::to_value(shown.expect("the first page")).expect("JSON")
    };
    // A job is paid with 0.2 dollars.
    for prompt in ["costly 5", "costly 10", "plain"] {
        made(prompt).await;
    }
    let page = first_page().await;
    assert_eq!(page["losses"], json!([]), "all of it left something");
    assert_eq!(page["unknownCosts"][0]["jobs"], 1, "{page}");
    assert_eq!(page["unknownCosts"][0]["backend"], "stage day unknown one");

    rig.clock.advance(3 * 3_600_000);
    made("costly 70").await;
    let page = first_page().await;
    assert_eq!(page["losses"][0]["marginUsd"], -0.5, "{page}");
    assert_eq!(
        page["losses"][0]["jobs"], 1,
        "what was well before hides nothing"
    );
    assert_eq!(page["unknownCosts"], json!([]));

    // The operator says what one picture takes, from now on.
    let costs = json!({ "stage": "day", "lost": "unknown", "costs": { "artgen": { "unit": "item", "usd": 0.01 } } });
    let change = json!({ "settings": costs });
    let backends = rig.engine.admin().backends();
    let changed = backends.change("root", &priced, change.into()).await;
    changed.expect("changed");
    rig.clock.advance(3 * 3_600_000);
    made("plain").await;
    let page = first_page().await;
    assert_eq!(
        (&page["losses"], &page["unknownCosts"]),
        (&json!([]), &json!([])),
        "{page}"
    );

    let stats = rig.engine.admin().reports().stats().await.expect("stats");
    let told = stats
        .margins
        .iter()
        .map(|one| (one.currency.as_deref(), one.jobs, one.margin_usd));
    let told: Vec<_> = told.collect();
    let left = 4.0f64.mul_add(0.2, -(0.05 + 0.1 + 0.7 + 0.04));
    let left = (left * 1e6).round() / 1e6;
    assert_eq!(told, [(None, 1, None), (Some("USD"), 4, Some(left))]);
    rig.check_books().await;
}

/// What the worker accounts of a back end took so far.
async fn costs(rig: &Rig, backend: &str) -> serde_json::Value {
    let shown = rig.engine.admin().backends().one(backend).await;
    serde_json::to_value(&shown.expect("shown").accounts[0].costs).expect("JSON")
}

#[tokio::test]
async fn what_a_vendor_takes_for_a_job_that_was_stopped_is_counted_once() {
    let (stage, rig) = (Stage::named("stopped"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "stopped", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "limbo-paid").await.expect("accepted");
    rig.rest().await;
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &id).await;
    cancelled.expect("cancelled");
    rig.rest().await;
    assert_eq!(stage.books().cancelled.len(), 1);
    let told = |amount: f64| json!([{ "currency": "USD", "amount": amount }]);
    assert_eq!(costs(&rig, &backend).await, told(0.3));
    let late = rig.imagine(&caller, "limbo-paid late").await;
    let late = late.expect("accepted");
    rig.until_final(&caller, &late).await;
    rig.rest().await;
    assert_eq!(rig.state(&caller, &late).await, JobState::Failed);
    assert_eq!(stage.books().cancelled.len(), 2);
    assert_eq!(costs(&rig, &backend).await, told(0.6), "and what was late");
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_start_that_was_paid_for_in_part_is_counted_and_not_paid_for_again() {
    let (stage, rig) = (Stage::named("paid start"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "paid start", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    for (prompt, amount) in [("paid-refused", 0.2), ("paid-cut", 0.4)] {
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        assert_eq!(rig.state(&caller, &id).await, JobState::Failed, "{prompt}");
        let told = json!([{ "currency": "USD", "amount": amount }]);
        assert_eq!(costs(&rig, &backend).await, told, "{prompt}");
        let arrived = stage.books().arrived.clone();
        let times = arrived.iter().filter(|one| one.1 == prompt).count();
        assert_eq!(times, 1, "{prompt}");
    }
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
    rig.check_books().await;
}

/// The promise: a route whose latest jobs leave too little is paused once, with a word in the audit list; its model goes on at the
/// next route, and after an operator has let it work again what was before counts no more.
#[tokio::test]
async fn a_route_that_does_not_pay_is_paused_until_an_operator_has_looked() {
    let (dear, cheap) = (Stage::named("dear"), Stage::named("cheap"));
    let rig = Rig::with_vendors().await;
    let (losing, _) = cast(&rig, "dear", "unknown", &["one"]).await;
    let (other, _) = cast(&rig, "cheap", "unknown", &["one"]).await;
    let mut model = fox(&[(&losing, "fox-large"), (&other, "fox-small")]);
    model["routes"][0]["stop_loss"] = json!({ "percent": 10, "jobs": 2 });
    model["routes"][1]["rank"] = json!(1_000);
    create(&rig, &model).await;
    let caller = rig.account(1_000).await;
    let models = rig.engine.admin().models();
    let made = async |prompt: &str| {
        let id = draw(&rig, &caller, "fox-1", prompt).await;
        rig.until_final(&caller, &id).await;
        assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
        models.stop_losses().await.expect("looked");
    };
    // A job is paid with 0.125 dollars, of which the vendor may take 0.1125.
    made("costly 20").await;
    let shown = models.one("fox-1").await.expect("the model");
    assert_eq!(shown.row.revision, 1, "one job says nothing");
    made("costly 5").await;
    assert_eq!(
        models.one("fox-1").await.expect("the model").row.revision,
        2
    );
    assert_eq!((dear.taken("costly 5"), cheap.taken("costly 5")), (1, 0));

    made("plain").await;
    assert_eq!((dear.taken("plain"), cheap.taken("plain")), (0, 1));
    let shown = models.one("fox-1").await.expect("the model");
    assert_eq!(shown.row.revision, 2, "it is paused once");
    let route = &shown.row.definition.routes[0];
    let why = route.paused.clone().expect("why");
    assert_eq!(
        why,
        "stop-loss: 2 jobs brought 0.2500 USD and cost 0.2500 USD, which leaves less than 10 %"
    );
    assert_eq!(
        shown.route_health[0].problem,
        Some(format!("paused: {why}"))
    );
    assert!(!shown.route_health[0].usable && shown.route_health[1].usable);

    for _ in 0..2 {
        rig.engine.notices().look_around().await.expect("looked");
    }
    let told = crate::notices::told(&rig.engine, &NoticeOwner::operators("root")).await;
    assert_eq!(told.len(), 1, "operators are told once: {told:?}");
    assert!(
        told[0].0.text.ends_with("which leaves less than 10 %."),
        "{}",
        told[0].0.text
    );

    let mut routes = serde_json::to_value(&shown.row.definition.routes).expect("JSON");
    routes[0].as_object_mut().expect("a route").remove("paused");
    let changed = models.change("root", "fox-1", fields(&json!({ "routes": routes })));
    changed.await.expect("changed");
    rig.clock.advance(3_600_000);
    made("costly 1").await;
    made("costly 2").await;
    assert_eq!((dear.taken("costly 1"), dear.taken("costly 2")), (1, 1));
    let shown = models.one("fox-1").await.expect("the model");
    assert_eq!(shown.row.definition.routes[0].paused, None);
    rig.check_books().await;
}
