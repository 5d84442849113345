//! From a stored worker account to what talks to its vendor.

use std::sync::Arc;

use atelier_backends::{Backend, CREDENTIAL_TO_COME, FieldError, Secret, Setup, Vendor};
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
    let vendor = vendor_of(vendors, backend)?;
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
    let vendor = vendor_of(vendors, row)?;
    vendor.connect(setup_to_come(context, row)?).map(|_| ())
}

/// What each answer means that is kept with the settings of a back end.
pub(crate) fn recorded_meanings(
    context: &Context,
    vendors: &[Vendor],
    row: &BackendRow,
) -> Result<Vec<Value>, FieldError> {
    let vendor = vendor_of(vendors, row)?;
    vendor.recorded_meanings(setup_to_come(context, row)?)
}

fn vendor_of<'a>(vendors: &'a [Vendor], row: &BackendRow) -> Result<&'a Vendor, FieldError> {
    let mut all = vendors.iter();
    all.find(|one| one.name == &*row.spec.vendor)
        .ok_or_else(|| unknown(vendors))
}

/// What a back end is checked with before it has a worker account.
fn setup_to_come(context: &Context, row: &BackendRow) -> Result<Setup, FieldError> {
    let spec = &row.spec;
    Ok(Setup {
        http: context
            .outbound()
            .vendor(&spec.base_url, row.owner.is_none())?,
        credential: Secret::new(CREDENTIAL_TO_COME),
        settings: Value::Object(spec.settings.clone()),
    })
}

fn unknown(vendors: &[Vendor]) -> FieldError {
    let known: Vec<&str> = vendors.iter().map(|vendor| vendor.name).collect();
    FieldError::new("vendor", format!("must be one of {}", known.join(", ")))
}
