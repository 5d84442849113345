//! Prices of the catalogue: an amount for each unit, times the factors of what was asked for. All in whole numbers, rounded up
//! once, at the end.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::exact::{AMOUNT_MOST, FACTOR_MOST, Fraction, bounded};
use super::names::{NAME_MOST, WORDS_MOST};
use super::words::{AUTO_SIDE, FreeKind, is_same, text_of};
use crate::body::Fields;
use crate::brief::Brief;
use crate::fields::words;
use crate::groups::GroupRule;
use crate::quota::Quota;
use crate::refusal::{Code, Refusal};

/// Fields that one price may have factors for.
pub(super) const FACTORS_MOST: usize = 4;
/// Operations that may have prices of their own.
const OPERATIONS_MOST: usize = 64;
/// Factors that were paid are kept as decimal numbers; four factors of three places have twelve.
const PAID_FACTOR_SCALE: i128 = 1_000_000_000_000;
/// Pixels of a megapixel.
const MEGAPIXEL: i128 = 1_000_000;

words! {
    /// What a catalogue price counts.
    pub PriceUnit {
        /// Each request, whatever it makes.
        Call "call",
        /// Each result.
        Item "item",
        /// Each second of each result.
        Second "second",
        /// Each million pixels of each result.
        Megapixel "megapixel",
    }
}

/// A price by unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UnitPrice")]
pub struct UnitPrice {
    /// Unit.
    pub unit: PriceUnit,
    /// Quota for each unit.
    pub amount: Quota,
    /// Factors on the amount, by value of some fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<String, BTreeMap<String, Quota>>,
}

/// What a model costs: the same in all operations, or for each its own.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelPrice {
    /// In every operation that may name the model.
    One(UnitPrice),
    /// By the name of the operation; the others cost what the tariff says.
    Each(BTreeMap<String, UnitPrice>),
}

/// One line of what a job costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PriceLine")]
pub struct PriceLine {
    /// Subject of the line: the model, with the values that have factors.
    pub line: String,
    /// Unit.
    pub unit: PriceUnit,
    /// How many of it.
    pub count: f64,
    /// Quota for each unit.
    pub amount: Quota,
    /// Factor on the amount; 1 if there is none.
    pub factor: f64,
    /// The group of the account, unless it is the one that all begin in and has no rule for this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The rule of that group that the amount or the factor comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<GroupRule>,
}

/// What a request costs by the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogueTotal {
    /// The sum, rounded up to a thousandth.
    pub total: Quota,
    /// What it is made of.
    pub lines: Vec<PriceLine>,
    /// The same before it was rounded.
    exact: ExactPrice,
    /// Whether it is what an earlier job paid by a rule of a group: no rule counts twice.
    pub(crate) has_rule: bool,
}

/// A price as it is before anything is rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ExactPrice {
    /// Quota for each unit.
    amount: Quota,
    /// The factors of the words.
    factor: Fraction,
    /// How many units.
    count: Fraction,
}

impl ExactPrice {
    fn total(self) -> Result<Quota, Refusal> {
        let thousandths = i128::from(self.amount.thousandths());
        let each = self.factor.times_fraction(self.count)?;
        each.times(thousandths, 1)?.rounded_up()
    }
}

impl CatalogueTotal {
    /// The same with another amount for each unit, or multiplied by a factor; still rounded once.
    pub(crate) fn with(
        &self,
        amount: Option<Quota>,
        factor: Option<Quota>,
    ) -> Result<Self, Refusal> {
        let mut exact = self.exact;
        exact.amount = amount.unwrap_or(exact.amount);
        if let Some(factor) = factor {
            let factor = factor.thousandths().into();
            exact.factor = exact.factor.reduced().times(factor, 1000)?;
            exact.count = exact.count.reduced();
        }
        let mut lines = self.lines.clone();
        for line in &mut lines {
            line.amount = exact.amount;
            line.factor = exact.factor.decimal();
        }
        Ok(Self {
            total: exact.total()?,
            lines,
            exact,
            has_rule: true,
        })
    }
}

impl ModelPrice {
    /// The price in one operation; `named` says whether requests of that operation may name the model.
    pub fn of(&self, operation: &str, named: bool) -> Option<&UnitPrice> {
        match self {
            Self::One(price) => Some(price).filter(|_| named),
            Self::Each(prices) => prices.get(operation),
        }
    }
}

