//! Which worker account gets a job: a pure function over a snapshot of all of them.

use std::collections::HashSet;

use atelier_contract::pages::hours::Hours;
use atelier_contract::{BackendId, Quota, Speed};

use crate::names::WorkerName;
use crate::runner::pool::health::{Fitness, Health};
use crate::runner::pool::instant::{INSTANT_JOBS_MOST, InstantOperations};
use crate::runner::pool::pace::Pace;
use crate::runner::pool::routes::{ModelRouting, RouteMatch};
use crate::runner::routing::RoutingConstraint;

/// What a job asks of a worker account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requirements<'a> {
    pub(crate) operation: &'a str,
    pub(crate) speed: Speed,
    pub(crate) model: Option<&'a str>,
    /// Where the operator's catalogue has its model run.
    pub(crate) routing: ModelRouting<'a>,
    pub(crate) lane: RoutingConstraint<'a>,
    /// The worker account that made the job it follows.
    pub(crate) follows: Option<&'a WorkerName>,
    pub(crate) price: Quota,
    /// What is known from earlier tries.
    pub(crate) past_failures: &'a PastFailures,
    /// Its account has no job where there are spare slots.
    pub(crate) first: bool,
    /// Whether it is long: a clip, or one of many that came together.
    pub(crate) long: bool,
    /// What it leaves to short work of its account, if it is long.
    pub(crate) headroom: Headroom,
}

/// What long work leaves of a vendor's slots to short work of the same account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Headroom {
    /// Nothing: there is no such work.
    #[default]
    Nothing,
    /// One of several slots: such work came lately, or waits.
    OneOfSeveral,
    /// One slot, and be it the only one: such work waits.
    One,
}

/// What became of a job at those who were asked before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PastFailures {
    /// Back ends that said they cannot do it: never asked again.
    pub(crate) unable: Vec<BackendId>,
    /// Worker accounts that failed twice: others are preferred.
    pub(crate) failing: Vec<WorkerName>,
}

impl PastFailures {
    /// Nobody was asked before.
    pub(crate) const NONE: &'static Self = &Self {
        unable: Vec::new(),
        failing: Vec::new(),
    };
}

/// Whether a worker account takes work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Active,
    /// It finishes what it has.
    Draining,
    /// It rests; what it has goes on.
    Paused,
    /// It gets copies of jobs that ended; what it has goes on.
    Rehearsal,
}

/// A worker account as the choice sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    pub(crate) name: WorkerName,
    /// Its back end, as its name says.
    pub(crate) backend: BackendId,
    /// What the operator calls that back end.
    pub(crate) title: String,
    pub(crate) owner: Option<String>,
    /// The place of its back end in the order of fall-back, lowest first.
    pub(crate) rank: i64,
    /// It only serves what nobody else serves.
    pub(crate) last_resort: bool,
    /// What it can and may do.
    pub(crate) operations: HashSet<&'static str>,
    pub(crate) models: Vec<String>,
    pub(crate) speeds: Vec<Speed>,
    pub(crate) hours: Hours,
    /// How far the time of day is ahead of the service's own time.
    pub(crate) ahead_ms: i64,
    pub(crate) spend_cap: Option<Quota>,
    pub(crate) spent: Quota,
    /// The most its vendor may take, and what it took, in millionths of what it counts in.
    pub(crate) cost_cap: Option<i64>,
    pub(crate) cost: i64,
    pub(crate) weight: i64,
    pub(crate) concurrency: usize,
    /// Slots besides, for one job each of accounts that have none.
    pub(crate) spare: usize,
    /// Slots besides, for short work while long work has others.
    pub(crate) beside: usize,
    /// Jobs it has in hand, on all nodes.
    pub(crate) busy: usize,
    /// Those of them on this node that are long.
    pub(crate) long: usize,
    /// Those besides that need no place, because their work takes no time.
    pub(crate) ahead: usize,
    pub(crate) mode: Mode,
    pub(crate) pace: Pace,
    pub(crate) health: Health,
    /// Work that takes no time here.
    pub(crate) quick: InstantOperations,
}

