//! Requests that name models of the catalogue, and those that do not.

use serde_json::json;

use super::{
    CONTEXT, EVERYBODY, NOW_MS, call, catalogue, fields, ordered, picture_model, revision, submit,
    video_model,
};
use crate::models::{Audience, ModelCatalogue, as_asked, model_of, note_of};
use crate::operation::ReferencedJobs;

/// A message of a refused call.
fn refused(whole: &ModelCatalogue, operation: &str, request: serde_json::Value) -> String {
    match call(whole, operation, request) {
        Ok(parsed) => {
            let order = parsed.request.order(ReferencedJobs::default());
            order.expect_err("refused").message
        }
        Err(refusal) => refusal.message,
    }
}

#[test]
fn without_a_catalogue_everything_is_as_before() {
    let nothing = ModelCatalogue::default();
    assert!(nothing.is_empty());
    for family in crate::FAMILIES {
        for submit in family.submits {
            let example = || fields(serde_json::from_str(submit.example).expect("JSON"));
            let plain = (submit.parse)(example()).expect(submit.name);
            // Also with a catalogue, where a request names none of its models.
            for whole in [nothing.clone(), catalogue([picture_model()])] {
                let parsed = whole
                    .parse(submit, example(), &EVERYBODY)
                    .expect(submit.name);
                assert!(parsed.model.is_none());
                assert_eq!(parsed.request.to_fields(), plain.to_fields());
                assert_eq!(parsed.request.as_asked(), plain.to_fields());
            }
        }
    }
    let before =
        (submit("imgmodel.generations").parse)(fields(json!({ "model": "x", "prompt": "p" })));
    let before = before.err().expect("refused").message;
    let now = refused(
        &nothing,
        "imgmodel.generations",
        json!({ "model": "x", "prompt": "p" }),
    );
    assert_eq!(now, before);
}

#[test]
fn a_model_is_ordered_in_its_own_words_and_stored_in_those_of_like() {
    let whole = catalogue([picture_model()]);
    let request = json!({ "model": "SEEDREAM-4.5", "prompt": "a fox", "quality": "ultra" });
    let (order, stored) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    assert_eq!(order.brief.model, "Seedream-4.5");
    assert_eq!((order.brief.width, order.brief.height), (2048, 2048));
    assert_eq!(order.brief.model_words["quality"], "ultra");
    assert_eq!(stored["model"], "image-1");
    assert_eq!(stored["size"], "auto");
    assert_eq!(model_of(&stored), Some("Seedream-4.5"));
    let note = note_of(&stored).expect("a note");
    assert_eq!((note.name.as_str(), note.revision), ("Seedream-4.5", 1));
    let asked = as_asked(&stored);
    assert_eq!(asked["model"], "Seedream-4.5");
    assert_eq!(asked["size"], "2048x2048");
    assert_eq!(asked["quality"], "ultra");
    assert!(!asked.contains_key("$model"));
    // The slow limit of `like` holds for it.
    let limit = submit("imgmodel.generations").timeout_s.expect("a limit");
    assert_eq!(limit(&stored), 300);
}

#[test]
fn a_word_that_like_knows_stays_its_word_and_has_its_price() {
    let mut row = picture_model();
    row["fields"]["size"] = json!({ "allowed": ["1536x1024", "2048x2048"] });
    row.as_object_mut().expect("an object").remove("price");
    let whole = catalogue([row]);
    let request =
        json!({ "model": "seedream", "prompt": "p", "size": "1536x1024", "quality": "high" });
    let (order, stored) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    assert_eq!(stored["size"], "1536x1024");
    assert_eq!(order.catalogue_price, None);
    assert_eq!(order.price.key, "imgmodel.generations.image-1.high");
    assert_eq!(order.price.factors.len(), 1);
    // The first word of a list counts where like's own is not in it.
    let request = json!({ "model": "seedream", "prompt": "p" });
    let (order, _) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    assert_eq!((order.brief.width, order.brief.height), (1536, 1024));
}

#[test]
fn rules_refuse_in_the_words_of_the_model() {
    let whole = catalogue([picture_model(), video_model()]);
    let with = |field: &str, value: serde_json::Value| {
        let mut request = json!({ "model": "seedream", "prompt": "p" });
        request[field] = value;
        refused(&whole, "imgmodel.generations", request)
    };
    assert_eq!(
        with("size", json!("1536x1024")),
        "size: must be one of 2048x2048, 1024x1024, auto with Seedream-4.5, is `1536x1024`"
    );
    assert_eq!(
        with("n", json!("5")),
        "n: must be a number from 1 to 4 with Seedream-4.5, is `5`"
    );
    assert_eq!(
        with("style", json!("vivid")),
        "style: must be left out with Seedream-4.5"
    );
    assert_eq!(
        with("response_format", json!("url")),
        "response_format: must be b64_json with Seedream-4.5, is url"
    );
    assert_eq!(
        with("n", json!(2.5)),
        "n: must be a whole number from 1 to 10, is 2.5"
    );
    let request = json!({ "model": "kling/v3", "prompt": "p", "seconds": 4 });
    assert_eq!(
        refused(&whole, "vidgen_partner.generations", request),
        "seconds: must be one of 5, 8, 15 with kling/v3, is `4`"
    );
    // Null and the empty text still say nothing.
    let request = json!({ "model": "seedream", "prompt": "p", "style": null, "size": "" });
    ordered(&whole, "imgmodel.generations", request, None).expect("an order");
}

