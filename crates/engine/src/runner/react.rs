//! What a class of fault means, for the job and for the worker account: one table, and nobody else decides by class.

use atelier_backends::Class;

/// What to do about a job whose start or work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobAction {
    /// It is tried again after a pause, as often as jobs are tried.
    Again,
    /// The worker account is set aside: another one gets the job at once, and it is no try of the job.
    Elsewhere,
    /// The back end cannot do it and is not asked for it again; another one may.
    OtherBackend,
    /// It ends without a result.
    End,
}

impl JobAction {
    /// Whether the same job may well succeed later or with another worker account.
    pub(crate) const fn may_pass(self) -> bool {
        matches!(self, Self::Again | Self::Elsewhere)
    }
}

/// What it says about the worker account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerEffect {
    /// One more failure in a row.
    Strike,
    /// It rests for a while.
    Rest,
    /// It has no credit; it is tried once in a while.
    OutOfCredit,
    /// It is out until somebody changes it.
    Ban,
    /// It did its part.
    Answered,
    /// It says nothing about the worker account.
    Nothing,
}

/// What a class of fault means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) job: JobAction,
    pub(crate) worker: WorkerEffect,
}

/// What is done about each class of fault.
pub(crate) const fn react(class: Class) -> Reaction {
    let (job, worker) = match class {
        Class::Retry => (JobAction::Again, WorkerEffect::Strike),
        Class::Rate => (JobAction::Elsewhere, WorkerEffect::Rest),
        Class::Quota => (JobAction::Elsewhere, WorkerEffect::OutOfCredit),
        Class::Dead => (JobAction::Elsewhere, WorkerEffect::Ban),
        // The vendor did its part; the request was at fault.
        Class::Reject | Class::BadRequest | Class::Gone => (JobAction::End, WorkerEffect::Answered),
        // Most wishes are refused before anybody is asked: that says nothing about the vendor.
        Class::Unable => (JobAction::OtherBackend, WorkerEffect::Nothing),
        // The route is at fault: the vendor answered sensibly, and what else it makes it still makes.
        Class::Model => (JobAction::OtherBackend, WorkerEffect::Answered),
        Class::Service => (JobAction::Again, WorkerEffect::Nothing),
        Class::Bug => (JobAction::End, WorkerEffect::Nothing),
    };
    Reaction { job, worker }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/vendor-errors.md` says it of every class.
    #[test]
    fn nobody_suffers_for_what_another_is_blamed_for() {
        for class in Class::ALL {
            let Reaction { job, worker } = react(class);
            match class.blamed() {
                "caller" => assert_eq!((job, worker), (JobAction::End, WorkerEffect::Answered)),
                "model" => {
                    assert_eq!(
                        (job, worker),
                        (JobAction::OtherBackend, WorkerEffect::Answered)
                    );
                }
                "account" => {
                    assert_eq!(job, JobAction::Elsewhere, "{class:?}");
                    let aside = [
                        WorkerEffect::Rest,
                        WorkerEffect::OutOfCredit,
                        WorkerEffect::Ban,
                    ];
                    assert!(aside.contains(&worker), "{class:?}");
                }
                "vendor" => assert_ne!(worker, WorkerEffect::Ban, "{class:?}"),
                _ => assert_eq!(worker, WorkerEffect::Nothing, "{class:?}"),
            }
        }
    }

    #[test]
    fn what_may_pass_is_what_the_back_ends_say_may_pass() {
        for class in [
            Class::Retry,
            Class::Rate,
            Class::Quota,
            Class::Dead,
            Class::Reject,
            Class::BadRequest,
            Class::Unable,
            Class::Model,
            Class::Gone,
            Class::Service,
            Class::Bug,
        ] {
            assert_eq!(react(class).job.may_pass(), class.may_pass(), "{class:?}");
        }
    }
}
