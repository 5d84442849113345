//! Prices: an order names keys, the tariff knows amounts. One table, one file, every amount exact.

use std::collections::BTreeMap;

use crate::nearest::did_you_mean;
use crate::quota::Quota;

/// What an order costs: a base amount by key, factors by key, and a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Key of the base amount, such as `artgen.imagine.fast`.
    pub key: String,
    /// Keys of factors the base is multiplied by.
    pub factors: Vec<String>,
    /// What each item is multiplied by, such as its seconds.
    pub units: u32,
    /// How many items are paid for.
    pub count: u32,
}

impl Price {
    /// One item at the base amount of a key.
    pub fn of(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            factors: Vec::new(),
            units: 1,
            count: 1,
        }
    }

    /// One call of an operation on the caller's own hosted account.
    pub fn custody(operation: &str) -> Self {
        Self::of(format!("custody.{operation}"))
    }

    /// Narrows the key: `Price::of("artgen.imagine").by("fast")`.
    #[must_use]
    pub fn by(mut self, part: &str) -> Self {
        self.key = format!("{}.{part}", self.key);
        self
    }

    /// Multiplies the price by the factor with this key.
    #[must_use]
    pub fn factor(mut self, key: impl Into<String>) -> Self {
        self.factors.push(key.into());
        self
    }

    /// Multiplies each item, by its seconds for instance.
    #[must_use]
    pub fn units(mut self, units: u32) -> Self {
        self.units = units;
        self
    }

    /// Pays for several items.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }
}

/// Every price key with its amount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tariff {
    amounts: BTreeMap<String, Quota>,
}

/// Why a tariff cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TariffError {
    /// The text is not TOML.
    #[error("not readable as TOML: {0}")]
    Toml(toml::de::Error),
    /// An amount is not a price.
    #[error("{0}: must be a number of quota with at most three places, not negative")]
    Amount(String),
    /// A key that an operation needs is missing.
    #[error("{0}: no such price")]
    Missing(String),
    /// A text names a key that no operation needs; with the key that was meant, if one is like it.
    #[error("{0}: no such price{1}")]
    Unknown(String, String),
    /// The amount is larger than any account could hold.
    #[error("{0}: the price is too large")]
    TooLarge(String),
}

impl Tariff {
    /// Reads the TOML form: nested tables whose leaves are numbers.
    pub fn parse(text: &str) -> Result<Self, TariffError> {
        let table: toml::Table = text.parse().map_err(TariffError::Toml)?;
        let mut tariff = Self::default();
        tariff.take("", &toml::Value::Table(table))?;
        Ok(tariff)
    }

    /// Takes over the amounts of another text; keys it does not name stay, and keys that are not there are refused.
    pub fn overlay(&mut self, text: &str) -> Result<(), TariffError> {
        let over = Self::parse(text)?;
        let mut keys = over.amounts.keys();
        if let Some(key) = keys.find(|key| !self.amounts.contains_key(*key)) {
            return Err(self.unknown(key));
        }
        self.amounts.extend(over.amounts);
        Ok(())
    }

    fn take(&mut self, path: &str, value: &toml::Value) -> Result<(), TariffError> {
        let amount = match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    let path = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    self.take(&path, value)?;
                }
                return Ok(());
            }
            toml::Value::Integer(whole) => whole.to_string(),
            toml::Value::Float(decimal) => decimal.to_string(),
            _ => return Err(TariffError::Amount(path.to_owned())),
        };
        match Quota::parse(&amount) {
            Some(amount) if amount >= Quota::ZERO => {
                self.amounts.insert(path.to_owned(), amount);
                Ok(())
            }
            _ => Err(TariffError::Amount(path.to_owned())),
        }
    }

    /// The amount of one key.
    pub fn amount(&self, key: &str) -> Result<Quota, TariffError> {
        self.amounts
            .get(key)
            .copied()
            .ok_or_else(|| TariffError::Missing(key.to_owned()))
    }

    /// What a price comes to: base times factors times units times items.
    pub fn total(&self, price: &Price) -> Result<Quota, TariffError> {
        self.total_at(price, self.amount(&price.key)?)
    }

    /// The same with another base amount.
    pub fn total_at(&self, price: &Price, base: Quota) -> Result<Quota, TariffError> {
        let too_large = || TariffError::TooLarge(price.key.clone());
        let mut each = base;
        for factor in &price.factors {
            let factor = self.amount(factor)?;
            let product = each
                .thousandths()
                .checked_mul(factor.thousandths())
                .ok_or_else(too_large)?;
            each = Quota::from_thousandths(product / 1000);
        }
        each.checked_times(price.units)
            .and_then(|item| item.checked_times(price.count))
            .ok_or_else(too_large)
    }

    /// Every key with its amount, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Quota)> {
        self.amounts
            .iter()
            .map(|(key, amount)| (key.as_str(), *amount))
    }

    /// Replaces one amount; only keys that exist can be priced.
    pub fn set(&mut self, key: &str, amount: Quota) -> Result<(), TariffError> {
        if amount < Quota::ZERO {
            return Err(TariffError::Amount(key.to_owned()));
        }
        if let Some(place) = self.amounts.get_mut(key) {
            *place = amount;
            return Ok(());
        }
        Err(self.unknown(key))
    }

    fn unknown(&self, key: &str) -> TariffError {
        let known = self.amounts.keys().map(String::as_str);
        TariffError::Unknown(key.to_owned(), did_you_mean(key, known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_base_times_factors_times_count() {
        let tariff = Tariff::parse("[a.b]\nfast = 4\n[factor]\nsix = 1.5\n").expect("a tariff");
        let price = Price::of("a.b").by("fast").factor("factor.six").times(3);
        assert_eq!(
            tariff.total(&price).expect("priced"),
            Quota::from_thousandths(18_000)
        );
    }

    /// The promise: a price that nobody would ever ask for is a mistake that is told, with the key that was meant.
    #[test]
    fn a_key_that_is_not_there_is_refused_with_the_nearest_one() {
        let mut tariff = Tariff::parse("[a.imagine]\nfast = 4\nturbo = 6\n").expect("a tariff");
        tariff.overlay("[a.imagine]\nfast = 5\n").expect("known");
        assert_eq!(tariff.amount("a.imagine.fast").ok(), Quota::parse("5"));
        let before = tariff.clone();
        let error = tariff.overlay("[a.imagine]\nturbo = 1\nfats = 5\n");
        let said = error.expect_err("unknown").to_string();
        assert_eq!(
            said,
            "a.imagine.fats: no such price; did you mean a.imagine.fast?"
        );
        assert_eq!(tariff, before, "nothing was taken over");
    }

    #[test]
    fn units_multiply_each_item() {
        let tariff = Tariff::parse("second = 0.3\n").expect("a tariff");
        let price = Price::of("second").units(11).times(2);
        let total = tariff.total(&price).expect("priced");
        assert_eq!(total, Quota::from_thousandths(6600));
    }

    #[test]
    fn a_key_without_an_amount_is_an_error_that_names_it() {
        let error = Tariff::default()
            .total(&Price::of("a.b"))
            .expect_err("no price");
        assert_eq!(error.to_string(), "a.b: no such price");
    }
}
