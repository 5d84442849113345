//! What an operator says that work takes at a vendor that does not say it in dollars: by operation, family or `*`, and there
//! by our model. What a vendor says in dollars itself is never replaced.

use std::collections::BTreeMap;

use atelier_contract::brief::Brief;
use atelier_contract::pages::cost::{CostUnit, UnitCost};
use atelier_contract::{canonical_name, operation, unknown_name};
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Backend, Cost, Fault};
use crate::field_error::FieldError;

/// Name of the setting, and of all that is not named.
const FIELD: &str = "costs";
const OTHERS: &str = "*";
/// The setting of those who count tokens.
const TOKEN_PRICES: &str = "token_prices";
/// What costs are counted in that can be compared with what callers pay.
const DOLLARS: &str = "USD";
/// Sides of a picture whose size is left to the vendor.
const USUAL_SIDE: u32 = 1024;

/// By operation or family, then by our model.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitCosts(BTreeMap<String, BTreeMap<String, UnitCost>>);

impl UnitCosts {
    /// Reads the setting of a back end.
    pub(crate) fn read(written: Option<Value>) -> Result<Self, FieldError> {
        let Some(written) = written else {
            return Ok(Self::default());
        };
        let Value::Object(written) = written else {
            return Err(FieldError::new(FIELD, "must be an object"));
        };
        let mut all = BTreeMap::new();
        for (name, value) in written {
            // Settings come here as they were written, too, where nobody connects.
            let spelled = match &*name {
                OTHERS => OTHERS,
                written => canonical_name(written)
                    .ok_or_else(|| FieldError::new(FIELD, unknown_name(written)))?,
            };
            let by_model = by_model(&value);
            let by_model =
                by_model.map_err(|why| FieldError::new(format!("{FIELD}.{name}"), why))?;
            if all.insert(spelled.to_owned(), by_model).is_some() {
                let why = format!("{spelled} is named twice, in both spellings");
                return Err(FieldError::new(FIELD, why));
            }
        }
        Ok(Self(all))
    }

    /// What one unit takes of what a request asks for: what its route says wins.
    pub(crate) fn of(&self, name: &str, brief: &Brief) -> Option<UnitCost> {
        let family = operation(name).map(|(family, _)| family.name);
        let rows = [Some(name), family, Some(OTHERS)];
        let mut rows = rows.into_iter().flatten().filter_map(|row| self.0.get(row));
        let named = rows.find_map(|row| row.get(&brief.model).or_else(|| row.get(OTHERS)));
        brief.unit_cost.or(named.copied())
    }
}

/// What one unit of a piece of work takes, and what its units are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostCounter {
    unit_cost: Option<UnitCost>,
    count: u32,
    seconds: u32,
    width: u32,
    height: u32,
}

impl CostCounter {
    /// For what a brief asks for.
    pub(crate) fn new(unit_cost: Option<UnitCost>, brief: &Brief) -> Self {
        Self {
            unit_cost,
            count: brief.count.max(1),
            seconds: brief.seconds.max(1),
            width: brief.width,
            height: brief.height,
        }
    }

    /// The same where each video is ordered in this length.
    pub(crate) fn ordering(self, seconds: u32) -> Self {
        let seconds = seconds.max(1);
        Self { seconds, ..self }
    }

    /// What so many items took: what the vendor told in dollars, or what the operator says that they take.
    pub(crate) fn made(&self, told: Option<Cost>, items: u32) -> Option<Cost> {
        if told.as_ref().is_some_and(|told| told.currency == DOLLARS) {
            return told;
        }
        self.dollars(told.as_ref(), items).or(told)
    }

    /// A fault with what was taken in spite of it. What brought nothing costs nothing, as nearly every vendor has it, unless
    /// the vendor tells of a cost: then all of it was made.
    pub(crate) fn failed(&self, fault: Fault) -> Fault {
        match fault.cost {
            None => fault,
            told => Fault {
                cost: self.made(told, self.count),
                ..fault
            },
        }
    }

