//! What is listed and documented, and that looking up does not depend on how many models there are.

use std::time::Instant;

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::{EVERYBODY, NOW_MS, call, catalogue, picture_model, revision, submit, video_model};
use crate::models::{Audience, ModelCatalogue, models};
use crate::pages::models::ModelView;

fn names(whole: &ModelCatalogue, group: &str) -> Vec<String> {
    let audience = Audience {
        group,
        now_ms: NOW_MS,
    };
    let listed = whole.listed(&audience);
    listed.iter().map(|model| model.name.to_owned()).collect()
}

fn schema_of(whole: &ModelCatalogue, operation: &str) -> Value {
    schema_at(whole, operation, NOW_MS)
}

fn schema_at(whole: &ModelCatalogue, operation: &str, now_ms: i64) -> Value {
    let mut generator = SchemaGenerator::default();
    let schema = (submit(operation).schema)(&mut generator).to_value();
    let name = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    let mut schema = name
        .and_then(|name| generator.definitions().get(name))
        .cloned()
        .unwrap_or(schema);
    whole.at(now_ms).schema(submit(operation), &mut schema);
    schema
}

#[test]
fn an_account_sees_what_it_can_use_now() {
    let whole = catalogue([
        video_model(),
        picture_model(),
        json!({ "name": "art-2", "enabled": false }),
        json!({ "name": "secret", "like": "design.generations", "groups": ["vip"] }),
        json!({ "name": "old", "like": "design.generations", "retires": "2026-01-01" }),
    ]);
    let builtin = models().len() - 1;
    let all = names(&whole, "default");
    assert!(!all.contains(&"art-2".to_owned()));
    assert_eq!(all[builtin..], ["kling/v3", "Seedream-4.5"]);
    assert_eq!(
        names(&whole, "vip")[builtin..],
        ["kling/v3", "secret", "Seedream-4.5"]
    );
    assert_eq!(
        names(&ModelCatalogue::default(), "vip").len(),
        models().len()
    );
}

