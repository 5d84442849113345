//! Models as accounts see them: what requests may say, and what that costs.

use std::collections::BTreeMap;

use super::builtin::models;
use super::catalogue::ListedModel;
use super::definition::{FieldRule, ModelDefinition, ModelRevision};
use super::facts::{FieldFacts, SubmitFacts, facts_of};
use super::like::target_of;
use super::names::SPELLINGS;
use super::price::{ModelPrice, UnitPrice};
use super::rules::default_of;
use super::words::FreeKind;
use crate::pages::jobs::media_kind;
use crate::pages::models::{AccountField, AccountModel, AccountOperation};

impl ListedModel<'_> {
    /// The built-in model whose rules and tariff it has.
    fn stands_for(&self) -> Option<String> {
        match self.definition() {
            Some(definition) => target_of(definition)?.model,
            None => Some(self.name.to_owned()),
        }
    }

    fn definition(&self) -> Option<&ModelDefinition> {
        self.row
            .map(|row: &std::sync::Arc<ModelRevision>| &row.definition)
    }

    /// The keys of the tariff that say what it costs; none where the catalogue has the price of all its operations.
    pub fn tariff_keys(&self) -> Vec<&'static str> {
        let price = self
            .definition()
            .and_then(|definition| definition.price.as_ref());
        let own = self.stands_for();
        let is_other = |part: &str| {
            let mut known = models().iter();
            known.any(|model| model.name == part) && own.as_deref() != Some(part)
        };
        let submits = self.submits.iter();
        let submits = submits
            .filter(|submit| price.is_none_or(|price| price.of(submit.name, true).is_none()));
        let keys = submits.flat_map(|submit| submit.prices);
        let keys = keys.filter(|key| !key.split('.').any(is_other));
        keys.copied().collect()
    }

    /// As an account sees it; whoever knows the tariff fills in its amounts for [`ListedModel::tariff_keys`].
    pub fn view(&self) -> AccountModel {
        let definition = self.definition();
        let stands_for = self.stands_for();
        let operations = self.submits.iter().filter_map(|submit| {
            let facts = facts_of(submit.name)?;
            Some(AccountOperation {
                name: submit.name,
                path: submit.path,
                model_field: facts.model_spelling(),
                makes: media_kind(submit),
                rule: None,
                fields: fields_of(facts, definition, stands_for.as_deref()),
            })
        });
        let price = definition.and_then(|definition| definition.price.clone());
        let title = definition.and_then(|definition| definition.title.as_deref());
        AccountModel {
            name: self.name.to_owned(),
            title: title.unwrap_or(self.name).to_owned(),
            family: self.family.name,
            aliases: definition.map_or_else(Vec::new, |one| one.aliases.clone()),
            operations: operations.collect(),
            price_text: price.as_ref().map(price_text).unwrap_or_default(),
            price,
            tariff: BTreeMap::new(),
            group: None,
            retires: definition.and_then(|definition| definition.retires.clone()),
            successor: definition.and_then(|definition| definition.successor.clone()),
        }
    }
}

/// What requests of a model may say in one operation.
fn fields_of(
    facts: &SubmitFacts,
    definition: Option<&ModelDefinition>,
    model: Option<&str>,
) -> BTreeMap<String, AccountField> {
    let fields = facts.fields.iter();
    let fields = fields.filter(|(name, _)| !SPELLINGS.contains(&name.as_str()));
    fields
        .filter_map(|(name, allows)| {
            let rule = definition.and_then(|definition| definition.fields.get(name));
            let replaced = rule.is_some_and(|rule| rule.allowed.is_some());
            if rule.is_some_and(|rule| rule.refused) || !(replaced || facts.is_open(model, name)) {
                return None;
            }
            let kind = FreeKind::of(name);
            let words = allows.words.as_ref();
            let known = words.map(|_| facts.known_words(model, name).to_vec());
            Some((name.clone(), field_of(allows, rule, kind, known)))
        })
        .collect()
}

fn field_of(
    allows: &FieldFacts,
    rule: Option<&FieldRule>,
    kind: Option<FreeKind>,
    known: Option<Vec<serde_json::Value>>,
) -> AccountField {
    let (min, max) = rule.map_or((None, None), |rule| (rule.min, rule.max));
    let ranged = min.is_some() || max.is_some();
    let allowed = rule.and_then(|rule| rule.allowed.clone());
    let default = rule.and_then(|rule| default_of(rule, kind, allows));
    AccountField {
        allowed: allowed.or(known.filter(|_| !ranged)),
        min: min.or(allows.least),
        max: max.or(allows.most),
        required: allows.required && default.is_none(),
        default: default.or_else(|| allows.default.clone()),
    }
}

/// A price in one line, such as `3 for each item, times 1 to 2 by size`.
pub fn price_text(price: &ModelPrice) -> String {
    match price {
        ModelPrice::One(price) => unit_text(price),
        ModelPrice::Each(prices) => {
            let each = prices.iter();
            let each = each.map(|(operation, price)| format!("{operation}: {}", unit_text(price)));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

fn unit_text(price: &UnitPrice) -> String {
    let plain = format!("{} per {}", price.amount, price.unit.word());
    let factors = price.factors.iter().filter_map(|(field, words)| {
        let (least, most) = (words.values().min()?, words.values().max()?);
        Some(format!(", times {least} to {most} by {field}"))
    });
    std::iter::once(plain).chain(factors).collect()
}
