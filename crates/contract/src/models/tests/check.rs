//! Every refusal of a definition, with its field.

use serde_json::{Value, json};

use super::{
    CONTEXT, catalogue, defined, ordered, picture_model, refused, revision, table, video_model,
};
use crate::models::ModelCatalogue;

/// Why a definition like `design.generations` cannot be written.
fn refused_design(change: &Value) -> (String, String) {
    let mut row = json!({ "name": "mine", "like": "design.generations" });
    for (name, value) in change.as_object().expect("an object") {
        row[name] = value.clone();
    }
    refused(&ModelCatalogue::default(), &row)
}

fn taken(whole: &ModelCatalogue, row: &Value) {
    let definition = defined(row.clone()).expect("a definition");
    whole
        .check(&definition, &CONTEXT)
        .unwrap_or_else(|refusal| panic!("{row}: {refusal}"));
}

#[test]
fn like_is_a_model_of_a_family_an_operation_or_a_name_that_one_family_has() {
    let nothing = ModelCatalogue::default();
    for like in [
        "imgmodel/image-1",
        "vidgen_partner/video-2",
        "design.generations",
        "facegen.swap",
        "clipgen.generations",
        "artgen.imagine",
        "imgmodel.chat",
        "image-1",
        "designv3",
        "motion-v1",
    ] {
        taken(&nothing, &json!({ "name": "mine", "like": like }));
    }
    for like in [
        "",
        "nothing",
        "imgmodel/video-2",
        "nowhere/image-1",
        "design",
        "imgmodel/",
    ] {
        let (field, message) = refused(&nothing, &json!({ "name": "mine", "like": like }));
        assert_eq!(field, "like", "{like}: {message}");
    }
    let (field, message) = refused(&nothing, &json!({ "name": "mine", "like": "video-2" }));
    assert_eq!(field, "like");
    assert!(
        message.contains("vidgen/video-2 or vidgen_partner/video-2"),
        "{message}"
    );
    let (field, _) = refused(&nothing, &json!({ "name": "mine" }));
    assert_eq!(field, "like");
}

#[test]
fn collisions_and_aliases_of_aliases_are_refused() {
    let whole = catalogue([picture_model(), video_model()]);
    let cases = [
        (
            json!({ "name": "IMAGE-1", "like": "design.generations" }),
            "name",
        ),
        (json!({ "name": "Image-1" }), "name"),
        (
            json!({ "name": "SeeDream", "like": "design.generations" }),
            "name",
        ),
        (
            json!({ "name": "a", "like": "design.generations", "aliases": ["A"] }),
            "aliases[0]",
        ),
        (
            json!({ "name": "a", "like": "design.generations", "aliases": ["b", "B"] }),
            "aliases[1]",
        ),
        (
            json!({ "name": "a", "like": "design.generations", "aliases": ["Video-2"] }),
            "aliases[0]",
        ),
        (
            json!({ "name": "a", "like": "design.generations", "aliases": ["KLING/v3"] }),
            "aliases[0]",
        ),
        (
            json!({ "name": "a", "like": "design.generations", "aliases": ["SEEDREAM"] }),
            "aliases[0]",
        ),
    ];
    for (row, field) in cases {
        let (found, message) = refused(&whole, &row.clone());
        assert_eq!(found, field, "{row}: {message}");
    }
    let alias = json!({ "name": "a", "like": "design.generations", "aliases": ["seedream"] });
    assert!(refused(&whole, &alias).1.contains("an alias of an alias"));
    // A row may be written again, with its own aliases.
    taken(&whole, &picture_model());
    // What was taken away frees its names.
    let mut gone = revision(picture_model(), 2);
    gone.removed = true;
    let without = whole.with(gone);
    taken(
        &without,
        &json!({ "name": "seedream", "like": "design.generations" }),
    );
}

