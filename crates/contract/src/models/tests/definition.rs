//! What an operator writes is read with bounds on everything, and a mistake names its field.

use serde_json::{Value, json};

use super::{defined, picture_model, table, video_model};
use crate::models::{ModelDefinition, ModelPrice, PriceUnit};
use crate::pages::patch::Patch;

fn mistake(change: &Value) -> (String, String) {
    let mut row = json!({ "name": "a", "like": "design.generations" });
    for (name, value) in change.as_object().expect("an object") {
        row[name] = value.clone();
    }
    let refusal = defined(row).expect_err(&change.to_string());
    (refusal.field.unwrap_or_default(), refusal.message)
}

#[test]
fn a_definition_is_written_as_it_is_read() {
    for row in [
        picture_model(),
        video_model(),
        json!({ "name": "image-1", "enabled": false }),
    ] {
        let definition = defined(row.clone()).expect("a definition");
        let text = serde_json::to_string(&definition).expect("text");
        let again: ModelDefinition = serde_json::from_str(&text).expect("the same");
        assert_eq!(again, definition, "{row}");
    }
}

#[test]
fn the_configuration_says_the_same_in_toml() {
    let text = r#"
        name = "kling/v3"
        like = "vidgen_partner/video-2-pro"
        fields.seconds = { allowed = [5, 8, 15], default = 5 }
        fields.size = { allowed = ["1280x720", "1920x1080"] }
        [price]
        unit = "second"
        factors = { size = { 1280x720 = 1, 1920x1080 = 2.25 } }
        amount = 0.3
    "#;
    let definition: ModelDefinition = toml::from_str(text).expect("a definition");
    assert_eq!(definition, defined(video_model()).expect("the same"));
}

#[test]
fn what_is_left_out_has_its_usual_value() {
    let definition = defined(json!({ "name": "a", "routes": [{ "backend": "b" }] }));
    let definition = definition.expect("a definition");
    assert!(definition.enabled && definition.price.is_none() && definition.groups.is_empty());
    assert_eq!(definition.routes[0].weight, 1);
    assert_eq!(definition.routes[0].rank, None);
    let named = ModelDefinition::named("a");
    assert_eq!(
        ModelDefinition {
            routes: definition.routes.clone(),
            ..named
        },
        definition
    );
}

#[test]
fn a_mistake_names_its_field() {
    let cases = table(
        r#"
        name: { "name": "" }
        name: { "name": "a b" }
        name: { "name": "ü" }
        name: { "name": ["a"] }
        title: { "title": "a\nb" }
        aliases[1]: { "aliases": ["good", "not good"] }
        routes[0].backend: { "routes": [{ "model": "m" }] }
        routes[0].weight: { "routes": [{ "backend": "b", "weight": 0 }] }
        routes[0].weight: { "routes": [{ "backend": "b", "weight": 1001 }] }
        routes[0].rank: { "routes": [{ "backend": "b", "rank": 1000001 }] }
        routes[0].wieght: { "routes": [{ "backend": "b", "wieght": 1 }] }
        fields.size.allowed: { "fields": { "size": { "allowed": [] } } }
        fields.size.allowed[0]: { "fields": { "size": { "allowed": [{}] } } }
        fields.size.alowed: { "fields": { "size": { "alowed": ["a"] } } }
        fields.n.min: { "fields": { "n": { "min": "x" } } }
        fields.n.default: { "fields": { "n": { "default": [1] } } }
        fields.n.refused: { "fields": { "n": { "refused": 1 } } }
        enabled: { "enabled": "yes" }
        price: { "price": 3 }
        price: { "price": {} }
        price.amount: { "price": { "unit": "item" } }
        price.unit: { "price": { "amount": 3 } }
        price.unit: { "price": { "unit": "token", "amount": 3 } }
        price.amount: { "price": { "unit": "item", "amount": -1 } }
        price.amount: { "price": { "unit": "item", "amount": 0.0001 } }
        price.amount: { "price": { "unit": "item", "amount": 1000001 } }
        price: { "price": { "unit": "item", "amount": 1, "factor": {} } }
        price.factors.size.auto: { "price": { "unit": "item", "amount": 1, "factors": { "size": { "auto": 101 } } } }
        price.factors: { "price": { "unit": "item", "amount": 1, "factors": { "a": {}, "b": {}, "c": {}, "d": {}, "e": {} } } }
        price.design.generations.amount: { "price": { "design.generations": { "unit": "item" } } }
        "#,
    );
    for (field, change) in cases {
        let (found, message) = mistake(&change);
        assert_eq!(found, field, "{change}: {message}");
    }
}

