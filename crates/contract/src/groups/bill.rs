//! What an order costs an account: by the price of its model or by the tariff, with the rule of the account's group. Quotes, holds
//! and previews all ask here.

use super::definition::GroupRule;
use super::price_group::PriceGroup;
use super::subject::{BillSubject, PriceSource};
use crate::models::{CatalogueTotal, DEFAULT_GROUP, Fraction, PriceLine, PriceUnit};
use crate::operation::Order;
use crate::quota::Quota;
use crate::refusal::Refusal;
use crate::tariff::{Price, Tariff, TariffError};

/// What an order costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bill {
    /// The sum, rounded up to a thousandth.
    pub total: Quota,
    /// What it is made of; empty where the tariff says it and no group has a say.
    pub lines: Vec<PriceLine>,
    /// The group that was asked, unless it is the one that all begin in and said nothing.
    pub group: Option<String>,
    /// The rule of that group that counted.
    pub rule: Option<GroupRule>,
}

/// Why an order has no price.
#[derive(Debug, thiserror::Error)]
pub enum BillError {
    /// The tariff does not know it.
    #[error(transparent)]
    Tariff(#[from] TariffError),
    /// It comes to more than any account could hold.
    #[error("{}", .0.message)]
    Refused(Refusal),
}

impl From<Refusal> for BillError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Bill {
    /// What an order costs an account of a group. The catalogue's prices are none of the caller's own worker accounts.
    pub fn of(
        order: &Order,
        tariff: &Tariff,
        subject: &BillSubject<'_>,
        group: Option<&PriceGroup>,
    ) -> Result<Self, BillError> {
        let catalogue = order.catalogue_price.as_ref();
        match catalogue.filter(|_| !subject.custody) {
            Some(total) => Self::of_catalogue(total, subject, group),
            None if subject.custody => {
                let own = Price::custody(subject.operation);
                Self::of_tariff(&own, tariff, subject, group)
            }
            None => Self::of_tariff(&order.price, tariff, subject, group),
        }
    }

    fn of_catalogue(
        total: &CatalogueTotal,
        subject: &BillSubject<'_>,
        group: Option<&PriceGroup>,
    ) -> Result<Self, BillError> {
        if total.has_rule {
            let (group, rule) = match total.lines.first() {
                Some(line) => (line.group.clone(), line.rule.clone()),
                None => (None, None),
            };
            return Ok(Self {
                total: total.total,
                lines: total.lines.clone(),
                group,
                rule,
            });
        }
        let rule = group.and_then(|group| group.rule(subject, PriceSource::Catalogue));
        let CatalogueTotal { total, lines, .. } = match rule {
            None => total.clone(),
            Some(rule) => total.with(rule.amount, rule.factor)?,
        };
        Ok(Self::named(total, lines, group, rule))
    }

    fn of_tariff(
        price: &Price,
        tariff: &Tariff,
        subject: &BillSubject<'_>,
        group: Option<&PriceGroup>,
    ) -> Result<Self, BillError> {
        let source = PriceSource::Tariff(&price.key);
        let rule = group.and_then(|group| group.rule(subject, source));
        let is_said = rule.is_some() || group.is_some_and(|one| one.name() != DEFAULT_GROUP);
        if !is_said {
            return Ok(Self {
                total: tariff.total(price)?,
                lines: Vec::new(),
                group: None,
                rule: None,
            });
        }
        let amount = match rule.and_then(|rule| rule.amount) {
            Some(amount) => amount,
            None => tariff.amount(&price.key)?,
        };
        let whole = tariff.total_at(price, amount)?;
        let factor = rule.and_then(|rule| rule.factor);
        let factor = factor.map_or(Fraction::ONE, Fraction::of_quota);
        let total = factor.times(whole.thousandths().into(), 1)?.rounded_up()?;
        let mut factors = factor;
        for key in &price.factors {
            factors = factors.times(tariff.amount(key)?.thousandths().into(), 1000)?;
        }
        let line = PriceLine {
            unit: unit_of(price),
            count: f64::from(price.units) * f64::from(price.count),
            factor: factors.decimal(),
            amount,
            line: price.key.clone(),
            group: None,
            rule: None,
        };
        Ok(Self::named(total, vec![line], group, rule))
    }

    /// A bill whose lines name the group and its rule.
    fn named(
        total: Quota,
        mut lines: Vec<PriceLine>,
        group: Option<&PriceGroup>,
        rule: Option<&GroupRule>,
    ) -> Self {
        let group = group.map(PriceGroup::name);
        let group = group.filter(|name| rule.is_some() || *name != DEFAULT_GROUP);
        for line in &mut lines {
            line.group = group.map(str::to_owned);
            line.rule = rule.cloned();
        }
        Self {
            total,
            lines,
            group: group.map(str::to_owned),
            rule: rule.cloned(),
        }
    }
}

/// What a price of the tariff counts.
fn unit_of(price: &Price) -> PriceUnit {
    match (price.units, price.count) {
        (1, 1) => PriceUnit::Call,
        (1, _) => PriceUnit::Item,
        _ => PriceUnit::Second,
    }
}
