//! How the endpoints of a family do, by speed and by path, from the pool and from measurements.

use atelier_contract::family::{Family, Submit};
use atelier_contract::{EndpointStatus, FamilyStatus, ModeStatus, Quota, Refusal, Speed};

use crate::floor::lane::Lane;
use crate::floor::pool::Pool;
use crate::floor::pool::choice::{Choice, Earlier, Leaves, Wish};
use crate::house::House;

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

/// Durations looked at.
const LATEST: i64 = 50;

/// How the endpoints of a family are, by speed and by path.
pub(super) async fn status(
    house: &House,
    pool: &Pool,
    family: &Family,
) -> Result<FamilyStatus, Refusal> {
    const SPEEDS: [Speed; 3] = [Speed::Relax, Speed::Fast, Speed::Turbo];
    let now_ms = house.steady_ms();
    let submits = family.submits;
    let endpoint = |submit: &Submit| {
        let outlooks = SPEEDS.map(|speed| outlook(pool, submit, None, speed, now_ms));
        let (status, message) = best(outlooks.into_iter());
        EndpointStatus {
            name: submit.name.to_owned(),
            path: submit.path.to_owned(),
            status,
            running_message: message.to_owned(),
        }
    };
    Ok(FamilyStatus {
        relax: mode(house, pool, submits, Speed::Relax).await,
        fast: mode(house, pool, submits, Speed::Fast).await,
        turbo: mode(house, pool, submits, Speed::Turbo).await,
        endpoints: submits.iter().map(endpoint).collect(),
    })
}

/// How one speed does over some operations.
async fn mode(house: &House, pool: &Pool, submits: &[Submit], speed: Speed) -> ModeStatus {
    let operations: Vec<String> = submits
        .iter()
        .map(|submit| submit.name.to_owned())
        .collect();
    let now_ms = house.steady_ms();
    let outlooks = submits
        .iter()
        .map(|submit| outlook(pool, submit, None, speed, now_ms));
    let (status, message) = best(outlooks);
    let durations = house
        .store
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

/// Whether a job of an operation with a model would be taken now on the operator's back ends, be it to wait.
pub(super) fn serves(pool: &Pool, submit: &Submit, model: &str, now_ms: i64) -> bool {
    let mut speeds = Speed::ALL.into_iter();
    speeds.any(|speed| outlook(pool, submit, Some(model), speed, now_ms) != Outlook::Down)
}

/// What a job of an operation would meet right now on the operator's back ends.
fn outlook(
    pool: &Pool,
    submit: &Submit,
    model: Option<&str>,
    speed: Speed,
    now_ms: i64,
) -> Outlook {
    let wish = Wish {
        operation: submit.name,
        speed,
        model,
        lane: Lane::Any,
        follows: None,
        price: Quota::ZERO,
        earlier: Earlier::NONE,
        first: false,
        long: submit.is_long(),
        leaves: Leaves::Nothing,
    };
    match pool.outlook(&wish, now_ms) {
        Choice::Take(_) => Outlook::Running,
        Choice::Wait(_) => Outlook::Waiting,
        Choice::Nobody => Outlook::Down,
    }
}
