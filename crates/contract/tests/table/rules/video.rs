//! The video families: lengths, sizes, characters, extensions.

use atelier_contract::brief::VideoDefinition;
use atelier_contract::operation::ReferencedJobs;
use atelier_contract::{Code, Job, JobState, Speed};
use serde_json::json;

use crate::good_requests::{character, filmed};
use crate::sample::{accepted, order, order_in, price, refusal, refused};

const VIDEO: &str = "vidgen.generations";

#[test]
fn duration_25_is_only_for_video_2_pro() {
    accepted(
        VIDEO,
        &json!({ "model": "video-2-pro", "prompt": "x", "duration": 25 }),
    );
    refused(
        VIDEO,
        &json!({ "model": "video-2", "prompt": "x", "duration": 25 }),
        "duration",
        "only for video-2-pro",
    );
}

#[test]
fn size_large_is_only_for_video_2_pro_and_never_with_25_seconds() {
    accepted(
        VIDEO,
        &json!({ "model": "video-2-pro", "prompt": "x", "size": "large" }),
    );
    refused(
        VIDEO,
        &json!({ "model": "video-2", "prompt": "x", "size": "large" }),
        "size",
        "only for video-2-pro",
    );
    let both = json!({ "model": "video-2-pro", "prompt": "x", "size": "large", "duration": 25 });
    refused(VIDEO, &both, "size", "small");
}

#[test]
fn the_default_duration_depends_on_the_model() {
    for (model, seconds) in [("video-2", 10), ("video-2-pro", 15)] {
        let (order, job) =
            order(VIDEO, &json!({ "model": model, "prompt": "x" }), None).expect("accepted");
        assert_eq!(order.brief.seconds, seconds);
        assert_eq!(job.request["duration"], seconds);
    }
}

#[test]
fn character_timestamps_span_1_to_3_seconds() {
    for (text, good) in [
        ("0,1", true),
        ("2,5", true),
        ("0,0.5", false),
        ("0,4", false),
        ("3,1", false),
    ] {
        let body = json!({ "model": "video-2", "prompt": "x", "character_url": "https://example.com/a.mp4", "character_timestamps": text });
        assert_eq!(order(VIDEO, &body, None).is_ok(), good, "{text}");
        let body = json!({ "url": "https://example.com/a.mp4", "timestamps": text });
        assert_eq!(
            order("vidgen.characters", &body, None).is_ok(),
            good,
            "{text}"
        );
    }
}

/// The promise: `@word` is words, unless it names a finished character of the account, which is then used.
#[test]
fn an_unknown_at_word_is_text_and_a_finished_character_is_used() {
    let body = json!({ "model": "video-2", "prompt": "@Fox runs, seen by @nobody" });
    let made = |cited: &[Job]| {
        let parent = None;
        let order = order_in(VIDEO, &body, ReferencedJobs { parent, cited });
        order.expect("accepted").0.brief
    };
    let known = made(&[character()]);
    assert_eq!(known.prompt, "@Fox runs, seen by @nobody");
    assert_eq!(made(&[]), known, "words all the same");
    let mut unfinished = character();
    unfinished.state = JobState::Running;
    unfinished.output = None;
    assert_eq!(made(&[unfinished]), known);
}

/// The promise: both spellings of what a character is taken from are read, here and in a video's own fields.
#[test]
fn a_character_takes_both_spellings_of_its_fields() {
    let name = "vidgen.characters";
    let other =
        json!({ "character_url": "https://example.com/a.mp4", "character_timestamps": "1,3" });
    let (order, job) = order(name, &other, None).expect("the other spelling");
    assert_eq!(job.text("url"), Some("https://example.com/a.mp4"));
    assert_eq!(order.brief.span, Some((1.0, 3.0)));
    let both = json!({ "url": "https://example.com/own.mp4", "character_url": "https://example.com/a.mp4",
        "timestamps": "0,1", "character_timestamps": "1,3" });
    let (_, job) = crate::sample::order(name, &both, None).expect("the documented one wins");
    assert_eq!(job.text("url"), Some("https://example.com/own.mp4"));
    refused(name, &json!({ "timestamps": "0,1" }), "url", "required");
    let parent = filmed(VIDEO, &json!({}));
    let unmark = json!({ "job_id": "x" });
    crate::sample::order("vidgen.no_watermark", &unmark, Some(&parent)).expect("job_id");
}