#[test]
fn a_built_in_model_takes_routes_enabled_price_and_aliases_only() {
    let nothing = ModelCatalogue::default();
    taken(
        &nothing,
        &json!({
            "name": "image-1", "enabled": false, "aliases": ["gpt-image-1"],
            "routes": [{ "backend": "openai" }], "price": { "unit": "item", "amount": 5 },
        }),
    );
    for (field, value) in [
        ("title", json!("x")),
        ("fields", json!({ "n": { "max": 1 } })),
        ("groups", json!(["vip"])),
        ("retires", json!("2027-01-01")),
        ("successor", json!("art-2")),
    ] {
        let mut row = json!({ "name": "image-1" });
        row[field] = value;
        assert_eq!(refused(&nothing, &row).0, field);
    }
    let like = json!({ "name": "image-1", "like": "art-2" });
    assert_eq!(refused(&nothing, &like).0, "name");
}

#[test]
fn rules_only_narrow_what_like_allows() {
    let cases = table(
        r#"
        fields.model: { "model": { "allowed": ["designv3"] } }
        fields.colour: { "colour": { "refused": true } }
        fields.prompt.refused: { "prompt": { "refused": true } }
        fields.n.refused: { "n": { "refused": true, "max": 2 } }
        fields.n.min: { "n": { "min": 0 } }
        fields.n.max: { "n": { "max": 7 } }
        fields.n.min: { "n": { "min": 4, "max": 2 } }
        fields.n.default: { "n": { "max": 2, "default": 3 } }
        fields.n.allowed[1]: { "n": { "allowed": [1, 9] } }
        fields.n.default: { "n": { "allowed": [1, 2], "default": 3 } }
        fields.n.allowed[1]: { "n": { "allowed": [1, "1"] } }
        fields.n.allowed: { "n": { "allowed": [1], "max": 2 } }
        fields.n.default: { "n": { "default": 7 } }
        fields.prompt.min: { "prompt": { "min": 3 } }
        fields.size.allowed[0]: { "size": { "allowed": ["63x64"] } }
        fields.size.allowed[0]: { "size": { "allowed": ["8193x64"] } }
        fields.size.allowed[0]: { "size": { "allowed": ["8192x8192"] } }
        fields.size.allowed[0]: { "size": { "allowed": ["0512x512"] } }
        fields.size.allowed[0]: { "size": { "allowed": ["large"] } }
        fields.size.allowed[0]: { "size": { "allowed": [1024] } }
        fields.size.default: { "size": { "default": "2048x2048" } }
        fields.size.default: { "size": { "allowed": ["auto"], "default": "1024x1024" } }
        "#,
    );
    for (field, rules) in cases {
        let (found, message) = refused_design(&json!({ "fields": rules }));
        assert_eq!(found, field, "{rules}: {message}");
    }
    let cases = table(
        r#"
        fields.seconds.allowed[0]: { "like": "vidgen_partner/video-2", "fields": { "seconds": { "allowed": [601] } } }
        fields.seconds.allowed[0]: { "like": "vidgen_partner/video-2", "fields": { "seconds": { "allowed": [2.5] } } }
        fields.seconds.max: { "like": "vidgen_partner/video-2", "fields": { "seconds": { "max": 0 } } }
        fields.quality.allowed[0]: { "like": "imgmodel/image-1", "fields": { "quality": { "allowed": ["very good"] } } }
        fields.output_format.allowed[0]: { "like": "imgmodel/image-1", "fields": { "output_format": { "allowed": ["gif"] } } }
        fields.image: { "like": "imgmodel/image-1", "fields": { "image": { "default": "x" } } }
        fields.image.refused: { "like": "imgmodel/image-1", "fields": { "image": { "refused": true } } }
        fields.resolution.allowed[0]: { "like": "motion/motion-v3", "fields": { "resolution": { "allowed": ["4k"] } } }
        "#,
    );
    for (field, change) in cases {
        let (found, message) = refused_design(&change);
        assert_eq!(found, field, "{change}: {message}");
    }
}

