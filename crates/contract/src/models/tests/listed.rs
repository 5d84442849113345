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
    let mut generator = SchemaGenerator::default();
    let schema = (submit(operation).schema)(&mut generator).to_value();
    let name = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    let mut schema = name
        .and_then(|name| generator.definitions().get(name))
        .cloned()
        .unwrap_or(schema);
    whole.schema(submit(operation), &mut schema);
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
