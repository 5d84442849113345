//! From a stored worker account to what talks to its vendor.

use std::sync::Arc;

use atelier_backends::{Backend, Secret, Setup, Vendor};
use atelier_store::{BackendRow, WorkerRow};
use serde_json::Value;

use crate::house::House;

/// The place a credential is sealed for.
pub(crate) fn credential_place(worker_id: &str) -> String {
    format!("worker:{worker_id}")
}

/// Builds what talks to the vendor; a caller's own address must obey the rules for strangers' addresses.
pub(crate) fn build(
    house: &House,
    vendors: &[Vendor],
    backend: &BackendRow,
    row: &WorkerRow,
) -> Result<Arc<dyn Backend>, String> {
    let vendor = vendors
        .iter()
        .find(|vendor| vendor.name == &*backend.spec.vendor)
        .ok_or_else(|| format!("vendor: there is no {}", &*backend.spec.vendor))?;
    let credential = if row.credential.is_empty() {
        Secret::default()
    } else {
        let place = credential_place(&row.id);
        let sealer = house.keyring.sealer();
        let opened = sealer.open(&row.credential, place.as_bytes());
        let opened = opened.map_err(|_| "the credential was sealed with another master key")?;
        Secret::new(String::from_utf8_lossy(&opened))
    };
    if vendor.needs_credential && credential.is_empty() {
        return Err(format!("credential: {} needs one", vendor.name));
    }
    let http = house
        .outbound
        .vendor(&backend.spec.base_url, backend.owner.is_none())?;
    vendor.connect(Setup {
        http,
        credential,
        settings: Value::Object(backend.spec.settings.clone()),
    })
}
