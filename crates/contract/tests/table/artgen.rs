//! artgen image: defaults, versions, what follows what, prices and shapes.

use atelier_contract::brief::Task;
use atelier_contract::families::artgen::actions::Action;
use atelier_contract::families::artgen::history::history_item;
use atelier_contract::{Code, Job, JobState, PromptRule, Speed, refuse_banned};
use serde_json::{Value, json};

use crate::sample::{drawn, order, price, refusal, refused, shown};

fn imagine(prompt: &str) -> Job {
    drawn("artgen.imagine", &json!({ "prompt": prompt }), None)
}

fn act(parent: &Job, action: &str) -> Job {
    drawn(
        "artgen.action",
        &json!({ "jobId": "x", "action": action }),
        Some(parent),
    )
}

fn offered(job: &Job) -> Vec<String> {
    let words = shown(job)["data"]["components"].clone();
    serde_json::from_value(words).expect("a list of words")
}

#[test]
fn the_time_limit_depends_on_the_mode() {
    for (body, seconds) in [
        (json!({ "prompt": "x" }), 300),
        (json!({ "prompt": "x", "mode": "turbo" }), 300),
        (json!({ "prompt": "x", "mode": "relax" }), 600),
        (json!({ "prompt": "x", "timeout": "1200" }), 1200),
    ] {
        let (order, _) = order("artgen.imagine", &body, None).expect("accepted");
        assert_eq!(order.timeout_s, Some(seconds), "{body}");
    }
    let body = json!({ "prompt": "x", "mode": "relax", "timeout": 599 });
    refused(
        "artgen.imagine",
        &body,
        "timeout",
        "from 600 to 1200 in relax mode",
    );
    let body = json!({ "prompt": "x", "timeout": 299 });
    refused("artgen.imagine", &body, "timeout", "from 300 to 1200");
}

#[test]
fn prices_follow_mode_and_version() {
    for (mode, flag, quota) in [
        ("relax", "", "2"),
        ("fast", "--v 7", "4"),
        ("turbo", "", "6"),
        ("relax", "--v 6", "3"),
        ("fast", "--v 6.1", "6"),
        ("turbo", "--niji 6", "9"),
        ("fast", "--v 5.2", "4"),
        ("fast", "--niji 5", "4"),
    ] {
        let body = json!({ "prompt": format!("x {flag}"), "mode": mode });
        assert_eq!(price("artgen.imagine", &body, None), quota, "{body}");
    }
}

#[test]
fn a_follow_up_runs_and_is_priced_in_its_parents_mode_and_version() {
    let body = json!({ "prompt": "x --v 6", "mode": "turbo" });
    let parent = drawn("artgen.imagine", &body, None);
    let vary = json!({ "jobId": "x", "action": "variation3" });
    assert_eq!(price("artgen.action", &vary, Some(&parent)), "9");
    let child = drawn("artgen.action", &vary, Some(&parent));
    assert_eq!(child.speed, Speed::Turbo);
    let grandchild = json!({ "jobId": "x", "action": "upsample1" });
    assert_eq!(price("artgen.action", &grandchild, Some(&child)), "2");
    let grandchild = drawn("artgen.action", &grandchild, Some(&child));
    assert!(offered(&grandchild).contains(&"upscale_subtle".into()));
    assert_eq!(shown(&grandchild)["data"]["prompt"], "x --v 6");
    assert_eq!(history_item(&grandchild)["model"], "turbo");
}

#[test]
fn a_grid_offers_upsamples_variations_and_reroll() {
    let wanted = [
        "upsample1",
        "upsample2",
        "upsample3",
        "upsample4",
        "variation1",
        "variation2",
        "variation3",
        "variation4",
        "reroll",
    ];
    let grid = imagine("x");
    assert_eq!(offered(&grid), wanted);
    assert_eq!(offered(&act(&grid, "reroll")), wanted);
    let single = act(&grid, "upsample1");
    for action in [
        "low_variation",
        "high_variation",
        "zoom_out_2",
        "zoom_out_1_5",
        "pan_up",
    ] {
        assert_eq!(offered(&act(&single, action)), wanted, "{action}");
    }
}

#[test]
fn upscales_belong_to_version_5_and_6_only() {
    for (prompt, upscales, redos) in [
        ("x", vec![], vec![]),
        ("x --v 4", vec![], vec![]),
        (
            "x --v 5.1",
            vec!["upscale2", "upscale4"],
            vec!["redo_upscale2", "redo_upscale4"],
        ),
        (
            "x --niji 6",
            vec!["upscale_subtle", "upscale_creative"],
            vec!["redo_upscale_subtle", "redo_upscale_creative"],
        ),
    ] {
        let single = act(&imagine(prompt), "upsample4");
        let found = offered(&single);
        for word in Action::WORDS.iter().filter(|word| word.contains("upscale")) {
            let has = found.iter().any(|found| found == word);
            assert_eq!(has, upscales.contains(word), "{prompt}: {word}");
        }
        for upscale in upscales {
            let enlarged = act(&single, upscale);
            assert_eq!(offered(&enlarged), redos, "{prompt}: {upscale}");
            assert_eq!(offered(&act(&enlarged, redos[1])), redos);
        }
    }
}