#[test]
fn everything_is_bounded() {
    let many = |count: usize| -> Vec<String> { (0..count).map(|one| format!("m{one}")).collect() };
    let routes: Vec<Value> = (0..51).map(|one| json!({ "backend": one })).collect();
    let rules = (0..65).map(|one| (format!("f{one}"), json!({})));
    let rules: serde_json::Map<String, Value> = rules.collect();
    let words: serde_json::Map<String, Value> =
        (0..65).map(|one| (format!("w{one}"), json!(1))).collect();
    let price = json!({ "unit": "item", "amount": 1, "factors": { "size": words } });
    let cases = [
        (json!({ "name": "x".repeat(65) }), "name"),
        (json!({ "title": "x".repeat(201) }), "title"),
        (json!({ "aliases": many(33) }), "aliases"),
        (json!({ "groups": many(33) }), "groups"),
        (json!({ "routes": routes }), "routes"),
        (json!({ "fields": rules }), "fields"),
        (
            json!({ "fields": { "size": { "allowed": many(65) } } }),
            "fields.size.allowed",
        ),
        (json!({ "price": price }), "price.factors"),
    ];
    for (change, field) in cases {
        let (found, message) = mistake(&change);
        assert_eq!(found, field, "{message}");
        assert!(message.len() < 600, "{message}");
    }
}

#[test]
fn a_price_is_one_or_one_for_each_operation() {
    let one = defined(json!({ "name": "a", "price": { "amount": "1.5", "unit": "call" } }));
    let Some(ModelPrice::One(price)) = one.expect("one").price else {
        panic!("one price");
    };
    assert_eq!(
        (price.unit, price.amount.to_string()),
        (PriceUnit::Call, "1.5".to_owned())
    );
    let each = defined(json!({ "name": "a", "price": {
        "x.y": { "amount": 1, "unit": "call" }, "x.z": { "amount": 2, "unit": "item" },
    } }));
    let Some(ModelPrice::Each(prices)) = each.expect("each").price else {
        panic!("a price for each");
    };
    assert_eq!(prices.len(), 2);
}

#[test]
fn a_change_leaves_what_it_does_not_name_and_null_takes_away() {
    let old = defined(picture_model()).expect("a definition");
    let patch =
        Patch::<ModelDefinition>::from(json!({ "price": null, "title": null, "enabled": false }));
    let new = patch.over(&old).expect("a change");
    assert!(new.price.is_none() && new.title.is_none() && !new.enabled);
    assert_eq!((new.fields, new.routes), (old.fields, old.routes));
}

#[test]
fn dates_are_days_or_moments() {
    let read = |text: &str| {
        let row = json!({ "name": "a", "retires": text });
        defined(row).expect("a definition").retires_ms()
    };
    assert_eq!(read("1970-01-02"), Some(86_400_000));
    assert_eq!(read("1970-01-01T00:00:01Z"), Some(1000));
    assert_eq!(read("1970-01-01T01:00:00+01:00"), Some(0));
    for wrong in ["tomorrow", "1970-1-2", "1970-01-02 00:00", "1970-02-30"] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

/// The promise: a rule that says nothing is none, and what is no rule is refused in words that an operator knows.
#[test]
fn a_rule_that_is_null_is_none_and_a_mistake_names_no_type_of_ours() {
    let row = json!({ "name": "a", "like": "design.generations", "fields": { "n": null, "size": { "allowed": ["auto"] } } });
    let definition = defined(row).expect("a definition");
    let ruled: Vec<&str> = definition.fields.keys().map(String::as_str).collect();
    assert_eq!(ruled, ["size"]);
    for (change, field) in [
        (json!({ "fields": { "n": 3 } }), "fields.n"),
        (json!({ "routes": [3] }), "routes[0]"),
        (json!({ "routes": ["ark"] }), "routes[0]"),
    ] {
        let (found, message) = mistake(&change);
        assert_eq!(found, field, "{message}");
        assert!(!message.contains("struct"), "{message}");
    }
}
