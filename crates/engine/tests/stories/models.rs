//! Models that operators make at run time: they run where their routes say, cost what their price says, and a job keeps what it was
//! accepted with.

use atelier_contract::body::Fields;
use atelier_contract::{Code, JobId, JobState};
use atelier_engine::{Caller, ModelReport};
use serde_json::{Value, json};

use crate::custody::register;
use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

pub(crate) fn fields(value: &Value) -> Fields {
    value.as_object().expect("an object").clone()
}

/// A model of pictures that runs at back ends, each with the name that it has there.
pub(crate) fn fox(routes: &[(&str, &str)]) -> Value {
    let route = |(backend, model): &(&str, &str)| json!({ "backend": backend, "model": model });
    json!({
        "name": "Fox-1",
        "like": "artgen.imagine",
        "aliases": ["fox"],
        "routes": routes.iter().map(route).collect::<Vec<_>>(),
        "price": {
            "artgen.imagine": { "unit": "call", "amount": 2.5 },
            "artgen.action": { "unit": "call", "amount": 1 },
        },
    })
}

pub(crate) async fn create(rig: &Rig, model: &Value) -> ModelReport {
    let made = rig.engine.admin().models().create("root", fields(model));
    made.await.expect("a model")
}

async fn change(rig: &Rig, change: &Value) -> ModelReport {
    let models = rig.engine.admin().models();
    let changed = models.change("root", "fox-1", fields(change));
    changed.await.expect("changed")
}

/// Asks for a picture of a model.
pub(crate) async fn draw(rig: &Rig, caller: &Caller, model: &str, prompt: &str) -> JobId {
    let body = json!({ "prompt": prompt, "model": model, "timeout": 300 });
    let accepted = rig.submit(caller, body, None).await;
    accepted.expect("accepted")
}

/// The model and the revision that a job was accepted with.
async fn kept(rig: &Rig, caller: &Caller, id: &JobId) -> Option<(String, u32)> {
    let row = rig.store.jobs().find(&caller.account_id, id.as_str()).await;
    let row = row.expect("read").expect("a job");
    row.model.zip(row.model_revision)
}

#[tokio::test]
async fn a_model_nobody_compiled_runs_where_its_routes_say_and_costs_its_price() {
    let (first, second) = (Stage::named("routes-a"), Stage::named("routes-b"));
    let rig = Rig::with_vendors().await;
    cast(&rig, "routes-a", "unknown", &["one"]).await;
    let (backend, _) = cast(&rig, "routes-b", "unknown", &["two"]).await;
    let caller = rig.account(100).await;
    let made = create(&rig, &fox(&[(&backend, "vendors-fox")])).await;
    assert_eq!((made.row.revision, made.declared), (1, false));
    let health = &made.route_health[0];
    let untested = health.problem.as_deref().unwrap_or_default();
    assert!(health.usable && untested.contains("probe"), "{untested}");
    for (number, name) in ["fox-1", "FOX-1", "fox"].into_iter().enumerate() {
        let prompt = format!("plain {number}");
        let id = draw(&rig, &caller, name, &prompt).await;
        rig.until_final(&caller, &id).await;
        let job = rig.job(&caller, &id).await;
        assert_eq!(job.state, JobState::Succeeded);
        assert_eq!(job.quota.to_string(), "2.5");
        assert_eq!(job.price_lines.len(), 1);
        assert_eq!(kept(&rig, &caller, &id).await, Some(("Fox-1".into(), 1)));
    }
    assert!(first.books().arrived.is_empty(), "no route leads there");
    assert_eq!(
        second.books().models,
        vec![Some("vendors-fox".to_owned()); 3]
    );
    assert_eq!(rig.purse(&caller).await, ("92.5".into(), "0".into()));
    // What names no model, or one that nobody knows, is as ever.
    for body in [
        json!({ "prompt": "plain" }),
        json!({ "prompt": "plain 9", "model": "owl" }),
    ] {
        let id = rig.submit(&caller, body, None).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        let job = rig.job(&caller, &id).await;
        assert_eq!(
            (job.quota.to_string(), job.price_lines.len()),
            ("4".into(), 0)
        );
        assert_eq!(kept(&rig, &caller, &id).await, None);
    }
    rig.check_books().await;
}

