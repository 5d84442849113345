//! The vendors that can be set up at run time: a name in the configuration, and how to build a worker account of it.

use std::sync::Arc;

pub use atelier_contract::Secret;
use atelier_contract::canonical_name;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::backend::Backend;
use crate::field_error::FieldError;
use crate::http::VendorHttp;
use crate::unit_costs::UnitCosts;
use crate::vendors::recorded_meanings;
use crate::videos::OversizePolicy;
use crate::worker::Worker;

/// What stands for the credential where settings are checked before there is a worker account.
pub const CREDENTIAL_TO_COME: &str = "to be given";

/// What a worker account is built from.
#[derive(Clone)]
pub struct Setup {
    /// The way to the vendor: its address, limits and the address rules.
    pub http: VendorHttp,
    /// The worker account's credential.
    pub credential: Secret,
    /// The vendor's own settings, as the operator wrote them.
    pub settings: Value,
}

/// What an operator wrote as a vendor's settings; the usual ones when nothing is written.
pub(crate) fn read_settings<T: Default + DeserializeOwned>(
    written: Value,
) -> Result<T, FieldError> {
    match written {
        Value::Null => Ok(T::default()),
        given => serde_json::from_value(given).map_err(FieldError::settings),
    }
}

/// The same for settings with flattened parts. serde does not list the known fields there, so the names are checked here.
pub(crate) fn read_flattened<T: Default + DeserializeOwned + JsonSchema>(
    written: Value,
) -> Result<T, FieldError> {
    check_names(&written, &schema_of::<T>())?;
    read_settings(written)
}

/// Refuses a field that the schema does not have.
pub(crate) fn check_names(written: &Value, schema: &Value) -> Result<(), FieldError> {
    let Some(known) = schema["properties"].as_object() else {
        return Ok(());
    };
    let mut names = written.as_object().into_iter().flat_map(Map::keys);
    match names.find(|name| !known.contains_key(*name)) {
        Some(other) => {
            let known: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
            let why = format!(
                "unknown field `{other}`, expected one of {}",
                known.join(", ")
            );
            Err(FieldError::settings(why))
        }
        None => Ok(()),
    }
}

/// What an operator may write as a vendor's settings, as JSON Schema.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T);
    // What the type is called here is nobody else's business.
    schema.insert("title".to_owned(), "Settings".into());
    schema.to_value()
}

/// A setting that every vendor may have, which is none of its own.
fn taken(settings: &mut Value, name: &str) -> Option<Value> {
    settings.as_object_mut()?.remove(name)
}

/// Settings whose entries are families and operations, by whichever vendor.
const BY_OPERATION: &[&str] = &["costs", "models", "operations", "workflows"];

/// Spells families and operations as the tables do; `operation/variant` names a variant.
fn name_canonically(settings: &mut Value) -> Result<(), FieldError> {
    let spelled = |name: &str| {
        let (operation, variant) = match name.split_once('/') {
            Some((operation, variant)) => (operation, Some(variant)),
            None => (name, None),
        };
        let operation = canonical_name(operation)?;
        Some(variant.map_or_else(
            || operation.to_owned(),
            |variant| format!("{operation}/{variant}"),
        ))
    };
    for field in BY_OPERATION {
        match settings.get_mut(field) {
            Some(Value::Object(entries)) => {
                for (name, value) in std::mem::take(entries) {
                    let spelled = spelled(&name).unwrap_or_else(|| name.clone());
                    if entries.insert(spelled.clone(), value).is_some() {
                        let why = format!("{spelled} is named twice, in both spellings");
                        return Err(FieldError::new(*field, why));
                    }
                }
            }
            Some(Value::Array(entries)) => {
                for entry in entries {
                    if let Some(name) = entry.as_str().and_then(spelled) {
                        *entry = name.into();
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// What every vendor may be told about clips that are longer or larger than was asked.
fn oversized(settings: &mut Value) -> Result<OversizePolicy, FieldError> {
    match taken(settings, "oversized") {
        None => Ok(OversizePolicy::default()),
        Some(word) => serde_json::from_value(word)
            .map_err(|_| FieldError::new("oversized", "must be fit, keep or refuse")),
    }
}

/// A vendor that this program can talk to.
#[derive(Clone, Copy)]
pub struct Vendor {
    /// Its name in the configuration and the operator API.
    pub name: &'static str,
    /// One sentence for operators.
    pub about: &'static str,
    /// Whether a worker account needs a credential.
    pub needs_credential: bool,
    /// Where it usually is; nothing for programs that operators run themselves.
    pub address: &'static str,
    /// The JSON Schema of its own settings.
    pub settings: fn() -> Value,
    /// The mappings that come with a universal vendor, as JSON; nothing for one that needs none.
    pub ready: &'static str,
    /// Builds a worker account, or says what is wrong with its settings.
    pub build: fn(Setup) -> Result<Worker, FieldError>,
}

impl Vendor {
    /// A worker account of this vendor that keeps its credential to itself, or what is wrong with its settings.
    pub fn connect(&self, mut setup: Setup) -> Result<Arc<dyn Backend>, FieldError> {
        name_canonically(&mut setup.settings)?;
        let oversized = oversized(&mut setup.settings)?;
        let costs = UnitCosts::read(taken(&mut setup.settings, "costs"))?;
        let worker = (self.build)(setup)?.handling(oversized).costing(costs);
        Ok(Arc::new(worker))
    }

    /// What each answer that is kept with the settings means by them, as whoever writes one reads it.
    pub fn recorded_meanings(&self, mut setup: Setup) -> Result<Vec<Value>, FieldError> {
        name_canonically(&mut setup.settings)?;
        oversized(&mut setup.settings)?;
        UnitCosts::read(taken(&mut setup.settings, "costs"))?;
        recorded_meanings(self, setup)
    }
}
