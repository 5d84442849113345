//! Rules for fields: they may only narrow or default what `like` allows, except that the lists of sizes, lengths and qualities
//! may be replaced.

use serde_json::Value;

use super::definition::{FieldRule, ModelDefinition};
use super::facts::{FieldFacts, SubmitFacts, same_word};
use super::like::LikeTarget;
use super::names::SPELLINGS;
use super::words::{FreeKind, SECONDS_MOST, is_same, number_of, seconds, text_of, word_list};
use crate::refusal::Refusal;

/// A field of `like` that has a rule, in every operation that has the field.
struct RuledField<'a> {
    path: String,
    name: &'a str,
    kind: Option<FreeKind>,
    rule: &'a FieldRule,
    model: Option<&'a str>,
    holders: Vec<(&'static SubmitFacts, &'static FieldFacts)>,
}

/// Holds the rules of a definition against what it is like.
pub(super) fn check(definition: &ModelDefinition, target: &LikeTarget) -> Result<(), Refusal> {
    for (name, rule) in &definition.fields {
        let path = format!("fields.{name}");
        if SPELLINGS.contains(&name.as_str()) {
            let message = "is what names the model; rules are for the other fields";
            return Err(Refusal::invalid(&path, message));
        }
        let holders = target.submits.iter();
        let holders: Vec<_> = holders
            .filter_map(|facts| Some((*facts, facts.fields.get(name)?)))
            .collect();
        if holders.is_empty() {
            return Err(no_such_field(&path, target));
        }
        let field = RuledField {
            path,
            name,
            kind: FreeKind::of(name),
            rule,
            model: target.model.as_deref(),
            holders,
        };
        field.check()?;
    }
    Ok(())
}