#[test]
fn a_listed_model_tells_its_fields_and_its_price() {
    let whole = catalogue([picture_model()]);
    let listed = whole.listed(&EVERYBODY);
    let mine = listed
        .iter()
        .find(|model| model.name == "Seedream-4.5")
        .expect("it");
    assert!(mine.tariff_keys().is_empty());
    let view = serde_json::to_value(mine.view()).expect("JSON");
    assert_eq!(
        (&view["title"], &view["family"]),
        (&json!("Seedream 4.5"), &json!("imgmodel"))
    );
    assert_eq!(view["priceText"], "3 per item, times 1 to 1.5 by size");
    let operations = view["operations"].as_array().expect("a list");
    let named: Vec<_> = operations
        .iter()
        .map(|one| one["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(named, ["imgmodel.generations", "imgmodel.edits"]);
    let asked = &operations[0]["fields"];
    assert_eq!(
        asked["size"]["allowed"],
        json!(["2048x2048", "1024x1024", "auto"])
    );
    assert_eq!(asked["size"]["default"], "2048x2048");
    assert_eq!(
        (&asked["n"]["max"], &asked["prompt"]["required"]),
        (&json!(4.0), &json!(true))
    );
    assert!(asked.get("style").is_none() && asked.get("model").is_none());

    let builtin = listed
        .iter()
        .find(|model| model.name == "art-2")
        .expect("it");
    let keys = builtin.tariff_keys();
    assert!(
        keys.contains(&"imgmodel.generations.art-2.512x512"),
        "{keys:?}"
    );
    assert!(
        !keys
            .iter()
            .any(|key| key.contains("image-1.") || key.contains("art-3")),
        "{keys:?}"
    );
    let view = builtin.view();
    let size = &view.operations[0].fields["size"];
    assert_eq!(
        size.allowed,
        Some(vec![json!("256x256"), json!("512x512"), json!("1024x1024")])
    );

    let row = ModelView::of(&revision(picture_model(), 3));
    let row = serde_json::to_value(row).expect("JSON");
    assert_eq!(
        (&row["revision"], &row["builtin"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(
        row["operations"],
        json!(["imgmodel.generations", "imgmodel.edits"])
    );
    assert_eq!(row["name"], "Seedream-4.5");
}

#[test]
fn a_rule_about_a_field_that_an_operation_lacks_leaves_its_schema_alone() {
    let plain = json!({ "style": { "refused": true } });
    let whole =
        catalogue([json!({ "name": "plain", "like": "imgmodel/image-1", "fields": plain })]);
    let fields = schema_of(&whole, "imgmodel.edits")["properties"].clone();
    let fields = fields.as_object().expect("fields");
    assert!(fields.values().all(Value::is_object), "{fields:?}");
}

#[test]
fn documents_name_the_models_that_everybody_may_use() {
    let whole = catalogue([
        picture_model(),
        video_model(),
        json!({ "name": "swapper", "like": "facegen.swap" }),
        json!({ "name": "secret", "like": "facegen.swap", "groups": ["vip"] }),
        json!({ "name": "art-3", "enabled": false }),
    ]);
    let schema = schema_of(&whole, "imgmodel.generations");
    let model = &schema["properties"]["model"];
    assert_eq!(
        model["enum"],
        json!(["image-1", "art-2", "Seedream-4.5", "seedream"])
    );
    let sizes = schema["properties"]["size"]["enum"]
        .as_array()
        .expect("a list");
    assert!(sizes.contains(&json!("2048x2048")) && sizes.contains(&json!("256x256")));
    let video = schema_of(&whole, "vidgen_partner.generations");
    assert_eq!(
        video["properties"]["seconds"]["enum"],
        json!([4, 8, 12, 5, 15])
    );
    let swap = schema_of(&whole, "facegen.swap");
    assert_eq!(swap["properties"]["model"]["enum"], json!(["swapper"]));
    // Accounts of a group are told of its models as well.
    let of_group = |group: &str| {
        let mut schema = json!({ "properties": {} });
        let models = whole.at(NOW_MS).with_group(group);
        models.schema(submit("facegen.swap"), &mut schema);
        schema["properties"]["model"]["enum"].clone()
    };
    assert_eq!(of_group("VIP"), json!(["secret", "swapper"]));
    assert_eq!(of_group("default"), json!(["swapper"]));
    assert!(whole.is_sold_to("Vip") && !whole.is_sold_to("default"));
    let nothing = ModelCatalogue::default();
    assert!(
        schema_of(&nothing, "facegen.swap")["properties"]
            .get("model")
            .is_none()
    );
    assert!(
        schema_of(&whole, "design.vectorize")["properties"]
            .get("model")
            .is_none()
    );
}

/// The promise is one look-up by name: a thousand models cost what ten do. The bound is loose, a search would be 100 times.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is the processor's time, which no clock of the service tells"
)]
fn a_thousand_models_are_looked_up_as_fast_as_ten() {
    let rows = |count: usize| {
        let rows = (0..count).map(|number| {
            let routes: Vec<Value> = (0..50).map(|one| json!({ "backend": format!("b{one}") })).collect();
            revision(json!({ "name": format!("model-{number}"), "like": "imgmodel/image-1", "routes": routes }), 1)
        });
        ModelCatalogue::new(rows.collect())
    };
    let (few, many) = (rows(10), rows(1000));
    assert_eq!(many.rows().count(), 1000);
    let best = |whole: &ModelCatalogue, name: &str| {
        let once = || {
            let begin = Instant::now();
            for _ in 0..200 {
                let request = json!({ "model": name, "prompt": "p" });
                assert!(call(whole, "imgmodel.generations", request).is_ok());
            }
            begin.elapsed()
        };
        (0..10).map(|_| once()).min().expect("some")
    };
    for name in ["model-7", "image-1"] {
        let (of_few, of_many) = (best(&few, name), best(&many, name));
        assert!(
            of_many < of_few * 5,
            "{name}: {of_few:?} with ten, {of_many:?} with a thousand"
        );
    }
}

/// The promise: an account is told of no field and no word that requests of the model are refused for.
#[test]
fn an_account_is_told_only_what_its_model_takes() {
    let whole = catalogue([json!({ "name": "mine", "like": "imgmodel/image-1" })]);
    for (name, style, compression, answers) in [
        ("mine", false, true, json!(["b64_json"])),
        ("image-1", false, true, json!(["b64_json"])),
        ("art-2", false, false, json!(["url", "b64_json"])),
        ("art-3", true, false, json!(["url", "b64_json"])),
    ] {
        let listed = whole.listed(&EVERYBODY);
        let model = listed.iter().find(|model| model.name == name).expect(name);
        let view = serde_json::to_value(model.view()).expect("JSON");
        let fields = &view["operations"][0]["fields"];
        assert_eq!(fields.get("style").is_some(), style, "{name}: {fields}");
        assert_eq!(fields.get("background").is_some(), compression, "{name}");
        assert_eq!(
            fields.get("output_compression").is_some(),
            compression,
            "{name}"
        );
        assert_eq!(fields["response_format"]["allowed"], answers, "{name}");
        assert!(
            fields.get("prompt").is_some() && fields.get("n").is_some(),
            "{name}"
        );
    }
}

/// The promise: what is documented is what can be used, and whoever keeps a document knows when it is out of date.
#[test]
fn a_retired_model_leaves_the_documents_on_its_day() {
    let row = |name: &str, retires: &str| json!({ "name": name, "like": "facegen.swap", "retires": retires });
    let whole = catalogue([
        row("soon", "2026-12-01"),
        row("late", "2027-01-01"),
        row("old", "2026-01-01"),
    ]);
    let names = |now_ms: i64| {
        let schema = schema_at(&whole, "facegen.swap", now_ms);
        schema["properties"]["model"]["enum"].clone()
    };
    assert_eq!(names(NOW_MS), json!(["late", "soon"]));
    let next = whole.changes_ms(NOW_MS).expect("a day");
    assert_eq!(names(next - 1), json!(["late", "soon"]));
    assert_eq!(names(next), json!(["late"]));
    let last = whole.changes_ms(next).expect("another day");
    assert_eq!(names(last), Value::Null);
    assert_eq!(whole.changes_ms(last), None);
}

/// The promise: an account hears nothing of another group's models, also not as the one to use instead.
#[test]
fn a_successor_of_another_group_is_not_named() {
    let row = |name: &str, successor: &str| json!({ "name": name, "like": "facegen.swap", "retires": "2027-01-01", "successor": successor });
    let whole = catalogue([
        json!({ "name": "secret", "like": "facegen.swap", "groups": ["vip"] }),
        json!({ "name": "open", "like": "facegen.swap" }),
        row("old-1", "secret"),
        row("old-2", "open"),
    ]);
    let told = |name: &str, group: &str| {
        let audience = Audience {
            group,
            now_ms: NOW_MS,
        };
        let listed = whole.listed(&audience);
        let model = listed.iter().find(|model| model.name == name).expect(name);
        whole.successor(model, &audience).map(str::to_owned)
    };
    assert_eq!(told("old-1", "vip").as_deref(), Some("secret"));
    assert_eq!(told("old-1", "default"), None);
    assert_eq!(told("old-2", "default").as_deref(), Some("open"));
}