/// How a worker account stands to a wish right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    /// It can begin at once.
    Free,
    /// It is well and will be free, perhaps by this time.
    Busy(i64),
    /// It cannot be counted on before this time.
    Unhealthy(i64),
    /// Somebody has to change it first.
    Out,
}

/// What came of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This one, by its place in the snapshot.
    Take(usize),
    /// Nobody now, but perhaps from this time on.
    Wait(i64),
    /// Nobody, unless somebody changes something.
    Nobody,
}

impl Candidate {
    /// Whether it belongs to a lane, be it well or not.
    pub(crate) fn is_in(&self, lane: RoutingConstraint<'_>) -> bool {
        lane.admits(self.owner.as_deref(), &self.backend)
    }

    /// Whether it could do the job at all, were it told to work, free and well, as far as is known before it is asked.
    pub(crate) fn could(&self, requirements: &Requirements<'_>) -> bool {
        // Most routes lead elsewhere, and that is the cheaper question.
        (!is_routed(requirements) || self.route(&requirements.routing).is_some())
            && self.is_able(requirements)
    }

    /// The same wherever routes lead.
    fn is_able(&self, requirements: &Requirements<'_>) -> bool {
        // What follows a job stays where that was made: another server of the same caller does not know it.
        let made_elsewhere = |maker: &WorkerName| *maker.backend() != self.backend;
        let strange = matches!(requirements.lane, RoutingConstraint::Own(_))
            && requirements.follows.is_some_and(made_elsewhere);
        let is_listed = |wanted: &str| self.models.iter().any(|model| model == wanted);
        self.is_in(requirements.lane)
            && !strange
            && self.operations.contains(requirements.operation)
            && (self.speeds.is_empty() || self.speeds.contains(&requirements.speed))
            && (self.models.is_empty()
                || requirements.model.is_none_or(is_listed)
                || requirements.routing.name.is_some_and(is_listed))
    }

    /// The best of the routes that lead here; one is enough, because all of them end at the same worker account.
    pub(crate) fn route<'a>(&self, routing: &ModelRouting<'a>) -> Option<RouteMatch<'a>> {
        routing.best_to(&self.backend, &self.title, self.rank)
    }

    /// Whether it has spent what it may, for a job of this price.
    pub(crate) fn is_spent(&self, requirements: &Requirements<'_>) -> bool {
        let over = |cap: Quota| self.spent + requirements.price > cap;
        self.spend_cap.is_some_and(over) || self.cost_cap.is_some_and(|cap| self.cost >= cap)
    }

    /// Whether it has spent what it may, whatever comes next.
    pub(crate) fn is_used_up(&self) -> bool {
        self.spend_cap.is_some_and(|cap| self.spent >= cap)
            || self.cost_cap.is_some_and(|cap| self.cost >= cap)
    }

    /// When its hours and its pace allow the next start, at the earliest.
    pub(crate) fn free_ms(&self, now_ms: i64) -> i64 {
        let opens_ms = self.hours.opens_ms(now_ms + self.ahead_ms) - self.ahead_ms;
        opens_ms.max(self.pace.next_ms(now_ms))
    }

    fn readiness(&self, requirements: &Requirements<'_>, now_ms: i64) -> Readiness {
        if self.is_spent(requirements) {
            return Readiness::Out;
        }
        match self.health.fitness(now_ms) {
            Fitness::Out => return Readiness::Out,
            Fitness::Unfit(until_ms) => return Readiness::Unhealthy(until_ms),
            Fitness::Probed => return Readiness::Unhealthy(now_ms),
            Fitness::Fit | Fitness::Probe => {}
        }
        let opens_ms = self.hours.opens_ms(now_ms + self.ahead_ms) - self.ahead_ms;
        if opens_ms > now_ms {
            return Readiness::Unhealthy(opens_ms);
        }
        let next_ms = self.pace.next_ms(now_ms);
        let quick = self.quick.is(requirements.operation) && self.ahead < INSTANT_JOBS_MOST;
        if next_ms > now_ms || !(self.has_slot(requirements) || quick) {
            return Readiness::Busy(next_ms);
        }
        Readiness::Free
    }

    /// Whether a place is free.
    pub(crate) fn has_slot(&self, requirements: &Requirements<'_>) -> bool {
        let spare = if requirements.first { self.spare } else { 0 };
        let slots = self.concurrency + spare + self.beside_long(!requirements.long);
        self.busy + self.left(requirements) < slots
    }

    /// Slots that short work has besides now.
    pub(crate) fn beside_long(&self, short: bool) -> usize {
        if short && self.long > 0 {
            self.beside
        } else {
            0
        }
    }

    /// Slots that a wish leaves free. Whoever has some besides for short work needs none of the others.
    fn left(&self, requirements: &Requirements<'_>) -> usize {
        let headroom = match requirements.headroom {
            Headroom::Nothing => false,
            Headroom::OneOfSeveral => self.concurrency > 1,
            Headroom::One => true,
        };
        usize::from(requirements.long && headroom && self.beside == 0)
    }

    /// Whether it has less to do for its weight than another.
    fn is_idler(&self, other: &Self) -> bool {
        let load = |one: &Self, two: &Self| (one.busy as i64 + 1) * two.weight.max(1);
        let (mine, theirs) = (load(self, other), load(other, self));
        mine < theirs || (mine == theirs && self.name < other.name)
    }
}

