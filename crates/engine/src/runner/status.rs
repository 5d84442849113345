//! How the endpoints of a family do, by speed and by path, from the pool and from measurements.

use atelier_contract::family::{Family, SubmitEndpoint};
use atelier_contract::{EndpointStatus, FamilyStatus, ModeStatus, Quota, Refusal, Speed};

use crate::context::Context;
use crate::runner::pool::Pool;
use crate::runner::pool::choice::{Choice, Headroom, PastFailures, Requirements};
use crate::runner::pool::routes::ModelRouting;
use crate::runner::routing::RoutingConstraint;

/// From worst to best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outlook {
    Down,
    Waiting,
    Running,
}

impl Outlook {
    const fn words(self) -> (u16, &'static str) {
        match self {
            Self::Down => (503, "no back end can take it"),
            Self::Waiting => (200, "every back end is busy or resting; jobs wait"),
            Self::Running => (200, "running"),
        }
    }
}

/// How many of the latest durations count.
const LATEST: i64 = 50;

/// How the endpoints of a family are, by speed and by path.
pub(super) async fn status(
    context: &Context,
    pool: &Pool,
    family: &Family,
) -> Result<FamilyStatus, Refusal> {
    const SPEEDS: [Speed; 3] = [Speed::Relax, Speed::Fast, Speed::Turbo];
    let now_ms = context.steady_ms();
    let submits = family.submits;
    let endpoint = |submit: &SubmitEndpoint| {
        let outlooks =
            SPEEDS.map(|speed| outlook(pool, submit, AskedModel::default(), speed, now_ms));
        let (status, message) = best(outlooks.into_iter());
        EndpointStatus {
            name: submit.name.to_owned(),
            path: submit.path.to_owned(),
            status,
            running_message: message.to_owned(),
        }
    };
    Ok(FamilyStatus {
        relax: mode(context, pool, submits, Speed::Relax).await,
        fast: mode(context, pool, submits, Speed::Fast).await,
        turbo: mode(context, pool, submits, Speed::Turbo).await,
        endpoints: submits.iter().map(endpoint).collect(),
    })
}

/// How one speed does over some operations.
async fn mode(
    context: &Context,
    pool: &Pool,
    submits: &[SubmitEndpoint],
    speed: Speed,
) -> ModeStatus {
    let operations: Vec<String> = submits
        .iter()
        .map(|submit| submit.name.to_owned())
        .collect();
    let now_ms = context.steady_ms();
    let outlooks = submits
        .iter()
        .map(|submit| outlook(pool, submit, AskedModel::default(), speed, now_ms));
    let (status, message) = best(outlooks);
    let durations = context
        .store()
        .statistics()
        .recent_durations(&operations, speed, LATEST)
        .await
        .unwrap_or_default();
    let count = durations.len().max(1) as f64;
    let average_s = durations.iter().sum::<i64>() as f64 / count / 1000.0;
    ModeStatus {
        status,
        running_message: message.to_owned(),
        average_execute: (average_s * 10.0).round() / 10.0,
    }
}

fn best(outlooks: impl Iterator<Item = Outlook>) -> (u16, &'static str) {
    outlooks.max().unwrap_or(Outlook::Down).words()
}

/// The model that a job would name, and where the operator's catalogue has it run.
#[derive(Clone, Copy, Default)]
pub(super) struct AskedModel<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) routing: ModelRouting<'a>,
}

/// Whether a job of an operation with a model would be taken now on the operator's back ends, be it to wait.
pub(super) fn serves(
    pool: &Pool,
    submit: &SubmitEndpoint,
    model: AskedModel<'_>,
    now_ms: i64,
) -> bool {
    let mut speeds = Speed::ALL.into_iter();
    speeds.any(|speed| pool.is_open(&wish(submit, model, speed), now_ms))
}

/// What a job of an operation would meet right now on the operator's back ends.
fn outlook(
    pool: &Pool,
    submit: &SubmitEndpoint,
    model: AskedModel<'_>,
    speed: Speed,
    now_ms: i64,
) -> Outlook {
    match pool.outlook(&wish(submit, model, speed), now_ms) {
        Choice::Take(_) => Outlook::Running,
        Choice::Wait(_) => Outlook::Waiting,
        Choice::Nobody => Outlook::Down,
    }
}

/// What a job of an operation asks of the operator's back ends.
fn wish<'a>(submit: &SubmitEndpoint, model: AskedModel<'a>, speed: Speed) -> Requirements<'a> {
    Requirements {
        operation: submit.name,
        speed,
        model: model.name,
        routing: model.routing,
        lane: RoutingConstraint::Any,
        follows: None,
        price: Quota::ZERO,
        past_failures: PastFailures::NONE,
        first: false,
        long: submit.is_long(),
        headroom: Headroom::Nothing,
    }
}