/// The promise: pictures come to a video as everywhere else: by address, as data-URI, or in base64.
#[test]
fn reference_images_of_a_video_come_in_every_form() {
    let picture = crate::good_requests::example("artgen.blend")["imgBase64Array"][0].clone();
    let bare = picture
        .as_str()
        .and_then(|text| text.split_once(','))
        .expect("a data-URI")
        .1;
    let body = json!({ "model": "video-2", "prompt": "x",
        "referImages": ["https://example.com/a.png", picture, bare] });
    let (order, job) = order(VIDEO, &body, None).expect("accepted");
    assert_eq!(order.brief.sources.len(), 3);
    assert_eq!(order.brief.sources[2].field, "referImages[2]");
    let kept = job.request["referImages"][1].as_str().expect("a name");
    assert!(kept.starts_with("inline:"), "{kept}");
    let not = json!({ "model": "video-2", "prompt": "x", "referImages": ["aGVsbG8="] });
    refused(VIDEO, &not, "referImages[0]", "image");
}

/// The promise: who pays for `large` gets an order that says so, to whoever makes it.
#[test]
fn a_large_video_is_ordered_in_high_definition_and_has_the_same_dimensions() {
    let of = |size: &str| {
        let body = json!({ "model": "video-2-pro", "prompt": "x", "size": size });
        order(VIDEO, &body, None).expect("accepted").0.brief
    };
    let (small, large) = (of("small"), of("large"));
    assert_eq!((small.width, small.height), (1024, 1792));
    assert_eq!((large.width, large.height), (1024, 1792));
    assert_eq!(
        (small.definition, large.definition),
        (VideoDefinition::Standard, VideoDefinition::High)
    );
    let plain = json!({ "model": "video-2", "prompt": "x" });
    let plain = order(VIDEO, &plain, None).expect("accepted").0.brief;
    assert_eq!(plain.definition, VideoDefinition::BySize);
}

#[test]
fn no_watermark_takes_a_finished_vidgen_video_or_an_address_and_the_job_wins() {
    let name = "vidgen.no_watermark";
    let parent = filmed(VIDEO, &json!({}));
    let both = json!({ "jobId": "x", "url": "not an address" });
    let (order, job) = order(name, &both, Some(&parent)).expect("the url is not looked at");
    assert_eq!(order.brief.video, None);
    assert_eq!(job.text("model"), Some("video-2"));
    refused(
        name,
        &json!({}),
        "jobId",
        "one of jobId and url is required",
    );
    refused(name, &json!({ "url": "not an address" }), "url", "http");
    let refusal = refusal(name, &json!({ "jobId": "x" }), Some(&character()));
    assert_eq!(refusal.code, Code::ActionNotAvailable);
}

#[test]
fn input_reference_dimensions_equal_size() {
    let name = "vidgen_partner.generations";
    for (size, pixels) in [
        (json!(null), (720, 1280)),
        (json!("1792x1024"), (1792, 1024)),
    ] {
        let body =
            json!({ "prompt": "x", "size": size, "input_reference": "https://example.com/a.png" });
        let (order, _) = order(name, &body, None).expect("accepted");
        assert_eq!(order.brief.sources[0].wanted.size, Some(pixels));
        assert_eq!((order.brief.width, order.brief.height), pixels);
    }
}

const MOTION: &str = "motion.generations";

#[test]
fn ten_seconds_only_at_720p() {
    accepted(MOTION, &json!({ "userPrompt": "x", "duration": "10s" }));
    refused(
        MOTION,
        &json!({ "userPrompt": "x", "duration": "10s", "resolution": "1080p" }),
        "duration",
        "720p",
    );
    refused(
        MOTION,
        &json!({ "userPrompt": "x", "duration": 5 }),
        "duration",
        "5s, 10s",
    );
}

