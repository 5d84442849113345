//! Models of the operator.

use atelier_contract::pages::models::ModelView;
use atelier_engine::ModelReport;
use schemars::JsonSchema;
use serde::Serialize;

/// A model as the operator sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SoldModel")]
pub(crate) struct SoldModel {
    /// What it is, with its revision.
    #[serde(flatten)]
    pub(crate) view: ModelView,
    /// Whether the configuration declares it.
    pub(crate) declared: bool,
    /// How its routes are, in their order.
    pub(crate) route_health: Vec<RouteCondition>,
}

/// How a route is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RouteCondition {
    /// The back end, as the route names it.
    pub(crate) backend: String,
    /// Whether it can be given a job now.
    pub(crate) usable: bool,
    /// Problem, in a sentence.
    pub(crate) problem: Option<String>,
}

impl From<ModelReport> for SoldModel {
    fn from(report: ModelReport) -> Self {
        let health = report.route_health.into_iter();
        Self {
            view: ModelView::of(&report.row),
            declared: report.declared,
            route_health: health
                .map(|one| RouteCondition {
                    backend: one.backend,
                    usable: one.usable,
                    problem: one.problem,
                })
                .collect(),
        }
    }
}