impl UnitPrice {
    /// What a request comes to: `fields` are its words with every default resolved, `brief` what is to be made.
    pub fn total(
        &self,
        model: &str,
        fields: &Fields,
        brief: &Brief,
    ) -> Result<CatalogueTotal, Refusal> {
        let mut line = model.to_owned();
        let mut factor = Fraction::ONE;
        let mut named = Vec::new();
        for (field, words) in &self.factors {
            let Some(value) = fields.get(field).filter(|value| !value.is_null()) else {
                continue;
            };
            let (word, one) = factor_of(field, words, value).ok_or_else(without_price)?;
            factor = factor.times(one.thousandths().into(), 1000)?;
            named.push(format!("{field} {word}"));
        }
        if !named.is_empty() {
            line = format!("{line} ({})", named.join(", "));
        }
        let count = self.count(brief)?;
        let exact = ExactPrice {
            amount: self.amount,
            factor,
            count,
        };
        Ok(CatalogueTotal {
            total: exact.total()?,
            lines: vec![PriceLine {
                line,
                unit: self.unit,
                count: count.decimal(),
                amount: self.amount,
                factor: factor.decimal(),
                group: None,
                rule: None,
            }],
            exact,
            has_rule: false,
        })
    }

    /// What a request comes to at a line that was paid before, for what a price has no factor for any more.
    pub(super) fn total_like(paid: &PriceLine, brief: &Brief) -> Result<CatalogueTotal, Refusal> {
        let price = Self {
            unit: paid.unit,
            amount: paid.amount,
            factors: BTreeMap::new(),
        };
        let count = price.count(brief)?;
        let factor = (paid.factor * PAID_FACTOR_SCALE as f64).round() as i128;
        let exact = ExactPrice {
            amount: paid.amount,
            factor: Fraction::ONE.times(factor, PAID_FACTOR_SCALE)?.reduced(),
            count: count.reduced(),
        };
        Ok(CatalogueTotal {
            total: exact.total()?,
            lines: vec![PriceLine {
                count: count.decimal(),
                ..paid.clone()
            }],
            exact,
            has_rule: paid.rule.is_some(),
        })
    }

    /// Whether it has a factor for every word of a request.
    pub(super) fn covers(&self, fields: &Fields) -> bool {
        self.factors.iter().all(|(field, words)| {
            let value = fields.get(field).filter(|value| !value.is_null());
            value.is_none_or(|value| factor_of(field, words, value).is_some())
        })
    }

    /// How many units a brief asks for.
    fn count(&self, brief: &Brief) -> Result<Fraction, Refusal> {
        let items = i128::from(brief.count.max(1));
        let each = match self.unit {
            PriceUnit::Call => return Ok(Fraction::ONE),
            PriceUnit::Item => Fraction::ONE,
            // What has no length of its own, as a video without its mark, counts as one second and is not free.
            PriceUnit::Second => Fraction::ONE.times(brief.seconds.max(1).into(), 1)?,
            PriceUnit::Megapixel => {
                let (width, height) = match (brief.width, brief.height) {
                    (0, _) | (_, 0) => (AUTO_SIDE, AUTO_SIDE),
                    sides => sides,
                };
                Fraction::ONE.times(i128::from(width) * i128::from(height), MEGAPIXEL)?
            }
        };
        each.times(items, 1)
    }
}

/// The factor of a word, however it is spelt.
fn factor_of<'a>(
    field: &str,
    words: &'a BTreeMap<String, Quota>,
    value: &Value,
) -> Option<(&'a String, &'a Quota)> {
    if let Some(exact) = words.get_key_value(&*text_of(value)) {
        return Some(exact);
    }
    let kind = FreeKind::of(field);
    let mut words = words.iter();
    words.find(|(word, _)| is_same(kind, &Value::from(&***word), value))
}

/// Nothing is sold at a price that nobody set.
fn without_price() -> Refusal {
    Refusal::new(
        Code::Internal,
        "the request has no price; tell the operator",
    )
}

impl Serialize for ModelPrice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(price) => price.serialize(serializer),
            Self::Each(prices) => prices.serialize(serializer),
        }
    }
}