#[tokio::test]
async fn a_quote_is_what_is_held_with_its_lines() {
    let (_stage, rig) = (Stage::named("quoted"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "quoted", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    create(&rig, &fox(&[(&backend, "x")])).await;
    let request = || fields(&json!({ "prompt": "limbo", "model": "fox" }));
    let intake = rig.engine.intake();
    let bill = intake.quote_bill(&caller, "artgen.imagine", request(), false);
    let bill = bill.await.expect("a quote");
    assert_eq!(
        (bill.total.to_string(), bill.lines.len()),
        ("2.5".into(), 1)
    );
    draw(&rig, &caller, "fox", "limbo").await;
    assert_eq!(rig.purse(&caller).await, ("97.5".into(), "2.5".into()));
}

/// The promise: changing a model changes no accepted job.
#[tokio::test]
async fn a_job_that_waits_runs_with_the_routes_it_was_accepted_with() {
    let (first, second) = (Stage::named("kept-a"), Stage::named("kept-b"));
    let mut rig = Rig::with_vendors().await;
    let (old, workers) = cast(&rig, "kept-a", "unknown", &["one"]).await;
    let (new, _) = cast(&rig, "kept-b", "unknown", &["two"]).await;
    let one = worker(&json!({ "concurrency": 1 }));
    let backends = rig.engine.admin().backends();
    let narrowed = backends.change_worker("root", &old, &workers[0], one);
    narrowed.await.expect("it takes one");
    let caller = rig.account(100).await;
    create(&rig, &fox(&[(&old, "old-name")])).await;
    let blocker = draw(&rig, &caller, "fox-1", "limbo").await;
    rig.rest().await;
    let waiting = draw(&rig, &caller, "fox-1", "plain").await;
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Waiting);
    let routes = json!([{ "backend": new, "model": "new-name" }]);
    change(&rig, &json!({ "routes": routes, "price": null })).await;
    let fresh = draw(&rig, &caller, "fox-1", "plain too").await;
    rig.until_final(&caller, &fresh).await;
    assert_eq!(second.books().models, [Some("new-name".to_owned())]);
    assert_eq!(rig.job(&caller, &fresh).await.quota.to_string(), "4");
    // Another process knows the old revision only from the store.
    rig.restart().await;
    rig.engine.runner().workers().load().await.expect("loaded");
    rig.engine.admin().models().load().await.expect("loaded");
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &blocker).await;
    cancelled.expect("cancelled");
    rig.until_final(&caller, &waiting).await;
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Succeeded);
    assert_eq!(first.taken("plain"), 1, "where it was accepted for");
    let models = first.books().models.clone();
    assert!(
        models
            .iter()
            .all(|name| name.as_deref() == Some("old-name"))
    );
    assert_eq!(rig.job(&caller, &waiting).await.quota.to_string(), "2.5");
    rig.check_books().await;
}