#[test]
fn image_end_url_has_effect_only_with_motion_v1() {
    for (model, frames) in [
        (json!("motion-v1"), 1),
        (json!("motion-v2"), 0),
        (json!(null), 0),
    ] {
        let body = json!({ "userPrompt": "x", "modelName": model, "imageEndUrl": "https://example.com/b.png" });
        let (order, job) = order(MOTION, &body, None).expect("accepted with every model");
        assert_eq!(order.brief.sources.len(), frames, "{model}");
        assert_eq!(order.brief.last_frame.is_some(), frames == 1);
        assert_eq!(job.text("imageEndUrl"), Some("https://example.com/b.png"));
    }
}

#[test]
fn motion_videos_have_the_documented_sizes() {
    for (ratio, resolution, size) in [
        ("16:9", "720p", (1280, 720)),
        ("9:16", "720p", (720, 1280)),
        ("1:1", "720p", (960, 960)),
        ("4:3", "720p", (1104, 832)),
        ("3:4", "720p", (832, 1104)),
        ("21:9", "720p", (1472, 640)),
        ("16:9", "1080p", (1920, 1080)),
        ("21:9", "1080p", (2208, 960)),
        ("4:3", "1080p", (1656, 1248)),
    ] {
        let body = json!({ "userPrompt": "x", "aspectRatio": ratio, "resolution": resolution });
        let (order, _) = order(MOTION, &body, None).expect("accepted");
        assert_eq!(
            (order.brief.width, order.brief.height),
            size,
            "{ratio} {resolution}"
        );
    }
}

fn unfinished(mut job: Job) -> Job {
    job.state = JobState::Running;
    job.output = None;
    job
}

#[test]
fn an_extension_takes_the_parents_resolution() {
    let extend = json!({ "jobId": "x", "index": 0, "bs": 2 });
    let parent = filmed("artgen.video.submit", &json!({ "resolution": "hd" }));
    assert_eq!(price("artgen.video.extend", &extend, Some(&parent)), "8");
    let (_, child) = order("artgen.video.extend", &extend, Some(&parent)).expect("accepted");
    assert_eq!(child.text("resolution"), Some("hd"));
    let parent = filmed(MOTION, &json!({ "resolution": "1080p" }));
    let extend = json!({ "jobId": "x", "userPrompt": "y" });
    assert_eq!(price("motion.extend", &extend, Some(&parent)), "20");
    let (order, child) = order("motion.extend", &extend, Some(&parent)).expect("accepted");
    assert_eq!(child.text("resolution"), Some("1080p"));
    assert_eq!(order.speed, Speed::Relax);
}

#[test]
fn an_extension_needs_a_finished_parent_of_its_family() {
    let extend = json!({ "jobId": "x", "index": 0, "userPrompt": "y" });
    for (name, parent) in [
        ("artgen.video.extend", "artgen.video.submit"),
        ("motion.extend", MOTION),
    ] {
        let running = unfinished(filmed(parent, &json!({})));
        assert_eq!(
            refusal(name, &extend, Some(&running)).code,
            Code::ParentNotFinished
        );
        let foreign = filmed("clipgen.generations", &json!({}));
        assert_eq!(
            refusal(name, &extend, Some(&foreign)).code,
            Code::JobNotFound
        );
    }
}

#[test]
fn an_extension_needs_an_existing_index() {
    let parent = filmed("artgen.video.submit", &json!({ "bs": 2 }));
    let body = |index: i64| json!({ "jobId": "x", "index": index });
    order("artgen.video.extend", &body(1), Some(&parent)).expect("the second video");
    let refusal = refusal("artgen.video.extend", &body(2), Some(&parent));
    assert_eq!(refusal.field.as_deref(), Some("index"));
    assert!(refusal.message.contains("from 0 to 1"), "{refusal}");
}