#[test]
fn make_square_is_for_pictures_that_are_not() {
    let square = act(&imagine("x"), "upsample1");
    assert!(!offered(&square).contains(&"make_square".into()));
    let wide = act(&imagine("x --ar 16:9"), "upsample1");
    assert!(offered(&wide).contains(&"make_square".into()));
    let (order, _) = order(
        "artgen.action",
        &json!({ "jobId": "x", "action": "make_square" }),
        Some(&wide),
    )
    .expect("accepted");
    assert_eq!(order.brief.width, order.brief.height);
}

#[test]
fn an_action_that_is_not_offered_says_which_are() {
    let body = json!({ "jobId": "x", "action": "upscale2" });
    let refusal = refusal("artgen.action", &body, Some(&imagine("x --v 5")));
    assert_eq!(refusal.code, Code::ActionNotAvailable);
    assert!(
        refusal.message.contains("available: upsample1, upsample2"),
        "{refusal}"
    );
}

#[test]
fn a_parent_must_be_a_finished_artgen_image_job() {
    let body = json!({ "jobId": "x", "action": "upsample1" });
    let mut parent = imagine("x");
    parent.state = JobState::Running;
    assert_eq!(
        refusal("artgen.action", &body, Some(&parent)).code,
        Code::ParentNotFinished
    );
    parent.state = JobState::Failed;
    assert_eq!(
        refusal("artgen.action", &body, Some(&parent)).code,
        Code::ParentNotFinished
    );
    let foreign = drawn(
        "facegen.swap",
        &json!({ "targetImage": "http://a.example/1", "swapImage": "http://a.example/2" }),
        None,
    );
    assert_eq!(
        refusal("artgen.action", &body, Some(&foreign)).code,
        Code::JobNotFound
    );
    assert_eq!(
        refusal("artgen.action", &body, None).code,
        Code::JobNotFound
    );
}

#[test]
fn redoing_an_upscale_does_not_enlarge_twice() {
    let single = act(&imagine("x --v 5"), "upsample1");
    let enlarged = act(&single, "upscale2");
    let redone = act(&enlarged, "redo_upscale4");
    let width = |job: &Job| job.file(0).expect("a file").width;
    assert_eq!(width(&enlarged), width(&single) * 2);
    assert_eq!(width(&redone), width(&single) * 4);
}

#[test]
fn seed_and_inpaint_need_a_picture() {
    let describe = json!({ "url": "https://example.com/a.png" });
    let (_, words) = order("artgen.describe", &describe, None).expect("accepted");
    let words = crate::sample::finish(words, Vec::new());
    let seed = refusal("artgen.seed", &json!({ "jobId": "x" }), Some(&words));
    assert_eq!(seed.code, Code::ActionNotAvailable);
    assert_eq!(seed.field.as_deref(), Some("jobId"));
    assert_eq!(
        price("artgen.seed", &json!({ "jobId": "x" }), Some(&imagine("x"))),
        "0"
    );
}

#[test]
fn a_mask_has_the_size_of_the_parents_picture() {
    let body: Value =
        serde_json::from_str(include_str!("../../examples/artgen.inpaint.json")).expect("JSON");
    let (order, _) = order("artgen.inpaint", &body, Some(&imagine("x"))).expect("1024 by 1024");
    assert_eq!(order.brief.task, Task::Repaint);
    let refusal = refusal("artgen.inpaint", &body, Some(&imagine("x --ar 2:1")));
    assert_eq!(refusal.field.as_deref(), Some("mask"));
    assert!(refusal.message.contains("is 1024x1024"), "{refusal}");
}

#[test]
fn an_inpaint_inherits_the_version_unless_its_prompt_names_one() {
    let mut body: Value =
        serde_json::from_str(include_str!("../../examples/artgen.inpaint.json")).expect("JSON");
    let parent = imagine("x --v 6");
    assert_eq!(price("artgen.inpaint", &body, Some(&parent)), "6");
    body["prompt"] = json!("a bridge --v 7");
    assert_eq!(price("artgen.inpaint", &body, Some(&parent)), "4");
}

#[test]
fn describe_takes_base64_over_url_and_needs_one() {
    let body: Value =
        serde_json::from_str(include_str!("../../examples/artgen.blend.json")).expect("JSON");
    let picture = &body["imgBase64Array"][0];
    let both = json!({ "base64": picture, "url": "not an address" });
    let (order, _) = order("artgen.describe", &both, None).expect("url is not looked at");
    assert_eq!(order.brief.sources[0].field, "base64");
    refused(
        "artgen.describe",
        &json!({}),
        "base64",
        "one of base64 and url is required",
    );
    refused(
        "artgen.describe",
        &json!({ "url": "not an address" }),
        "url",
        "http",
    );
}

