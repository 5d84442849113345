//! From a stored worker account to what talks to its vendor.

use std::sync::Arc;

use atelier_backends::{Backend, FieldError, Secret, Setup, Vendor};
use atelier_store::{BackendRow, WorkerRow};
use serde_json::Value;

use crate::context::Context;

/// The place a credential is sealed for.
pub(crate) fn credential_place(worker_id: &str) -> String {
    format!("worker:{worker_id}")
}

/// Builds what talks to the vendor; a caller's own address must obey the rules for strangers' addresses.
pub(crate) fn build(
    context: &Context,
    vendors: &[Vendor],
    backend: &BackendRow,
    row: &WorkerRow,
) -> Result<Arc<dyn Backend>, FieldError> {
    let vendor = vendors
        .iter()
        .find(|vendor| vendor.name == &*backend.spec.vendor)
        .ok_or_else(|| unknown(vendors))?;
    let credential = if row.credential.is_empty() {
        Secret::default()
    } else {
        let place = credential_place(&row.id);
        let sealer = context.keyring().sealer();
        let opened = sealer.open(&row.credential, place.as_bytes());
        let opened = opened
            .map_err(|_| FieldError::new("credential", "was sealed with another master key"))?;
        Secret::new(String::from_utf8_lossy(&opened))
    };
    if vendor.needs_credential && credential.is_empty() {
        let why = format!("{} needs one", vendor.name);
        return Err(FieldError::new("credential", why));
    }
    let http = context
        .outbound()
        .vendor(&backend.spec.base_url, backend.owner.is_none())?;
    vendor.connect(Setup {
        http,
        credential,
        settings: Value::Object(backend.spec.settings.clone()),
    })
}

/// Whether a back end can be set up as it is described. What its fields may say is the contract's; whether the vendor
/// takes them, only the vendor knows.
pub(crate) fn check(
    context: &Context,
    vendors: &[Vendor],
    row: &BackendRow,
) -> Result<(), FieldError> {
    let spec = &row.spec;
    let vendor = vendors.iter().find(|one| one.name == &*spec.vendor);
    let vendor = vendor.ok_or_else(|| unknown(vendors))?;
    let http = context
        .outbound()
        .vendor(&spec.base_url, row.owner.is_none())?;
    let setup = Setup {
        http,
        credential: Secret::new("to be given"),
        settings: Value::Object(spec.settings.clone()),
    };
    vendor.connect(setup).map(|_| ())
}

fn unknown(vendors: &[Vendor]) -> FieldError {
    let known: Vec<&str> = vendors.iter().map(|vendor| vendor.name).collect();
    FieldError::new("vendor", format!("must be one of {}", known.join(", ")))
}
