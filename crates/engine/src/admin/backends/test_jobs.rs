//! The jobs that show whether the routes of a back end work: one for each route, or the reason why there is none.

use atelier_backends::backend::LostSubmit;
use atelier_backends::support::SupportLevel;
use atelier_backends::{Backend, ExpectedCost, expected_cost};
use atelier_contract::models::{ModelDefinition, Route, operations_of};
use atelier_contract::{FAMILIES, operation};
use atelier_store::BackendRow;
use serde_json::Value;

use super::cheapest::{CheapRequest, cheapest};
use super::verify::{TestJob, TestPrice};

/// The jobs for all routes of a back end: a model of the catalogue each that leads there, and one of each family that it maps
/// itself.
pub(super) fn test_jobs(
    row: &BackendRow,
    backend: &dyn Backend,
    models: &[ModelDefinition],
) -> Vec<TestJob> {
    let mut all = Vec::new();
    let leads = |name: &str| name == row.id || name == &*row.spec.name;
    for model in models.iter().filter(|model| model.enabled) {
        for route in model.routes.iter().filter(|route| leads(&route.backend)) {
            let label = match &route.model {
                Some(there) => format!("{}={there}", model.name),
                None => model.name.clone(),
            };
            let names = operations_of(model).into_iter();
            let found = best(row, backend, names, Some((model, route)));
            all.extend(found.map(|(name, wanted)| job(row, backend, &label, name, wanted)));
        }
    }
    for family in FAMILIES {
        let names = family.submits.iter().map(|submit| submit.name);
        let found = best(row, backend, names, None);
        all.extend(found.map(|(name, wanted)| job(row, backend, name, name, wanted)));
    }
    all
}

/// The first of some operations that can be tried, or else the first that the back end serves and why it cannot be.
fn best(
    row: &BackendRow,
    backend: &dyn Backend,
    names: impl Iterator<Item = &'static str>,
    route: Option<(&ModelDefinition, &Route)>,
) -> Option<(&'static str, Result<CheapRequest, String>)> {
    let mut first = None;
    for name in names.filter(|name| allowed(row, name) && backend.serves(name)) {
        let wanted = wanted_of(backend, name, route);
        if wanted.is_ok() {
            return Some((name, wanted));
        }
        first.get_or_insert((name, wanted));
    }
    first
}

/// Whether the operator lets the back end do an operation.
fn allowed(row: &BackendRow, name: &str) -> bool {
    let family = operation(name).map_or("", |(family, _)| family.name);
    let listed = &row.spec.operations;
    listed.is_empty() || listed.iter().any(|one| one == family || one == name)
}

/// The cheapest request of an operation, as a route has it, where the back end takes it.
fn wanted_of(
    backend: &dyn Backend,
    name: &str,
    route: Option<(&ModelDefinition, &Route)>,
) -> Result<CheapRequest, String> {
    let (_, submit) = operation(name).ok_or("it is no operation")?;
    let wanted = cheapest(submit, route.map(|(model, _)| model));
    let mut wanted =
        wanted.ok_or("it needs a picture, a clip or an earlier job: try it by hand")?;
    if let Some((model, route)) = route {
        wanted.brief.model.clone_from(&model.name);
        wanted.brief.vendor_model.clone_from(&route.model);
        wanted.brief.unit_cost = route.cost;
    }
    let support = backend.support(name, &wanted.brief).into_iter();
    let mut refused = support.filter(|one| one.support == SupportLevel::Refused);
    match refused.next() {
        Some(one) => Err(format!("the back end refuses {}: {}", one.field, one.why)),
        None => Ok(wanted),
    }
}

fn job(
    row: &BackendRow,
    backend: &dyn Backend,
    route: &str,
    operation: &'static str,
    wanted: Result<CheapRequest, String>,
) -> TestJob {
    let settings = Value::Object(row.spec.settings.clone());
    let expected =
        |wanted: &CheapRequest| expected_cost(&settings, backend, operation, &wanted.brief);
    let price = match wanted.as_ref().map(expected) {
        Ok(ExpectedCost::Dollars(micros)) => TestPrice::Known(micros),
        Ok(ExpectedCost::ByReport) => TestPrice::ByReport,
        // Whoever is asked again without harm costs nothing, unless the operator says otherwise.
        Ok(ExpectedCost::Unsaid) if backend.lost_submit() == LostSubmit::Repeat => TestPrice::Free,
        Ok(ExpectedCost::Unsaid) | Err(_) => TestPrice::Unsaid,
    };
    TestJob {
        route: route.to_owned(),
        operation,
        wanted,
        price,
    }
}