#[test]
fn sizes_lengths_and_qualities_may_be_replaced_and_the_rest_narrowed() {
    let nothing = ModelCatalogue::default();
    let cases = table(
        r#"
        vidgen_partner/video-2: { "seconds": { "min": 2, "max": 60 } }
        motion/motion-v3: { "duration": { "allowed": ["5s", 7, "12s"], "default": 7 } }
        clipgen.generations: { "video_length": { "allowed": [3, 5] } }
        imgmodel/image-1: { "quality": { "allowed": ["ultra"] }, "moderation": { "refused": true } }
        imgmodel/image-1: { "output_format": { "allowed": ["png"] }, "mask": { "refused": true } }
        animegen.text_to_image: { "scale": { "min": 0.5, "max": 2.5, "default": 1.5 } }
        design.generations: { "size": { "allowed": ["8192x4096", "64x64", "auto"] } }
        "#,
    );
    for (like, rules) in cases {
        taken(
            &nothing,
            &json!({ "name": "mine", "like": like, "fields": rules }),
        );
    }
}

#[test]
fn a_price_has_a_factor_for_every_word_and_for_no_other() {
    let cases = table(
        r#"
        price.factors.colour: { "colour": { "red": 1 } }
        price.factors.prompt: { "prompt": { "cat": 1 } }
        price.factors.size: { "size": { "512x512": 1 } }
        price.factors.size.1024x1024: { "size": { "512x512": 1, "auto": 1, "1024x1024": 1 } }
        price.factors.n: { "n": { "1": 1 } }
        price.factors.n.3: { "n": { "1": 1, "2": 1, "3": 1 } }
        "#,
    );
    let narrowed = |factors: &Value| {
        json!({
            "name": "mine", "like": "design.generations",
            "fields": { "size": { "allowed": ["512x512", "auto"] }, "n": { "max": 2 } },
            "price": { "unit": "item", "amount": 1, "factors": factors },
        })
    };
    for (field, factors) in cases {
        let (found, message) = refused_design(&narrowed(&factors));
        assert_eq!(found, field, "{factors}: {message}");
    }
    let cases = table(
        r#"
        price.factors.size: { "unit": "item", "amount": 1, "factors": { "size": { "1024x1024": 1 } } }
        price.unit: { "unit": "second", "amount": 1 }
        price.facegen.swap: { "facegen.swap": { "unit": "call", "amount": 1 } }
        price.design.generations.factors.x: { "design.generations": { "unit": "call", "amount": 1, "factors": { "x": { "y": 1 } } } }
        "#,
    );
    for (field, price) in cases {
        let (found, message) = refused_design(&json!({ "price": price }));
        assert_eq!(found, field, "{price}: {message}");
    }
    let nothing = ModelCatalogue::default();
    let factors = json!({ "size": { "512x512": 1, "auto": 2 }, "n": { "1": 1, "2": 0.9 } });
    taken(&nothing, &narrowed(&factors));
    let switches =
        json!({ "resolution": { "720p": 1, "1080p": 2 }, "loop": { "true": 1.1, "false": 1 } });
    taken(
        &nothing,
        &json!({
            "name": "mine", "like": "motion/motion-v3",
            "price": {
                "motion.generations": { "unit": "second", "amount": 1, "factors": switches },
                "motion.extend": { "unit": "call", "amount": 1 },
            },
        }),
    );
    // The words of a built-in model are those that this model takes, not all of its operation.
    let sizes = json!({ "1024x1024": 1, "1792x1024": 2, "1024x1792": 2 });
    let price = json!({ "unit": "item", "amount": 1, "factors": { "size": sizes } });
    taken(
        &nothing,
        &json!({ "name": "art-3", "price": { "imgmodel.generations": price } }),
    );
}

