//! What operators do with models: one at a time, on every node at once, with an audit row for each, and nothing by halves.

use std::time::Duration;

use atelier_contract::models::ModelDefinition;
use atelier_contract::{Code, Refusal};
use atelier_engine::ModelEdit;
use atelier_store::{Period, RevisionChange, RevisionDraft, RevisionOutcome};
use serde_json::json;

use crate::models::{create, draw, fields, fox};
use crate::rig::Rig;
use crate::stage::Stage;
use crate::stopwatch::Stopwatch;
use crate::vendors::cast;

/// The acts with models, latest first.
async fn acts(rig: &Rig) -> Vec<(String, String)> {
    let acts = rig
        .engine
        .admin()
        .reports()
        .audit(Period::default(), 1, 100)
        .await;
    let (acts, _) = acts.expect("a page");
    let acts = acts.into_iter().map(|act| (act.actor, act.action));
    acts.filter(|(_, action)| action.starts_with("model"))
        .collect()
}

#[tokio::test]
async fn of_two_operators_at_once_the_second_is_told_the_current_revision() {
    let rig = Rig::new().await;
    create(&rig, &fox(&[("scripted", "x")])).await;
    let models = rig.engine.admin().models();
    let change = |by: &'static str, title: &str, revision: u32| {
        let change = json!({ "title": title, "revision": revision });
        async move { models.change(by, "FOX-1", fields(&change)).await }
    };
    let changed = change("ann", "A fox", 1).await.expect("changed");
    assert_eq!(changed.row.revision, 2);
    let crossed: Refusal = change("bob", "No fox", 1).await.expect_err("too late");
    assert_eq!(crossed.code, Code::Conflict);
    assert!(
        crossed.message.contains("revision 2"),
        "{}",
        crossed.message
    );
    let crossed = models.remove("bob", "fox-1", Some(1)).await;
    let crossed = crossed.expect_err("too late");
    assert!(
        crossed.message.contains("revision 2"),
        "{}",
        crossed.message
    );
    let again = models.create("bob", fields(&fox(&[]))).await;
    assert_eq!(again.expect_err("it is there").code, Code::Conflict);
    let shown = models.one("fox-1").await.expect("the model");
    assert_eq!(shown.row.definition.title.as_deref(), Some("A fox"));
    // Without a revision both count, one after the other.
    let (one, two) = (json!({ "title": "One" }), json!({ "enabled": false }));
    let both = tokio::join!(
        models.change("ann", "fox-1", fields(&one)),
        models.change("bob", "fox-1", fields(&two)),
    );
    assert!(both.0.is_ok() && both.1.is_ok());
    let shown = models.one("fox-1").await.expect("the model").row;
    assert_eq!(shown.revision, 4);
    assert_eq!(shown.definition.title.as_deref(), Some("One"));
    assert!(!shown.definition.enabled);
    let mut acts = acts(&rig).await;
    acts.reverse();
    assert_eq!(acts.len(), 4, "{acts:?}");
    assert_eq!(acts[0], ("root".into(), "model.create".into()));
    assert_eq!(acts[1], ("ann".into(), "model.change".into()));
}

/// The promise is a second; the rest is for a busy machine. A node that does not look by itself never knows.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn every_node_knows_a_new_model_within_a_second() {
    let rig = Rig::new().await;
    let second = rig.second_node();
    let running = second.run().await.expect("it runs");
    let before = second.admin().models().catalogue();
    assert!(before.find("fox-1").is_none());
    create(&rig, &fox(&[("scripted", "x")])).await;
    assert!(
        rig.engine
            .admin()
            .models()
            .catalogue()
            .find("fox")
            .is_some()
    );
    let hears = async {
        while second.admin().models().catalogue().find("fox").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let changed = Stopwatch::start();
    let heard = tokio::time::timeout(Duration::from_mins(1), hears).await;
    heard.expect("the other node has heard of it");
    let took = changed.elapsed();
    assert!(took < KNOWN_WITHIN, "too late: {took:?}");
    let after = second.admin().models().catalogue();
    second.admin().models().step().await.expect("a look");
    let same = second.admin().models().catalogue();
    assert!(std::sync::Arc::ptr_eq(&after, &same), "nothing has changed");
    running.stop(Duration::ZERO).await;
}

