//! When somebody may begin a job again, by what holds on every node: what vendors themselves said about their accounts, and what
//! the operator set. What only this node saw, such as that nobody answers, is no reason to give a job up.

use crate::runner::pool::Pool;
use crate::runner::pool::choice::{Candidate, Mode, Requirements, is_routed};
use crate::runner::pool::health::Condition;
use crate::runner::routing::RoutingConstraint;

impl Pool {
    /// The earliest time at which a worker account may begin a job; the end of time when none ever will unless somebody
    /// changes something. `None` when nobody here could do it at all: that says nothing of other nodes.
    pub(crate) fn returns_ms(&self, requirements: &Requirements<'_>, now_ms: i64) -> Option<i64> {
        let unable = &requirements.past_failures.unable;
        if self.others_may(requirements.lane, unable) {
            return Some(now_ms);
        }
        let members = self.members();
        let all = members.iter().map(|one| &one.candidate);
        let could: Vec<&Candidate> = all.filter(|one| one.could(requirements)).collect();
        // Whoever serves what nobody else serves does not stand in for those who are away.
        let only_first = requirements.lane == RoutingConstraint::Any
            && !is_routed(requirements)
            && could.iter().any(|one| !one.last_resort);
        let mut left = could
            .into_iter()
            .filter(|one| !(unable.contains(&one.backend) || (only_first && one.last_resort)));
        let first = left.next()?.returns_ms(requirements, now_ms);
        Some(left.fold(first, |first, one| {
            first.min(one.returns_ms(requirements, now_ms))
        }))
    }

    /// The operations of what works inside this process, beside what it serves for want of others.
    pub(crate) fn done_inside(&self) -> Vec<String> {
        let members = self.members();
        let inside = members.iter();
        let inside = inside.filter(|one| one.worker_id.is_none() && !one.candidate.last_resort);
        let all = inside.flat_map(|one| one.candidate.operations.iter());
        let mut names: Vec<String> = all.map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Candidate {
    /// When it may begin a job again.
    fn returns_ms(&self, requirements: &Requirements<'_>, now_ms: i64) -> i64 {
        match self.mode {
            // An operator who has it rest may have it work again.
            Mode::Draining | Mode::Paused => return now_ms,
            // It is there for copies.
            Mode::Rehearsal => return i64::MAX,
            Mode::Active => {}
        }
        if self.is_spent(requirements) {
            return i64::MAX;
        }
        let healthy_ms = match self.health.condition {
            Condition::Banned => return i64::MAX,
            Condition::OutOfCredit | Condition::Cooling => self.health.until_ms,
            Condition::Well | Condition::Open => now_ms,
        };
        let opens_ms = self.hours.opens_ms(now_ms + self.ahead_ms) - self.ahead_ms;
        healthy_ms.max(opens_ms)
    }
}

#[cfg(test)]
mod tests {
    use atelier_backends::{Class, Fault};

    use super::*;

    #[test]
    fn only_what_a_vendor_said_of_its_account_is_taken_for_granted_everywhere() {
        let wanted = Requirements {
            operation: "artgen.imagine",
            speed: atelier_contract::Speed::Fast,
            model: None,
            routing: crate::runner::pool::routes::ModelRouting::default(),
            lane: RoutingConstraint::Any,
            follows: None,
            price: atelier_contract::Quota::ZERO,
            past_failures: crate::runner::pool::choice::PastFailures::NONE,
            first: false,
            long: false,
            headroom: crate::runner::pool::choice::Headroom::Nothing,
        };
        let after = |class: Class, times: usize| {
            let mut candidate = Candidate::default();
            for _ in 0..times {
                candidate.health.fault(&Fault::vendor(class, ""), 1_000);
            }
            candidate.returns_ms(&wanted, 1_000)
        };
        assert_eq!(after(Class::Retry, 5), 1_000, "another node may reach it");
        assert_eq!(after(Class::Model, 5), 1_000);
        assert_eq!(after(Class::Rate, 1), 11_000);
        assert_eq!(after(Class::Quota, 1), 3_601_000);
        assert_eq!(after(Class::Dead, 1), i64::MAX);
        let paused = Candidate {
            mode: Mode::Paused,
            cost_cap: Some(1),
            cost: 1,
            ..Candidate::default()
        };
        assert_eq!(paused.returns_ms(&wanted, 1_000), 1_000);
        let spent = Candidate {
            mode: Mode::Active,
            ..paused
        };
        assert_eq!(spent.returns_ms(&wanted, 1_000), i64::MAX);
    }
}
