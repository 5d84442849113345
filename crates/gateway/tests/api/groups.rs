//! Groups of accounts from outside: an operator writes rules, and the accounts see and pay what these say.

mod nodes;

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Account, Answer, Gateway};

/// Makes a group; what the operator is shown of it.
async fn make(gateway: &Gateway, name: &str, rules: Value) -> Value {
    let body = json!({ "name": name, "rules": rules });
    let made = gateway
        .operate(Method::POST, "/admin/v1/groups", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    made.json["data"].clone()
}

async fn patch(gateway: &Gateway, path: &str, body: Value) -> Answer {
    let path = format!("/admin/v1/{path}");
    gateway.operate(Method::PATCH, &path, Some(body)).await
}

/// Moves an account into a group.
async fn join(gateway: &Gateway, caller: &Account, group: &str) -> Answer {
    let path = format!("accounts/{}", caller.id);
    patch(gateway, &path, json!({ "group": group })).await
}

async fn quote(gateway: &Gateway, caller: &Account, operation: &str, request: Value) -> Value {
    let body = json!({ "operation": operation, "request": request });
    let quote = gateway.post(&caller.key, "/account/v1/quote", body).await;
    assert_eq!(quote.status, 200, "{}", quote.json);
    quote.json["data"].clone()
}

fn imagine() -> Value {
    json!({ "prompt": "a lighthouse at dawn" })
}

/// The promise: quote, hold, capture and the job's lines say one price, and whose rule it is.
#[tokio::test]
async fn an_account_pays_what_its_group_says_from_quote_to_capture() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    let before = quote(
        &gateway,
        &caller,
        "imgmodel.generations",
        json!({ "prompt": "x", "model": "image-1", "quality": "low" }),
    )
    .await;
    assert_eq!(
        before,
        json!({ "operation": "imgmodel.generations", "quota": 1 }),
        "as ever"
    );
    let made = make(
        &gateway,
        "Resellers",
        json!([
            { "match": "*", "factor": 0.9 },
            { "match": "imgmodel.generations.image-1.low", "amount": 0.755 },
            { "match": "artgen", "factor": 0.5, "from": "2099-01-01" },
        ]),
    )
    .await;
    assert_eq!(
        (&made["name"], &made["revision"], &made["accounts"]),
        (&json!("resellers"), &json!(1), &json!(0))
    );
    let joined = join(&gateway, &caller, "RESELLERS").await;
    assert_eq!(joined.json["data"]["group"], "resellers", "{}", joined.json);
    let picture = json!({ "prompt": "a fox", "model": "image-1", "quality": "low", "n": 2 });
    let asked = quote(&gateway, &caller, "imgmodel.generations", picture.clone()).await;
    let rule = json!({ "match": "imgmodel.generations.image-1.low", "amount": 0.755 });
    assert_eq!(
        (asked["quota"].as_f64(), &asked["group"], &asked["rule"]),
        (Some(1.51), &json!("resellers"), &rule)
    );
    assert_eq!(asked["lines"][0]["rule"], rule, "{asked}");
    let answer = gateway
        .post(&caller.key, "/v1/images/generations", picture.clone())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(gateway.balance(&caller.key).await, (98.49, 0.0));
    let job = gateway.get(&caller.key, "/jobs/v1?limit=1").await.json["data"][0].clone();
    let job = gateway
        .get(
            &caller.key,
            &format!("/jobs/v1/{}", job["jobId"].as_str().expect("an id")),
        )
        .await;
    assert_eq!(job.json["data"]["price"], asked["lines"], "{}", job.json);
    // So do the rows of the ledger that hold and capture it.
    let ledger = gateway.get(&caller.key, "/account/v1/ledger?limit=2").await;
    for row in ledger.json["data"].as_array().expect("rows") {
        assert_eq!((&row["group"], &row["rule"]), (&json!("resellers"), &rule));
    }
    let general = quote(&gateway, &caller, "artgen.imagine", imagine()).await;
    assert_eq!(
        (general["quota"].as_f64(), &general["rule"]["match"]),
        (Some(3.6), &json!("*"))
    );
    let plain = quote(&gateway, &other, "artgen.imagine", imagine()).await;
    assert_eq!(plain, json!({ "operation": "artgen.imagine", "quota": 4 }));
}

/// A model for one group alone, and what that group pays.
async fn sell_to_a_group(gateway: &Gateway) {
    make(gateway, "vip", json!([])).await;
    let model = json!({ "name": "seedream-4-5", "like": "imgmodel/image-1", "groups": ["vip"], "price": { "unit": "item", "amount": 0.5 } });
    let sold = gateway
        .operate(Method::POST, "/admin/v1/models", Some(model))
        .await;
    assert_eq!(sold.status, 200, "{}", sold.json);
    let rules = json!([{ "match": "seedream-4-5", "amount": 0.4 }, { "match": "imgmodel.generations", "factor": 0.5 }]);
    let changed = patch(
        gateway,
        "groups/vip",
        json!({ "rules": rules, "revision": 1 }),
    )
    .await;
    assert_eq!(changed.json["data"]["revision"], 2, "{}", changed.json);
}

