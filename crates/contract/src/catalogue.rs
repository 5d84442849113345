//! Everything that can be called, as plain data made from both tables: the families' here and that of the pages, which
//! stands beside the functions that answer. The OpenAPI document and the command line are made from it.

mod families;
mod operation;
mod pages;

pub use operation::{ApiOperation, Callback, ResponseKind};

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::pages::{OperationGroup, Page, groups};

/// Everything that can be called.
pub struct Catalogue {
    /// The groups, in the order a reader wants them.
    pub groups: Vec<OperationGroup>,
    /// The operations, families first.
    pub operations: Vec<ApiOperation>,
    /// The schemas that those of the operations refer to, as `#/components/schemas/NAME`.
    pub schemas: Map<String, Value>,
}

impl Catalogue {
    /// Reads the families' table and a table of pages.
    pub fn of<H>(pages: &[Page<H>]) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let mut generator = settings.into_generator();
        let mut operations = families::operations(&mut generator);
        operations.extend(pages::operations(pages, &mut generator));
        Self {
            groups: groups(),
            operations,
            schemas: generator.take_definitions(true),
        }
    }

    /// The operation with a name.
    pub fn find(&self, name: &str) -> Option<&ApiOperation> {
        self.operations.iter().find(|one| one.name == name)
    }
}
