//! The operator's pages of models, and what callers are told.

use reqwest::Method;
use serde_json::{Value, json};

use super::{change, latest_job, names, picture, seedream, sell};
use crate::gateway::{Gateway, Options};

/// The promise: a name with a stroke in it is the same model whichever way it is written.
#[tokio::test]
async fn a_stroke_in_a_name_may_stand_as_it_is_or_encoded() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let model = json!({ "name": "acme/fast:1.0", "like": "imgmodel/image-1" });
    sell(&gateway, model).await;
    for path in [
        "/admin/v1/models/acme/fast:1.0",
        "/admin/v1/models/acme%2Ffast%3A1.0",
    ] {
        let shown = gateway.operate(Method::GET, path, None).await;
        assert_eq!(shown.json["data"]["name"], "acme/fast:1.0", "{path}");
    }
    for path in ["/v1/models/acme/fast:1.0", "/v1/models/acme%2ffast:1.0"] {
        let shown = gateway.get(&caller.key, path).await;
        assert_eq!(shown.json["id"], "acme/fast:1.0", "{path}: {}", shown.json);
    }
    let title = json!({ "title": "Fast" });
    let changed = change(&gateway, "acme%2Ffast:1.0", title).await;
    assert_eq!(changed.json["data"]["revision"], 2, "{}", changed.json);
    let path = "/admin/v1/models/acme/fast:1.0";
    let removed = gateway.operate(Method::DELETE, path, None).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    let gone = gateway.operate(Method::GET, path, None).await;
    gone.assert_refused(404, "not_found");
    let odd = gateway.operate(Method::GET, "/admin/v1/models/%ff", None);
    odd.await.assert_refused(404, "not_found");
}

/// The promise: of two operators who change the same revision, the second is told and overwrites nothing.
#[tokio::test]
async fn the_second_of_two_changes_is_told_the_revision_there_is() {
    let gateway = Gateway::spawn().await;
    sell(&gateway, seedream()).await;
    let first = json!({ "price": { "unit": "item", "amount": 1 }, "revision": 1 });
    let first = change(&gateway, "seedream-4-5", first).await;
    assert_eq!(first.json["data"]["revision"], 2, "{}", first.json);
    let second = json!({ "price": { "unit": "item", "amount": 9 }, "revision": 1 });
    let second = change(&gateway, "seedream-4-5", second).await;
    second.assert_refused(409, "conflict");
    let message = second.json["message"].as_str().unwrap_or_default();
    assert!(message.contains('2'), "{message}");
    let path = "/admin/v1/models/seedream-4-5?revision=1";
    let removed = gateway.operate(Method::DELETE, path, None).await;
    removed.assert_refused(409, "conflict");
    let again = gateway.operate(Method::POST, "/admin/v1/models", Some(seedream()));
    again.await.assert_refused(409, "conflict");
    let shown = gateway
        .operate(Method::GET, "/admin/v1/models", None)
        .await
        .json;
    assert_eq!(shown["data"][0]["price"]["amount"], 1, "{shown}");
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    let told = audit.json.to_string();
    assert!(told.contains("model.create") && told.contains("model.change"));
}

/// The promise: a preview says what jobs would have cost and which would be refused, and changes nothing.
#[tokio::test]
async fn a_preview_changes_nothing() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, seedream()).await;
    for size in ["1024x1024", "2048x2048"] {
        let wish = json!({ "model": "seedream", "size": size });
        assert_eq!(picture(&gateway, &caller, wish).await.status, 200);
    }
    let dearer = json!({ "price": { "unit": "item", "amount": 3 },
        "fields": { "size": { "allowed": ["1024x1024"] } } });
    let asked = change(&gateway, "seedream-4-5?preview=true", dearer).await;
    let preview = &asked.json["data"];
    assert_eq!(asked.status, 200, "{}", asked.json);
    assert_eq!(preview["jobs"], 2, "{preview}");
    assert_eq!(preview["was"].as_f64(), Some(1.5), "{preview}");
    assert_eq!(preview["wouldBe"].as_f64(), Some(3.0), "{preview}");
    assert_eq!(preview["wouldRefuse"], 1, "{preview}");
    assert!(preview["refused"][0]["message"].is_string(), "{preview}");
    let path = "/admin/v1/models/seedream-4-5?preview=true";
    let removed = gateway.operate(Method::DELETE, path, None).await;
    assert_eq!(removed.json["data"]["wouldRefuse"], 2, "{}", removed.json);
    let new = json!({ "name": "other", "like": "imgmodel/image-1" });
    let path = "/admin/v1/models?preview=true";
    let new = gateway.operate(Method::POST, path, Some(new)).await;
    assert_eq!(new.status, 200, "{}", new.json);
    let list = gateway
        .operate(Method::GET, "/admin/v1/models", None)
        .await
        .json;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list["data"][0]["revision"], 1, "{list}");
}

