//! Back ends and models in the settings: the same shapes that the operator API takes, with every name checked.

use std::collections::BTreeSet;

use atelier_contract::models::ModelDefinition;
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

/// Reads the models; a name that their shape does not have is refused.
pub(super) fn read_models<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ModelDefinition>, D::Error> {
    let tables = Vec::<Table>::deserialize(deserializer)?.into_iter();
    let models = tables.enumerate();
    models.map(|(place, table)| model(place, table)).collect()
}

fn model<E: de::Error>(place: usize, mut table: Table) -> Result<ModelDefinition, E> {
    let at = format!("models[{place}]");
    known::<ModelDefinition, E>(&at, &table)?;
    // A date may stand without quotes here.
    if let Some(Value::Datetime(date)) = table.get("retires") {
        let date = Value::String(date.to_string());
        table.insert("retires".to_owned(), date);
    }
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().message());
        match path.as_str() {
            "." => E::custom(format_args!("{at}: {why}")),
            path => E::custom(format_args!("{at}.{path}: {why}")),
        }
    })
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

    fn read_model(text: &str) -> Result<ModelDefinition, String> {
        let table: Table = text.parse().expect("TOML");
        model::<toml::de::Error>(3, table).map_err(|error| error.to_string())
    }

    #[test]
    fn a_model_in_the_settings_has_the_shape_that_the_operator_api_takes() {
        let model = read_model(
            "name = \"seedream\"\nlike = \"imgmodel/image-1\"\nretires = 2027-01-31\n\
             fields = { n = { max = 4 } }\nprice = { unit = \"item\", amount = 0.4 }\n\
             [[routes]]\nbackend = \"ark\"\nweight = 3\n",
        )
        .expect("a model");
        assert_eq!(model.retires.as_deref(), Some("2027-01-31"));
        assert_eq!(model.fields["n"].max, Some(4.0));
        assert_eq!((model.routes[0].weight, model.enabled), (3, true));
        assert!(model.price.is_some());
    }

    #[test]
    fn a_wrong_name_in_a_model_of_the_settings_is_named_with_its_place() {
        for (text, wanted) in [
            (
                "name = \"a\"\nlkie = \"imgmodel/image-1\"\n",
                "models[3].lkie: no such setting",
            ),
            (
                "name = \"a\"\nroutes = [{ backend = \"x\", weight = 0 }]\n",
                "models[3].routes",
            ),
            ("like = \"imgmodel/image-1\"\n", "models[3]"),
        ] {
            let error = read_model(text).expect_err(text);
            assert!(error.contains(wanted), "{error}");
        }
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
