//! Groups of accounts and what they pay: rules over the catalogue and the tariff, each from a day on. The most specific one that
//! fits a request counts, and nothing multiplies but that one.

mod bill;
mod check;
mod definition;
mod price_group;
mod shown;
mod subject;
#[cfg(test)]
mod tests;
mod words;

pub use bill::{Bill, BillError};
pub use definition::{GroupDefinition, GroupRevision, GroupRule, day_ms};
pub use price_group::{PriceGroup, PriceGroups};
pub use subject::BillSubject;
pub(crate) use words::is_rule_word;
