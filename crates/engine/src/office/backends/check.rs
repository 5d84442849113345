//! What may be said about a back end or a worker account, field by field.

use atelier_backends::{Secret, Setup};
use atelier_contract::{FAMILIES, Refusal};
use atelier_store::{BackendRow, WorkerRow};
use serde_json::Value;

use super::{BackendChange, WorkerChange, refused, undeclared};
use crate::engine::Engine;
use crate::pool::hours::Hours;
use crate::pool::load::{covers, speed};

/// Characters of a name.
const NAME_MOST: usize = 100;
/// Characters of a credential.
const CREDENTIAL_MOST: usize = 8_192;
/// Characters of a back end's settings.
const SETTINGS_MOST: usize = 1_000_000;
/// Starts an hour, jobs at once, weight: no vendor takes more, and every start of an hour is remembered.
const NUMBER_MOST: i64 = 100_000;

impl Engine {
    /// A back end with a change made, if it makes sense.
    pub(crate) fn changed_backend(
        &self,
        mut row: BackendRow,
        change: BackendChange,
    ) -> Result<BackendRow, Refusal> {
        undeclared(&row)?;
        if let Some(given) = change.name {
            row.name = String::from(given.trim());
        }
        row.base_url = change.base_url.unwrap_or(row.base_url);
        row.rank = change.rank.unwrap_or(row.rank);
        row.enabled = change.enabled.unwrap_or(row.enabled);
        if let Some(settings) = change.settings {
            row.settings = object(&settings)?;
        }
        if let Some(operations) = change.operations {
            row.operations = known_operations(&operations)?;
        }
        self.check_backend(&row)?;
        Ok(row)
    }

    /// Whether a back end can be set up as it is described.
    pub(crate) fn check_backend(&self, row: &BackendRow) -> Result<(), Refusal> {
        name("name", &row.name)?;
        let vendor = self.vendors.iter().find(|one| one.name == row.vendor);
        let Some(vendor) = vendor else {
            let known: Vec<&str> = self.vendors.iter().map(|vendor| vendor.name).collect();
            let message = format!("must be one of {}", known.join(", "));
            return Err(Refusal::invalid("vendor", message));
        };
        let http = self
            .outbound
            .vendor(&row.base_url, row.owner.is_none())
            .map_err(|why| refused("base_url", &why))?;
        let settings = serde_json::from_str(&row.settings)
            .map_err(|error| Refusal::invalid("settings", error))?;
        let setup = Setup {
            http,
            credential: Secret::new("to be given"),
            settings,
        };
        vendor
            .connect(setup)
            .map(|_| ())
            .map_err(|why| refused("settings", &why))
    }

    /// A worker account with a change made, if it makes sense.
    pub(crate) fn changed_worker(
        &self,
        mut row: WorkerRow,
        change: WorkerChange,
    ) -> Result<WorkerRow, Refusal> {
        if let Some(given) = change.name {
            name("name", &given)?;
            row.name = String::from(given.trim());
        }
        if let Some(credential) = change.credential {
            if credential.len() > CREDENTIAL_MOST || credential.contains('\0') {
                return Err(Refusal::invalid(
                    "credential",
                    "must be a text of at most 8192 bytes",
                ));
            }
            row.credential = self.seal_credential(&row.id, credential.trim());
        }
        let numbers = [
            ("concurrency", change.concurrency, &mut row.concurrency, 0),
            ("per_minute", change.per_minute, &mut row.per_minute, 0),
            ("per_hour", change.per_hour, &mut row.per_hour, 0),
            (
                "polls_per_minute",
                change.polls_per_minute,
                &mut row.polls_per_minute,
                0,
            ),
            ("weight", change.weight, &mut row.weight, 1),
        ];
        for (field, given, place, least) in numbers {
            let given = given.unwrap_or(*place);
            if !(least..=NUMBER_MOST).contains(&given) {
                let message = format!("must be {least} to {NUMBER_MOST}");
                return Err(Refusal::invalid(field, message));
            }
            *place = given;
        }
        if let Some(models) = change.models {
            row.models = Value::from(models).to_string();
        }
        if let Some(modes) = change.modes {
            if modes.iter().any(|word| speed(word).is_none()) {
                return Err(Refusal::invalid(
                    "modes",
                    "must be some of relax, fast, turbo",
                ));
            }
            row.modes = Value::from(modes).to_string();
        }
        if let Some(hours) = change.hours {
            Hours::parse(&hours).map_err(|why| Refusal::invalid("hours", why))?;
            row.hours = hours;
        }
        row.spend_cap = change.spend_cap.unwrap_or(row.spend_cap);
        if let Some(state) = change.state {
            if !["active", "draining", "paused"].contains(&state.as_str()) {
                return Err(Refusal::invalid(
                    "state",
                    "must be active, draining or paused",
                ));
            }
            row.state = state;
        }
        Ok(row)
    }
}

fn name(field: &str, text: &str) -> Result<(), Refusal> {
    let text = text.trim();
    let usable = !text.is_empty() && text.chars().count() <= NAME_MOST;
    if usable && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Refusal::invalid(field, "must be 1 to 100 characters"))
}

fn object(settings: &Value) -> Result<String, Refusal> {
    let text = settings.to_string();
    if !settings.is_object() || text.len() > SETTINGS_MOST {
        return Err(Refusal::invalid(
            "settings",
            "must be an object of at most a million characters",
        ));
    }
    Ok(text)
}

fn known_operations(entries: &[String]) -> Result<String, Refusal> {
    let operations = || FAMILIES.iter().flat_map(|family| family.submits);
    let unknown = entries
        .iter()
        .find(|entry| !operations().any(|submit| covers(entry, submit.name)));
    match unknown {
        Some(entry) => Err(Refusal::invalid(
            "operations",
            format!("{entry} is no operation and no family"),
        )),
        None => Ok(Value::from(entries.to_vec()).to_string()),
    }
}
