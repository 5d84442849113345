//! Answers speak the caller's words.

use serde_json::json;

use super::{catalogue, job_of, ordered, picture_model, video_model};
use crate::Quota;
use crate::family::{AnswerMode, FinishedJob};
use crate::models::{ModelCatalogue, PriceLine, PriceUnit, render_answer, render_job};
use crate::pages::jobs::JobView;

const VIDEO: &str = "vidgen_partner.generations";

#[test]
fn a_video_shows_the_words_that_were_asked_for() {
    let whole = catalogue([video_model()]);
    let request = json!({ "model": "kling/v3", "prompt": "video-2-pro 4", "seconds": 15, "size": "1920x1080" });
    let (_, stored) = ordered(&whole, VIDEO, request, None).expect("an order");
    let (family, _) = crate::operation(VIDEO).expect("it");
    let body = render_job(family, &job_of(VIDEO, stored));
    let data = &body["data"];
    assert_eq!(
        (&data["model"], &data["size"]),
        (&json!("kling/v3"), &json!("1920x1080"))
    );
    assert_eq!(data["seconds"], "15");
    assert_eq!(data["prompt"], "video-2-pro 4");
}

#[test]
fn a_synchronous_answer_shows_the_quality_and_the_size_that_was_made() {
    let whole = catalogue([picture_model()]);
    let request = json!({ "model": "seedream", "prompt": "p", "quality": "ultra" });
    let (_, stored) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    let job = job_of("imgmodel.generations", stored);
    let (_, submit) = crate::operation("imgmodel.generations").expect("it");
    assert!((submit.wants_bytes)(&job));
    let AnswerMode::Answer(render) = submit.answers_with else {
        panic!("it waits");
    };
    let body = render_answer(
        render,
        &FinishedJob {
            job: &job,
            base64: &["AAAA".to_owned()],
        },
    );
    assert_eq!(
        (&body["quality"], &body["size"]),
        (&json!("ultra"), &json!("640x480"))
    );
    assert_eq!(body["data"][0]["b64_json"], "AAAA");
}

#[test]
fn the_view_of_a_job_names_model_revision_and_price() {
    let whole = catalogue([video_model()]);
    let request = json!({ "model": "kling/v3", "prompt": "p", "seconds": 15 });
    let (_, stored) = ordered(&whole, VIDEO, request, None).expect("an order");
    let mut job = job_of(VIDEO, stored);
    job.price_lines = vec![PriceLine {
        group: None,
        rule: None,
        line: "kling/v3".to_owned(),
        unit: PriceUnit::Second,
        count: 15.0,
        amount: Quota::from_thousandths(300),
        factor: 1.0,
    }];
    let view = serde_json::to_value(JobView::of(&job)).expect("JSON");
    assert_eq!(
        (&view["model"], &view["modelRevision"]),
        (&json!("kling/v3"), &json!(1))
    );
    assert_eq!(view["price"][0]["count"], 15.0);
    assert_eq!(view["request"]["model"], "kling/v3");
    assert_eq!(view["request"]["seconds"], 15);
    assert!(view["request"].get("$model").is_none());
    assert_eq!(view["result"]["data"]["model"], "kling/v3");

    // Without a model of the catalogue nothing is new.
    let request = json!({ "model": "video-2", "prompt": "p" });
    let (_, stored) = ordered(&ModelCatalogue::default(), VIDEO, request, None).expect("an order");
    let view = serde_json::to_value(JobView::of(&job_of(VIDEO, stored))).expect("JSON");
    for name in ["model", "modelRevision", "price"] {
        assert!(view.get(name).is_none(), "{name}");
    }
}
