//! Routes of the operator's catalogue, as the choice of a worker account uses them: which of them lead to a back end, and how the
//! ones of equal rank share the work. Pure: the same job goes the same way on every node.

use atelier_contract::models::{Route, Routes, joint_hash, share_hash};

/// Where the operator's catalogue has a job's model run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelRouting<'a> {
    /// The job, by which routes of equal rank share the work.
    pub(crate) job_id: &'a str,
    /// The name of its model in the catalogue.
    pub(crate) name: Option<&'a str>,
    /// Empty: back ends map the model themselves.
    pub(crate) routes: &'a Routes,
}

impl Default for ModelRouting<'_> {
    fn default() -> Self {
        Self {
            job_id: "",
            name: None,
            routes: Routes::NONE,
        }
    }
}

/// A route that leads to a back end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteMatch<'a> {
    pub(crate) route: &'a Route,
    /// Its place in the order of fall-back, lowest first.
    pub(crate) rank: i64,
    /// By which it shares the work.
    hash: u64,
}

impl RouteMatch<'_> {
    /// The highest of one rank gets the job. Weighted rendezvous hashing: over many jobs every route has the highest score as often
    /// as its weight says among those that are compared, so that shares hold however few jobs there are at once, and one that is
    /// away takes nothing from the others' order.
    pub(crate) fn score(&self, job_hash: u64) -> f64 {
        // Evenly between 0 and 1, and never either.
        let even = ((joint_hash(job_hash, self.hash) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        f64::from(self.route.weight) / -even.ln()
    }
}

impl<'a> ModelRouting<'a> {
    /// What the job shares the work by.
    pub(crate) fn job_hash(&self) -> u64 {
        share_hash(&[self.job_id])
    }

    /// The best of the routes to a back end, which routes name by its identifier or by what the operator calls it. A route
    /// without a rank has the back end's.
    pub(crate) fn best_to(
        &self,
        backend: &str,
        title: &str,
        usual_rank: i64,
    ) -> Option<RouteMatch<'a>> {
        let routes = self.routes;
        if routes.is_empty() {
            return None;
        }
        let matched = |place: usize| RouteMatch {
            route: &routes[place],
            rank: routes[place].rank.unwrap_or(usual_rank),
            hash: routes.share_hash(place),
        };
        let mut best: Option<RouteMatch<'a>> = None;
        let by_title = Some(title).filter(|title| *title != backend);
        for name in [Some(backend), by_title].into_iter().flatten() {
            for place in routes.to(name) {
                let other = matched(place);
                best = Some(match best {
                    Some(best) if !self.is_before(&other, &best) => best,
                    _ => other,
                });
            }
        }
        best
    }

    /// Whether one route to a back end goes before another one to the same.
    fn is_before(&self, one: &RouteMatch<'_>, other: &RouteMatch<'_>) -> bool {
        if one.rank != other.rank {
            return one.rank < other.rank;
        }
        let job_hash = self.job_hash();
        one.score(job_hash) > other.score(job_hash)
    }
}

#[cfg(test)]
mod tests;