/// The promise: an account is told its own prices, and sees the models of its group.
#[tokio::test]
async fn the_models_of_an_account_have_its_prices() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    sell_to_a_group(&gateway).await;
    let models = async |caller: &Account| {
        let list = gateway.get(&caller.key, "/account/v1/models").await.json;
        list["data"].as_array().expect("models").clone()
    };
    let one = |all: &[Value], name: &str| all.iter().find(|model| model["name"] == name).cloned();
    let before = models(&caller).await;
    assert_eq!(one(&before, "seedream-4-5"), None, "it is another group's");
    assert!(
        one(&before, "image-1")
            .expect("built in")
            .get("group")
            .is_none()
    );
    assert_eq!(join(&gateway, &caller, "vip").await.status, 200);
    let after = models(&caller).await;
    let own = one(&after, "seedream-4-5").expect("its group's");
    assert_eq!(
        own["price"],
        json!({ "unit": "item", "amount": 0.4 }),
        "{own}"
    );
    assert_eq!(
        (&own["group"], &own["priceText"]),
        (&json!("vip"), &json!("0.4 per item"))
    );
    assert!(
        own["operations"]
            .as_array()
            .expect("some")
            .iter()
            .all(|one| one["rule"]["amount"].as_f64() == Some(0.4)),
        "{own}"
    );
    let built_in = one(&after, "image-1").expect("built in");
    assert_eq!(
        built_in["tariff"]["imgmodel.generations.image-1.high"].as_f64(),
        Some(8.0),
        "{built_in}"
    );
    assert_eq!(
        built_in["tariff"]["imgmodel.edits.image-1.high"].as_f64(),
        Some(16.0),
        "{built_in}"
    );
    assert_eq!(
        built_in["tariff"]["imgmodel.factor.image-1_large"].as_f64(),
        Some(1.5),
        "a factor stays"
    );
    assert_eq!(one(&models(&other).await, "seedream-4-5"), None);
    let names = gateway
        .get(&caller.key, "/v1/models")
        .await
        .json
        .to_string();
    assert!(names.contains("seedream-4-5"), "{names}");
    let refused = gateway
        .post(
            &other.key,
            "/v1/images/generations",
            json!({ "prompt": "x", "model": "seedream-4-5" }),
        )
        .await;
    refused.assert_refused(400, "invalid_parameter");
}

/// The promise: what does not fit is refused with its field, and leaves neither a group nor an act.
#[tokio::test]
async fn operators_are_told_what_does_not_fit() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let refused = join(&gateway, &caller, "nobody").await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "group", "{}", refused.json);
    let bad = json!({ "name": "vip", "rules": [{ "match": "*", "factor": 1 }, { "match": "*", "factor": 2 }] });
    let bad = gateway
        .operate(Method::POST, "/admin/v1/groups", Some(bad))
        .await;
    bad.assert_refused(400, "invalid_parameter");
    assert_eq!(bad.json["param"], "rules[1].match", "{}", bad.json);
    let list = gateway
        .operate(Method::GET, "/admin/v1/groups", None)
        .await
        .json;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(
        (&list["data"][0]["name"], &list["data"][0]["revision"]),
        (&json!("default"), &json!(0))
    );
    make(&gateway, "a/b", json!([])).await;
    assert_eq!(join(&gateway, &caller, "a/b").await.status, 200);
    for (path, status, code) in [
        ("/admin/v1/groups/default", 400, "invalid_parameter"),
        ("/admin/v1/groups/a%2Fb", 409, "conflict"),
        ("/admin/v1/groups/a/b?revision=9", 409, "conflict"),
        ("/admin/v1/groups/none", 404, "not_found"),
    ] {
        let removed = gateway.operate(Method::DELETE, path, None).await;
        removed.assert_refused(status, code);
    }
    assert_eq!(
        join(&gateway, &caller, "default").await.json["data"]["group"],
        "default"
    );
    let removed = gateway
        .operate(Method::DELETE, "/admin/v1/groups/a/b?revision=1", None)
        .await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    let audit = gateway
        .operate(Method::GET, "/admin/v1/audit", None)
        .await
        .json;
    let told = audit["data"].as_array().expect("acts").iter();
    let told: Vec<&str> = told
        .filter_map(|act| act["action"].as_str())
        .filter(|act| act.starts_with("group"))
        .collect();
    assert_eq!(told, ["group.remove", "group.create"]);
}

/// The promise: a preview says what jobs would have cost on a day, and changes nothing.
#[tokio::test]
async fn a_preview_of_a_group_changes_nothing() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let picture = json!({ "prompt": "a fox", "model": "image-1", "quality": "low" });
    let answer = gateway
        .post(&caller.key, "/v1/images/generations", picture)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let body = json!({ "name": "vip", "rules": [{ "match": "*", "factor": 0.5 }, { "match": "*", "factor": 0.25, "from": "2099-01-01" }] });
    for (query, wanted) in [("", 0.5), ("&at=2099-01-01", 0.25)] {
        let path = format!("/admin/v1/groups?preview=true{query}");
        let asked = gateway
            .operate(Method::POST, &path, Some(body.clone()))
            .await;
        let preview = &asked.json["data"];
        assert_eq!(
            (&preview["jobs"], &preview["everybody"]),
            (&json!(1), &json!(true)),
            "{}",
            asked.json
        );
        assert_eq!(preview["wouldBe"].as_f64(), Some(wanted), "{preview}");
        assert_eq!(preview["families"][0]["jobs"], 1, "{preview}");
    }
    let list = gateway
        .operate(Method::GET, "/admin/v1/groups", None)
        .await
        .json;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1), "{list}");
}