/// The promise: a node that is told nothing, as when the notification is lost, looks by itself and follows in time.
#[tokio::test]
async fn a_node_that_missed_the_hint_follows_within_ten_seconds() {
    let rig = Rig::new().await;
    let running = rig.engine.run().await.expect("it runs");
    // Whoever writes to the store alone tells nobody.
    let draft = RevisionDraft {
        name: "fox-1".to_owned(),
        definition: fox(&[]).to_string(),
        removed: false,
        expected_revision: None,
    };
    let change = RevisionChange {
        drafts: vec![draft],
        seen_edition: None,
        seen_beside: None,
        edition: "elsewhere".to_owned(),
        changed_ms: rig.clock.now_ms(),
        alive_since_ms: rig.clock.now_ms(),
    };
    let written = rig.store.models().append(change, None).await;
    assert_eq!(
        written.expect("an answer"),
        RevisionOutcome::Written(vec![1])
    );
    let models = rig.engine.admin().models();
    let follows = async {
        while models.catalogue().find("fox").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let written = Stopwatch::start();
    let followed = tokio::time::timeout(Duration::from_mins(1), follows).await;
    followed.expect("it looked by itself");
    assert!(written.elapsed() < Duration::from_secs(10), "too late");
    running.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_field_and_changes_nothing() {
    let rig = Rig::new().await;
    let models = rig.engine.admin().models();
    let mut wrong = Vec::new();
    for (field, value) in [
        (
            "routes[0].backend",
            json!({ "routes": [{ "backend": "nobody" }] }),
        ),
        ("like", json!({ "like": "imgmodel/nothing" })),
        ("name", json!({ "name": "image-1" })),
        ("successor", json!({ "successor": "nothing" })),
    ] {
        let mut model = fields(&fox(&[]));
        model.extend(fields(&value));
        let refused = models.create("root", model).await.expect_err(field);
        wrong.push((field, refused.field.unwrap_or_default()));
    }
    assert!(wrong.iter().all(|(wanted, got)| wanted == got), "{wrong:?}");
    assert!(models.list().await.expect("a list").is_empty());
    create(&rig, &fox(&[])).await;
    let renamed = models.change("root", "fox-1", fields(&json!({ "name": "owl" })));
    let refused = renamed.await.expect_err("another name");
    assert_eq!(refused.field.as_deref(), Some("name"));
    let absent = models.change("root", "owl", fields(&json!({ "title": "x" })));
    assert_eq!(absent.await.expect_err("absent").code, Code::NotFound);
    assert_eq!(acts(&rig).await.len(), 1, "the one that was made");
}

fn declared(title: &str, backend: &str) -> ModelDefinition {
    let mut model = fox(&[(backend, "x")]);
    model["title"] = json!(title);
    serde_json::from_value(model).expect("a definition")
}

#[tokio::test]
async fn declared_models_are_the_same_at_every_start_and_an_operators_row_wins() {
    let rig = Rig::new().await;
    let models = rig.engine.admin().models();
    let refused = models.declare(vec![declared("x", "nobody")]).await;
    let refused = refused.expect_err("no such back end");
    let field = "models[0].routes[0].backend";
    assert_eq!(refused.field.as_deref(), Some(field));
    assert!(refused.message.starts_with(field), "{}", refused.message);
    for _ in 0..2 {
        let again = models.declare(vec![declared("one", "scripted")]).await;
        again.expect("declared");
        let shown = models.one("fox-1").await.expect("the model");
        assert_eq!((shown.row.revision, shown.declared), (1, true));
    }
    let kept = models.remove("root", "fox-1", None).await;
    assert_eq!(kept.expect_err("the configuration's").code, Code::Conflict);
    let theirs = models.change("root", "fox-1", fields(&json!({ "title": "mine" })));
    assert!(!theirs.await.expect("changed").declared);
    let again = models.declare(vec![declared("two", "scripted")]).await;
    again.expect("declared");
    let shown = models.one("fox-1").await.expect("the model").row;
    assert_eq!(shown.definition.title.as_deref(), Some("mine"));
    let back = models.remove("root", "fox-1", None).await.expect("removed");
    assert!(back.declared && !back.row.removed);
    assert_eq!(back.row.definition.title.as_deref(), Some("two"));
    models.declare(Vec::new()).await.expect("declared");
    assert_eq!(
        models.one("fox-1").await.expect_err("gone").code,
        Code::NotFound
    );
    assert!(models.catalogue().find("fox-1").is_none());
}

#[tokio::test]
async fn a_preview_says_what_the_latest_jobs_would_have_cost_and_which_would_be_refused() {
    let (_stage, rig) = (Stage::named("previewed"), Rig::with_vendors().await);
    let (backend, _) = cast(&rig, "previewed", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    create(&rig, &fox(&[(&backend, "x")])).await;
    let plain = rig.imagine(&caller, "plain").await.expect("accepted");
    let modelled = draw(&rig, &caller, "fox", "plain 1").await;
    for id in [&plain, &modelled] {
        rig.until_final(&caller, id).await;
    }
    let models = rig.engine.admin().models();
    let dearer = json!({ "price": { "unit": "call", "amount": 10 } });
    let edit = ModelEdit::Change {
        name: "fox-1".to_owned(),
        fields: fields(&dearer),
    };
    let shown = models.preview(edit).await.expect("a preview");
    assert_eq!((shown.jobs, shown.more, shown.would_refuse), (2, false, 0));
    assert_eq!(shown.was.to_string(), "6.5");
    assert_eq!(shown.would_be.to_string(), "14");
    let edit = ModelEdit::Remove {
        name: "fox-1".to_owned(),
    };
    let shown = models.preview(edit).await.expect("a preview");
    assert_eq!(
        shown.would_be.to_string(),
        "8",
        "an unknown name is ignored there"
    );
    let edit = ModelEdit::Change {
        name: "fox-1".to_owned(),
        fields: fields(&json!({ "enabled": false })),
    };
    let shown = models.preview(edit).await.expect("a preview");
    assert_eq!(
        (shown.would_refuse, shown.would_be.to_string()),
        (1, "4".into())
    );
    assert_eq!(shown.refused[0].job_id, modelled.as_str());
    let kept = models.one("fox-1").await.expect("the model").row;
    assert_eq!(kept.revision, 1, "nothing has changed");
    assert_eq!(acts(&rig).await.len(), 1);
}
