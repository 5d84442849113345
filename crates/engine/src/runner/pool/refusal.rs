//! What nobody in the pool would take is refused before it is accepted.

use atelier_backends::support::{FieldSupport, SupportLevel};
use atelier_contract::brief::Brief;

use crate::runner::pool::Pool;
use crate::runner::pool::choice::Requirements;
use crate::runner::pool::worker::PoolWorker;
use crate::runner::routing::RoutingConstraint;

impl Pool {
    /// Why everybody who could be given a job refuses what it asks for; nothing where somebody may take it.
    pub(crate) fn refusal(
        &self,
        requirements: &Requirements<'_>,
        brief: &Brief,
    ) -> Option<FieldSupport> {
        self.refused_by_all(&self.members(), requirements, brief)
    }

    /// The same while the pool is looked at for something else as well.
    pub(super) fn refused_by_all(
        &self,
        members: &[PoolWorker],
        requirements: &Requirements<'_>,
        brief: &Brief,
    ) -> Option<FieldSupport> {
        if self.others_may(requirements.lane, &[]) {
            return None;
        }
        let routing = &requirements.routing;
        let could = |one: &&PoolWorker| one.candidate.could(requirements);
        let is_first = |one: &PoolWorker| !one.candidate.last_resort;
        // Whoever a route names is asked, also one that serves otherwise only what nobody else serves.
        let only_last = requirements.lane != RoutingConstraint::Any
            || !routing.routes.is_empty()
            || !members.iter().filter(could).any(is_first);
        let mut found = None;
        for member in members.iter().filter(could) {
            if !only_last && !is_first(member) {
                continue;
            }
            let route = member.candidate.route(routing);
            let all = match route.and_then(|found| found.route.model.clone()) {
                None => member.backend.support(requirements.operation, brief),
                vendor_model => {
                    let routed = Brief {
                        vendor_model,
                        ..brief.clone()
                    };
                    member.backend.support(requirements.operation, &routed)
                }
            };
            let refused = all
                .into_iter()
                .find(|one| one.support == SupportLevel::Refused)?;
            found.get_or_insert(refused);
        }
        found
    }
}
