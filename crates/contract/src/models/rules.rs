//! What a request of a model may say: the operator's rules over those of `like`, ready to be applied.

use serde_json::Value;

use super::definition::{FieldRule, ModelDefinition};
use super::facts::{FieldFacts, SubmitFacts, same_word};
use super::words::{FreeKind, is_same, number_of, seconds, text_of, word_list};
use crate::body::Fields;
use crate::refusal::Refusal;

/// A rule for one field of one operation.
pub(super) struct RowRule {
    field: String,
    rule: FieldRule,
    kind: Option<FreeKind>,
    /// The words of `like`, of a field whose list the operator may replace.
    known: Vec<Value>,
    /// What counts when a request does not say; `None` leaves it to `like`.
    default: Option<Value>,
    /// What `like` is told in the place of a word that it does not know; `None` leaves the field out.
    stand_in: Option<Value>,
}

/// The rules of a definition in one operation.
pub(super) fn rules_of(
    definition: &ModelDefinition,
    facts: &SubmitFacts,
    model: Option<&str>,
) -> Vec<RowRule> {
    let rules = definition.fields.iter();
    let known = rules.filter_map(|(field, rule)| Some((field, rule, facts.fields.get(field)?)));
    known
        .map(|(field, rule, allows)| {
            let kind = FreeKind::of(field);
            let known = facts.known_words(model, field);
            RowRule {
                field: field.clone(),
                rule: rule.clone(),
                kind,
                known: known.to_vec(),
                default: default_of(rule, kind, allows),
                stand_in: known.first().filter(|_| allows.required).cloned(),
            }
        })
        .collect()
}

/// What counts when a request does not say: the operator's word, or the nearest to that of `like`.
pub(super) fn default_of(
    rule: &FieldRule,
    kind: Option<FreeKind>,
    allows: &FieldFacts,
) -> Option<Value> {
    if rule.default.is_some() || rule.refused || allows.required {
        return rule.default.clone();
    }
    if let Some(allowed) = &rule.allowed {
        let fits = match &allows.default {
            Some(usual) => same_word(allowed, kind, usual).is_some(),
            // A field that `like` leaves open stays so, unless its list was replaced.
            None => kind.is_none(),
        };
        return allowed.first().filter(|_| !fits).cloned();
    }
    let number = match (&allows.default, kind) {
        (Some(usual), Some(FreeKind::Seconds)) => f64::from(seconds(usual)?),
        (Some(usual), _) => number_of(usual)?,
        (None, Some(FreeKind::Seconds)) => rule.min.or(rule.max)?,
        (None, _) => return None,
    };
    let within = match (rule.min, rule.max) {
        (Some(min), _) if number < min => min,
        (_, Some(max)) if number > max => max,
        _ if allows.default.is_some() => return None,
        _ => number,
    };
    Some(as_number(within))
}

/// A number as JSON writes it: without a fraction where it has none.
fn as_number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

impl RowRule {
    /// Holds a request against the rule and puts it into the words of `like`; a word that `like` does not know goes to
    /// `said`.
    pub(super) fn apply(
        &self,
        model: &str,
        fields: &mut Fields,
        said: &mut Fields,
    ) -> Result<(), Refusal> {
        let given = fields.get(&self.field).filter(|value| !is_absent(value));
        if self.rule.refused && given.is_some() {
            let message = format!("must be left out with {model}");
            return Err(Refusal::invalid(&self.field, message));
        }
        let Some(value) = given.or(self.default.as_ref()) else {
            return Ok(());
        };
        let value = self.accepted(model, value)?;
        if self.kind.is_none() {
            fields.insert(self.field.clone(), value);
            return Ok(());
        }
        if let Some(word) = same_word(&self.known, self.kind, &value) {
            fields.insert(self.field.clone(), word.clone());
            return Ok(());
        }
        if self.rule.allowed.is_none() && self.rule.min.is_none() && self.rule.max.is_none() {
            // Nobody replaced the list: `like` says what is wrong.
            fields.insert(self.field.clone(), value);
            return Ok(());
        }
        said.insert(self.field.clone(), value);
        match &self.stand_in {
            Some(word) => fields.insert(self.field.clone(), word.clone()),
            None => fields.remove(&self.field),
        };
        Ok(())
    }

    /// The value as the rule spells it, or why not.
    fn accepted(&self, model: &str, value: &Value) -> Result<Value, Refusal> {
        let refuse = |wanted: &str| {
            let shown: String = text_of(value).chars().take(60).collect();
            let message = format!("{wanted} with {model}, is `{shown}`");
            Err(Refusal::invalid(&self.field, message))
        };
        if let Some(allowed) = &self.rule.allowed {
            return match allowed.iter().find(|word| is_same(self.kind, word, value)) {
                Some(word) => Ok(word.clone()),
                None => refuse(&format!("must be one of {}", word_list(allowed))),
            };
        }
        let (min, max) = (self.rule.min, self.rule.max);
        if min.is_none() && max.is_none() {
            return Ok(value.clone());
        }
        let long = self.kind == Some(FreeKind::Seconds);
        let number = if long {
            seconds(value).map(f64::from)
        } else {
            number_of(value)
        };
        let fits = |number: &f64| {
            min.is_none_or(|min| *number >= min) && max.is_none_or(|max| *number <= max)
        };
        match number.filter(fits) {
            Some(number) if long => Ok(as_number(number)),
            Some(_) => Ok(value.clone()),
            None => refuse(&format!(
                "must be {}{}",
                if long { "whole seconds" } else { "a number" },
                bounds(min, max)
            )),
        }
    }
}

/// Bounds for a message.
fn bounds(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" of at least {min}"),
        (None, Some(max)) => format!(" of at most {max}"),
        (None, None) => String::new(),
    }
}

/// Null and the empty text say nothing.
pub(super) fn is_absent(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}
