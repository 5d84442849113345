//! Prices: every key an order may name is listed and in the tariff, and no price is without a use.

use std::collections::BTreeSet;

use atelier_contract::Price;
use atelier_contract::family::SubmitEndpoint;
use serde_json::Value;

use crate::conform::Schemas;
use crate::good_requests::{GoodRequest, good_requests, submits};
use crate::sample::{order, tariff};

/// The fields a price may depend on.
const PRICED: [&str; 10] = [
    "model",
    "mode",
    "quality",
    "size",
    "resolution",
    "duration",
    "useMode",
    "action",
    "bs",
    "seconds",
];

/// A good with every combination of values of the fields a price may depend on.
fn combinations(submit: &SubmitEndpoint, good: &GoodRequest) -> Vec<Value> {
    let schemas = Schemas::of(submit.schema);
    let mut bodies = vec![good.body.clone()];
    for (field, schema) in schemas.properties() {
        let Some(values) = schema["enum"]
            .as_array()
            .filter(|_| PRICED.contains(&field.as_str()))
        else {
            continue;
        };
        let with = |body: &Value, value: &Value| {
            let mut body = body.clone();
            body[&field] = value.clone();
            body
        };
        let absent = [Value::Null];
        bodies = bodies
            .iter()
            .flat_map(|body| absent.iter().chain(values).map(|value| with(body, value)))
            .collect();
    }
    bodies
}

#[test]
fn the_price_keys_of_an_operation_are_exactly_those_it_lists() {
    for submit in submits() {
        let mut used = BTreeSet::new();
        for good in good_requests(submit.name) {
            for body in combinations(submit, &good) {
                let Ok((order, _)) = order(submit.name, &body, good.parent.as_ref()) else {
                    continue;
                };
                let Price { key, factors, .. } = order.price;
                used.insert(key);
                used.extend(factors);
            }
        }
        let listed: BTreeSet<String> = submit.prices.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(used, listed, "{}", submit.name);
    }
}

#[test]
fn the_tariff_has_every_price_and_no_other() {
    let listed = submits()
        .flat_map(|submit| submit.prices)
        .map(|key| (*key).to_owned());
    let custody = submits()
        .filter(|submit| submit.path.starts_with("/artgen/v1/"))
        .map(|submit| Price::custody(submit.name).key);
    let wanted: BTreeSet<String> = listed.chain(custody).collect();
    let found: BTreeSet<String> = tariff().entries().map(|(key, _)| key.to_owned()).collect();
    assert_eq!(found, wanted);
}

/// Operation, quota, and what the request says beside its example.
const DOCUMENTED: &str = r#"
artgen.describe 2 {}
artgen.blend 6 { "mode": "turbo" }
artgen.video.submit 8 { "bs": 4 }
artgen.video.submit 4 { "bs": 1, "resolution": "hd" }
imgmodel.generations 4 {}
imgmodel.generations 8 { "quality": "hd" }
imgmodel.generations 8 { "size": "1792x1024" }
imgmodel.generations 6 { "model": "art-2", "n": 3 }
imgmodel.generations 1.8 { "model": "art-2", "size": "512x512" }
imgmodel.generations 16 { "model": "art-2", "size": "256x256", "n": 10 }
imgmodel.generations 4 { "model": "image-1", "quality": null, "size": null }
imgmodel.generations 1 { "model": "image-1", "quality": "low" }
imgmodel.generations 48 { "model": "image-1", "quality": "high", "size": "1536x1024", "n": 2 }
imgmodel.edits 1.8 {}
imgmodel.legacy 8 { "quality": "hd" }
imgmodel.legacy 4 {}
imgmodel.chat 2 {}
design.generations 24 { "n": 6 }
design.vectorize 1 {}
design.remove_background 1 {}
design.replace_background 8 { "n": 2 }
design.crisp_upscale 0.5 {}
design.creative_upscale 25 {}
vidgen.generations 3 { "duration": null }
vidgen.generations 4.5 { "duration": 15 }
vidgen.generations 15 { "model": "video-2-pro", "duration": null }
vidgen.generations 25 { "model": "video-2-pro", "duration": 25 }
vidgen.generations 20 { "model": "video-2-pro", "duration": 10, "size": "large" }
vidgen.characters 1 {}
vidgen_partner.generations 40 {}
vidgen_partner.generations 360 { "model": "video-2-pro", "seconds": 12 }
animegen.text_to_image 8 { "n": 4 }
clipgen.generations 3.3 { "video_length": 11 }
facegen.swap 2 {}
motion.generations 10 {}
motion.generations 40 { "useMode": "fast", "duration": "10s" }
motion.generations 20 { "resolution": "1080p" }
"#;

#[test]
fn prices_are_the_documented_ones() {
    for line in DOCUMENTED.lines().filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(' ').expect("a name");
        let (quota, change) = rest.split_once(' ').expect("a quota");
        let change: Value = serde_json::from_str(change).expect("a change");
        let good = good_requests(name).remove(0);
        let mut body = good.body;
        for (field, value) in change.as_object().expect("fields") {
            body[field] = value.clone();
        }
        let (order, _) = order(name, &body, good.parent.as_ref()).expect(line);
        let total = tariff().total(&order.price).expect(line);
        assert_eq!(total.to_string(), quota, "{line}");
    }
}
