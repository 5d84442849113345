//! Routes of the operator's catalogue, as the choice of a worker account uses them: which of them lead to a back end, and how the
//! ones of equal rank share the work. Pure: the same job goes the same way on every node.

use atelier_contract::models::Route;

/// Where the operator's catalogue has a job's model run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelRouting<'a> {
    /// The job, by which routes of equal rank share the work.
    pub(crate) job_id: &'a str,
    /// The name of its model in the catalogue.
    pub(crate) name: Option<&'a str>,
    /// Empty: back ends map the model themselves.
    pub(crate) routes: &'a [Route],
}

/// A route that leads to a back end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteMatch<'a> {
    pub(crate) route: &'a Route,
    /// Its place in the order of fall-back, lowest first.
    pub(crate) rank: i64,
    /// The highest of one rank gets the job.
    pub(crate) score: f64,
}

impl<'a> ModelRouting<'a> {
    /// The best of the routes to a back end, which routes name by its identifier or by what the operator calls it. A route
    /// without a rank has the back end's.
    pub(crate) fn best_to(
        &self,
        backend: &str,
        title: &str,
        usual_rank: i64,
    ) -> Option<RouteMatch<'a>> {
        let leads = |route: &&'a Route| route.backend == backend || route.backend == title;
        let found = self.routes.iter().filter(leads).map(|route| RouteMatch {
            route,
            rank: route.rank.unwrap_or(usual_rank),
            score: score(self.job_id, backend, route),
        });
        found.reduce(|best, other| {
            let better = (other.rank, -other.score) < (best.rank, -best.score);
            if better { other } else { best }
        })
    }
}

/// Weighted rendezvous hashing: over many jobs every route has the highest score as often as its weight says among those that are
/// compared, so that shares hold however few jobs there are at once, and one that is away takes nothing from the others' order.
fn score(job_id: &str, backend: &str, route: &Route) -> f64 {
    let model = route.model.as_deref().unwrap_or_default();
    let hash = hash(&[job_id, backend, model]);
    // Evenly between 0 and 1, and never either.
    let even = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    f64::from(route.weight) / -even.ln()
}

/// FNV-1a with the last steps of SplitMix64, so that texts that differ in one letter are far apart. It must never change: all
/// nodes share the work by it.
fn hash(texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for text in texts {
        text.bytes().for_each(&mut add);
        // No text has this byte, so that the border between two counts.
        add(0xff);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests;
