//! The models of the service in use, for whoever completes a line: names that an operator made are in no table here.

use std::time::Duration;

use atelier_contract::catalogue::Catalogue;
use atelier_contract::models::models;
use serde_json::Value;

use crate::client::Client;
use crate::client::profile::{Profiles, file};

/// A shell waits for what it is offered: names come within this time, or there are none.
const PATIENCE: Duration = Duration::from_millis(700);
/// The pages that list models, for callers and for operators.
const FOR_CALLERS: &str = "account.models";
const FOR_OPERATORS: &str = "admin.models";

/// Which models are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum ModelsWanted<'a> {
    /// Those that requests of an operation may name.
    Of(&'a str),
    /// Every one of the operator's.
    Every,
}

/// What models there are, by name.
pub(super) type ModelNames<'a> = dyn Fn(ModelsWanted<'_>) -> Vec<String> + 'a;

/// The names that the service of a profile gives now; none when it does not answer in time.
pub(super) fn ask(
    catalogue: &'static Catalogue,
    profile: Option<&str>,
    wanted: ModelsWanted<'_>,
) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    let answer = runtime.block_on(answer(catalogue, profile, wanted));
    answer.map_or_else(Vec::new, |answer| names(&answer, wanted))
}

async fn answer(
    catalogue: &'static Catalogue,
    profile: Option<&str>,
    wanted: ModelsWanted<'_>,
) -> Option<Value> {
    let profiles = Profiles::read(&file().ok()?).ok()?;
    let client = Client::new(profiles.chosen(profile).ok()?, catalogue).ok()?;
    let (page, secret) = match wanted {
        ModelsWanted::Of(_) => (FOR_CALLERS, &client.profile.key),
        ModelsWanted::Every => (FOR_OPERATORS, &client.profile.token),
    };
    let path = &client.operation(page).ok()?.path;
    let request = client.http.get(format!("{}{path}", client.profile.url));
    let request = request.bearer_auth(secret).timeout(PATIENCE);
    request.send().await.ok()?.json().await.ok()
}

/// The names and aliases in an answer.
fn names(answer: &Value, wanted: ModelsWanted<'_>) -> Vec<String> {
    let fits = |row: &&Value| match wanted {
        ModelsWanted::Every => true,
        ModelsWanted::Of(operation) => {
            let mut listed = row["operations"].as_array().into_iter().flatten();
            listed.any(|one| one["name"] == operation)
        }
    };
    let rows = answer["data"].as_array().into_iter().flatten();
    let named = rows.filter(fits).flat_map(|row| {
        let aliases = row["aliases"].as_array().into_iter().flatten();
        std::iter::once(&row["name"]).chain(aliases)
    });
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a model of the operator's may be like: every built-in model with its family, and every operation.
pub(super) fn likes(catalogue: &Catalogue) -> Vec<String> {
    let built_in = models().iter().flat_map(|model| {
        let families = model.submits.iter();
        let families = families.filter_map(|submit| submit.name.split('.').next());
        let mut likes: Vec<String> = families
            .map(|family| format!("{family}/{}", model.name))
            .collect();
        likes.dedup();
        likes
    });
    let making = catalogue.operations.iter();
    let making = making.filter(|operation| operation.makes.is_some());
    built_in
        .chain(making.map(|operation| operation.name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_an_operation_takes_is_offered_to_it() {
        let answer = json!({ "data": [
            { "name": "seedream-4-5", "operations": [{ "name": "imgmodel.generations" }], "aliases": ["seedream"] },
            { "name": "kling-v3", "operations": [{ "name": "vidgen_partner.generations" }] },
        ] });
        let pictures = names(&answer, ModelsWanted::Of("imgmodel.generations"));
        assert_eq!(pictures, ["seedream-4-5", "seedream"]);
        assert_eq!(names(&answer, ModelsWanted::Every).len(), 3);
        assert!(names(&json!("no JSON"), ModelsWanted::Every).is_empty());
    }
}
