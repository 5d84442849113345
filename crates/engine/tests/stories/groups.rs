//! Groups of accounts: what is quoted is what is held and what is captured, every node knows a change at once, and nothing is left
//! by halves.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::groups::GroupRule;
use atelier_contract::models::ModelDefinition;
use atelier_contract::time::timestamp;
use atelier_contract::{Code, JobState, Quota, Refusal};
use atelier_engine::records::{AccountPatch, Period};
use atelier_engine::{Caller, GroupEdit, GroupReport, KeyHolder, KeyRequest};
use serde_json::{Value, json};

use crate::models::{create as create_model, draw, fields, fox};
use crate::rig::Rig;
use crate::stopwatch::Stopwatch;

async fn create(rig: &Rig, name: &str, rules: &Value) -> GroupReport {
    let group = json!({ "name": name, "rules": rules });
    let made = rig.engine.admin().groups().create("root", fields(&group));
    made.await.expect("a group")
}

async fn change(rig: &Rig, name: &str, rules: &Value) -> Result<GroupReport, Refusal> {
    let rules = fields(&json!({ "rules": rules }));
    rig.engine
        .admin()
        .groups()
        .change("root", name, rules)
        .await
}

/// Moves an account into a group, and gives its caller as the next call finds it.
pub(crate) async fn join(rig: &Rig, caller: &Caller, group: Option<&str>) -> Caller {
    let patch = AccountPatch {
        group: Some(group.map(str::to_owned)),
        ..AccountPatch::default()
    };
    let accounts = rig.engine.admin().accounts();
    let moved = accounts.change("root", &caller.account_id, patch).await;
    let mut caller = caller.clone();
    caller.group = moved.expect("moved").group.map(Into::into);
    caller
}

fn quota(text: &str) -> Quota {
    Quota::parse(text).expect("an amount")
}

async fn acts(rig: &Rig) -> Vec<(String, String)> {
    let acts = rig
        .engine
        .admin()
        .reports()
        .audit(Period::default(), 1, 100)
        .await;
    let (acts, _) = acts.expect("a page");
    let acts = acts.into_iter().map(|act| (act.action, act.target));
    acts.filter(|(action, _)| action.starts_with("group"))
        .collect()
}

#[tokio::test]
async fn an_account_pays_the_price_of_its_group() {
    let rig = Rig::new().await;
    let everybody = rig.account(100).await;
    create(&rig, "VIP", &json!([{ "match": "artgen", "factor": 0.75 }])).await;
    let caller = join(&rig, &rig.account(100).await, Some("vip")).await;
    let request = || fields(&json!({ "prompt": "held" }));
    let intake = rig.engine.intake();
    let bill = intake.quote_bill(&caller, "artgen.imagine", request(), false);
    let bill = bill.await.expect("a quote");
    assert_eq!(
        (bill.total, bill.group.as_deref()),
        (quota("3"), Some("vip"))
    );
    let matches = |rule: &Option<GroupRule>| rule.as_ref().map(|rule| rule.matches.clone());
    assert_eq!(matches(&bill.rule).as_deref(), Some("artgen"));
    let id = rig.imagine(&caller, "held").await.expect("accepted");
    assert_eq!(rig.purse(&caller).await, ("97".into(), "3".into()));
    // Another price from now on is none of the accepted job.
    change(&rig, "vip", &json!([])).await.expect("changed");
    rig.backend.release.notify_one();
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!((job.state, job.quota), (JobState::Succeeded, quota("3")));
    assert_eq!(job.price_lines, bill.lines);
    assert_eq!(rig.purse(&caller).await, ("97".into(), "0".into()));
    let plain = rig.imagine(&everybody, "plain").await.expect("accepted");
    rig.until_final(&everybody, &plain).await;
    let job = rig.job(&everybody, &plain).await;
    assert_eq!((job.quota, job.price_lines.len()), (quota("4"), 0));
    rig.check_books().await;
}

