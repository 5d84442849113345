//! What an operator may not say of a group.

use super::*;

/// The field that is refused of some rules.
fn refused(rules: &Value) -> (String, String) {
    let checked = defined(rules).and_then(|group| group.check(None, &tariff(), &models()));
    let refusal = checked.expect_err(&rules.to_string());
    (refusal.field.unwrap_or_default(), refusal.message)
}

#[test]
fn rules_that_fit_are_taken() {
    let rules = json!([
        { "match": "*", "factor": 0 },
        { "match": "*", "factor": 100, "from": "2026-12-01" },
        { "match": "custody", "factor": 0.5 },
        { "match": "artgen", "factor": "0.8" },
        { "match": "artgen.imagine", "factor": 0.8 },
        { "match": "artgen.imagine.fast", "amount": 3 },
        { "match": "facegen.swap", "amount": 3 },
        { "match": "image-1", "factor": 0.8 },
        { "match": "FOX-1", "amount": 0.1, "from": "2026-12-01T00:00:00Z" },
        { "match": "owl", "factor": 0.8 },
    ]);
    let group = defined(&rules).expect("a group");
    group.check(None, &tariff(), &models()).expect("it fits");
    assert_eq!(group.rules[8].from.as_deref(), Some("2026-12-01"));
}

#[test]
fn families_and_what_belongs_to_them_are_taken_in_both_spellings() {
    for (one, other) in [
        ("vidgen_partner", "vidgen-partner"),
        ("vidgen_partner.generations", "vidgen-partner.generations"),
        ("animegen.text_to_image", "Animegen.text-to-image"),
    ] {
        for word in [one, other] {
            let rules = json!([{ "match": word, "factor": 0.5 }]);
            let group = defined(&rules).expect("a group");
            group.check(None, &tariff(), &models()).expect(word);
            assert_eq!(
                group.rules[0].matches, word,
                "it is shown as it was written"
            );
        }
        let both = json!([{ "match": one, "factor": 0.5 }, { "match": other, "factor": 0.5 }]);
        let (field, message) = refused(&both);
        assert_eq!(field, "rules[1].match", "{message}");
    }
}

#[test]
fn a_wrong_word_lists_the_right_ones() {
    let (_, message) = refused(&json!([{ "match": "vidgenpartner", "factor": 1 }]));
    assert!(
        message.contains("vidgen_partner") && message.contains("facegen"),
        "{message}"
    );
    let (_, message) = refused(&json!([{ "match": "vidgen-partner.generation", "factor": 1 }]));
    assert!(message.contains("vidgen_partner.generations"), "{message}");
}

/// Each of these rules is refused for the field, with the word.
fn all_refused(cases: impl IntoIterator<Item = (Value, &'static str, &'static str)>) {
    for (rules, field, word) in cases {
        let (found, message) = refused(&rules);
        assert!(
            found.starts_with(field) && message.contains(word),
            "{rules}: {found}: {message}"
        );
    }
}

#[test]
fn numbers_out_of_their_bounds_are_refused_with_their_field() {
    all_refused([
        (
            json!([{ "match": "*", "factor": -0.1 }]),
            "rules[0].factor",
            "0 to 100",
        ),
        (
            json!([{ "match": "*", "factor": 100.001 }]),
            "rules[0].factor",
            "0 to 100",
        ),
        (
            json!([{ "match": "*", "factor": 0.0001 }]),
            "rules[0].factor",
            "three places",
        ),
        (json!([{ "match": "*" }]), "rules[0].factor", "required"),
        (
            json!([{ "match": "", "factor": 1 }]),
            "rules[0].match",
            "characters",
        ),
        (json!([{ "factor": 1 }]), "rules[0]", "match"),
        (
            json!([{ "match": "artgen.imagine.fast", "factor": 1, "amount": 1 }]),
            "rules[0].amount",
            "one of them",
        ),
        (
            json!([{ "match": "artgen.imagine.fast", "amount": -1 }]),
            "rules[0].amount",
            "0 to 1000000",
        ),
    ]);
    let many: Vec<Value> = (0..501)
        .map(|_| json!({ "match": "*", "factor": 1 }))
        .collect();
    assert_eq!(refused(&Value::Array(many)).0, "rules");
}

