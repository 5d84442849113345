//! Everything that can be called, as plain data made from both tables: the families' of the contract and that of the
//! pages. The OpenAPI document is made from it, and so can be whatever else describes or drives the interface.

mod families;
mod operation;
mod pages;

pub(crate) use operation::{Answer, Operation};

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Everything that can be called.
pub(crate) struct Catalogue {
    /// The titles of the groups, in the order a reader wants them.
    pub(crate) groups: Vec<&'static str>,
    /// The operations, families first.
    pub(crate) operations: Vec<Operation>,
    /// The schemas that those of the operations refer to, as `#/components/schemas/NAME`.
    pub(crate) schemas: Map<String, Value>,
}

/// Reads both tables.
pub(crate) fn catalogue() -> Catalogue {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut operations = families::operations(&mut generator);
    operations.extend(pages::operations(&mut generator));
    Catalogue {
        groups: atelier_contract::pages::groups(),
        operations,
        schemas: generator.take_definitions(true),
    }
}