#[test]
fn routes_groups_and_retirement_are_checked() {
    let cases = [
        (
            json!({ "routes": [{ "backend": "ark" }, { "backend": "nobody" }] }),
            "routes[1].backend",
        ),
        (
            json!({ "routes": [{ "backend": "ark" }, { "backend": "ark", "model": "x" }] }),
            "routes[1].backend",
        ),
        (json!({ "groups": ["vip", "vip"] }), "groups[1]"),
        (json!({ "retires": "soon" }), "retires"),
        (json!({ "successor": "mine" }), "successor"),
        (json!({ "successor": "nothing" }), "successor"),
    ];
    for (change, field) in cases {
        let (found, message) = refused_design(&change);
        assert_eq!(found, field, "{change}: {message}");
    }
    let row = |name: &str, retires: &str| json!({ "name": name, "like": "design.generations", "retires": retires });
    let whole = catalogue([
        row("old", "2026-01-01"),
        row("soon", "2027-01-01"),
        row("late", "2030-01-01"),
    ]);
    let mine = |successor: &str| {
        let mut mine = row("mine", "2028-01-01");
        mine["successor"] = successor.into();
        mine
    };
    for retired in ["old", "soon"] {
        let (field, message) = refused(&whole, &mine(retired));
        assert_eq!(field, "successor", "{message}");
        assert!(message.contains("is itself retired"), "{message}");
    }
    taken(&whole, &mine("late"));
    taken(&whole, &mine("designv2"));
}

#[test]
fn a_row_that_fits_no_more_is_left_out_and_named() {
    let rows = vec![
        revision(json!({ "name": "good", "like": "design.generations" }), 1),
        revision(json!({ "name": "lost", "like": "gone/model" }), 1),
        revision(
            json!({ "name": "image-1", "like": "design.generations" }),
            1,
        ),
    ];
    let whole = ModelCatalogue::new(rows);
    assert_eq!(whole.rows().count(), 1);
    let lost: Vec<&str> = whole
        .unusable()
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(lost, ["lost", "image-1"]);
}

/// The promise: what `like` never takes cannot be sold, however many models its operation has.
#[test]
fn a_word_that_only_another_model_takes_is_refused() {
    let cases = table(
        r#"
        fields.style.default: { "style": { "default": "vivid" } }
        fields.style.allowed[0]: { "style": { "allowed": ["vivid"] } }
        fields.response_format.default: { "response_format": { "default": "url" } }
        fields.response_format.allowed[1]: { "response_format": { "allowed": ["b64_json", "url"] } }
        "#,
    );
    for (field, rules) in cases {
        let row = json!({ "name": "mine", "like": "imgmodel/image-1", "fields": rules });
        let (found, message) = refused(&ModelCatalogue::default(), &row);
        assert_eq!(found, field, "{rules}: {message}");
    }
    let rules = json!({ "style": { "default": "vivid" }, "response_format": { "default": "url" } });
    let row = json!({ "name": "mine", "like": "imgmodel/art-3", "fields": rules });
    taken(&ModelCatalogue::default(), &row);
    let price = json!({ "unit": "item", "amount": 1, "factors": { "style": { "vivid": 1, "natural": 1 } } });
    let row = json!({ "name": "mine", "like": "imgmodel/image-1", "price": price });
    let (field, message) = refused(&ModelCatalogue::default(), &row);
    assert_eq!(field, "price.factors.style", "{message}");
}

/// The promise: whoever leaves a field out pays what the word costs that counts then.
#[test]
fn a_field_with_factors_has_a_default_when_requests_may_leave_it_out() {
    let priced = |fields: Value| {
        let words = json!({ "transparent": 3, "opaque": 2, "auto": 2 });
        json!({
            "name": "mine", "like": "imgmodel/image-1", "fields": fields,
            "price": { "unit": "item", "amount": 1, "factors": { "background": words } },
        })
    };
    let (field, message) = refused(&ModelCatalogue::default(), &priced(json!({})));
    assert_eq!(field, "price.factors.background");
    assert!(message.contains("fields.background.default"), "{message}");
    let whole = catalogue([priced(json!({ "background": { "default": "auto" } }))]);
    let request = json!({ "model": "mine", "prompt": "a fox" });
    let (order, _) = ordered(&whole, "imgmodel.generations", request, None).expect("an order");
    let price = order.catalogue_price.expect("a price");
    assert_eq!(price.total.to_string(), "2");
}

