//! Which rule counts, and what it comes to.

use super::*;
use crate::models::PriceUnit;

#[test]
fn the_most_specific_rule_counts_and_nothing_multiplies() {
    let mut rules = vec![
        json!({ "match": "*", "factor": 0.9 }),
        json!({ "match": "artgen", "factor": 0.8 }),
        json!({ "match": "artgen.imagine", "factor": 0.7 }),
        json!({ "match": "artgen.imagine.fast", "amount": 3 }),
        json!({ "match": "fox-1", "factor": 0.5 }),
    ];
    let subject = BillSubject {
        model: Some("Fox-1"),
        ..imagine(now_ms())
    };
    let wanted = ["2", "3", "2.8", "3.2", "3.6", "4"];
    for wanted in wanted {
        let bill = billed(&fast(), &subject, &group(&Value::Array(rules.clone())));
        assert_eq!(bill.total, quota(wanted));
        let counted = bill.rule.map(|rule| rule.matches);
        let last = rules
            .pop()
            .map(|rule| rule["match"].as_str().expect("a word").to_owned());
        assert_eq!(counted, last);
    }
}

#[test]
fn the_latest_rule_that_has_begun_counts() {
    let rules = json!([
        { "match": "*", "factor": 0.5, "from": "2026-11-19" },
        { "match": "*", "factor": 0.6, "from": "2026-11-18T00:00:00Z" },
        { "match": "*", "factor": 0.7 },
        { "match": "artgen", "factor": 2, "from": "2027-01-01" },
    ]);
    let group = group(&rules);
    for (at, wanted) in [
        ("2026-11-17T23:59:59.999Z", "2.8"),
        ("2026-11-18", "2.4"),
        ("2026-11-18T23:59:59.999Z", "2.4"),
        ("2026-11-19", "2"),
        ("2026-12-31T23:59:59.999Z", "2"),
        ("2027-01-01", "8"),
    ] {
        let at_ms = date_ms(at).expect("a moment");
        assert_eq!(
            billed(&fast(), &imagine(at_ms), &group).total,
            quota(wanted),
            "{at}"
        );
    }
}

#[test]
fn worker_accounts_of_callers_are_matched_by_their_own_word_alone() {
    let mut tariff = tariff();
    tariff
        .set("custody.artgen.imagine", quota("1"))
        .expect("a key");
    let subject = BillSubject {
        custody: true,
        ..imagine(now_ms())
    };
    let all =
        json!([{ "match": "*", "factor": 0.5 }, { "match": "artgen.imagine", "factor": 0.4 }]);
    let bill = |rules: &Value| {
        let group = group(rules);
        Bill::of(&fast(), &tariff, &subject, Some(&group)).expect("a bill")
    };
    assert_eq!((bill(&all).total, bill(&all).rule), (quota("1"), None));
    let own = json!([{ "match": "*", "factor": 0.5 }, { "match": "custody", "factor": 0.25 }]);
    assert_eq!(bill(&own).total, quota("0.25"));
}

#[test]
fn an_amount_takes_the_place_of_the_base_alone() {
    let group = group(&json!([
        { "match": "imgmodel.generations.image-1.low", "amount": 0.1 },
        { "match": "FOX-1", "amount": 0.35 },
    ]));
    let price = Price::of("imgmodel.generations.image-1.low")
        .factor("imgmodel.factor.image-1_large")
        .times(3);
    let subject = BillSubject {
        operation: "imgmodel.generations",
        family: "imgmodel",
        model: Some("image-1"),
        custody: false,
        now_ms: now_ms(),
    };
    let bill = billed(&Order::new(price, Brief::new(Task::Draw)), &subject, &group);
    assert_eq!(bill.total, quota("0.45"));
    let line = &bill.lines[0];
    assert_eq!(
        (line.amount, line.count, line.factor),
        (quota("0.1"), 3.0, 1.5)
    );
    assert_eq!(line.unit, PriceUnit::Item);
    assert_eq!(line.group.as_deref(), Some("vip"));
    assert_eq!(line.rule, bill.rule);
    let fox = BillSubject {
        model: Some("Fox-1"),
        ..subject
    };
    let bill = billed(&of_model("0.4", 3), &fox, &group);
    assert_eq!(bill.total, quota("1.05"));
    assert_eq!(bill.lines[0].amount, quota("0.35"));
    // The tariff's rule is none of a model with a price of its own, and an amount of a model is none of the tariff's price.
    let owl = BillSubject {
        model: Some("owl"),
        ..subject
    };
    assert_eq!(
        billed(&of_model("0.4", 3), &owl, &group).total,
        quota("1.2")
    );
    let cheap = Order::new(
        Price::of("imgmodel.generations.image-1.low"),
        Brief::new(Task::Draw),
    );
    assert_eq!(billed(&cheap, &fox, &group).total, quota("0.1"));
}

#[test]
fn a_total_is_rounded_up_once_at_the_end() {
    let third = group(&json!([{ "match": "*", "factor": 0.333 }]));
    let subject = imagine(now_ms());
    assert_eq!(billed(&fast(), &subject, &third).total, quota("1.332"));
    // 7 × 0.001 × 0.333 is 0.002331; each rounded up alone would be 0.007.
    let bill = billed(&of_model("0.001", 7), &subject, &third);
    assert_eq!(bill.total, quota("0.003"));
    assert!((bill.lines[0].factor - 0.333).abs() < 1e-12);
    let free = group(&json!([{ "match": "*", "factor": 0 }]));
    assert_eq!(billed(&fast(), &subject, &free).total, Quota::ZERO);
}

/// The promise: without a say of a group everything is as ever, to the byte.
#[test]
fn a_group_that_says_nothing_is_not_named() {
    let plain = Bill::of(&fast(), &tariff(), &imagine(now_ms()), None).expect("a bill");
    let mut default = GroupDefinition::named("default");
    let made = |definition: &GroupDefinition| {
        PriceGroup::new(GroupRevision {
            definition: definition.clone(),
            revision: 1,
            removed: false,
            changed_ms: 0,
        })
    };
    let bill = billed(&fast(), &imagine(now_ms()), &made(&default));
    assert_eq!(bill, plain);
    assert!(bill.lines.is_empty() && bill.group.is_none());
    default.rules = defined(&json!([{ "match": "*", "factor": 1 }]))
        .expect("rules")
        .rules;
    let bill = billed(&fast(), &imagine(now_ms()), &made(&default));
    assert_eq!(
        (bill.total, bill.group.as_deref()),
        (plain.total, Some("default"))
    );
    let vip = billed(&fast(), &imagine(now_ms()), &group(&json!([])));
    assert_eq!(
        (vip.total, vip.group.as_deref()),
        (plain.total, Some("vip"))
    );
    assert_eq!((vip.lines.len(), vip.rule), (1, None));
}

#[test]
fn more_than_anybody_could_hold_is_refused() {
    let group = group(&json!([{ "match": "*", "factor": 100 }]));
    let order = of_model("1000000", 100);
    let refused = Bill::of(&order, &tariff(), &imagine(now_ms()), Some(&group));
    assert!(
        refused
            .expect_err("too much")
            .to_string()
            .contains("larger than any account")
    );
}