    /// So many items in dollars; `None` where nothing is known, or where it goes by what the vendor tells, and it told nothing.
    pub(crate) fn dollars(&self, told: Option<&Cost>, items: u32) -> Option<Cost> {
        let unit_cost = self.unit_cost?;
        let usd = i128::from(unit_cost.usd.micros());
        let items = i128::from(items);
        let micros = match unit_cost.unit {
            CostUnit::Call => usd,
            CostUnit::Item => usd * items,
            CostUnit::Second => usd * items * i128::from(self.seconds),
            CostUnit::Megapixel => {
                let side = |side: u32| i128::from(if side == 0 { USUAL_SIDE } else { side });
                usd * items * side(self.width) * side(self.height) / 1_000_000
            }
            CostUnit::Reported => usd * i128::from(told?.micros) / 1_000_000,
            CostUnit::MillionReported => usd * i128::from(told?.micros) / 1_000_000_000_000,
        };
        Some(Cost {
            micros: i64::try_from(micros).ok()?,
            currency: DOLLARS,
        })
    }
}

/// What an operator says that a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedCost {
    /// Nothing is said.
    Unsaid,
    /// It goes by what the vendor reports, so that nobody knows it before.
    ByReport,
    /// In millionths of a dollar.
    Dollars(i64),
}

/// What a request for so many items as its brief asks for takes, by a back end's settings or by its route.
pub fn expected_cost(
    settings: &Value,
    backend: &dyn Backend,
    operation: &str,
    brief: &Brief,
) -> ExpectedCost {
    expected(
        settings,
        operation,
        brief,
        backend.ordered_seconds(operation, brief),
    )
}

fn expected(settings: &Value, operation: &str, brief: &Brief, seconds: u32) -> ExpectedCost {
    let costs = UnitCosts::read(settings.get(FIELD).cloned()).unwrap_or_default();
    let counter = CostCounter::new(costs.of(operation, brief), brief).ordering(seconds);
    let priced = counter.unit_cost.is_some() || settings.get(TOKEN_PRICES).is_some();
    match counter.dollars(None, brief.count.max(1)) {
        Some(cost) => ExpectedCost::Dollars(cost.micros),
        None if priced => ExpectedCost::ByReport,
        None => ExpectedCost::Unsaid,
    }
}

/// A cost for all models, or one for each.
fn by_model(value: &Value) -> Result<BTreeMap<String, UnitCost>, serde_json::Error> {
    if value.get("unit").is_some() || value.get("usd").is_some() {
        let all = UnitCost::deserialize(value)?;
        return Ok(BTreeMap::from([(OTHERS.to_owned(), all)]));
    }
    BTreeMap::deserialize(value)
}

#[cfg(test)]
mod tests {
    use atelier_contract::brief::Task;
    use serde_json::json;

    use super::*;

    fn read(written: Value) -> Result<UnitCosts, FieldError> {
        UnitCosts::read(Some(written))
    }

    fn cost(unit: &str, usd: f64) -> UnitCost {
        serde_json::from_value(json!({"unit": unit, "usd": usd})).expect("a unit cost")
    }

    fn tokens(count: f64) -> Option<Cost> {
        Cost::of(count, "tokens")
    }

    #[test]
    fn the_closest_name_decides_and_a_route_before_all() {
        let costs = read(json!({
            "*": {"unit": "item", "usd": 9},
            "vidgen": {"unit": "item", "usd": 2},
            "vidgen.generations": {"video-2": {"unit": "item", "usd": 1}},
        }));
        let costs = costs.expect("good costs");
        let of = |operation: &str, model: &str| {
            let brief = Brief::new(Task::Animate).by_model(model);
            costs.of(operation, &brief)
        };
        assert_eq!(of("vidgen.generations", "video-2"), Some(cost("item", 1.0)));
        assert_eq!(of("vidgen.generations", "other"), Some(cost("item", 2.0)));
        assert_eq!(of("facegen.swap", ""), Some(cost("item", 9.0)));
        let mut brief = Brief::new(Task::Animate).by_model("video-2");
        brief.unit_cost = Some(cost("second", 0.1));
        assert_eq!(costs.of("vidgen.generations", &brief), brief.unit_cost);
    }