/// A worker account that could do a job, by its place in the snapshot, and the route that leads there. Routes are looked up once:
/// a model may have many, and the pool is locked meanwhile.
#[derive(Clone, Copy)]
struct SuitedCandidate<'a> {
    place: usize,
    candidate: &'a Candidate,
    /// Its place in the order of fall-back for this job: the route's own, or else its back end's.
    rank: i64,
    /// The route that leads there.
    route: Option<RouteMatch<'a>>,
}

/// The best of those that are free in one place of the order. Scores of routes are worked out only where two are compared.
struct FreeChoice<'a> {
    routing: ModelRouting<'a>,
    job_hash: Option<u64>,
    best: Option<SuitedCandidate<'a>>,
    best_score: Option<f64>,
}

impl<'a> SuitedCandidate<'a> {
    /// A candidate for a job; `None` for one that cannot do it.
    fn of(place: usize, candidate: &'a Candidate, requirements: &Requirements<'a>) -> Option<Self> {
        let route = candidate.route(&requirements.routing);
        if (route.is_none() && is_routed(requirements)) || !candidate.is_able(requirements) {
            return None;
        }
        Some(Self {
            place,
            candidate,
            rank: route.map_or(candidate.rank, |route| route.rank),
            route,
        })
    }
}

impl<'a> FreeChoice<'a> {
    fn new(routing: ModelRouting<'a>) -> Self {
        Self {
            routing,
            job_hash: None,
            best: None,
            best_score: None,
        }
    }

    /// Takes somebody free into account: its routes share the work by their weight, and the worker accounts that one route leads to
    /// by what they have to do.
    fn offer(&mut self, one: &SuitedCandidate<'a>) {
        let Some(best) = self.best else {
            self.best = Some(*one);
            return;
        };
        match (one.route, best.route) {
            (Some(mine), Some(theirs)) if one.candidate.backend != best.candidate.backend => {
                let routing = self.routing;
                let job_hash = *self.job_hash.get_or_insert_with(|| routing.job_hash());
                let best_score = self
                    .best_score
                    .get_or_insert_with(|| theirs.score(job_hash));
                let score = mine.score(job_hash);
                if score > *best_score {
                    (self.best, self.best_score) = (Some(*one), Some(score));
                }
            }
            _ if one.candidate.is_idler(best.candidate) => {
                // Another worker account of the same back end has the same score.
                self.best = Some(*one);
            }
            _ => {}
        }
    }
}

/// Whether a job runs only where its routes lead. What follows a job stays where that was made, and callers' own worker accounts
/// are none of the catalogue's.
pub(crate) fn is_routed(requirements: &Requirements<'_>) -> bool {
    requirements.lane == RoutingConstraint::Any && !requirements.routing.routes.is_empty()
}

