//! Rules of groups, without any store or service: what counts, what it comes to, and what is refused.

use serde_json::{Value, json};

use super::{Bill, BillSubject, GroupDefinition, GroupRevision, GroupRule, PriceGroup};
use crate::body;
use crate::brief::{Brief, Task};
use crate::models::{ModelCatalogue, ModelDefinition, ModelRevision, UnitPrice};
use crate::operation::Order;
use crate::tariff::{Price, Tariff};
use crate::time::date_ms;
use crate::{Quota, Refusal};

mod check;
mod random;
mod rules;
mod shown;

/// 2026-11-18, noon.
const NOW: &str = "2026-11-18T12:00:00Z";

fn now_ms() -> i64 {
    date_ms(NOW).expect("a moment")
}

fn tariff() -> Tariff {
    Tariff::parse(include_str!("../../../../config/tariff.toml")).expect("a tariff")
}

fn defined(rules: &Value) -> Result<GroupDefinition, Refusal> {
    let fields = json!({ "name": "vip", "rules": rules });
    body::read_stored(fields.as_object().expect("an object").clone())
}

fn group(rules: &Value) -> PriceGroup {
    PriceGroup::new(GroupRevision {
        definition: defined(rules).expect("a group"),
        revision: 1,
        removed: false,
        changed_ms: 0,
    })
}

/// A catalogue with a model that has a price of its own, and one that costs what the tariff says.
fn models() -> ModelCatalogue {
    let row = |value: Value| {
        let fields = value.as_object().expect("an object").clone();
        ModelRevision {
            definition: body::read_stored::<ModelDefinition>(fields).expect("a definition"),
            revision: 1,
            removed: false,
            changed_ms: 0,
        }
    };
    let price = json!({ "unit": "item", "amount": 0.4 });
    let rows = [
        json!({ "name": "Fox-1", "like": "imgmodel/image-1", "aliases": ["fox"], "price": price }),
        json!({ "name": "owl", "like": "imgmodel/image-1" }),
    ];
    ModelCatalogue::new(rows.map(row).into())
}

/// A request of artgen's imagine in fast mode, which costs 4.
fn imagine(now_ms: i64) -> BillSubject<'static> {
    BillSubject {
        operation: "artgen.imagine",
        family: "artgen",
        model: None,
        custody: false,
        now_ms,
    }
}

fn fast() -> Order {
    Order::new(
        Price::of("artgen.imagine").by("fast"),
        Brief::new(Task::Draw),
    )
}

fn quota(text: &str) -> Quota {
    Quota::parse(text).expect("an amount")
}

/// An order that a model's own price makes: so many items.
fn of_model(amount: &str, count: u32) -> Order {
    let price: UnitPrice =
        serde_json::from_value(json!({ "unit": "item", "amount": quota(amount) }))
            .expect("a price");
    let brief = Brief::new(Task::Draw).times(count);
    let total = price.total("Fox-1", &body::Fields::new(), &brief);
    let mut order = Order::new(Price::of("imgmodel.generations.image-1.low"), brief);
    order.catalogue_price = Some(total.expect("a total"));
    order
}

fn billed(order: &Order, subject: &BillSubject<'_>, group: &PriceGroup) -> Bill {
    Bill::of(order, &tariff(), subject, Some(group)).expect("a bill")
}