#[test]
fn lengths_come_as_numbers_texts_and_with_their_unit() {
    let row = json!({ "name": "long", "like": "motion/motion-v3", "fields": { "duration": { "allowed": ["5s", 12] } } });
    let whole = catalogue([row]);
    for (given, seconds) in [
        (json!("5s"), 5),
        (json!(5), 5),
        (json!(12), 12),
        (json!("12s"), 12),
        (json!("12"), 12),
    ] {
        let request = json!({ "modelName": "long", "userPrompt": "p", "duration": given });
        let (order, stored) =
            ordered(&whole, "motion.generations", request, None).expect("an order");
        assert_eq!(order.brief.seconds, seconds, "{given}");
        assert_eq!(stored["duration"], "5s");
        assert_eq!(order.brief.model, "long");
    }
    let ranged = json!({ "name": "ranged", "like": "vidgen_partner/video-2", "fields": { "seconds": { "min": 6, "max": 20 } } });
    let whole = catalogue([ranged]);
    let order = |request| ordered(&whole, "vidgen_partner.generations", request, None);
    let (usual, stored) = order(json!({ "model": "ranged", "prompt": "p" })).expect("an order");
    assert_eq!((usual.brief.seconds, &stored["seconds"]), (6, &json!(4)));
    let (known, stored) =
        order(json!({ "model": "ranged", "prompt": "p", "seconds": "8" })).expect("an order");
    assert_eq!((known.brief.seconds, &stored["seconds"]), (8, &json!(8)));
    assert!(order(json!({ "model": "ranged", "prompt": "p", "seconds": 21 })).is_err());
    assert!(order(json!({ "model": "ranged", "prompt": "p", "seconds": 6.5 })).is_err());
}

#[test]
fn a_reference_picture_has_the_size_of_the_model() {
    let whole = catalogue([video_model()]);
    let request = json!({
        "model": "kling/v3", "prompt": "p", "size": "1920x1080",
        "input_reference": "https://files.example/a.png",
    });
    let (order, _) =
        ordered(&whole, "vidgen_partner.generations", request, None).expect("an order");
    assert_eq!(order.brief.sources[0].wanted.size, Some((1920, 1080)));
}

#[test]
fn an_operation_without_a_model_reads_one_and_ignores_what_it_does_not_know() {
    let row = json!({ "name": "swapper", "like": "facegen.swap", "price": { "unit": "call", "amount": 2 } });
    let whole = catalogue([row, picture_model()]);
    let faces = |model: &str| json!({ "model": model, "targetImage": "https://a.example/a.png", "swapImage": "https://a.example/b.png" });
    let (order, stored) =
        ordered(&whole, "facegen.swap", faces("Swapper"), None).expect("an order");
    assert_eq!(order.brief.model, "swapper");
    assert!(!stored.contains_key("model"));
    assert_eq!(model_of(&stored), Some("swapper"));
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "2"
    );
    for other in ["nothing", "seedream", ""] {
        let (order, stored) =
            ordered(&whole, "facegen.swap", faces(other), None).expect("an order");
        assert!(order.brief.model.is_empty() && note_of(&stored).is_none());
    }
}

#[test]
fn a_name_that_is_not_for_an_operation_or_a_group_is_unknown_there() {
    let mut secret = picture_model();
    secret["name"] = json!("secret");
    secret["aliases"] = json!([]);
    secret["groups"] = json!(["vip"]);
    let whole = catalogue([picture_model(), video_model(), secret]);
    let unknown = |model: &str| {
        refused(
            &whole,
            "imgmodel.generations",
            json!({ "model": model, "prompt": "p" }),
        )
    };
    assert_eq!(
        unknown("what"),
        "model: must be one of image-1, art-2, art-3, Seedream-4.5, is `what`"
    );
    for name in ["kling/v3", "secret", "video-2"] {
        assert_eq!(unknown(name), unknown("what").replace("what", name));
    }
    let vip = Audience {
        group: "vip",
        now_ms: NOW_MS,
    };
    let request = fields(json!({ "model": "secret", "prompt": "p" }));
    assert!(
        whole
            .parse(submit("imgmodel.generations"), request, &vip)
            .is_ok()
    );
    let request = fields(json!({ "model": "what", "prompt": "p" }));
    let refusal = whole
        .parse(submit("imgmodel.generations"), request, &vip)
        .err();
    assert!(
        refusal
            .expect("refused")
            .message
            .contains("secret, Seedream-4.5")
    );
}

