//! What a body says about a back end or a worker account; operators and callers say it in the same words.

use atelier_contract::body::{self as contract_body, Fields};
use atelier_contract::fields::{Count, Flag, Text};
use atelier_contract::{Quota, Refusal};
use atelier_engine::{BackendChange, WorkerChange};
use serde::Deserialize;
use serde_json::Value;

/// The vendor a body names.
pub(super) fn vendor(fields: &Fields) -> Result<String, Refusal> {
    #[derive(Deserialize)]
    struct Named {
        vendor: Text<100>,
    }
    let named = fields.iter().filter(|(name, _)| *name == "vendor");
    let named = named.map(|(name, value)| (name.clone(), value.clone()));
    let Named { vendor } = contract_body::read(named.collect())?;
    Ok(vendor.to_string())
}

/// What a body says about a back end.
pub(super) fn backend(fields: &Fields) -> Result<BackendChange, Refusal> {
    #[derive(Deserialize)]
    struct Given {
        #[serde(default)]
        name: Option<Text<100>>,
        #[serde(default)]
        base_url: Option<Text<2048>>,
        #[serde(default)]
        operations: Option<Vec<String>>,
        #[serde(default)]
        rank: Option<Count<-1_000_000, 1_000_000, 0>>,
        #[serde(default)]
        enabled: Option<Flag<true>>,
    }
    // Settings are the vendor's own: nothing in them is absent because it is empty.
    let mut fields = fields.clone();
    let settings = fields.remove("settings").filter(|value| !value.is_null());
    let given: Given = contract_body::read(fields)?;
    Ok(BackendChange {
        name: given.name.map(|text| text.to_string()),
        base_url: given.base_url.map(|text| text.to_string()),
        settings,
        operations: given.operations,
        rank: given.rank.map(Count::get),
        enabled: given.enabled.map(Flag::on),
    })
}

/// What a body says about a worker account.
pub(super) fn worker(fields: &Fields) -> Result<WorkerChange, Refusal> {
    #[derive(Deserialize)]
    struct Given {
        #[serde(default)]
        name: Option<Text<100>>,
        #[serde(default)]
        credential: Option<Text<8192>>,
        #[serde(default)]
        concurrency: Option<Count<0, 100_000, 3>>,
        #[serde(default)]
        per_minute: Option<Count<0, 100_000, 0>>,
        #[serde(default)]
        per_hour: Option<Count<0, 100_000, 0>>,
        #[serde(default)]
        polls_per_minute: Option<Count<0, 100_000, 600>>,
        #[serde(default)]
        weight: Option<Count<1, 100_000, 1>>,
        #[serde(default)]
        models: Option<Vec<String>>,
        #[serde(default)]
        modes: Option<Vec<String>>,
        #[serde(default)]
        hours: Option<Text<200>>,
        #[serde(default)]
        spend_cap: Option<Quota>,
        #[serde(default)]
        state: Option<Text<20>>,
        #[serde(default)]
        clear_spent: Flag<false>,
        #[serde(default)]
        clear_health: Flag<false>,
    }
    let mut fields = fields.clone();
    fields.remove("settings");
    // Elsewhere nothing means absent; here it takes a limit away.
    let no_hours = fields.get("hours") == Some(&Value::String(String::new()));
    let no_cap = fields.get("spend_cap") == Some(&Value::Null);
    let given: Given = contract_body::read(fields)?;
    if given.spend_cap.is_some_and(|cap| cap < Quota::ZERO) {
        return Err(Refusal::invalid("spend_cap", "must not be negative"));
    }
    let hours = given.hours.map(|text| text.to_string());
    Ok(WorkerChange {
        name: given.name.map(|text| text.to_string()),
        credential: given.credential.map(|text| text.to_string()),
        concurrency: given.concurrency.map(Count::get),
        per_minute: given.per_minute.map(Count::get),
        per_hour: given.per_hour.map(Count::get),
        polls_per_minute: given.polls_per_minute.map(Count::get),
        weight: given.weight.map(Count::get),
        models: given.models,
        modes: given.modes,
        hours: hours.or_else(|| no_hours.then(String::new)),
        spend_cap: given.spend_cap.map(Some).or_else(|| no_cap.then_some(None)),
        state: given.state.map(|text| text.to_string()),
        clear_spent: given.clear_spent.on(),
        clear_health: given.clear_health.on(),
    })
}

/// The names of the fields that were given, for the record; their values may be secret.
pub(super) fn names(fields: &Fields) -> String {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    names.join(" ")
}
