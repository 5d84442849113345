//! Follow-ups have the model of the job that they follow.

use serde_json::{Value, json};

use super::{call, catalogue, job_of, ordered, revision, video_model};
use crate::Quota;
use crate::job::Job;
use crate::models::{CATALOGUE_FIELD, ModelCatalogue, PriceLine, PriceUnit, note_of, render_job};

const VIDEO: &str = "vidgen_partner.generations";

fn video(whole: &ModelCatalogue) -> Job {
    let request =
        json!({ "model": "kling/v3", "prompt": "a fox", "seconds": 15, "size": "1920x1080" });
    let (_, stored) = ordered(whole, VIDEO, request, None).expect("an order");
    job_of(VIDEO, stored)
}

fn remix(parent: &Job) -> Value {
    json!({ "prompt": "an owl", "remixed_from_video_id": parent.id.as_str() })
}

#[test]
fn a_remix_has_model_words_and_todays_price_of_its_parent() {
    let whole = catalogue([video_model()]);
    let parent = video(&whole);
    let mut dearer = video_model();
    dearer["price"]["amount"] = json!(1);
    let now = whole.with(revision(dearer, 2));
    let mut named = remix(&parent);
    named["model"] = json!("video-2");
    for request in [remix(&parent), named] {
        let (order, stored) =
            ordered(&now, VIDEO, request.clone(), Some(&parent)).expect("an order");
        assert_eq!(order.brief.model, "kling/v3");
        assert_eq!((order.brief.width, order.brief.seconds), (1920, 15));
        let price = order.catalogue_price.expect("a price");
        assert_eq!(price.total.to_string(), "33.75");
        let note = note_of(&stored).expect("a note");
        assert_eq!((note.revision, note.said.len()), (1, 3));
    }
}

#[test]
fn a_model_that_is_gone_keeps_its_last_price_for_follow_ups() {
    let whole = catalogue([video_model()]);
    let parent = video(&whole);
    let mut gone = revision(video_model(), 2);
    gone.removed = true;
    let now = whole.with(gone);
    assert!(!now.is_empty() && now.find("kling/v3").is_none());
    let (order, _) = ordered(&now, VIDEO, remix(&parent), Some(&parent)).expect("an order");
    assert_eq!(order.brief.model, "kling/v3");
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "10.125"
    );
    let new = call(&now, VIDEO, json!({ "model": "kling/v3", "prompt": "p" }));
    assert_eq!(new.err().expect("refused").field.as_deref(), Some("model"));
}

#[test]
fn a_remix_of_a_built_in_model_is_priced_by_its_own_row() {
    let price = |amount: u32| json!({ "unit": "call", "amount": amount });
    let whole = catalogue([
        json!({ "name": "video-2", "price": price(1) }),
        json!({ "name": "video-2-pro", "price": price(9) }),
    ]);
    let request = json!({ "model": "video-2-pro", "prompt": "p" });
    let (_, stored) = ordered(&ModelCatalogue::default(), VIDEO, request, None).expect("an order");
    let parent = job_of(VIDEO, stored);
    let (order, stored) = ordered(&whole, VIDEO, remix(&parent), Some(&parent)).expect("an order");
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "9"
    );
    assert_eq!(note_of(&stored).expect("a note").name, "video-2-pro");
    // A call that names another model of the catalogue does not get it here either.
    let whole = whole.with(revision(video_model(), 1));
    let mut named = remix(&parent);
    named["model"] = json!("kling/v3");
    let (order, stored) = ordered(&whole, VIDEO, named, Some(&parent)).expect("an order");
    assert_eq!(order.brief.model, "video-2-pro");
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "9"
    );
    assert_eq!(note_of(&stored).expect("a note").name, "video-2-pro");
}

#[test]
fn an_extension_has_the_model_it_names_or_that_of_its_parent() {
    let row = json!({ "name": "film", "like": "motion/motion-v1" });
    let whole = catalogue([row, json!({ "name": "motion-v3", "enabled": false })]);
    let request = json!({ "modelName": "film", "userPrompt": "p" });
    let (_, stored) = ordered(&whole, "motion.generations", request, None).expect("an order");
    let parent = job_of("motion.generations", stored);
    let extend = |model: Option<&str>| {
        let mut request = json!({ "jobId": parent.id.as_str(), "userPrompt": "p" });
        if let Some(model) = model {
            request["modelName"] = model.into();
        }
        ordered(&whole, "motion.extend", request, Some(&parent))
    };
    // The usual model is switched off, but this one is not of it.
    let (order, stored) = extend(None).expect("an order");
    assert_eq!(
        (order.brief.model.as_str(), order.brief.seconds),
        ("film", 5)
    );
    assert_eq!(note_of(&stored).expect("a note").name, "film");
    let (order, stored) = extend(Some("motion-v2")).expect("an order");
    assert_eq!(order.brief.model, "motion-v2");
    assert!(note_of(&stored).is_none());
    let refusal = extend(Some("motion-v3")).expect_err("switched off");
    assert_eq!(refusal.field.as_deref(), Some("modelName"));
    // A job without a model of the catalogue leaves only the usual one.
    let request = json!({ "modelName": "motion-v2", "userPrompt": "p" });
    let (_, stored) = ordered(&whole, "motion.generations", request, None).expect("an order");
    let plain = job_of("motion.generations", stored);
    let request = json!({ "jobId": plain.id.as_str(), "userPrompt": "p" });
    let refusal = ordered(&whole, "motion.extend", request, Some(&plain)).expect_err("off");
    assert_eq!(refusal.message, "modelName: motion-v3 is switched off");
}

