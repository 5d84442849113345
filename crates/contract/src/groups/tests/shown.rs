//! What accounts of a group are shown of a model's price.

use super::*;
use crate::models::{Audience, models as built_in};

/// Model, operation and the rule that is named there.
fn named(rules: &Value, model: &str) -> Vec<(&'static str, Option<String>)> {
    let group = group(rules);
    let whole = models();
    let audience = Audience {
        group: "vip",
        now_ms: now_ms(),
    };
    let listed = whole.listed(&audience);
    let listed = listed.iter().find(|one| one.name == model).expect(model);
    let mut view = listed.view();
    group.shown(
        &mut view,
        listed.submits,
        &listed.tariff_keys(),
        &tariff(),
        now_ms(),
    );
    let operations = view.operations.iter();
    let rule = |rule: &GroupRule| rule.matches.clone();
    operations
        .map(|one| (one.name, one.rule.as_ref().map(rule)))
        .collect()
}

/// The promise: a rule that is named counts whatever the request asks for.
#[test]
fn an_operation_names_a_rule_only_where_all_its_prices_have_it() {
    assert!(built_in().iter().any(|model| model.name == "image-1"));
    let one = json!([{ "match": "imgmodel.generations.image-1.low", "factor": 0.5 }]);
    let of = |rules: &Value| {
        let named = named(rules, "image-1");
        let found = named
            .into_iter()
            .find(|(name, _)| *name == "imgmodel.generations");
        found.expect("an operation").1
    };
    assert_eq!(of(&one), None);
    let all = json!([{ "match": "imgmodel", "factor": 0.5 }]);
    assert_eq!(of(&all).as_deref(), Some("imgmodel"));
    let mixed = json!([
        { "match": "imgmodel", "factor": 0.5 },
        { "match": "imgmodel.generations.image-1.low", "factor": 0.4 },
    ]);
    assert_eq!(of(&mixed), None);
}