#[test]
fn a_match_of_nothing_or_of_what_has_no_amount_is_refused_with_its_field() {
    all_refused([
        (
            json!([{ "match": "nothing", "factor": 1 }]),
            "rules[0].match",
            "neither a model",
        ),
        (
            json!([{ "match": "fox", "factor": 1 }]),
            "rules[0].match",
            "Fox-1",
        ),
        (
            json!([{ "match": "artgen.factor.version_6", "factor": 1 }]),
            "rules[0].match",
            "factor of the tariff",
        ),
        (
            json!([{ "match": "custody.artgen.imagine", "amount": 1 }]),
            "rules[0].match",
            "`custody`",
        ),
        (
            json!([{ "match": "*", "amount": 1 }]),
            "rules[0].amount",
            "use a factor",
        ),
        (
            json!([{ "match": "artgen", "amount": 1 }]),
            "rules[0].amount",
            "use a factor",
        ),
        (
            json!([{ "match": "artgen.imagine", "amount": 1 }]),
            "rules[0].amount",
            "use a factor",
        ),
        (
            json!([{ "match": "custody", "amount": 1 }]),
            "rules[0].amount",
            "use a factor",
        ),
        (
            json!([{ "match": "image-1", "amount": 1 }]),
            "rules[0].amount",
            "imgmodel.generations.image-1",
        ),
        (
            json!([{ "match": "owl", "amount": 1 }]),
            "rules[0].amount",
            "price of its own",
        ),
    ]);
}

#[test]
fn rules_for_the_same_and_days_that_are_none_are_refused_with_their_field() {
    all_refused([
        (
            json!([{ "match": "*", "factor": 1 }, { "match": "*", "factor": 1 }]),
            "rules[1].match",
            "another rule",
        ),
        (
            json!([{ "match": "fox-1", "factor": 1, "from": "2026-12-01" }, { "match": "FOX-1", "factor": 1, "from": "2026-12-01T00:00:00Z" }]),
            "rules[1].match",
            "2026-12-01",
        ),
        (
            json!([{ "match": "*", "factor": 1, "from": "2026-12-01T01:00:00Z" }]),
            "rules[0].from",
            "midnight",
        ),
        (
            json!([{ "match": "*", "factor": 1, "from": "tomorrow" }]),
            "rules[0].from",
            "midnight",
        ),
        (
            json!([{ "match": "*", "factor": 1, "from": "2026-02-30" }]),
            "rules[0].from",
            "midnight",
        ),
        (
            json!([{ "match": "*", "factor": 1, "until": "2026-12-01" }]),
            "rules[0]",
            "until",
        ),
    ]);
}

/// The promise: a model that was removed holds up no change of the rules beside it.
#[test]
fn a_rule_that_stays_is_not_judged_again() {
    let old = json!([{ "match": "fox-1", "amount": 0.1 }]);
    let old = defined(&old).expect("a group");
    let gone = ModelCatalogue::default();
    assert!(old.check(None, &tariff(), &gone).is_err());
    let new = json!([{ "match": "fox-1", "amount": 0.1 }, { "match": "*", "factor": 1 }]);
    let new = defined(&new).expect("a group");
    new.check(Some(&old), &tariff(), &gone).expect("as it was");
}

#[test]
fn names_are_made_small() {
    let fields = json!({ "name": "VIP/a" });
    let group: GroupDefinition =
        body::read_stored(fields.as_object().expect("an object").clone()).expect("a group");
    assert_eq!(group.name, "vip/a");
    let bad = json!({ "name": "v i p" });
    let bad = body::read_stored::<GroupDefinition>(bad.as_object().expect("an object").clone());
    assert_eq!(bad.expect_err("no name").field.as_deref(), Some("name"));
}