    #[test]
    fn both_spellings_of_a_name_are_one_before_anybody_connects() {
        let costs = json!({"*": {"unit": "item", "usd": 0.01}, "vidgen-partner": {"unit": "item", "usd": 3}});
        let brief = Brief::new(Task::Animate);
        let expected = |costs: &Value, name| expected(&json!({"costs": costs}), name, &brief, 5);
        let partner = expected(&costs, "vidgen_partner.generations");
        assert_eq!(partner, ExpectedCost::Dollars(3_000_000));
        let twice = json!({"vidgen-partner": {"unit": "item", "usd": 1}, "vidgen_partner": {"unit": "item", "usd": 2}});
        let error = read(twice).expect_err("one of them is lost").to_string();
        assert!(error.contains("vidgen_partner is named twice"), "{error}");
    }

    #[test]
    fn what_goes_by_a_report_is_not_what_nobody_prices() {
        let brief = Brief::new(Task::Draw);
        let expected = |settings: Value| expected(&settings, "imgmodel.chat", &brief, 1);
        assert_eq!(expected(json!({})), ExpectedCost::Unsaid);
        let reported = json!({"costs": {"imgmodel_chat": {"unit": "reported", "usd": 1}}});
        assert_eq!(expected(reported), ExpectedCost::ByReport);
        let tokens = json!({"token_prices": {"out": 30}});
        assert_eq!(expected(tokens), ExpectedCost::ByReport);
    }

    #[test]
    fn every_unit_is_counted() {
        let mut brief = Brief::new(Task::Animate);
        (brief.seconds, brief.width, brief.height) = (5, 2000, 1000);
        let told = tokens(1_500_000.0);
        for (unit, usd, made, micros) in [
            ("call", 0.3, 2, 300_000),
            ("item", 0.3, 2, 600_000),
            ("second", 0.1, 2, 1_000_000),
            ("megapixel", 0.01, 3, 60_000),
            ("reported", 0.000_002, 1, 3_000_000),
            ("million_reported", 2.5, 1, 3_750_000),
        ] {
            let counter = CostCounter::new(Some(cost(unit, usd)), &brief);
            let counted = counter.made(told.clone(), made).expect("a cost");
            assert_eq!(
                (counted.micros, counted.currency),
                (micros, "USD"),
                "{unit}"
            );
        }
        let by_report = CostCounter::new(Some(cost("reported", 1.0)), &brief);
        assert_eq!(by_report.made(None, 1), None, "nothing was told");
        let per_item = CostCounter::new(Some(cost("item", 1.0)), &brief);
        let dollars = Cost::of(0.07, "USD");
        assert_eq!(
            per_item.made(dollars.clone(), 1),
            dollars,
            "the vendor knows"
        );
    }

    #[test]
    fn what_failed_costs_nothing_unless_the_vendor_says_so() {
        let brief = Brief::new(Task::Draw);
        let counter = CostCounter::new(Some(cost("item", 0.5)), &brief);
        let failed = |cost| {
            let fault = Fault {
                cost,
                ..Fault::denied("no")
            };
            counter.failed(fault).cost
        };
        assert_eq!(failed(None), None);
        assert_eq!(failed(tokens(7.0)), Cost::of(0.5, "USD"));
    }

    #[test]
    fn wrong_costs_are_named() {
        for (written, word) in [
            (json!(3), "object"),
            (json!({"vidgn": {"unit": "item", "usd": 1}}), "vidgen"),
            (json!({"vidgen": {"unit": "inch", "usd": 1}}), "megapixel"),
            (json!({"vidgen": {"unit": "item", "usd": -1}}), "0 to"),
            (json!({"vidgen": {"unit": "item"}}), "usd"),
            (
                json!({"vidgen": {"unit": "item", "usd": 1, "eur": 2}}),
                "eur",
            ),
        ] {
            let error = read(written).expect_err("bad costs").to_string();
            assert!(
                error.starts_with("costs") && error.contains(word),
                "{error}"
            );
        }
    }
}
