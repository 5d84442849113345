//! Which models of the catalogue have somebody to make them now. There may be thousands, and most have their routes in common.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use atelier_contract::family::SubmitEndpoint;
use atelier_contract::models::{ModelRevision, Routes};

use super::job::routing_of;
use super::pool::Pool;
use super::routing::RoutingConstraint;
use super::status::{AskedModel, serves};

/// Which models have somebody to make them at one moment: asked once for models that are like the same and lead to the same back
/// ends.
pub struct ModelOutlook<'a> {
    pool: &'a Pool,
    now_ms: i64,
    /// Models that some worker account lists by name: what holds for them holds for no other.
    listed: HashSet<String>,
    known: HashMap<OutlookKey<'a>, bool>,
}

/// What decides where jobs of a model go, apart from its name.
#[derive(PartialEq, Eq, Hash)]
struct OutlookKey<'a> {
    like: &'a str,
    backends: RoutedBackends<'a>,
}

/// The back ends of a model, in the order of its routes, whatever they call it there.
struct RoutedBackends<'a>(&'a Routes);

impl<'a> PartialEq for RoutedBackends<'a> {
    fn eq(&self, other: &Self) -> bool {
        let backends = |routes: &'a Routes| {
            let open = routes.iter().filter(|route| route.paused.is_none());
            open.map(|route| &route.backend)
        };
        backends(self.0).eq(backends(other.0))
    }
}

impl Eq for RoutedBackends<'_> {}

impl Hash for RoutedBackends<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.backends_hash().hash(state);
    }
}

impl<'a> ModelOutlook<'a> {
    pub(super) fn new(pool: &'a Pool, now_ms: i64) -> Self {
        Self {
            listed: pool.listed_models(),
            known: HashMap::new(),
            pool,
            now_ms,
        }
    }

    /// Whether a job of a model would be taken now in one of its operations.
    pub fn serves(&mut self, submits: &[&SubmitEndpoint], row: &'a ModelRevision) -> bool {
        let definition = &row.definition;
        if self.listed.contains(&definition.name) {
            return self.asked(submits, row);
        }
        let key = OutlookKey {
            like: like_of(row),
            backends: RoutedBackends(&definition.routes),
        };
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.asked(submits, row);
        self.known.insert(key, found);
        found
    }

    fn asked(&self, submits: &[&SubmitEndpoint], row: &ModelRevision) -> bool {
        let like = like_of(row);
        let model = AskedModel {
            // An operation as a whole has no model of its own.
            name: match atelier_contract::operation(like) {
                Some(_) => None,
                None => like.rsplit('/').next(),
            },
            routing: routing_of("", RoutingConstraint::Any, Some(row)),
        };
        let mut submits = submits.iter();
        submits.any(|submit| serves(self.pool, submit, model, self.now_ms))
    }
}

fn like_of(row: &ModelRevision) -> &str {
    let definition = &row.definition;
    definition.like.as_deref().unwrap_or(&definition.name)
}