/// The promise: a key that is looked up finds the group of its account.
#[tokio::test]
async fn a_caller_is_of_the_group_that_its_account_is_in() {
    let rig = Rig::new().await;
    create(&rig, "vip", &json!([])).await;
    let caller = rig.account(1).await;
    assert_eq!(caller.group, None);
    join(&rig, &caller, Some("vip")).await;
    let (keys, by) = (rig.engine.admin().keys(), KeyHolder::Operator("root"));
    let issued = keys.issue(&caller.account_id, KeyRequest::named("second"), by);
    let (_, secret) = issued.await.expect("a key");
    let callers = rig.engine.admin().callers();
    let found = callers.authenticate(&secret).await.expect("it works");
    assert_eq!(found.group.as_deref(), Some("vip"));
    // It is believed for a while, and not longer than its account stays in the group.
    join(&rig, &caller, None).await;
    let found = callers.authenticate(&secret).await.expect("it works");
    assert_eq!(found.group, None);
}

#[tokio::test]
async fn every_node_knows_a_change_of_a_group_within_a_second() {
    let rig = Rig::new().await;
    let second = rig.second_node();
    let running = second.run().await.expect("it runs");
    assert!(second.admin().groups().current().find("vip").is_none());
    create(&rig, "vip", &json!([{ "match": "*", "factor": 0.5 }])).await;
    let hears = async {
        while second.admin().groups().current().find("vip").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let changed = Stopwatch::start();
    let heard = tokio::time::timeout(Duration::from_mins(1), hears).await;
    heard.expect("the other node has heard of it");
    assert!(changed.elapsed() < Duration::from_secs(1), "too late");
    let after = second.admin().groups().current();
    second.admin().groups().load().await.expect("a look");
    let same = second.admin().groups().current();
    assert!(Arc::ptr_eq(&after, &same), "nothing has changed");
    running.stop(Duration::ZERO).await;
}

/// The promise: a node that has not heard of a group looks for it and charges nobody a wrong price meanwhile.
#[tokio::test]
async fn a_group_that_another_node_has_just_made_is_looked_for() {
    let rig = Rig::new().await;
    let deaf = rig.second_node();
    create(&rig, "vip", &json!([{ "match": "*", "factor": 0.5 }])).await;
    let caller = join(&rig, &rig.account(10).await, Some("vip")).await;
    let request = fields(&json!({ "prompt": "plain" }));
    let quote = deaf
        .intake()
        .quote(&caller, "artgen.imagine", request, false);
    assert_eq!(quote.await.expect("a quote"), quota("2"));
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_field_and_changes_nothing() {
    let rig = Rig::new().await;
    let groups = rig.engine.admin().groups();
    create(&rig, "vip", &json!([])).await;
    let field = |refusal: &Refusal| refusal.field.clone().unwrap_or_default();
    for (body, wrong) in [
        (json!({ "name": "a b" }), "name"),
        (
            json!({ "name": "a", "rules": [{ "match": "nothing", "factor": 1 }] }),
            "rules[0].match",
        ),
        (
            json!({ "name": "a", "rules": [{ "match": "*", "factor": 101 }] }),
            "rules[0].factor",
        ),
        (
            json!({ "name": "a", "rules": [{ "match": "artgen", "amount": 1 }] }),
            "rules[0].amount",
        ),
        (json!({ "name": "VIP" }), "name"),
        (json!({ "name": "default" }), "name"),
    ] {
        let refused = groups.create("root", fields(&body)).await;
        assert_eq!(field(&refused.expect_err("refused")), wrong, "{body}");
    }
    assert_eq!(
        acts(&rig).await,
        [("group.create".to_owned(), "vip".to_owned())]
    );
    rig.check_books().await;
}

#[tokio::test]
async fn changes_and_removals_that_do_not_fit_are_refused_with_their_field() {
    let rig = Rig::new().await;
    let groups = rig.engine.admin().groups();
    let caller = rig.account(1).await;
    create(&rig, "vip", &json!([])).await;
    let field = |refusal: &Refusal| refusal.field.clone().unwrap_or_default();
    let renamed = groups
        .change("root", "vip", fields(&json!({ "name": "other" })))
        .await;
    assert_eq!(field(&renamed.expect_err("refused")), "name");
    let crossed = fields(&json!({ "rules": [], "revision": 7 }));
    let crossed = groups
        .change("root", "vip", crossed)
        .await
        .expect_err("crossed");
    assert_eq!(
        (crossed.code, field(&crossed)),
        (Code::Conflict, "revision".into())
    );
    let absent = groups
        .change("root", "nobody", fields(&json!({ "rules": [] })))
        .await;
    assert_eq!(absent.expect_err("absent").code, Code::NotFound);
    let patch = AccountPatch {
        group: Some(Some("nobody".into())),
        ..AccountPatch::default()
    };
    let accounts = rig.engine.admin().accounts();
    let refused = accounts.change("root", &caller.account_id, patch).await;
    assert_eq!(field(&refused.expect_err("no group")), "group");
    join(&rig, &caller, Some("vip")).await;
    let in_use = groups
        .remove("root", "vip", None)
        .await
        .expect_err("in use");
    assert_eq!(
        (in_use.code, field(&in_use)),
        (Code::Conflict, "name".into())
    );
    let default = groups.remove("root", "default", None).await;
    assert_eq!(field(&default.expect_err("always there")), "name");
    join(&rig, &caller, None).await;
    let model = json!({ "name": "fox-9", "like": "artgen.imagine", "groups": ["VIP"] });
    create_model(&rig, &model).await;
    let named = groups
        .remove("root", "vip", None)
        .await
        .expect_err("a model is sold to it");
    assert!(named.message.contains("fox-9"), "{}", named.message);
    assert_eq!(
        acts(&rig).await,
        [("group.create".to_owned(), "vip".to_owned())]
    );
    let removed = rig
        .engine
        .admin()
        .models()
        .remove("root", "fox-9", None)
        .await;
    removed.expect("removed");
    groups
        .remove("root", "vip", Some(1))
        .await
        .expect("removed");
    assert_eq!(
        groups.list().await.expect("a list").len(),
        1,
        "default alone"
    );
    rig.check_books().await;
}

/// The promise: the group that all begin in has rules like any other.
#[tokio::test]
async fn the_group_that_all_begin_in_has_rules() {
    let rig = Rig::new().await;
    let caller = rig.account(1).await;
    change(&rig, "default", &json!([{ "match": "*", "factor": 2 }]))
        .await
        .expect("changed");
    let quote = rig.engine.intake().quote(
        &caller,
        "artgen.imagine",
        fields(&json!({ "prompt": "x" })),
        false,
    );
    assert_eq!(quote.await.expect("a quote"), quota("8"));
    rig.check_books().await;
}

/// The promise: a model is sold to no group by a slip of the pen; at a start, when there may be no groups yet, that is no reason
/// not to start.
#[tokio::test]
async fn a_model_for_a_group_that_is_not_there_is_refused_but_not_at_a_start() {
    let field = |refusal: &Refusal| refusal.field.clone().unwrap_or_default();
    let rig = Rig::new().await;
    let models = rig.engine.admin().models();
    create(&rig, "vip", &json!([])).await;
    let mut model = json!({ "name": "fox-9", "like": "artgen.imagine", "groups": ["vip", "vop"] });
    let refused = models.create("root", fields(&model)).await;
    let refused = refused.expect_err("no such group");
    assert_eq!(field(&refused), "groups[1]");
    assert!(
        refused.message.contains("default, vip"),
        "{}",
        refused.message
    );
    model["groups"] = json!(["VIP", "default"]);
    create_model(&rig, &model).await;
    let change = fields(&json!({ "groups": ["nobody"] }));
    let refused = models.change("root", "fox-9", change).await;
    assert_eq!(field(&refused.expect_err("no such group")), "groups[0]");
    let declared = json!({ "name": "owl-9", "like": "artgen.imagine", "groups": ["gold"] });
    let declared: ModelDefinition = serde_json::from_value(declared).expect("a model");
    models.declare(vec![declared]).await.expect("it starts");
    let shown = models.one("owl-9").await.expect("it is there");
    assert_eq!(shown.row.definition.groups, ["gold"]);
    // What it named before is not asked again.
    let change = fields(&json!({ "title": "An owl" }));
    models
        .change("root", "owl-9", change)
        .await
        .expect("changed");
}

/// The promise: a model of a group is unknown to all others, and its members use it.
#[tokio::test]
async fn a_model_of_a_group_is_for_its_accounts() {
    let rig = Rig::new().await;
    let mut model = fox(&[("scripted", "x")]);
    model["groups"] = json!(["VIP"]);
    create(&rig, "vip", &json!([])).await;
    create_model(&rig, &model).await;
    let rules = json!([{ "match": "fox-1", "amount": 1.25 }]);
    change(&rig, "vip", &rules).await.expect("changed");
    let other = rig.account(100).await;
    let caller = join(&rig, &rig.account(100).await, Some("vip")).await;
    let id = draw(&rig, &caller, "fox", "plain").await;
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!((job.state, job.quota), (JobState::Succeeded, quota("1.25")));
    let line = &job.price_lines[0];
    assert_eq!(
        (line.group.as_deref(), line.amount),
        (Some("vip"), quota("1.25"))
    );
    // Unknown there, so that the field means nothing to the operation.
    let id = draw(&rig, &other, "fox", "plain").await;
    rig.until_final(&other, &id).await;
    assert_eq!(rig.job(&other, &id).await.quota, quota("4"));
    rig.check_books().await;
}

#[tokio::test]
async fn a_preview_says_what_other_rules_would_have_meant() {
    let rig = Rig::new().await;
    let groups = rig.engine.admin().groups();
    create(&rig, "vip", &json!([])).await;
    let member = join(&rig, &rig.account(100).await, Some("vip")).await;
    let other = rig.account(100).await;
    for caller in [&member, &other] {
        let id = rig.imagine(caller, "plain").await.expect("accepted");
        rig.until_final(caller, &id).await;
    }
    let edit = |rules: Value| GroupEdit::Change {
        name: "vip".into(),
        fields: fields(&json!({ "rules": rules })),
    };
    let half = json!([{ "match": "*", "factor": 0.5 }, { "match": "*", "factor": 0.25, "from": "2030-01-01" }]);
    let now = groups
        .preview(edit(half.clone()), None)
        .await
        .expect("a preview");
    assert!(!now.everybody);
    let now = now.preview;
    assert_eq!(
        (now.jobs, now.was, now.would_be),
        (1, quota("4"), quota("2"))
    );
    let later = groups
        .preview(edit(half), Some("2030-01-01"))
        .await
        .expect("a preview");
    assert_eq!(later.preview.would_be, quota("1"));
    let new = GroupEdit::Create(fields(
        &json!({ "name": "new", "rules": [{ "match": "artgen", "factor": 2 }] }),
    ));
    let new = groups.preview(new, None).await.expect("a preview");
    assert!(new.everybody, "it has no account yet");
    assert_eq!((new.preview.jobs, new.preview.would_be), (2, quota("16")));
    let bad = groups
        .preview(edit(json!([{ "match": "*", "factor": -1 }])), None)
        .await;
    assert_eq!(
        bad.expect_err("refused").field.as_deref(),
        Some("rules[0].factor")
    );
    let bad = groups.preview(edit(json!([])), Some("never")).await;
    assert_eq!(bad.expect_err("refused").field.as_deref(), Some("at"));
    assert_eq!(
        groups.one("vip").await.expect("there").row.revision,
        1,
        "nothing was changed"
    );
    // Previews of prices tell each account its own.
    change(&rig, "vip", &json!([{ "match": "*", "factor": 0.5 }]))
        .await
        .expect("changed");
    let prices = rig.engine.admin().reports();
    let prices = prices
        .preview(vec![("artgen.imagine.fast".into(), quota("10"))])
        .await;
    assert_eq!(prices.expect("a preview").would_be, quota("15"));
}

/// The promise: the first change of the group that is always there is guarded as any other is.
#[tokio::test]
async fn the_first_change_of_the_default_group_is_not_made_over_another() {
    let rig = Rig::new().await;
    let groups = rig.engine.admin().groups();
    let first = |factor: u32| {
        fields(&json!({ "rules": [{ "match": "*", "factor": factor }], "revision": 0 }))
    };
    let changed = groups.change("root", "default", first(2)).await;
    assert_eq!(changed.expect("the first").row.revision, 1);
    let late = groups.change("root", "default", first(3)).await;
    let late = late.expect_err("made on what is no more");
    assert_eq!(
        (late.code, late.field.as_deref()),
        (Code::Conflict, Some("revision"))
    );
}

/// The promise: whoever sends a long body pays what its account pays when the body has arrived, and keeps what the call brought.
#[tokio::test]
async fn a_caller_is_looked_at_again_after_its_body() {
    let rig = Rig::new().await;
    create(&rig, "vip", &json!([])).await;
    let mut caller = rig.account(1).await;
    caller.tags = Some("{\"a\":\"b\"}".into());
    join(&rig, &caller, Some("vip")).await;
    let callers = rig.engine.admin().callers();
    let now = callers.refreshed(&caller).await.expect("it still works");
    assert_eq!(now.group.as_deref(), Some("vip"));
    assert_eq!((&now.tags, &now.key_id), (&caller.tags, &caller.key_id));
    let (keys, by) = (rig.engine.admin().keys(), KeyHolder::Operator("root"));
    let revoked = keys.revoke(&caller.account_id, &caller.key_id, by).await;
    assert!(revoked.expect("revoked"));
    let gone = callers.refreshed(&caller).await.expect_err("revoked");
    assert_eq!(gone.code, Code::Unauthorized);
}

/// The promise: the choices of one quote are told by one price list, also while a rule begins.
#[tokio::test]
async fn quotes_of_one_moment_go_by_the_rules_of_that_moment() {
    let rig = Rig::new().await;
    let tomorrow = rig.clock.now_ms() / 86_400_000 + 1;
    let from = timestamp(tomorrow * 86_400_000);
    let from = from.get(..10).expect("a date");
    let rules =
        json!([{ "match": "*", "factor": 0.5 }, { "match": "*", "factor": 2, "from": from }]);
    create(&rig, "vip", &rules).await;
    let caller = join(&rig, &rig.account(10).await, Some("vip")).await;
    let intake = rig.engine.intake();
    let request = || fields(&json!({ "prompt": "plain" }));
    let terms = intake.quote_terms(&caller).await.expect("terms");
    rig.clock.advance(86_400_000);
    let quote = intake.quote_at(&terms, &caller, "artgen.imagine", request(), false);
    assert_eq!(quote.await.expect("a quote").total, quota("2"));
    let later = intake.quote_bill(&caller, "artgen.imagine", request(), false);
    assert_eq!(later.await.expect("a quote").total, quota("8"));
    // A job is priced at the moment that it says it was made.
    let id = rig.imagine(&caller, "plain").await.expect("accepted");
    let job = rig.job(&caller, &id).await;
    assert_eq!(
        (job.price, job.created_ms),
        (quota("8"), rig.clock.now_ms())
    );
}