#[test]
fn a_blend_takes_two_to_five_inline_images() {
    let body: Value =
        serde_json::from_str(include_str!("../../examples/artgen.blend.json")).expect("JSON");
    let picture = &body["imgBase64Array"][0];
    for (count, good) in [(1, false), (2, true), (5, true), (6, false)] {
        let body = json!({ "imgBase64Array": vec![picture; count] });
        assert_eq!(order("artgen.blend", &body, None).is_ok(), good, "{count}");
    }
    // Whose an address is, is judged where it is known; the order says that only a file of the service's own will do.
    let body = json!({ "imgBase64Array": [picture, "https://example.com/a.png"] });
    let (order, _) = order("artgen.blend", &body, None).expect("an order");
    let sources = order.brief.sources;
    assert!(
        sources.iter().all(|source| source.wanted.kept_only),
        "{sources:?}"
    );
}

#[test]
fn the_seed_of_the_prompt_is_shown_and_inherited() {
    let parent = imagine("x --seed 77");
    assert_eq!(shown(&parent)["data"]["seed"], "77");
    assert_eq!(shown(&act(&parent, "upsample1"))["data"]["seed"], "77");
    assert_eq!(shown(&imagine("x"))["data"]["seed"], Value::Null);
}

#[test]
fn small_images_come_when_asked_for() {
    let asked = json!({ "prompt": "x", "getUImages": "true" });
    let asked = shown(&drawn("artgen.imagine", &asked, None));
    assert_eq!(asked["images"].as_array().map(Vec::len), Some(4));
    assert_eq!(asked["images"], asked["data"]["images"]);
    assert_eq!(shown(&imagine("x"))["images"], json!([]));
}

#[test]
fn a_caller_cannot_set_what_is_inherited() {
    let body = json!({ "prompt": "x", "version": "6", "seed": "9" });
    let job = drawn("artgen.imagine", &body, None);
    assert_eq!(job.text("version"), Some("7"));
    assert_eq!(job.text("seed"), None);
}

fn refusal_of(operation: &str, prompt: &str, rules: &[PromptRule]) -> Option<String> {
    let (family, submit) = atelier_contract::operation(operation).expect("in the table");
    let fields = json!({ "prompt": prompt, "imageUrl": "https://example.com/a.png" });
    let request = (submit.parse)(fields.as_object().expect("fields").clone()).expect("parsed");
    let judged = refuse_banned(request.as_ref(), family, rules);
    judged.err().map(|refusal| refusal.message)
}

#[test]
fn a_banned_word_is_refused_by_field() {
    let mut rules = vec![PromptRule {
        words: ["nude"].into(),
        ..Default::default()
    }];
    let refused = |rules: &[_]| refusal_of("artgen.imagine", "a Nude statue", rules);
    let message = refused(&rules).expect("banned");
    assert_eq!(message, "prompt: banned prompt words: [nude]");
    rules[0].name = "skin".into();
    rules[0].families = vec!["artgen".into()];
    let message = refused(&rules).expect("banned");
    let named = "prompt: banned prompt words: [nude] (rule skin)";
    assert_eq!(message, named);
    rules[0].families = vec!["motion".into()];
    assert_eq!(refused(&rules), None, "another family's rule");
}

/// The promise: what is not wanted may be named, up to the next flag.
#[test]
fn what_is_left_out_of_a_picture_may_be_named() {
    let rules = [PromptRule {
        words: ["nude", "gore"].into(),
        ..Default::default()
    }];
    for operation in ["artgen.imagine", "artgen.video.submit"] {
        for prompt in [
            "a statue --no nude, gore",
            "a statue --NO nude --ar 3:2",
            "a fox \u{2014}no gore",
        ] {
            assert_eq!(refusal_of(operation, prompt, &rules), None, "{prompt}");
        }
        for prompt in [
            "a nude statue --no gore",
            "a statue --no red --ar 3:2 nude",
            "a statue --nothing nude",
            "no nude",
        ] {
            let refused = refusal_of(operation, prompt, &rules);
            assert!(refused.is_some(), "{prompt}");
        }
    }
    let elsewhere = refusal_of("vidgen_partner.generations", "a statue --no nude", &rules);
    assert!(elsewhere.is_some(), "there it is a word like any other");
}

/// The promise: the common list is for the families in which the interface has banned words.
#[test]
fn the_interface_has_banned_words_in_artgen_alone() {
    let with = atelier_contract::FAMILIES
        .iter()
        .filter(|family| family.banned_words);
    let with: Vec<&str> = with.map(|family| family.name).collect();
    assert_eq!(with, ["artgen", "artgen_video"]);
}
