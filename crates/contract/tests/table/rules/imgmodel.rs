//! imgmodel: what each model allows, and what its files must be like.

use atelier_contract::FileRole;
use atelier_contract::brief::{Format, Task};
use atelier_contract::family::{AnswerMode, FinishedJob};
use serde_json::{Value, json};

use crate::sample::{accepted, drawn, file, finish, order, refused};

const IMAGES: &str = "imgmodel.generations";

const EDITS: &str = "imgmodel.edits";

#[test]
fn prompt_length_is_counted_in_characters_per_model() {
    for (model, most) in [("image-1", 32000), ("art-2", 1000), ("art-3", 4000)] {
        accepted(
            IMAGES,
            &json!({ "model": model, "prompt": "狐".repeat(most) }),
        );
        let long = json!({ "model": model, "prompt": "狐".repeat(most + 1) });
        refused(
            IMAGES,
            &long,
            "prompt",
            &format!("at most {most} characters"),
        );
    }
    accepted(
        "imgmodel.legacy",
        &json!({ "prompt": "狐".repeat(4000), "size": "1024x1024" }),
    );
    let long = json!({ "prompt": "狐".repeat(4001), "size": "1024x1024" });
    refused(
        "imgmodel.legacy",
        &long,
        "prompt",
        "at most 4000 characters",
    );
}

#[test]
fn transparent_needs_png_or_webp() {
    let body = |format: Value| json!({ "model": "image-1", "prompt": "x", "background": "transparent", "output_format": format });
    for good in [json!(null), json!("png"), json!("webp")] {
        let (order, _) = order(IMAGES, &body(good), None).expect("accepted");
        assert!(order.brief.transparent);
    }
    refused(IMAGES, &body(json!("jpeg")), "background", "png or webp");
}

#[test]
fn output_compression_is_only_for_webp_and_jpeg() {
    let body = |format: Value| json!({ "model": "image-1", "prompt": "x", "output_compression": 50, "output_format": format });
    let (webp, _) = order(IMAGES, &body(json!("webp")), None).expect("accepted");
    assert_eq!(webp.brief.format, Format::Webp(50));
    accepted(IMAGES, &body(json!("jpeg")));
    refused(
        IMAGES,
        &body(json!("png")),
        "output_compression",
        "webp or jpeg",
    );
    refused(
        IMAGES,
        &body(json!(null)),
        "output_compression",
        "webp or jpeg",
    );
    // Nothing is compressed: that is what every format has.
    for format in [json!(null), json!("png"), json!("webp"), json!("jpeg")] {
        let mut whole = body(format);
        whole["output_compression"] = json!("100");
        accepted(IMAGES, &whole);
    }
}

/// The promise: the legacy endpoint answers with the vendor's body, as `/v1/images` does.
#[test]
fn the_legacy_endpoint_answers_with_the_vendors_body() {
    let name = "imgmodel.legacy";
    let job = drawn(
        name,
        &json!({ "prompt": "four", "size": "1024x1024" }),
        None,
    );
    let job = finish(
        job,
        vec![file(FileRole::Main, "image/png", (1024, 1024), 0)],
    );
    let (_, submit) = atelier_contract::operation(name).expect("in the table");
    let AnswerMode::Answer(render) = submit.answers_with else {
        panic!("answered in the response");
    };
    let answer = render(&FinishedJob {
        job: &job,
        base64: &[],
    });
    let keys = |value: &Value| {
        let keys = value.as_object().into_iter().flatten();
        keys.map(|(key, _)| key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&answer), ["created", "data"], "{answer}");
    assert_eq!(keys(&answer["data"][0]), ["revised_prompt", "url"]);
    assert_eq!(answer["data"][0]["revised_prompt"], "four");
}

#[test]
fn n_is_fixed_at_1_for_art_3() {
    accepted(IMAGES, &json!({ "model": "art-3", "prompt": "x", "n": 1 }));
    refused(
        IMAGES,
        &json!({ "model": "art-3", "prompt": "x", "n": 2 }),
        "n",
        "must be 1 with art-3",
    );
    refused(
        "imgmodel.legacy",
        &json!({ "prompt": "x", "size": "1024x1024", "n": 2 }),
        "n",
        "from 1 to 1",
    );
}