#[test]
fn a_follow_up_that_has_nothing_to_inherit_is_as_before() {
    let whole = catalogue([video_model()]);
    let request = json!({ "model": "video-2", "prompt": "p" });
    let (_, stored) = ordered(&whole, VIDEO, request, None).expect("an order");
    let parent = job_of(VIDEO, stored);
    let (order, stored) = ordered(&whole, VIDEO, remix(&parent), Some(&parent)).expect("an order");
    assert!(!stored.contains_key(CATALOGUE_FIELD) && order.catalogue_price.is_none());
}

#[test]
fn another_operation_that_follows_keeps_the_model_and_not_the_length() {
    let row = json!({
        "name": "film", "like": "vidgen/video-2",
        "fields": { "duration": { "allowed": [33] } },
        "price": { "vidgen.generations": { "unit": "second", "amount": 1 }, "vidgen.no_watermark": { "unit": "call", "amount": 4 } },
    });
    let whole = catalogue([row]);
    let request = json!({ "model": "film", "prompt": "a fox" });
    let (order, stored) = ordered(&whole, "vidgen.generations", request, None).expect("an order");
    assert_eq!(order.brief.seconds, 33);
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "33"
    );
    let parent = job_of("vidgen.generations", stored);
    assert_eq!(
        render_job(
            crate::operation("vidgen.generations").expect("it").0,
            &parent
        )["data"]["model"],
        "film"
    );
    let request = json!({ "jobId": parent.id.as_str() });
    let (order, stored) =
        ordered(&whole, "vidgen.no_watermark", request, Some(&parent)).expect("an order");
    assert_eq!(
        (order.brief.model.as_str(), order.brief.seconds),
        ("film", 0)
    );
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "4"
    );
    let job = job_of("vidgen.no_watermark", stored);
    let (family, _) = crate::operation("vidgen.no_watermark").expect("it");
    assert_eq!(render_job(family, &job)["data"]["model"], "film");
}

/// The promise: a word that the operator took away meanwhile is still priced for a job that follows one with it: as that was.
#[test]
fn a_word_that_is_no_longer_sold_costs_what_it_cost_the_parent() {
    let whole = catalogue([video_model()]);
    let mut parent = video(&whole);
    let request =
        json!({ "model": "kling/v3", "prompt": "a fox", "seconds": 15, "size": "1920x1080" });
    let (order, _) = ordered(&whole, VIDEO, request, None).expect("an order");
    parent.price_lines = order.catalogue_price.expect("a price").lines;
    let mut narrowed = video_model();
    narrowed["fields"]["size"] = json!({ "allowed": ["1280x720"] });
    narrowed["price"] =
        json!({ "unit": "second", "amount": 7, "factors": { "size": { "1280x720": 1 } } });
    let mut gone = revision(narrowed.clone(), 3);
    gone.removed = true;
    for now in [whole.with(revision(narrowed, 2)), whole.with(gone)] {
        let (order, stored) =
            ordered(&now, VIDEO, remix(&parent), Some(&parent)).expect("an order");
        assert_eq!((order.brief.width, order.brief.seconds), (1920, 15));
        let price = order.catalogue_price.expect("a price");
        assert_eq!(price.total.to_string(), "10.125", "0.3 x 2.25 x 15");
        assert_eq!(price.lines, parent.price_lines);
        assert_eq!(note_of(&stored).expect("a note").revision, 1);
        // What the parent cost by the tariff, it costs by the tariff again.
        let unpriced = Job {
            price_lines: Vec::new(),
            ..video(&whole)
        };
        let (order, _) = ordered(&now, VIDEO, remix(&unpriced), Some(&unpriced)).expect("an order");
        assert_eq!(order.catalogue_price, None);
    }
}

/// The promise: what a group's account paid by the tariff is no price of the catalogue, though it has a line of its own.
#[test]
fn a_line_of_the_tariff_is_no_price_of_the_model() {
    let whole = catalogue([video_model()]);
    let mut parent = video(&whole);
    parent.price_lines = vec![PriceLine {
        line: "vidgen_partner.generations.video-2-pro".to_owned(),
        unit: PriceUnit::Second,
        count: 15.0,
        amount: Quota::from_thousandths(9_000),
        factor: 0.5,
        group: Some("vip".to_owned()),
        rule: None,
    }];
    let mut narrowed = video_model();
    narrowed["fields"]["size"] = json!({ "allowed": ["1280x720"] });
    narrowed["price"] =
        json!({ "unit": "second", "amount": 7, "factors": { "size": { "1280x720": 1 } } });
    let now = whole.with(revision(narrowed, 2));
    let (order, _) = ordered(&now, VIDEO, remix(&parent), Some(&parent)).expect("an order");
    assert_eq!(order.catalogue_price, None);
}
