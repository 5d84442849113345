//! Random rules against a second, plain way to compute the same.

use super::*;

const CASES: u64 = 20_000;
const WORDS: [&str; 6] = [
    "*",
    "artgen",
    "artgen.imagine",
    "artgen.imagine.fast",
    "fox-1",
    "custody",
];
const DAY_MS: i64 = 24 * 3_600_000;

/// Random numbers that are the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// What a case comes to by the plain way: thousandths, rounded up once.
fn plainly(rules: &[Value], subject: &BillSubject<'_>, of_model: Option<(i64, i64)>) -> i64 {
    let has_price = of_model.is_some() && !subject.custody;
    let words: Vec<&str> = if subject.custody {
        vec!["custody"]
    } else if has_price {
        vec!["fox-1", "artgen.imagine", "artgen", "*"]
    } else {
        vec![
            "fox-1",
            "artgen.imagine.fast",
            "artgen.imagine",
            "artgen",
            "*",
        ]
    };
    let words = words
        .into_iter()
        .filter(|word| *word != "fox-1" || subject.model.is_some());
    let from = |rule: &Value| {
        rule["from"]
            .as_str()
            .map_or(i64::MIN, |day| date_ms(day).expect("a day"))
    };
    let mut counts = None;
    for word in words {
        let begun = rules
            .iter()
            .filter(|rule| rule["match"] == word && from(rule) <= subject.now_ms);
        let Some(rule) = begun.max_by_key(|rule| from(rule)) else {
            continue;
        };
        // An amount of a model is for its own price.
        if rule["amount"].is_null() || word != "fox-1" || has_price {
            counts = Some(rule);
            break;
        }
    }
    let thousandths = |value: &Value| {
        value
            .as_str()
            .map(|text| i128::from(quota(text).thousandths()))
    };
    let (base, count) = match of_model {
        Some(price) if has_price => price,
        _ if subject.custody => (500, 1),
        _ => (4_000, 1),
    };
    let amount = counts.and_then(|rule| thousandths(&rule["amount"]));
    let factor = counts.and_then(|rule| thousandths(&rule["factor"]));
    let whole = amount.unwrap_or(base.into()) * i128::from(count) * factor.unwrap_or(1000);
    i64::try_from((whole + 999) / 1000).expect("an amount")
}

#[test]
fn random_rules_come_to_what_the_plain_way_says() {
    let mut tariff = tariff();
    tariff
        .set("custody.artgen.imagine", quota("0.5"))
        .expect("a key");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut counted = 0;
    for case in 0..CASES {
        let mut rules: Vec<Value> = Vec::new();
        for _ in 0..dice.below(12) {
            let word = WORDS[dice.below(6) as usize];
            let amount = Quota::from_thousandths(dice.below(50_000) as i64).to_string();
            let may_replace = matches!(word, "artgen.imagine.fast" | "fox-1");
            let mut rule = if may_replace && dice.below(2) == 0 {
                json!({ "match": word, "amount": amount })
            } else {
                json!({ "match": word, "factor": amount })
            };
            let day = dice.below(6);
            if day > 0 {
                rule["from"] = format!("2026-11-1{}", day + 3).into();
            }
            let is_there =
                |one: &Value| one["match"] == rule["match"] && one["from"] == rule["from"];
            if !rules.iter().any(is_there) {
                rules.push(rule);
            }
        }
        let of_group = group(&Value::Array(rules.clone()));
        of_group
            .revision()
            .definition
            .check(None, &tariff, &models())
            .expect("rules that fit");
        let of_model =
            (dice.below(2) == 0).then(|| (dice.below(9_000) as i64, dice.below(9) as i64 + 1));
        let subject = BillSubject {
            model: (dice.below(2) == 0).then_some("Fox-1"),
            custody: dice.below(8) == 0,
            ..imagine(date_ms("2026-11-12").expect("a day") + dice.below(8 * DAY_MS as u64) as i64)
        };
        let order = match of_model {
            Some((amount, count)) => {
                let amount = Quota::from_thousandths(amount).to_string();
                super::of_model(&amount, count as u32)
            }
            None => fast(),
        };
        let bill = Bill::of(&order, &tariff, &subject, Some(&of_group)).expect("a bill");
        let wanted = plainly(&rules, &subject, of_model);
        assert_eq!(
            bill.total.thousandths(),
            wanted,
            "case {case}: {rules:?} {subject:?}"
        );
        // The lines say the same in numbers for people.
        let line = &bill.lines[0];
        let told = line.amount.thousandths() as f64 * line.count * line.factor;
        assert!(
            (told - wanted as f64).abs() < 1.0 + 1e-6 * told,
            "case {case}: {line:?}"
        );
        counted += u64::from(bill.rule.is_some());
    }
    assert!(counted > CASES / 4, "{counted} of {CASES} had a rule");
}