#[test]
fn image_1_answers_b64_json_only() {
    refused(
        IMAGES,
        &json!({ "model": "image-1", "prompt": "x", "response_format": "url" }),
        "response_format",
        "b64_json",
    );
    let (_, job) =
        order(IMAGES, &json!({ "model": "image-1", "prompt": "x" }), None).expect("accepted");
    let (_, submit) = atelier_contract::operation(IMAGES).expect("in the table");
    assert!((submit.wants_bytes)(&job));
    let (_, job) = order(IMAGES, &json!({ "prompt": "x" }), None).expect("accepted");
    assert!(
        !(submit.wants_bytes)(&job),
        "art-2 answers with addresses unless told otherwise"
    );
}

#[test]
fn image_1_answers_with_bytes_tokens_and_what_was_settled() {
    let body = json!({ "model": "image-1", "prompt": "four", "n": 2, "background": "transparent" });
    let job = drawn(IMAGES, &body, None);
    let job = finish(
        job,
        vec![file(FileRole::Main, "image/png", (1024, 1024), 0); 2],
    );
    let base64 = ["Zmlyc3Q=".to_owned(), "c2Vjb25k".to_owned()];
    let (_, submit) = atelier_contract::operation(IMAGES).expect("in the table");
    let AnswerMode::Answer(render) = submit.answers_with else {
        panic!("answered in the response");
    };
    let answer = render(&FinishedJob {
        job: &job,
        base64: &base64,
    });
    assert_eq!(
        answer["data"],
        json!([{ "b64_json": "Zmlyc3Q=" }, { "b64_json": "c2Vjb25k" }])
    );
    assert_eq!(answer["quality"], "medium");
    assert_eq!(answer["size"], "1024x1024");
    assert_eq!(answer["background"], "transparent");
    assert_eq!(answer["output_format"], "png");
    assert_eq!(answer["usage"]["total_tokens"], 1 + 2 * 1024);
}

#[test]
fn a_streamed_answer_has_an_event_for_each_image_and_its_tokens_add_up() {
    for (name, event) in [
        (IMAGES, "image_generation.completed"),
        ("imgmodel.edits", "image_edit.completed"),
    ] {
        let picture = "https://example.com/a.png";
        let body = json!({ "model": "image-1", "prompt": "four", "n": 2, "image": [picture], "stream": true, "partial_images": 3 });
        let (_, submit) = atelier_contract::operation(name).expect("in the table");
        let (_, job) = order(name, &body, None).expect("accepted");
        assert!(job.request.get("stream").is_none(), "{name}");
        submit.check_streamed(&job).expect("a model with a stream");
        let job = finish(
            job,
            vec![file(FileRole::Main, "image/png", (1024, 1024), 0); 2],
        );
        let base64 = ["Zmlyc3Q=".to_owned(), "c2Vjb25k".to_owned()];
        let finished = FinishedJob {
            job: &job,
            base64: &base64,
        };
        let events = (submit.events)(&finished);
        assert_eq!(events.len(), 2, "{name}");
        let mut tokens = 0;
        for (one, bytes) in events.iter().zip(&base64) {
            assert_eq!((one.name, &one.data["type"]), (event, &json!(event)));
            assert_eq!(one.data["b64_json"], **bytes);
            assert_eq!(
                one.data["created_at"],
                job.finished_ms.expect("over") / 1000
            );
            assert_eq!(one.data["size"], "1024x1024");
            assert_eq!(one.data["quality"], "medium");
            assert_eq!(one.data["background"], "opaque");
            assert_eq!(one.data["output_format"], "png");
            tokens += one.data["usage"]["total_tokens"].as_u64().expect("tokens");
        }
        let AnswerMode::Answer(render) = submit.answers_with else {
            panic!("answered in the response");
        };
        assert_eq!(render(&finished)["usage"]["total_tokens"], tokens, "{name}");
    }
}