/// The names of a price's own fields: what has none of them is one price for each operation.
const PRICE_FIELDS: [&str; 3] = ["unit", "amount", "factors"];

impl<'de> Deserialize<'de> for ModelPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ModelPriceVisitor)
    }
}

/// Read by hand, so that a mistake names the field it is in.
struct ModelPriceVisitor;

impl<'de> Visitor<'de> for ModelPriceVisitor {
    type Value = ModelPrice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price with unit and amount, or one for each operation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ModelPrice, A::Error> {
        let Some(first) = map.next_key::<String>()? else {
            return Err(A::Error::custom("needs unit and amount"));
        };
        if PRICE_FIELDS.contains(&&*first) {
            return unit_price(Some(first), map).map(ModelPrice::One);
        }
        let mut prices = BTreeMap::from([(first, map.next_value()?)]);
        while let Some(operation) = map.next_key::<String>()? {
            if prices.len() == OPERATIONS_MOST {
                let message = format_args!("must be for at most {OPERATIONS_MOST} operations");
                return Err(A::Error::custom(message));
            }
            prices.insert(operation, map.next_value()?);
        }
        Ok(ModelPrice::Each(prices))
    }
}

impl<'de> Deserialize<'de> for UnitPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UnitPriceVisitor;
        impl<'de> Visitor<'de> for UnitPriceVisitor {
            type Value = UnitPrice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a price with unit and amount")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UnitPrice, A::Error> {
                unit_price(None, map)
            }
        }
        deserializer.deserialize_map(UnitPriceVisitor)
    }
}

/// Reads a price whose first key may have been read already.
fn unit_price<'de, A: MapAccess<'de>>(
    first: Option<String>,
    mut map: A,
) -> Result<UnitPrice, A::Error> {
    let (mut unit, mut amount, mut factors) = (None, None, FactorTable::default());
    let mut key = match first {
        Some(first) => Some(first),
        None => map.next_key()?,
    };
    while let Some(name) = key {
        match &*name {
            "unit" => unit = Some(map.next_value()?),
            "amount" => amount = Some(map.next_value::<PriceAmount>()?.0),
            "factors" => factors = map.next_value()?,
            other => {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format_args!(
                    "has no field {}; unit, amount and factors are known",
                    other.chars().take(NAME_MOST).collect::<String>()
                )));
            }
        }
        key = map.next_key()?;
    }
    Ok(UnitPrice {
        unit: unit.ok_or_else(|| A::Error::missing_field("unit"))?,
        amount: amount.ok_or_else(|| A::Error::missing_field("amount"))?,
        factors: factors.0,
    })
}

/// An amount within its bounds.
struct PriceAmount(Quota);

impl<'de> Deserialize<'de> for PriceAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, AMOUNT_MOST).map(Self)
    }
}

/// A factor within its bounds.
struct PriceFactor(Quota);

impl<'de> Deserialize<'de> for PriceFactor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer, FACTOR_MOST).map(Self)
    }
}

/// Factors by field and word.
#[derive(Default)]
struct FactorTable(BTreeMap<String, BTreeMap<String, Quota>>);

impl<'de> Deserialize<'de> for FactorTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        type Table = BTreeMap<String, BTreeMap<String, PriceFactor>>;
        let table = Table::deserialize(deserializer)?;
        if table.len() > FACTORS_MOST {
            let message = format_args!("must be for at most {FACTORS_MOST} fields");
            return Err(D::Error::custom(message));
        }
        if let Some((field, _)) = table.iter().find(|(_, words)| words.len() > WORDS_MOST) {
            let message = format_args!("{field} must have at most {WORDS_MOST} words");
            return Err(D::Error::custom(message));
        }
        let plain = |words: BTreeMap<String, PriceFactor>| {
            words.into_iter().map(|(word, factor)| (word, factor.0))
        };
        let table = table.into_iter();
        Ok(Self(
            table
                .map(|(field, words)| (field, plain(words).collect()))
                .collect(),
        ))
    }
}

impl JsonSchema for ModelPrice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ModelPrice".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<UnitPrice>();
        json_schema!({ "anyOf": [one.clone(), { "type": "object", "additionalProperties": one }] })
    }
}
