//! Back ends in the settings: the same shape that the operator API takes, with every name checked.

use std::collections::BTreeSet;

use atelier_contract::pages::backends::DeclaredBackend;
use atelier_contract::pages::workers::WorkerSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use toml::{Table, Value};

/// Reads the back ends; a name that their shape does not have is refused.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<DeclaredBackend>, D::Error> {
    let tables = Vec::<Table>::deserialize(deserializer)?;
    tables.into_iter().map(one).collect()
}

fn one<E: de::Error>(table: Table) -> Result<DeclaredBackend, E> {
    known::<DeclaredBackend, E>("backends", &table)?;
    let accounts = table.get("accounts").and_then(Value::as_array);
    for account in accounts.into_iter().flatten().filter_map(Value::as_table) {
        known::<WorkerSpec, E>("backends.accounts", account)?;
    }
    Value::Table(table)
        .try_into()
        .map_err(|error| E::custom(format_args!("backends: {error}")))
}

fn known<T: JsonSchema, E: de::Error>(place: &str, table: &Table) -> Result<(), E> {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    let names: BTreeSet<&str> = schema
        .get("properties")
        .and_then(|properties| properties.as_object())
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    match table.keys().find(|name| !names.contains(name.as_str())) {
        Some(name) => Err(E::custom(format_args!("{place}.{name}: no such setting"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<DeclaredBackend, String> {
        let table: Table = text.parse().expect("TOML");
        one::<toml::de::Error>(table).map_err(|error| error.to_string())
    }

    #[test]
    fn a_back_end_in_the_settings_has_the_shape_that_the_operator_api_takes() {
        let declared = read_text(
            "name = \"up\"\nvendor = \"relay\"\nbase_url = \"http://h\"\nrank = 5\n\
             settings = { poll_ms = 7 }\n\
             [[accounts]]\nname = \"a\"\ncredential = \"hush\"\nmodes = [\"fast\"]\nspend_cap = 0.5\n",
        )
        .expect("a back end");
        assert_eq!(declared.spec.rank.get(), 5);
        assert_eq!(declared.spec.settings["poll_ms"], 7);
        let account = &declared.accounts[0];
        assert_eq!(account.concurrency.get(), 3, "as everywhere");
        assert_eq!(
            account.spend_cap.map(|cap| cap.to_string()).as_deref(),
            Some("0.5")
        );
        assert!(!format!("{declared:?}").contains("hush"));
    }

    #[test]
    fn a_wrong_name_or_number_in_the_settings_is_named() {
        let back_end = "name = \"up\"\nvendor = \"relay\"\nbase_url = \"http://h\"\n";
        for (more, wanted) in [
            ("rnak = 5\n", "backends.rnak: no such setting"),
            (
                "accounts = [{ name = \"a\", wieght = 1 }]\n",
                "backends.accounts.wieght: no such setting",
            ),
            (
                "accounts = [{ name = \"a\", weight = 0 }]\n",
                "must be a whole number from 1 to 100000",
            ),
        ] {
            let error = read_text(&format!("{back_end}{more}")).expect_err(more);
            assert!(error.contains(wanted), "{error}");
        }
    }
}