fn no_such_field(path: &str, target: &LikeTarget) -> Refusal {
    let mut names: Vec<&str> = Vec::new();
    for name in target.submits.iter().flat_map(|facts| facts.fields.keys()) {
        if !names.contains(&name.as_str()) && !SPELLINGS.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let message = format!(
        "what the model is like has no such field; it has {}",
        names.join(", ")
    );
    Refusal::invalid(path, message)
}

impl RuledField<'_> {
    fn refuse(&self, part: &str, message: impl std::fmt::Display) -> Result<(), Refusal> {
        Err(Refusal::invalid(&format!("{}{part}", self.path), message))
    }

    fn check(&self) -> Result<(), Refusal> {
        let rule = self.rule;
        let narrows = rule.allowed.is_some() || rule.min.is_some() || rule.max.is_some();
        if rule.refused && narrows {
            let message = "leaves nothing to allow; leave allowed, min and max out";
            return self.refuse(".refused", message);
        }
        let required = self.holders.iter().any(|(_, allows)| allows.required);
        if rule.refused && required && rule.default.is_none() {
            let message =
                "every request needs this field; give a default with it or leave refused out";
            return self.refuse(".refused", message);
        }
        let scalar = self.holders.iter().all(|(_, allows)| allows.is_scalar());
        if !scalar && (narrows || rule.default.is_some()) {
            let message = "has no single value; it can only be refused";
            return self.refuse("", message);
        }
        if rule.allowed.is_some() && (rule.min.is_some() || rule.max.is_some()) {
            return self.refuse(".allowed", "give either allowed, or min and max");
        }
        self.check_bounds()?;
        self.check_allowed()?;
        self.check_default()
    }

    fn check_bounds(&self) -> Result<(), Refusal> {
        let (min, max) = (self.rule.min, self.rule.max);
        let given = [(".min", min), (".max", max)];
        let given = given
            .into_iter()
            .filter_map(|(part, bound)| Some((part, bound?)));
        for (part, bound) in given {
            if self.kind == Some(FreeKind::Seconds) {
                if seconds(&Value::from(bound)).is_none() {
                    let message =
                        format!("must be whole seconds from 1 to {SECONDS_MOST}, is {bound}");
                    return self.refuse(part, message);
                }
                continue;
            }
            for (_, allows) in &self.holders {
                if !allows.is_number() {
                    return self.refuse(part, "is only for numbers");
                }
                let least = allows.least.filter(|least| bound < *least);
                let most = allows.most.filter(|most| bound > *most);
                if let Some(limit) = least.or(most) {
                    let message =
                        format!("must not be beyond what like allows, {limit}, is {bound}");
                    return self.refuse(part, message);
                }
            }
        }
        match (min, max) {
            (Some(min), Some(max)) if min > max => self.refuse(
                ".min",
                format_args!("must not be above max, {max}, is {min}"),
            ),
            _ => Ok(()),
        }
    }

    fn check_allowed(&self) -> Result<(), Refusal> {
        let words = self.rule.allowed.as_deref().unwrap_or_default();
        for (place, word) in words.iter().enumerate() {
            let part = format!(".allowed[{place}]");
            if same_word(&words[..place], self.kind, word).is_some() {
                return self.refuse(&part, format_args!("{} is there twice", text_of(word)));
            }
            self.check_word(&part, word)?;
        }
        Ok(())
    }

    /// Whether a word may be in the list of allowed ones.
    fn check_word(&self, part: &str, word: &Value) -> Result<(), Refusal> {
        if self.is_known(word) || self.kind.is_some_and(|kind| kind.takes(word)) {
            return Ok(());
        }
        let shown = text_of(word);
        match self.kind {
            Some(kind) => self.refuse(part, format_args!("{}, is `{shown}`", kind.wanted())),
            None => self.refuse(part, format_args!("{}, is `{shown}`", self.wanted())),
        }
    }

    /// Whether `like` takes a value.
    fn is_known(&self, word: &Value) -> bool {
        self.holders
            .iter()
            .any(|(facts, allows)| match (self.kind, &allows.words) {
                (None, None) => facts.takes(self.model, self.name, word),
                (kind, _) => {
                    same_word(facts.known_words(self.model, self.name), kind, word).is_some()
                }
            })
    }

    /// What `like` takes, for messages.
    fn wanted(&self) -> String {
        let lists = self
            .holders
            .iter()
            .filter(|(_, allows)| allows.words.is_some())
            .map(|(facts, _)| facts.known_words(self.model, self.name));
        let bounds = self
            .holders
            .iter()
            .find_map(|(_, allows)| Some((allows.least?, allows.most?)));
        match (lists.max_by_key(|words| words.len()), bounds) {
            (Some([]), _) => "must be left out, because like refuses the field".to_owned(),
            (Some(words), _) => format!("must be among what like allows: {}", word_list(words)),
            (None, Some((least, most))) => {
                format!("must be among what like allows: a number from {least} to {most}")
            }
            (None, None) => "must be among what like allows".to_owned(),
        }
    }

    fn check_default(&self) -> Result<(), Refusal> {
        let Some(default) = &self.rule.default else {
            return Ok(());
        };
        let shown = text_of(default);
        if let Some(words) = &self.rule.allowed {
            if words.iter().any(|word| is_same(self.kind, word, default)) {
                return Ok(());
            }
            let message = format!("must be one of {}, is `{shown}`", word_list(words));
            return self.refuse(".default", message);
        }
        let (min, max) = (self.rule.min, self.rule.max);
        if min.is_some() || max.is_some() {
            let number = match self.kind {
                Some(FreeKind::Seconds) => seconds(default).map(f64::from),
                _ => number_of(default),
            };
            let fits = number.is_some_and(|number| {
                min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
            });
            if !fits {
                return self.refuse(
                    ".default",
                    format_args!("must be within min and max, is `{shown}`"),
                );
            }
            if self.kind == Some(FreeKind::Seconds) {
                return Ok(());
            }
        }
        if self.is_known(default) {
            return Ok(());
        }
        self.refuse(".default", format_args!("{}, is `{shown}`", self.wanted()))
    }
}
