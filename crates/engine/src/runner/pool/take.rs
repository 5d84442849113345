//! Takes slots: for a job that starts, and for one that is at its vendor already.

use std::sync::Arc;

use atelier_backends::support::FieldSupport;
use atelier_contract::brief::Brief;

use super::Pool;
use super::choice::{Choice, Headroom, Requirements, choose};
use super::health::Fitness;
use super::slot::Slot;
use super::slot_use::SlotUse;
use super::worker::PoolWorker;
use crate::names::WorkerName;

/// What the pool says to a job that is to be accepted.
pub(crate) struct PoolAnswer<T> {
    /// Who takes it, or when somebody may.
    pub(crate) place: T,
    /// Why everybody who could be given it refuses what it asks for.
    pub(crate) refused: Option<FieldSupport>,
}

impl Pool {
    /// What would come of a job that is not to start yet.
    pub(crate) fn look(
        &self,
        requirements: &Requirements<'_>,
        brief: &Brief,
        now_ms: i64,
    ) -> PoolAnswer<Choice> {
        let members = self.members();
        let candidates = members.iter().map(|member| &member.candidate);
        PoolAnswer {
            place: choose(requirements, candidates, now_ms),
            refused: self.refused_by_all(&members, requirements, brief),
        }
    }

    /// Takes a slot for a job that is about to be accepted, unless everybody refuses it.
    pub(crate) fn take_suited(
        self: &Arc<Self>,
        requirements: &Requirements<'_>,
        brief: &Brief,
        account_id: &Arc<str>,
        now_ms: i64,
    ) -> PoolAnswer<Result<Slot, Choice>> {
        let mut members = self.members();
        let refused = self.refused_by_all(&members, requirements, brief);
        let place = if refused.is_some() {
            let candidates = members.iter().map(|member| &member.candidate);
            Err(choose(requirements, candidates, now_ms))
        } else {
            self.take_from(&mut members, requirements, account_id, now_ms)
        };
        PoolAnswer { place, refused }
    }

    /// Takes a slot for a job of an account, or says when to ask again. An account that has none of those inside this process
    /// takes a spare one rather than wait for others.
    pub(crate) fn take(
        self: &Arc<Self>,
        requirements: &Requirements<'_>,
        account_id: &Arc<str>,
        now_ms: i64,
    ) -> Result<Slot, Choice> {
        self.take_from(&mut self.members(), requirements, account_id, now_ms)
    }

    fn take_from(
        self: &Arc<Self>,
        members: &mut [PoolWorker],
        requirements: &Requirements<'_>,
        account_id: &Arc<str>,
        now_ms: i64,
    ) -> Result<Slot, Choice> {
        let requirements = Requirements {
            first: self.inside.held(account_id) == 0,
            ..*requirements
        };
        let choice = choose(
            &requirements,
            members.iter().map(|member| &member.candidate),
            now_ms,
        );
        let Choice::Take(place) = choice else {
            return Err(choice);
        };
        let member = &mut members[place];
        let probe = member.candidate.health.fitness(now_ms) == Fitness::Probe;
        member.candidate.health.probing |= probe;
        member.candidate.pace.push(now_ms);
        // What needs no place takes none from anybody else.
        let ahead = !member.candidate.has_slot(&requirements);
        if ahead {
            member.candidate.ahead += 1;
        } else {
            member.enter(requirements.long);
        }
        // There is no end to what is only counted.
        let counted = (member.candidate.spare > 0)
            .then(|| self.inside.try_take(account_id, 1).ok())
            .flatten();
        let taken = SlotUse {
            probe,
            began: false,
            long: requirements.long,
            leaves_one: requirements.headroom != Headroom::Nothing,
            _counted: counted,
        };
        let slot = Slot::new(Arc::clone(self), member, taken);
        if ahead {
            slot.stay_ahead();
        }
        Ok(slot)
    }

    /// Takes a place at a named worker account even when it is full: its job is already at the vendor.
    pub(crate) fn take_over(self: &Arc<Self>, name: &WorkerName, long: bool) -> Option<Slot> {
        let mut members = self.members();
        let member = members
            .iter_mut()
            .find(|member| member.candidate.name == *name)?;
        member.enter(long);
        let taken = SlotUse {
            began: true,
            long,
            ..SlotUse::default()
        };
        Some(Slot::new(Arc::clone(self), member, taken))
    }
}
