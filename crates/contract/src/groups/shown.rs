//! What accounts of a group are shown of a model's price: what they pay, and the rule that says so.

use std::collections::{BTreeMap, HashSet};

use super::definition::GroupRule;
use super::price_group::PriceGroup;
use super::subject::{BillSubject, PriceSource};
use super::words::is_base_key;
use crate::families::operation;
use crate::family::SubmitEndpoint;
use crate::models::{Fraction, ModelPrice, UnitPrice, price_text};
use crate::pages::models::AccountModel;
use crate::quota::Quota;
use crate::tariff::Tariff;

impl PriceGroup {
    /// A model as accounts of this group see it: amounts are theirs, rounded up where a factor leaves no whole thousandth, and each
    /// operation names the rule. `keys` are what the tariff says of the model.
    pub fn shown(
        &self,
        model: &mut AccountModel,
        submits: &[&'static SubmitEndpoint],
        keys: &[&'static str],
        tariff: &Tariff,
        now_ms: i64,
    ) {
        let name = model.name.clone();
        let mut rules = BTreeMap::new();
        let mut prices = own_prices(model.price.as_ref(), submits);
        for (operation, price) in &mut prices {
            let subject = subject(operation, &name, now_ms);
            let rule = self.rule(&subject, PriceSource::Catalogue);
            price.amount = paid(price.amount, rule);
            rules.insert(operation.clone(), rule.cloned());
        }
        let (mut amounts, mut differed) = (BTreeMap::new(), HashSet::new());
        for submit in submits {
            if prices.contains_key(submit.name) {
                continue;
            }
            let used = submit.prices.iter().filter(|key| keys.contains(key));
            for key in used.filter(|key| is_base_key(key)) {
                let Ok(amount) = tariff.amount(key) else {
                    continue;
                };
                let subject = subject(submit.name, &name, now_ms);
                let rule = self.rule(&subject, PriceSource::Tariff(key));
                let amount = paid(amount, rule);
                // Where operations of one key pay differently, the dearest is shown.
                let most = amounts.entry((*key).to_owned()).or_insert(amount);
                *most = amount.max(*most);
                // A rule is named where every request of the operation pays by it, whatever it asks for.
                let shown = rules.entry(submit.name.to_owned());
                let shown = shown.or_insert_with(|| rule.cloned());
                if shown.as_ref() != rule {
                    differed.insert(submit.name);
                }
            }
        }
        for operation in &mut model.operations {
            let rule = rules.remove(operation.name).flatten();
            operation.rule = rule.filter(|_| !differed.contains(operation.name));
        }
        model.tariff.extend(amounts);
        if let Some(price) = joined(model.price.as_ref(), prices) {
            model.price_text = price_text(&price);
            model.price = Some(price);
        }
        model.group = Some(self.name().to_owned());
    }
}

/// What is paid for an amount by a rule.
fn paid(amount: Quota, rule: Option<&GroupRule>) -> Quota {
    let amount = rule.and_then(|rule| rule.amount).unwrap_or(amount);
    let Some(factor) = rule.and_then(|rule| rule.factor) else {
        return amount;
    };
    let product = Fraction::of_quota(factor).times(amount.thousandths().into(), 1);
    let product = product.and_then(Fraction::rounded_up);
    product.unwrap_or(Quota::MOST)
}

/// A model's own prices by operation.
fn own_prices(
    price: Option<&ModelPrice>,
    submits: &[&'static SubmitEndpoint],
) -> BTreeMap<String, UnitPrice> {
    match price {
        None => BTreeMap::new(),
        Some(ModelPrice::Each(prices)) => prices.clone(),
        Some(ModelPrice::One(price)) => {
            let names = submits.iter().map(|submit| submit.name.to_owned());
            names.map(|name| (name, price.clone())).collect()
        }
    }
}

/// Prices by operation in the shape that the model's own price has, as long as one price is still one.
fn joined(old: Option<&ModelPrice>, prices: BTreeMap<String, UnitPrice>) -> Option<ModelPrice> {
    let first = prices.values().next()?;
    if matches!(old, Some(ModelPrice::One(_))) && prices.values().all(|price| price == first) {
        return Some(ModelPrice::One(first.clone()));
    }
    Some(ModelPrice::Each(prices))
}

/// A request of a model in an operation.
fn subject<'a>(name: &'a str, model: &'a str, now_ms: i64) -> BillSubject<'a> {
    BillSubject {
        operation: name,
        family: operation(name).map_or("", |(family, _)| family.name),
        model: Some(model),
        custody: false,
        now_ms,
    }
}