#[test]
fn a_stream_is_refused_where_there_is_none() {
    for (name, body) in [
        (
            IMAGES,
            json!({ "model": "art-3", "prompt": "x", "stream": true }),
        ),
        (IMAGES, json!({ "prompt": "x", "stream": "true" })),
        (
            "imgmodel.legacy",
            json!({ "prompt": "x", "size": "1024x1024", "stream": true }),
        ),
        (
            "design.generations",
            json!({ "prompt": "x", "stream": true }),
        ),
    ] {
        refused(name, &body, "stream", "");
    }
    let both = json!({ "model": "image-1", "prompt": "x", "stream": true, "async": true });
    refused(IMAGES, &both, "stream", "async");
}

#[test]
fn a_field_of_another_model_is_refused_by_name() {
    for (field, value) in [
        ("background", "auto"),
        ("moderation", "low"),
        ("output_format", "png"),
        ("output_compression", "100"),
    ] {
        refused(
            IMAGES,
            &json!({ "model": "art-3", "prompt": "x", field: value }),
            field,
            "only for image-1",
        );
        refused(
            IMAGES,
            &json!({ "prompt": "x", field: value }),
            field,
            "only for image-1",
        );
    }
    refused(
        IMAGES,
        &json!({ "model": "image-1", "prompt": "x", "style": "vivid" }),
        "style",
        "only for art-3",
    );
}

#[test]
fn quality_and_size_words_belong_to_models() {
    for (model, field, good, bad) in [
        ("image-1", "quality", "high", "hd"),
        ("art-3", "quality", "hd", "high"),
        ("art-2", "quality", "standard", "hd"),
        ("image-1", "size", "auto", "1792x1024"),
        ("art-3", "size", "1792x1024", "auto"),
        ("art-2", "size", "256x256", "1536x1024"),
    ] {
        accepted(
            IMAGES,
            &json!({ "model": model, "prompt": "x", field: good }),
        );
        refused(
            IMAGES,
            &json!({ "model": model, "prompt": "x", field: bad }),
            field,
            &format!("with {model}"),
        );
    }
}

/// A png with a width and a height, as base64; only its header counts here.
fn png(width: u32, height: u32, padding: usize) -> String {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + padding, 0);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn art_2_edits_take_exactly_one_square_png_under_4_mb() {
    let body = |image: Value| json!({ "prompt": "x", "image": image });
    accepted(EDITS, &body(json!(png(64, 64, 0))));
    accepted(EDITS, &body(json!([png(64, 64, 0)])));
    refused(
        EDITS,
        &body(json!([png(64, 64, 0), png(64, 64, 0)])),
        "image",
        "exactly one",
    );
    refused(EDITS, &body(json!(png(64, 32, 0))), "image", "square");
    refused(
        EDITS,
        &body(json!(png(64, 64, 4 * 1024 * 1024))),
        "image",
        "under 4 MB",
    );
    let gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    refused(EDITS, &body(json!(gif)), "image", "png");
}

#[test]
fn image_1_edits_take_several_files_under_25_mb() {
    let body = |image: Value| json!({ "model": "image-1", "prompt": "x", "image": image });
    accepted(
        EDITS,
        &body(json!([png(64, 32, 0), png(10, 10, 5 * 1024 * 1024)])),
    );
    refused(
        EDITS,
        &body(json!([png(9, 9, 0), png(9, 9, 25 * 1024 * 1024)])),
        "image[1]",
        "under 25 MB",
    );
}

#[test]
fn a_mask_has_the_dimensions_of_the_first_image() {
    let body = |mask: String| json!({ "model": "image-1", "prompt": "x", "image": [png(64, 32, 0), png(8, 8, 0)], "mask": mask });
    let (order, _) = order(EDITS, &body(png(64, 32, 0)), None).expect("like the first");
    assert_eq!(order.brief.task, Task::Edit);
    refused(EDITS, &body(png(8, 8, 0)), "mask", "must be 64x32 pixels");
    refused(
        EDITS,
        &body(png(64, 32, 4 * 1024 * 1024)),
        "mask",
        "under 4 MB",
    );
}

#[test]
fn what_cannot_be_judged_before_fetching_is_kept_for_later() {
    let body = json!({ "prompt": "x", "image": "https://example.com/a.png", "mask": "https://example.com/b.png" });
    let (order, _) = order(EDITS, &body, None).expect("accepted");
    assert!(order.brief.sources[0].wanted.square);
    assert!(order.brief.mask.expect("a mask").wanted.like_first);
}
