//! What an operator may not say of a group, each with the field that is wrong.

use std::collections::HashSet;

use super::definition::{GroupDefinition, GroupRule};
use super::words::{CUSTODY, EVERYTHING, is_base_key, rule_key};
use crate::families::{FAMILIES, operation};
use crate::models::{Model, ModelCatalogue, builtin_model};
use crate::names::unknown_name;
use crate::refusal::Refusal;
use crate::tariff::Tariff;

/// What a rule can do to what it matches.
enum MatchKind {
    /// It has an amount of its own, which a rule may replace.
    Priced,
    /// A factor is all that a rule may have; with the reason and what to do instead.
    FactorOnly(String),
}

impl GroupDefinition {
    /// Whether it may be written over what there was. A rule that stays as it was is not judged again: what it matches may have
    /// gone since.
    pub fn check(
        &self,
        old: Option<&Self>,
        tariff: &Tariff,
        models: &ModelCatalogue,
    ) -> Result<(), Refusal> {
        let mut seen = HashSet::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let field = |name: &str| format!("rules[{place}].{name}");
            if !seen.insert((rule_key(&rule.matches), rule.from_ms())) {
                let day = rule.from.as_deref();
                let day = day.map_or("without a date".to_owned(), |day| format!("from {day}"));
                let message = format!("there is another rule for {} {day}", rule.matches);
                return Err(Refusal::invalid(&field("match"), message));
            }
            match (rule.factor, rule.amount) {
                (None, None) => {
                    let message = "is required, unless there is an amount";
                    return Err(Refusal::invalid(&field("factor"), message));
                }
                (Some(_), Some(_)) => {
                    let message = "cannot stand beside a factor; a rule has one of them";
                    return Err(Refusal::invalid(&field("amount"), message));
                }
                _ => {}
            }
            if old.is_some_and(|old| old.rules.contains(rule)) {
                continue;
            }
            let kind = kind_of(rule, tariff, models);
            let kind = kind.map_err(|message| Refusal::invalid(&field("match"), message))?;
            if let (MatchKind::FactorOnly(message), Some(_)) = (kind, rule.amount) {
                return Err(Refusal::invalid(&field("amount"), message));
            }
        }
        Ok(())
    }
}

/// What a rule matches, or why it matches nothing.
fn kind_of(
    rule: &GroupRule,
    tariff: &Tariff,
    models: &ModelCatalogue,
) -> Result<MatchKind, String> {
    let (word, key) = (&rule.matches, rule_key(&rule.matches));
    if key == EVERYTHING || key == CUSTODY {
        return Ok(MatchKind::FactorOnly(factor_only()));
    }
    if let Some(row) = models.find(word) {
        let definition = &row.definition;
        if definition.key() != key {
            return Err(format!("is an alias; name the model, {}", definition.name));
        }
        if definition.price.is_some() {
            return Ok(MatchKind::Priced);
        }
    }
    if let Some(model) = builtin_model(&key) {
        return Ok(MatchKind::FactorOnly(of_tariff(model)));
    }
    if models.find(word).is_some() {
        let message = format!(
            "is for a model with a price of its own; {word} costs what the tariff says: give the model a price, or match a key of the tariff"
        );
        return Ok(MatchKind::FactorOnly(message));
    }
    if tariff.amount(&key).is_ok() {
        if is_base_key(&key) {
            return Ok(MatchKind::Priced);
        }
        return Err(if key.split('.').next() == Some(CUSTODY) {
            format!("calls on callers' own worker accounts are matched only by `{CUSTODY}`")
        } else {
            "is a factor of the tariff, not the price of anything".to_owned()
        });
    }
    let is_family = FAMILIES.iter().any(|family| family.name == key);
    if is_family || operation(&key).is_some() {
        return Ok(MatchKind::FactorOnly(factor_only()));
    }
    Err(format!(
        "is neither a model nor a key of the tariff, an operation, a family, `{EVERYTHING}` or `{CUSTODY}`: {}",
        unknown_name(word)
    ))
}

fn factor_only() -> String {
    "is only for a model with a price of its own or a key of the tariff; use a factor".to_owned()
}

/// What stands in the place of an amount for a built-in model.
fn of_tariff(model: &Model) -> String {
    let keys = model.submits.iter().flat_map(|submit| submit.prices);
    let mut keys = keys.filter(|key| key.split('.').any(|part| part == model.name));
    let key = keys.find(|key| is_base_key(key));
    let such = key.map_or(String::new(), |key| format!(", such as {key}"));
    format!("a built-in model costs what the tariff says; match its key of the tariff{such}")
}