#[tokio::test]
async fn follow_ups_of_a_model_that_is_gone_run_and_have_its_last_price() {
    let (stage, rig) = (Stage::named("followed"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "followed", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    create(&rig, &fox(&[(&backend, "vendors-fox")])).await;
    let parent = draw(&rig, &caller, "fox-1", "plain").await;
    rig.until_final(&caller, &parent).await;
    let price = json!({ "artgen.action": { "unit": "call", "amount": 3 } });
    change(&rig, &json!({ "price": price })).await;
    let gone = rig.engine.admin().models().remove("root", "fox-1", Some(2));
    assert!(gone.await.expect("removed").row.removed);
    let body = json!({ "jobId": parent.as_str(), "action": "upsample1" });
    let follow = rig.call(&caller, "artgen.action", body, false).await;
    let follow = follow.expect("accepted");
    rig.until_final(&caller, &follow).await;
    let job = rig.job(&caller, &follow).await;
    assert_eq!(
        (job.state, job.quota.to_string()),
        (JobState::Succeeded, "3".into())
    );
    assert_eq!(
        kept(&rig, &caller, &follow).await,
        Some(("Fox-1".into(), 1))
    );
    assert_eq!(
        stage.books().models,
        vec![Some("vendors-fox".to_owned()); 2]
    );
    rig.check_books().await;
}

#[tokio::test]
async fn a_model_without_a_usable_route_is_refused_like_a_family_without_a_back_end() {
    let (_stage, rig) = (Stage::named("unrouted"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "unrouted", "unknown", &["one"]).await;
    cast(&rig, "unrouted", "repeat", &["other"]).await;
    let caller = rig.account(100).await;
    create(&rig, &fox(&[(&backend, "x")])).await;
    let paused = worker(&json!({ "state": "paused" }));
    let backends = rig.engine.admin().backends();
    let paused = backends.change_worker("root", &backend, &workers[0], paused);
    paused.await.expect("paused");
    let body = json!({ "prompt": "plain", "model": "fox-1" });
    let refused = rig.submit(&caller, body, None).await.expect_err("refused");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (Code::NoAvailableAccount, "No available accounts")
    );
    let shown = rig.engine.admin().models().one("fox").await;
    assert_eq!(shown.expect_err("an alias").code, Code::NotFound);
    let shown = rig.engine.admin().models().one("fox-1").await.expect("it");
    assert!(!shown.route_health[0].usable && shown.route_health[0].problem.is_some());
    rig.imagine(&caller, "plain").await.expect("others go on");
}

#[tokio::test]
async fn an_unknown_model_at_the_vendor_is_told_to_operator_and_caller() {
    let (_stage, rig) = (Stage::named("strange"), Rig::with_vendors().await);
    let (poor, _) = cast(&rig, "strange", "unknown", &["poor"]).await;
    let (rich, _) = cast(&rig, "strange", "repeat", &["rich"]).await;
    let caller = rig.account(100).await;
    let mut model = fox(&[(&poor, "foks"), (&rich, "fox")]);
    model["routes"][0]["rank"] = json!(0);
    model["routes"][1]["rank"] = json!(1);
    create(&rig, &model).await;
    let moved = draw(&rig, &caller, "fox-1", "unknown-model 1").await;
    rig.until_final(&caller, &moved).await;
    assert_eq!(
        rig.state(&caller, &moved).await,
        JobState::Succeeded,
        "elsewhere"
    );
    let shown = rig.engine.admin().models().one("fox-1").await.expect("it");
    let problem = shown.route_health[0].problem.clone().expect("a problem");
    assert!(
        problem.contains("does not know the model foks"),
        "{problem}"
    );
    assert_eq!(shown.route_health[1].problem, None);
    // A route that leaves the name to the back end is told by the name that callers know.
    let routes = json!([{ "backend": poor, "rank": 0 }, { "backend": rich, "rank": 1 }]);
    change(&rig, &json!({ "routes": routes })).await;
    let unnamed = draw(&rig, &caller, "fox-1", "unknown-model 3").await;
    rig.until_final(&caller, &unnamed).await;
    let shown = rig.engine.admin().models().one("fox-1").await.expect("it");
    let problem = shown.route_health[0].problem.clone().expect("a problem");
    assert!(
        problem.contains("does not know the model Fox-1"),
        "{problem}"
    );
    let routes = json!([{ "backend": poor, "model": "foks" }]);
    change(&rig, &json!({ "routes": routes })).await;
    let ended = draw(&rig, &caller, "fox-1", "unknown-model 2").await;
    rig.until_final(&caller, &ended).await;
    let job = rig.job(&caller, &ended).await;
    let message = job.message.as_deref();
    assert_eq!(
        message,
        Some("[Internal error] the back end does not know the model")
    );
    assert_eq!(job.quota.to_string(), "0");
    rig.check_books().await;
}

/// The caller's own worker accounts are none of the catalogue's: neither its routes nor its prices hold there.
#[tokio::test]
async fn custody_knows_no_routes_and_no_prices() {
    let (stage, rig) = (Stage::named("custody-model"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "custody-model", "unknown", &["operator"]).await;
    let caller = rig.account(100).await;
    register(&rig, &caller, "custody-model", "mine").await;
    create(&rig, &fox(&[(&backend, "vendors-fox")])).await;
    let mut quotas = Vec::new();
    for body in [
        json!({ "prompt": "plain 1" }),
        json!({ "prompt": "plain 2", "model": "fox-1" }),
    ] {
        let id = rig.call(&caller, "artgen.imagine", body, true).await;
        let id = id.expect("accepted");
        rig.until_final(&caller, &id).await;
        let job = rig.job(&caller, &id).await;
        assert_eq!((job.state, job.price_lines.len()), (JobState::Succeeded, 0));
        quotas.push(job.quota);
    }
    assert_eq!(quotas[0], quotas[1]);
    let books = stage.books();
    assert!(books.taken.iter().all(|(worker, _)| worker == "mine"));
    assert_eq!(books.models, [None, None]);
}

/// The promise: a model is switched off whatever became of its back ends and its successor.
#[tokio::test]
async fn a_model_whose_back_end_is_gone_can_be_switched_off() {
    let (_stage, rig) = (Stage::named("left"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "left", "unknown", &["one"]).await;
    let mut next = fox(&[]);
    (next["name"], next["aliases"]) = ("fox-2".into(), json!([]));
    create(&rig, &next).await;
    let mut model = fox(&[(&backend, "x")]);
    model["successor"] = "fox-2".into();
    create(&rig, &model).await;
    let models = rig.engine.admin().models();
    let retired = fields(&json!({ "retires": "2020-01-01" }));
    models
        .change("root", "fox-2", retired)
        .await
        .expect("it retires");
    let removed = rig.engine.admin().backends().remove("root", &backend).await;
    removed.expect("removed");
    change(&rig, &json!({ "title": "An old fox" })).await;
    let off = change(&rig, &json!({ "enabled": false })).await.row;
    assert!(!off.definition.enabled && off.revision == 3);
    let wrong = fields(&json!({ "routes": [{ "backend": "nobody" }] }));
    let wrong = models.change("root", "fox-1", wrong).await;
    let wrong = wrong.expect_err("no such back end");
    assert_eq!(wrong.field.as_deref(), Some("routes[0].backend"));
}