/// Chooses a worker account. The first back end in order that is well gets the job, or has it wait when it is only
/// busy; the next ones are fallen back to when it is ill. Within one place of the order, weight shares the work. Routes of the
/// operator's catalogue say who is asked at all, and have ranks and weights of their own.
pub(crate) fn choose<'a>(
    requirements: &Requirements<'a>,
    candidates: impl Iterator<Item = &'a Candidate>,
    now_ms: i64,
) -> Choice {
    let places = candidates.enumerate();
    let mut suited = Vec::with_capacity(places.size_hint().0);
    suited.extend(places.filter_map(|(place, one)| SuitedCandidate::of(place, one, requirements)));
    let is_maker = |one: &&SuitedCandidate<'_>| Some(&one.candidate.name) == requirements.follows;
    // It is there and may be told to work again; nobody else knows what it made.
    let mut makers = suited.iter().filter(is_maker);
    if makers.any(|one| one.candidate.mode != Mode::Active) {
        return Choice::Nobody;
    }
    suited.retain(|one| one.candidate.mode == Mode::Active);
    if requirements.lane == RoutingConstraint::Any
        && !is_routed(requirements)
        && suited.iter().any(|one| !one.candidate.last_resort)
    {
        suited.retain(|one| !one.candidate.last_resort);
    }
    let past_failures = requirements.past_failures;
    suited.retain(|one| !past_failures.unable.contains(&one.candidate.backend));
    let mut makers = suited.iter().filter(is_maker);
    let maker = makers
        .find(|one| one.candidate.readiness(requirements, now_ms) != Readiness::Out)
        .copied();
    if let Some(maker) = maker {
        suited = vec![maker];
    }
    suited.sort_by_key(|one| one.rank);
    // Most jobs have not failed anywhere yet.
    if !past_failures.failing.is_empty() {
        let others = suited.iter().copied();
        let others = others.filter(|one| !past_failures.failing.contains(&one.candidate.name));
        let others: Vec<SuitedCandidate<'_>> = others.collect();
        if let Choice::Take(place) = best_of(&others, requirements, now_ms) {
            return Choice::Take(place);
        }
    }
    best_of(&suited, requirements, now_ms)
}

/// Chooses among those that suit, in the order of their back ends.
fn best_of<'a>(
    suited: &[SuitedCandidate<'a>],
    requirements: &Requirements<'a>,
    now_ms: i64,
) -> Choice {
    let mut wait_ms: Option<i64> = None;
    for group in suited.chunk_by(|one, two| one.rank == two.rank) {
        let (mut free, mut only_busy) = (FreeChoice::new(requirements.routing), false);
        for one in group {
            match one.candidate.readiness(requirements, now_ms) {
                Readiness::Free => free.offer(one),
                Readiness::Out => {}
                Readiness::Busy(next_ms) => {
                    only_busy = true;
                    wait_ms = Some(wait_ms.map_or(next_ms, |wait| wait.min(next_ms)));
                }
                Readiness::Unhealthy(until_ms) => {
                    wait_ms = Some(wait_ms.map_or(until_ms, |wait| wait.min(until_ms)));
                }
            }
        }
        match free.best {
            Some(best) => return Choice::Take(best.place),
            None if only_busy => break,
            None => {}
        }
    }
    wait_ms.map_or(Choice::Nobody, |wait| Choice::Wait(wait.max(now_ms)))
}

/// Whether somebody would take a job, now or later. Where routes lead, one worker account is enough, and no other is looked at.
pub(crate) fn is_open<'a>(
    requirements: &Requirements<'a>,
    mut candidates: impl Iterator<Item = &'a Candidate>,
    now_ms: i64,
) -> bool {
    if !is_routed(requirements) {
        return choose(requirements, candidates, now_ms) != Choice::Nobody;
    }
    candidates.any(|one| {
        one.mode == Mode::Active
            && one.could(requirements)
            && one.readiness(requirements, now_ms) != Readiness::Out
    })
}

#[cfg(test)]
mod tests;