/// The promise: who may use a model sees its rules and its price as plain numbers, and who may not cannot tell that it exists.
#[tokio::test]
async fn accounts_see_what_they_can_use_and_nothing_else() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let before = names(&gateway, &caller).await;
    sell(&gateway, seedream()).await;
    let gold = Some(json!({ "name": "gold" }));
    let made = gateway
        .operate(Method::POST, "/admin/v1/groups", gold)
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let hidden = json!({ "name": "gold-only", "like": "imgmodel/image-1", "groups": ["gold"] });
    sell(&gateway, hidden).await;
    let after = names(&gateway, &caller).await;
    assert_eq!(after.len(), before.len() + 1, "{after:?}");
    assert!(after.contains(&"seedream-4-5".to_owned()), "{after:?}");
    let list = gateway.get(&caller.key, "/account/v1/models").await.json;
    let rows = list["data"].as_array().expect("rows");
    let own = |name: &str| rows.iter().find(|row| row["name"] == name);
    let row = own("seedream-4-5").unwrap_or_else(|| panic!("{list}"));
    assert_eq!(row["title"], "Seedream 4.5", "{row}");
    assert_eq!(row["price"]["amount"].as_f64(), Some(0.5), "{row}");
    let operations = row["operations"].as_array().expect("operations");
    let made = operations
        .iter()
        .find(|one| one["name"] == "imgmodel.generations");
    let made = made.unwrap_or_else(|| panic!("{row}"));
    assert_eq!(
        made["fields"]["size"]["allowed"],
        json!(["1024x1024", "2048x2048"])
    );
    assert_eq!(made["fields"]["n"]["max"].as_f64(), Some(4.0), "{made}");
    let built_in = own("image-1").unwrap_or_else(|| panic!("{list}"));
    assert!(
        built_in["tariff"]
            .as_object()
            .is_some_and(|tariff| !tariff.is_empty()),
        "{built_in}"
    );
    assert!(own("gold-only").is_none(), "{list}");

    // What is somebody else's cannot be told from what does not exist.
    let refused = async |name: &str| {
        let wish = json!({ "model": name });
        let text = picture(&gateway, &caller, wish).await.json.to_string();
        text.replace(name, "NAME")
    };
    assert_eq!(refused("gold-only").await, refused("no-such-1").await);
    let shown = async |name: &str| {
        let path = format!("/v1/models/{name}");
        gateway.get(&caller.key, &path).await.json
    };
    assert_eq!(shown("gold-only").await, shown("no-such-1").await);
    let path = "/openapi.json";
    let document = gateway.get(&caller.key, path).await.json.to_string();
    assert!(!document.contains("gold-only"));
}

/// The promise: a change holds for the next request and for no accepted job; a switched-off or retired model says what to use.
#[tokio::test]
async fn models_are_switched_off_and_retired_from_the_next_request_on() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    sell(&gateway, seedream()).await;
    let wish = || json!({ "model": "seedream-4-5" });
    assert_eq!(picture(&gateway, &caller, wish()).await.status, 200);
    let off = change(&gateway, "seedream-4-5", json!({ "enabled": false })).await;
    assert_eq!(off.status, 200, "{}", off.json);
    let refused = picture(&gateway, &caller, wish()).await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "model", "{}", refused.json);
    let listed = names(&gateway, &caller).await;
    assert!(!listed.contains(&"seedream-4-5".to_owned()), "{listed:?}");
    let retired = json!({ "enabled": true, "retires": "2020-01-31", "successor": "image-1" });
    let retired = change(&gateway, "seedream-4-5", retired).await;
    assert_eq!(retired.status, 200, "{}", retired.json);
    let refused = picture(&gateway, &caller, wish()).await;
    let message = refused.json["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("2020-01-31") && message.contains("image-1"),
        "{message}"
    );
    let job = latest_job(&gateway, &caller).await;
    assert_eq!(job["modelRevision"], 1, "what was accepted stays: {job}");
    let back = json!({ "retires": null, "successor": null });
    let back = change(&gateway, "seedream-4-5", back).await;
    assert_eq!(back.status, 200, "{}", back.json);
    assert_eq!(picture(&gateway, &caller, wish()).await.status, 200);
    let job = latest_job(&gateway, &caller).await;
    assert_eq!(job["modelRevision"], 4, "{job}");

    // The default of an operation: who names none is refused as well, and others are not.
    let usual = json!({ "name": "art-2", "enabled": false });
    sell(&gateway, usual).await;
    let none = picture(&gateway, &caller, json!({})).await;
    none.assert_refused(400, "invalid_parameter");
    let named = picture(&gateway, &caller, json!({ "model": "art-3" })).await;
    assert_eq!(named.status, 200, "{}", named.json);
    let path = "/admin/v1/models/art-2";
    gateway.operate(Method::DELETE, path, None).await;
    assert_eq!(picture(&gateway, &caller, json!({})).await.status, 200);
}

