//! Back ends and models in the settings: the same shapes that the operator API takes, with every name checked.

use std::collections::BTreeSet;

use atelier_contract::did_you_mean;
use atelier_contract::models::ModelDefinition;
use atelier_contract::pages::backends::{BackendSpec, DeclaredBackend};
use atelier_contract::pages::workers::WorkerSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use toml::{Table, Value};

use super::wording::humanize;

/// Reads the back ends; a name that their shape does not have is refused.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<DeclaredBackend>, D::Error> {
    let tables = Vec::<Table>::deserialize(deserializer)?.into_iter();
    let backends = tables.enumerate();
    backends
        .map(|(place, table)| backend(&format!("backends[{place}]"), table))
        .collect()
}

/// A back end and its accounts are read one by one, because what is inside of another shape is not told by its path.
fn backend<E: de::Error>(at: &str, mut table: Table) -> Result<DeclaredBackend, E> {
    known::<DeclaredBackend, E>(at, &table)?;
    let accounts = match table.remove("accounts") {
        None => Vec::new(),
        Some(Value::Array(accounts)) => accounts,
        Some(_) => {
            return Err(E::custom(format_args!(
                "{at}.accounts: must be a list of tables"
            )));
        }
    };
    let accounts = accounts.into_iter().enumerate().map(|(place, account)| {
        let at = format!("{at}.accounts[{place}]");
        if let Value::Table(account) = &account {
            known::<WorkerSpec, E>(&at, account)?;
        }
        typed(&at, account)
    });
    Ok(DeclaredBackend {
        accounts: accounts.collect::<Result<_, E>>()?,
        spec: typed::<BackendSpec, E>(at, Value::Table(table))?,
    })
}

/// Reads a value; what is wrong with it is told with its path.
fn typed<T: DeserializeOwned, E: de::Error>(at: &str, value: Value) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (path, why) = (error.path().to_string(), humanize(error.inner().message()));
        match path.as_str() {
            "." => E::custom(format_args!("{at}: {why}")),
            path => E::custom(format_args!("{at}.{path}: {why}")),
        }
    })
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
    typed(&at, Value::Table(table))
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
        Some(name) => {
            let meant = did_you_mean(name, names);
            Err(E::custom(format_args!(
                "{place}.{name}: no such setting{meant}"
            )))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<DeclaredBackend, String> {
        let table: Table = text.parse().expect("TOML");
        backend::<toml::de::Error>("backends[1]", table).map_err(|error| error.to_string())
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
            (
                "rnak = 5\n",
                "backends[1].rnak: no such setting; did you mean rank?",
            ),
            ("rank = \"a\"\n", "backends[1].rank: must be a whole number"),
            (
                "accounts = [{ name = \"a\" }, { name = \"b\", wieght = 1 }]\n",
                "backends[1].accounts[1].wieght: no such setting; did you mean weight?",
            ),
            (
                "accounts = [{ name = \"a\", weight = 0 }]\n",
                "backends[1].accounts[0].weight: must be a whole number from 1 to 100000",
            ),
            (
                "accounts = 7\n",
                "backends[1].accounts: must be a list of tables",
            ),
        ] {
            let error = read_text(&format!("{back_end}{more}")).expect_err(more);
            assert!(error.contains(wanted), "{error}");
        }
    }
}