#[test]
fn a_name_that_no_address_can_hold_is_refused() {
    for name in [".", "..", "a/..", "./a", "a/../b", "a/./b"] {
        let row = json!({ "name": name, "like": "design.generations" });
        let (field, message) = refused(&ModelCatalogue::default(), &row);
        assert_eq!(field, "name", "{name}: {message}");
        let (field, _) = refused_design(&json!({ "aliases": [name] }));
        assert_eq!(field, "aliases[0]", "{name}");
    }
    for name in ["...", "a.b/c..d", "v1.0", ".a", "a/.b"] {
        let row = json!({ "name": name, "like": "design.generations" });
        taken(&ModelCatalogue::default(), &row);
    }
}

/// The promise: a back end has one route, whichever of its names stands there.
#[test]
fn a_back_end_by_its_name_and_by_its_id_is_the_same() {
    let routes = json!([{ "backend": "ark" }, { "backend": "id-of-ark" }]);
    let (field, message) = refused_design(&json!({ "routes": routes }));
    assert_eq!(field, "routes[1].backend", "{message}");
    taken(
        &ModelCatalogue::default(),
        &json!({ "name": "mine", "like": "design.generations", "routes": [{ "backend": "ark" }, { "backend": "id-of-fal" }] }),
    );
}

/// The promise: a model can be changed, and switched off above all, whatever became of its routes and its successor.
#[test]
fn what_did_not_change_is_not_held_against_a_change() {
    let row = |name: &str, more: Value| {
        let mut row = json!({ "name": name, "like": "design.generations" });
        for (field, value) in more.as_object().expect("fields") {
            row[field] = value.clone();
        }
        row
    };
    let old = row(
        "mine",
        json!({ "successor": "next", "routes": [{ "backend": "nobody" }, { "backend": "ark" }] }),
    );
    let next = row("next", json!({ "retires": "2026-01-01" }));
    let whole = ModelCatalogue::new(vec![revision(old.clone(), 1), revision(next, 2)]);
    let before = defined(old.clone()).expect("a definition");
    let held = |change: Value| {
        let mut row = old.clone();
        for (field, value) in change.as_object().expect("fields") {
            row[field] = value.clone();
        }
        let changed = defined(row).expect("a definition");
        let checked = whole.check_change(&before, &changed, &CONTEXT);
        checked.map_err(|refusal| refusal.field.unwrap_or_default())
    };
    for change in [
        json!({ "enabled": false }),
        json!({ "title": "A title" }),
        json!({ "routes": [{ "backend": "nobody", "weight": 3 }, { "backend": "fal" }] }),
        json!({ "successor": "designv2" }),
    ] {
        assert_eq!(held(change.clone()), Ok(()), "{change}");
    }
    for (change, field) in [
        (
            json!({ "routes": [{ "backend": "ark" }, { "backend": "nobody too" }] }),
            "routes[1].backend",
        ),
        (json!({ "retires": "2027-01-01" }), "successor"),
        (json!({ "title": "x", "aliases": ["next"] }), "aliases[0]"),
    ] {
        assert_eq!(held(change.clone()), Err(field.to_owned()), "{change}");
    }
}

/// The promise: a rule of a group that names a word means one thing.
#[test]
fn a_model_is_not_called_like_a_word_of_rules() {
    let nothing = ModelCatalogue::default();
    for name in [
        "custody",
        "Custody",
        "artgen",
        "design.generations",
        "artgen.imagine.fast",
    ] {
        let row = json!({ "name": name, "like": "imgmodel/image-1" });
        let (field, message) = refused(&nothing, &row);
        assert_eq!(field, "name", "{name}: {message}");
        assert!(message.contains("rules of groups"), "{name}: {message}");
        // One that was there before this was refused can still be changed.
        let there = nothing.with(revision(row.clone(), 1));
        taken(&there, &row);
    }
    taken(
        &nothing,
        &json!({ "name": "custody-2", "like": "imgmodel/image-1" }),
    );
}