/// The promise: work of a model goes where its routes lead, by the vendor's name for it, and the operator sees how they are.
#[tokio::test]
async fn a_route_leads_to_its_back_end_by_the_name_that_is_known_there() {
    let back = Gateway::spawn().await;
    let upstream = back.account(100).await;
    let declared = format!(
        r#"[{{ name = "up", vendor = "relay", base_url = "{}", accounts = [{{ name = "a", credential = "{}" }}] }}]"#,
        back.base_url, upstream.key
    );
    let front = Options::default().set("BACKENDS", &declared).spawn().await;
    let caller = front.account(50).await;
    let routes = json!([{ "backend": "up", "model": "image-1" }]);
    let model = json!({ "name": "far-1", "like": "imgmodel/image-1", "routes": routes,
        "price": { "unit": "call", "amount": 1 } });
    let made = sell(&front, model).await;
    assert_eq!(made["route_health"][0]["usable"], true, "{made}");
    let answer = picture(&front, &caller, json!({ "model": "far-1" })).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(front.balance(&caller.key).await, (49.0, 0.0));
    let job = latest_job(&back, &upstream).await;
    assert_eq!(job["request"]["model"], "image-1", "{job}");
    let served = front
        .operate(Method::GET, "/admin/v1/jobs", None)
        .await
        .json;
    assert_eq!(served["data"][0]["backend"], "up", "{served}");

    // Nobody else serves it when its only route is away.
    let off = Some(json!({ "enabled": false }));
    front
        .operate(Method::PATCH, "/admin/v1/backends/up", off)
        .await;
    let refused = picture(&front, &caller, json!({ "model": "far-1" })).await;
    refused.assert_refused(400, "no_available_account");
    let listed = names(&front, &caller).await;
    assert!(!listed.contains(&"far-1".to_owned()), "{listed:?}");
    let shown = front.operate(Method::GET, "/admin/v1/models/far-1", None);
    let health = shown.await.json["data"]["route_health"][0].clone();
    assert_eq!(health["usable"], false, "{health}");
    assert!(health["problem"].is_string(), "{health}");
}

/// The promise: what the configuration declares is sold at every start, and what an operator changed since stays.
#[tokio::test]
async fn declared_models_are_there_at_every_start() {
    let declared = r#"[{ name = "house-1", like = "imgmodel/image-1", price = { unit = "item", amount = 2 } }]"#;
    let options = || Options::default().set("MODELS", declared);
    let gateway = options().spawn().await;
    let caller = gateway.account(100).await;
    let answer = picture(&gateway, &caller, json!({ "model": "house-1" })).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(gateway.balance(&caller.key).await, (98.0, 0.0));
    let list = |answer: &Value| answer["data"].as_array().map(Vec::len);
    let gateway = gateway.restart(options());
    let shown = gateway.operate(Method::GET, "/admin/v1/models", None);
    let shown = shown.await.json;
    assert_eq!(shown["data"][0]["declared"], true, "{shown}");
    assert_eq!(shown["data"][0]["revision"], 1, "nothing was different");
    let path = "/admin/v1/models/house-1";
    let removed = gateway.operate(Method::DELETE, path, None).await;
    removed.assert_refused(409, "conflict");
    let gateway = gateway.restart(Options::default());
    let shown = gateway.operate(Method::GET, "/admin/v1/models", None);
    let shown = shown.await.json;
    assert_eq!(list(&shown), Some(0), "{shown}");
}

/// The promise: what is listed is what can be used, also of two models that differ in nothing but the name that a worker account
/// lists.
#[tokio::test]
async fn a_model_that_no_worker_account_lists_is_not_told() {
    let back = Gateway::spawn().await;
    let upstream = back.account(100).await;
    let declared = format!(
        r#"[{{ name = "up", vendor = "relay", base_url = "{}", accounts = [{{ name = "a", credential = "{}", models = ["first-1"] }}] }}]"#,
        back.base_url, upstream.key
    );
    let front = Options::default().set("BACKENDS", &declared).spawn().await;
    let caller = front.account(50).await;
    for name in ["first-1", "second-1", "0-before-1"] {
        let routes = json!([{ "backend": "up", "model": "image-1" }]);
        let model = json!({ "name": name, "like": "imgmodel/image-1", "routes": routes });
        sell(&front, model).await;
    }
    let listed = names(&front, &caller).await;
    for (name, sold) in [
        ("first-1", true),
        ("second-1", false),
        ("0-before-1", false),
    ] {
        let answer = picture(&front, &caller, json!({ "model": name })).await;
        assert_eq!(answer.status == 200, sold, "{name}: {}", answer.json);
        assert_eq!(
            listed.contains(&name.to_owned()),
            sold,
            "{name}: {listed:?}"
        );
    }
}
