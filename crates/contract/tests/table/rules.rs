//! Rules that are easy to miss, each named by its test.

use atelier_contract::family::{JobIds, refusal_body as refused_body};
use atelier_contract::{FAMILIES, Job, JobState, Refusal};
use serde_json::{Value, json};

use crate::good_requests::example;
use crate::sample::{accepted, order, refused, shown};

mod imgmodel;
mod video;

#[test]
fn face_swap_ids_have_their_own_shape_and_the_others_are_uuids() {
    for family in FAMILIES {
        let wanted = match family.name {
            "facegen" => JobIds::Digits("SWAP-FACE-"),
            _ => JobIds::Uuid,
        };
        assert_eq!(family.ids, wanted, "{}", family.name);
    }
}

#[test]
fn animegen_counts_steps_in_one_endpoint_and_step_in_the_other() {
    let mut text = example("animegen.text_to_image");
    text["step"] = json!("ignored");
    text["steps"] = json!(51);
    refused("animegen.text_to_image", &text, "steps", "from 1 to 50");
    let mut image = example("animegen.image_to_image");
    image["steps"] = json!("ignored");
    image["step"] = json!(0);
    refused("animegen.image_to_image", &image, "step", "from 1 to 50");
}

#[test]
fn a_field_inside_a_list_is_named_with_its_path() {
    let mut body = example("animegen.text_to_image");
    body["character_prompts"] = json!([{ "prompt": "x", "center": { "x": 1.5 } }]);
    refused(
        "animegen.text_to_image",
        &body,
        "character_prompts[0].center.x",
        "from 0 to 1",
    );
    body["character_prompts"] = json!([{ "uc": "x" }]);
    refused(
        "animegen.text_to_image",
        &body,
        "character_prompts[0].prompt",
        "required",
    );
    body["character_prompts"] = json!(["x"]);
    refused(
        "animegen.text_to_image",
        &body,
        "character_prompts[0]",
        "must be an object",
    );
    body["character_prompts"] = json!([]);
    body["vibe_transfer"] = json!([{ "image": "https://example.com/a.png", "strength": 2 }]);
    refused(
        "animegen.text_to_image",
        &body,
        "vibe_transfer[0].strength",
        "from 0 to 1",
    );
    body["vibe_transfer"] = json!([]);
    body["character_reference"] = json!([{ "image": "https://example.com/a.png", "type": "face" }]);
    refused(
        "animegen.text_to_image",
        &body,
        "character_reference[0].type",
        "character&style",
    );
    body["character_reference"] = json!([]);
    accepted("animegen.text_to_image", &body);
}

#[test]
fn video_length_is_text_and_a_number_counts_as_its_text() {
    let body = |length: Value| json!({ "prompt": "x", "video_length": length });
    for good in [json!("10"), json!(11), json!("30")] {
        let (_, job) = order("clipgen.generations", &body(good), None).expect("accepted");
        assert!(job.request["video_length"].is_string());
    }
    for bad in [json!("9"), json!(31), json!("ten"), json!(10.5)] {
        refused(
            "clipgen.generations",
            &body(bad),
            "video_length",
            "from 10 to 30",
        );
    }
}

#[test]
fn resolution_name_is_720p_only() {
    accepted(
        "clipgen.generations",
        &json!({ "prompt": "x", "resolution_name": "720p" }),
    );
    for bad in [json!("1080p"), json!(720)] {
        let body = json!({ "prompt": "x", "resolution_name": bad });
        refused("clipgen.generations", &body, "resolution_name", "720p");
    }
}

#[test]
fn a_refusal_of_motion_has_an_empty_object_as_data() {
    let refusal = Refusal::missing("userPrompt");
    for family in FAMILIES {
        let body = Value::Object(refused_body(family.refused_data, &refusal));
        let motion = family.name == "motion";
        let data = if motion { json!({}) } else { Value::Null };
        let wanted = json!({
            "status": "FAILED",
            "message": "userPrompt: is required",
            "data": data,
            "code": "missing_parameter",
            "param": "userPrompt",
        });
        assert_eq!(body, wanted, "{}", family.name);
        let message = if motion { "" } else { "success" };
        assert_eq!(family.accepted_message, message, "{}", family.name);
    }
}

#[test]
fn an_animegen_seed_is_digits_up_to_4294967295() {
    for (seed, good) in [
        (json!("0"), true),
        (json!("4294967295"), true),
        (json!(42), true),
        (json!("4294967296"), false),
        (json!("-1"), false),
        (json!("+1"), false),
        (json!("abc"), false),
    ] {
        let mut body = example("animegen.text_to_image");
        body["seed"] = seed.clone();
        let outcome = order("animegen.text_to_image", &body, None);
        assert_eq!(outcome.is_ok(), good, "{seed}");
    }
}

#[test]
fn hook_url_is_an_address_though_documented_as_boolean() {
    let mut body = example("artgen.video.submit");
    body["hookUrl"] = json!(true);
    refused("artgen.video.submit", &body, "hookUrl", "URL");
    body["hookUrl"] = json!(false);
    accepted("artgen.video.submit", &body);
    body["hookUrl"] = json!("https://example.com/hook");
    let (order, _) = order("artgen.video.submit", &body, None).expect("accepted");
    assert!(order.hook.is_some());
}

#[test]
fn waiting_has_a_word_only_in_the_art_families() {
    for family in FAMILIES {
        let art = family.name.starts_with("artgen");
        let word = family.state_word(JobState::Waiting);
        assert_eq!(
            word,
            if art { "PENDING_QUEUE" } else { "ON_QUEUE" },
            "{}",
            family.name
        );
    }
}

#[test]
fn art_images_and_art_videos_share_one_queue() {
    let queue = |name: &str| {
        FAMILIES
            .iter()
            .find(|family| family.name == name)
            .map(|family| family.queue)
    };
    assert_eq!(queue("artgen"), queue("artgen_video"));
    let queues: std::collections::HashSet<_> = FAMILIES.iter().map(|family| family.queue).collect();
    assert_eq!(queues.len(), FAMILIES.len() - 1);
}

#[test]
fn one_reference_may_stand_for_a_list() {
    let body = json!({ "prompt": "x", "referImages": "https://example.com/a.png" });
    let (_, job) = order("imgmodel.chat", &body, None).expect("accepted");
    assert_eq!(
        job.request["referImages"],
        json!(["https://example.com/a.png"])
    );
}

#[test]
fn a_failed_face_swap_says_why_and_a_good_one_says_nothing() {
    let (_, job) = order("facegen.swap", &example("facegen.swap"), None).expect("accepted");
    assert_eq!(shown(&job)["message"], Value::Null);
    let failed = Job {
        state: JobState::Failed,
        message: Some("Job Timeout".into()),
        ..job
    };
    assert_eq!(shown(&failed)["message"], "Job Timeout");
}
