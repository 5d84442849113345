//! What an operator may not say of a model: each refusal names the field.

use reqwest::Method;
use serde_json::{Value, json};

use super::{picture, seedream, sell};
use crate::gateway::Gateway;

/// A model with something wrong about it.
fn with(change: &Value) -> Value {
    let mut model = json!({ "name": "new-1", "like": "imgmodel/image-1" });
    for (name, value) in change.as_object().expect("fields") {
        model[name] = value.clone();
    }
    model
}

/// Models that cannot be sold beside `seedream-4-5` and `old-1`, each with the field that is wrong.
fn mistakes() -> Vec<(Value, &'static str)> {
    let priced = |factors: Value| {
        let price = json!({ "unit": "item", "amount": 1, "factors": factors });
        with(&json!({ "price": price }))
    };
    let ruled = |fields: Value| with(&json!({ "fields": fields }));
    vec![
        (with(&json!({ "name": "two words" })), "name"),
        (with(&json!({ "name": "" })), "name"),
        (with(&json!({ "name": "x".repeat(65) })), "name"),
        (with(&json!({ "name": "image-1" })), "name"),
        (with(&json!({ "name": "Seedream" })), "name"),
        (json!({ "name": "new-1" }), "like"),
        (with(&json!({ "like": "nothing/at-all" })), "like"),
        (with(&json!({ "like": "video-2" })), "like"),
        (with(&json!({ "aliases": ["image-1"] })), "aliases[0]"),
        (with(&json!({ "aliases": ["a", "seedream"] })), "aliases[1]"),
        (with(&json!({ "aliases": ["seedream-4-5"] })), "aliases[0]"),
        (
            with(&json!({ "routes": [{ "backend": "nowhere" }] })),
            "routes[0].backend",
        ),
        (ruled(json!({ "none": { "refused": true } })), "fields.none"),
        (ruled(json!({ "n": { "max": 1000 } })), "fields.n.max"),
        (
            priced(json!({ "quality": { "splendid": 2 } })),
            "price.factors.quality.splendid",
        ),
        (
            priced(json!({ "quality": { "high": 2 } })),
            "price.factors.quality",
        ),
        (
            priced(json!({ "none": { "high": 2 } })),
            "price.factors.none",
        ),
        (
            with(&json!({ "price": { "unit": "second", "amount": 1 } })),
            "price.unit",
        ),
        (with(&json!({ "retires": "soon" })), "retires"),
        (with(&json!({ "successor": "old-1" })), "successor"),
        (with(&json!({ "successor": "no-such-1" })), "successor"),
    ]
}

/// The promise: whatever cannot be sold is refused with its field, and nothing of it is kept.
#[tokio::test]
async fn every_mistake_is_refused_with_its_field() {
    let gateway = Gateway::spawn().await;
    sell(&gateway, seedream()).await;
    let retired = json!({ "name": "old-1", "like": "imgmodel/image-1", "retires": "2020-01-01" });
    sell(&gateway, retired).await;
    let path = "/admin/v1/models";
    for (model, field) in mistakes() {
        let refused = gateway.operate(Method::POST, path, Some(model)).await;
        assert_eq!(refused.status, 400, "{field}: {}", refused.json);
        assert_eq!(refused.json["param"], field, "{}", refused.json);
    }
    for model in [
        with(&json!({ "price": { "unit": "day", "amount": 1 } })),
        with(&json!({ "price": { "unit": "item", "amount": -1 } })),
        with(&json!({ "price": { "unit": "item" } })),
        with(&json!({ "price": 3 })),
        with(&json!({ "routes": [{ "backend": "x", "weight": 0 }] })),
        with(&json!({ "routes": "all" })),
        with(&json!({ "fields": [] })),
        json!({}),
    ] {
        let told = model.to_string();
        let refused = gateway.operate(Method::POST, path, Some(model)).await;
        let (status, param) = (refused.status, &refused.json["param"]);
        assert_eq!(status, 400, "{told}: {}", refused.json);
        assert!(param.is_string(), "{told}: {}", refused.json);
    }
    let list = gateway.operate(Method::GET, path, None).await.json;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(2), "{list}");
}

/// The promise: what a model narrows is refused by name, and what it refuses cannot be given.
#[tokio::test]
async fn requests_are_held_against_the_rules_of_their_model() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let fields = json!({
        "size": { "allowed": ["1024x1024"] }, "n": { "max": 2 }, "background": { "refused": true },
    });
    sell(&gateway, with(&json!({ "fields": fields }))).await;
    for (more, field) in [
        (json!({ "size": "1536x1024" }), "size"),
        (json!({ "n": 3 }), "n"),
        (json!({ "background": "opaque" }), "background"),
        (json!({ "quality": "splendid" }), "quality"),
    ] {
        let mut wish = json!({ "model": "new-1" });
        wish[field] = more[field].clone();
        let refused = picture(&gateway, &caller, wish).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{}", refused.json);
        assert_eq!(refused.json["error"]["param"], field);
    }
    let forged = json!({ "model": "new-1", "$model": { "name": "x", "revision": 9, "said": {} } });
    let answer = picture(&gateway, &caller, forged).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let list = gateway.get(&caller.key, "/jobs/v1?limit=1").await.json;
    assert_eq!(list["data"][0]["modelRevision"], 1, "{list}");
}
