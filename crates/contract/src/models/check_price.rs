//! Prices: every factor is for a word that requests may say, and every such word has one.

use serde_json::Value;

use super::definition::ModelDefinition;
use super::facts::{SubmitFacts, facts_of, same_word};
use super::like::LikeTarget;
use super::names::WORDS_MOST;
use super::price::{ModelPrice, PriceUnit, UnitPrice};
use super::rules::default_of;
use super::words::{FreeKind, is_same, text_of, word_list};
use crate::refusal::Refusal;

/// Holds the price of a definition against what it is like.
pub(super) fn check(definition: &ModelDefinition, target: &LikeTarget) -> Result<(), Refusal> {
    match &definition.price {
        None => Ok(()),
        Some(ModelPrice::One(price)) => {
            check_price("price", price, definition, target, &target.submits)
        }
        Some(ModelPrice::Each(prices)) => {
            for (operation, price) in prices {
                let path = format!("price.{operation}");
                let facts = facts_of(operation).filter(|facts| is_kin(facts, target));
                let facts = facts.ok_or_else(|| no_such_operation(&path, target))?;
                check_price(&path, price, definition, target, &[facts])?;
            }
            Ok(())
        }
    }
}

/// Whether an operation may name the model or follow its jobs: it is of the same family.
fn is_kin(facts: &SubmitFacts, target: &LikeTarget) -> bool {
    let mut submits = target.submits.iter();
    submits.any(|one| one.family.name == facts.family.name)
}

fn no_such_operation(path: &str, target: &LikeTarget) -> Refusal {
    let mut names: Vec<&str> = Vec::new();
    for submit in target.submits.iter().flat_map(|facts| facts.family.submits) {
        if !names.contains(&submit.name) {
            names.push(submit.name);
        }
    }
    let names = names.join(", ");
    let message = format!("is no operation of the model; its operations are {names}");
    Refusal::invalid(path, message)
}

fn check_price(
    path: &str,
    price: &UnitPrice,
    definition: &ModelDefinition,
    target: &LikeTarget,
    submits: &[&'static SubmitFacts],
) -> Result<(), Refusal> {
    let picture = submits.iter().find(|facts| !facts.submit.is_long());
    if let (PriceUnit::Second, Some(facts)) = (price.unit, picture) {
        let message = format!(
            "second is for videos, and {} makes none; use call, item or megapixel",
            facts.submit.name
        );
        return Err(Refusal::invalid(&format!("{path}.unit"), message));
    }
    for (field, factors) in &price.factors {
        let place = format!("{path}.factors.{field}");
        let words = allowed_words(field, definition, target, submits);
        let words = words.map_err(|why| Refusal::invalid(&place, why))?;
        let kind = FreeKind::of(field);
        for word in factors.keys() {
            if same_word(&words, kind, &Value::from(&**word)).is_none() {
                let message = format!(
                    "is no value of {field}; its values are {}",
                    word_list(&words)
                );
                return Err(Refusal::invalid(&format!("{place}.{word}"), message));
            }
        }
        let is_priced = |word: &&Value| {
            let mut known = factors.keys();
            known.any(|one| is_same(kind, &Value::from(&**one), word))
        };
        if let Some(missing) = words.iter().find(|word| !is_priced(word)) {
            let message = format!("has no factor for {}", text_of(missing));
            return Err(Refusal::invalid(&place, message));
        }
        let model = target.model.as_deref();
        let is_left_out = |facts: &&&'static SubmitFacts| {
            let allows = facts.fields.get(field);
            let rule = definition.fields.get(field);
            let default = allows
                .zip(rule)
                .and_then(|(allows, rule)| default_of(rule, kind, allows));
            allows.is_some() && default.is_none() && !facts.is_settled(model, field)
        };
        if let Some(facts) = submits.iter().find(is_left_out) {
            let message = format!(
                "needs a default, because requests of {} may leave {field} out; give fields.{field}.default",
                facts.submit.name
            );
            return Err(Refusal::invalid(&place, message));
        }
    }
    Ok(())
}

/// Every word that requests may say in a field, or why there is no such list.
fn allowed_words(
    field: &str,
    definition: &ModelDefinition,
    target: &LikeTarget,
    submits: &[&'static SubmitFacts],
) -> Result<Vec<Value>, String> {
    let rule = definition.fields.get(field);
    if let Some(rule) = rule.filter(|rule| rule.refused) {
        let default = rule.default.clone().map(|word| vec![word]);
        return default.ok_or_else(|| "is refused, so it has no words".to_owned());
    }
    let holders = submits
        .iter()
        .filter_map(|facts| Some((facts, facts.fields.get(field)?)));
    let holders: Vec<_> = holders.collect();
    if holders.is_empty() {
        return Err("what the model is like has no such field".to_owned());
    }
    if let Some(allowed) = rule.and_then(|rule| rule.allowed.clone()) {
        return Ok(allowed);
    }
    let kind = FreeKind::of(field);
    let mut words: Vec<Value> = Vec::new();
    for (facts, allows) in holders {
        let least = rule.and_then(|rule| rule.min);
        let most = rule.and_then(|rule| rule.max);
        let known = match (&allows.words, kind, &*allows.kind) {
            (_, Some(FreeKind::Seconds), _) | (_, _, "integer")
                if least.is_some() || most.is_some() =>
            {
                range(least.or(allows.least), most.or(allows.most))
            }
            (Some(_), ..) => facts.known_words(target.model.as_deref(), field).to_vec(),
            (None, _, "boolean") => vec![Value::Bool(true), Value::Bool(false)],
            (None, _, "integer") => range(allows.least, allows.most),
            (None, ..) => Vec::new(),
        };
        for word in known {
            if same_word(&words, kind, &word).is_none() {
                words.push(word);
            }
        }
    }
    if words.is_empty() || words.len() > WORDS_MOST {
        return Err(format!(
            "has no list of at most {WORDS_MOST} words; give fields.{field}.allowed"
        ));
    }
    Ok(words)
}

/// The whole numbers of a range that is short enough to have a factor each.
fn range(least: Option<f64>, most: Option<f64>) -> Vec<Value> {
    let (Some(least), Some(most)) = (least, most) else {
        return Vec::new();
    };
    let (least, most) = (least.ceil() as i64, most.floor() as i64);
    if most.saturating_sub(least) >= WORDS_MOST as i64 {
        return Vec::new();
    }
    (least..=most).map(Value::from).collect()
}
