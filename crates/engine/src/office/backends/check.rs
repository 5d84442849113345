//! Whether a back end can be set up as it is described. What its fields may say is the contract's; whether the vendor
//! takes them, only the vendor knows.

use atelier_backends::{Secret, Setup};
use atelier_contract::{Code, Refusal};
use atelier_store::BackendRow;
use serde_json::Value;

use crate::engine::Engine;

impl Engine {
    /// Whether a back end can be set up as it is described.
    pub(in crate::office) fn check_backend(&self, row: &BackendRow) -> Result<(), Refusal> {
        let spec = &row.spec;
        let vendor = self.vendors.iter().find(|one| one.name == &*spec.vendor);
        let Some(vendor) = vendor else {
            let known: Vec<&str> = self.vendors.iter().map(|vendor| vendor.name).collect();
            let message = format!("must be one of {}", known.join(", "));
            return Err(Refusal::invalid("vendor", message));
        };
        let http = self
            .outbound
            .vendor(&spec.base_url, row.owner.is_none())
            .map_err(|why| refused("base_url", &why))?;
        let setup = Setup {
            http,
            credential: Secret::new("to be given"),
            settings: Value::Object(spec.settings.clone()),
        };
        vendor
            .connect(setup)
            .map(|_| ())
            .map_err(|why| refused("settings", &why))
    }
}

/// What is wrong, with the field it names in front, if it names one.
pub(super) fn refused(field: &str, why: &str) -> Refusal {
    match why.split_once(": ") {
        Some((named, rest))
            if named
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c)) =>
        {
            Refusal::invalid(named, rest)
        }
        _ => Refusal::invalid(field, why),
    }
}

/// Refuses what only the configuration may change.
pub(super) fn undeclared(row: &BackendRow) -> Result<(), Refusal> {
    if row.declared {
        return Err(Refusal::new(
            Code::Conflict,
            "this back end comes from the configuration; change it there",
        ));
    }
    Ok(())
}
