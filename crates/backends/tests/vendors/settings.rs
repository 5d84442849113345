//! What operators read about a vendor's settings: the schema that forms are built from, and the messages about settings
//! that are wrong. Both are compared with `tests/snapshots/settings.json`; `ATELIER_TEST_UPDATE=1` writes it anew.

use std::path::Path;

use atelier_backends::{VENDORS, Vendor};
use serde_json::{Map, Value, json};

use crate::stand::worker;

/// The message about these settings, or null where they are taken.
fn message(vendor: &Vendor, settings: Value) -> Value {
    let built = worker(vendor.name, "http://127.0.0.1:9", settings);
    built
        .err()
        .map_or(Value::Null, |error| json!(error.to_string()))
}

/// One vendor's schema, and its messages about no settings, an unknown field, and each field with a wrong value.
fn described(vendor: &Vendor) -> Value {
    let schema = (vendor.settings)();
    let fields = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let wrong = |value: Value| {
        let messages = fields.keys().map(|name| {
            let settings = Map::from_iter([(name.clone(), value.clone())]);
            (name.clone(), message(vendor, Value::Object(settings)))
        });
        Value::Object(messages.collect())
    };
    json!({
        "schema": schema,
        "nothing": message(vendor, json!({})),
        "unknown field": message(vendor, json!({"no_such_setting": 1})),
        "a list": wrong(json!([[]])),
        "a negative number": wrong(json!(-1)),
    })
}

#[test]
fn schemas_and_messages_of_settings_stay_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/settings.json");
    let all = VENDORS
        .iter()
        .map(|vendor| (vendor.name.to_owned(), described(vendor)));
    let made = serde_json::to_string_pretty(&Value::Object(all.collect())).expect("text") + "\n";
    if std::env::var_os("ATELIER_TEST_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "tests/snapshots/settings.json differs; ATELIER_TEST_UPDATE=1 accepts the change"
    );
}