#[test]
fn what_is_switched_off_or_retired_is_refused_with_its_successor() {
    let row = |name: &str, more: serde_json::Value| {
        let mut row = json!({ "name": name, "like": "imgmodel/image-1" });
        row.as_object_mut().expect("an object").extend(fields(more));
        row
    };
    let whole = catalogue([
        row("next", json!({})),
        row("off", json!({ "enabled": false, "aliases": ["off-too"] })),
        row(
            "old",
            json!({ "retires": "2026-11-01", "successor": "next" }),
        ),
        row("later", json!({ "retires": "2026-12-01" })),
        row("secret", json!({ "groups": ["vip"] })),
        row(
            "older",
            json!({ "retires": "2026-11-01", "successor": "secret" }),
        ),
    ]);
    let said = |model: &str| {
        refused(
            &whole,
            "imgmodel.generations",
            json!({ "model": model, "prompt": "p" }),
        )
    };
    assert_eq!(said("off-too"), "model: off is switched off");
    assert_eq!(
        said("OLD"),
        "model: old was retired on 2026-11-01; use next"
    );
    assert!(
        call(
            &whole,
            "imgmodel.generations",
            json!({ "model": "later", "prompt": "p" })
        )
        .is_ok()
    );
    // A model of another group is not named to those who do not know of it.
    assert_eq!(said("older"), "model: older was retired on 2026-11-01");
    assert!(!said("what").contains("old") && !said("what").contains("off"));
}

#[test]
fn a_built_in_model_takes_settings_and_stays_what_it_is() {
    let whole = catalogue([
        json!({ "name": "art-2", "enabled": false }),
        json!({ "name": "image-1", "aliases": ["gpt-image-1"], "price": { "unit": "item", "amount": 7 } }),
    ]);
    // The default model is switched off: who names none is refused.
    for request in [
        json!({ "prompt": "p" }),
        json!({ "prompt": "p", "model": "art-2" }),
    ] {
        let message = refused(&whole, "imgmodel.generations", request);
        assert_eq!(message, "model: art-2 is switched off");
    }
    assert!(
        call(
            &whole,
            "imgmodel.generations",
            json!({ "prompt": "p", "model": "art-3" })
        )
        .is_ok()
    );
    for name in ["image-1", "GPT-image-1"] {
        let request = json!({ "prompt": "p", "model": name, "size": "1536x1024" });
        let (order, stored) =
            ordered(&whole, "imgmodel.generations", request, None).expect("an order");
        assert_eq!(order.brief.model, "image-1");
        assert_eq!(
            (&stored["model"], &stored["size"]),
            (&json!("image-1"), &json!("1536x1024"))
        );
        assert_eq!(note_of(&stored).expect("a note").name, "image-1");
        assert_eq!(
            order.catalogue_price.expect("a price").total.to_string(),
            "7"
        );
    }
}

#[test]
fn a_stored_request_is_read_again_under_another_catalogue() {
    let whole = catalogue([picture_model()]);
    let request = json!({ "model": "seedream", "prompt": "p", "quality": "ultra", "n": 2 });
    let (_, stored) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    let mut dearer = picture_model();
    dearer["price"] = json!({ "unit": "call", "amount": 100 });
    let dearer = whole.with(revision(dearer, 2));
    let again = dearer.parse_again(submit("imgmodel.generations"), stored.clone(), &EVERYBODY);
    let order = again
        .expect("read")
        .request
        .order(ReferencedJobs::default())
        .expect("an order");
    assert_eq!(
        order.catalogue_price.expect("a price").total.to_string(),
        "100"
    );
    assert_eq!((order.brief.width, order.brief.count), (2048, 2));
    let mut narrower = picture_model();
    narrower["fields"]["quality"] = json!({ "allowed": ["high"] });
    let narrower = whole.with(revision(narrower, 2));
    let again = narrower.parse_again(submit("imgmodel.generations"), stored, &EVERYBODY);
    assert_eq!(
        again.err().expect("refused").field.as_deref(),
        Some("quality")
    );
}

#[test]
fn no_caller_can_send_the_note() {
    let whole = catalogue([picture_model()]);
    let forged = json!({ "name": "free", "revision": 9, "said": { "size": "8192x4096" } });
    for model in ["seedream", "image-1"] {
        let request = json!({ "model": model, "prompt": "p", "$model": forged });
        let (order, stored) =
            ordered(&whole, "imgmodel.generations", request, None).expect("an order");
        assert!(order.brief.width <= 2048);
        assert_ne!(model_of(&stored), Some("free"));
    }
    assert!((CONTEXT.backends)("ark").is_some());
}
