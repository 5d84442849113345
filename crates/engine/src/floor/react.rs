//! What a class of fault means, for the job and for the worker account: one table, and nobody else decides by class.

use atelier_backends::Class;

/// What to do about a job whose start or work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForJob {
    /// It is tried again after a pause, as often as jobs are tried.
    Again,
    /// The worker account is set aside: another one gets the job at once, and it is no try of the job.
    Elsewhere,
    /// The back end cannot do it and is not asked for it again; another one may.
    OtherBackend,
    /// It ends.
    End,
}

impl ForJob {
    /// Whether the same job may well succeed later or with another worker account.
    pub(crate) const fn may_pass(self) -> bool {
        matches!(self, Self::Again | Self::Elsewhere)
    }
}

/// What it says about the worker account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForWorker {
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
    /// Nothing.
    Nothing,
}

/// What a class of fault means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) job: ForJob,
    pub(crate) worker: ForWorker,
}

/// The table.
pub(crate) const fn react(class: Class) -> Reaction {
    let (job, worker) = match class {
        Class::Retry => (ForJob::Again, ForWorker::Strike),
        Class::Rate => (ForJob::Elsewhere, ForWorker::Rest),
        Class::Quota => (ForJob::Elsewhere, ForWorker::OutOfCredit),
        Class::Dead => (ForJob::Elsewhere, ForWorker::Ban),
        // The vendor did its part; the request was at fault.
        Class::Reject | Class::BadRequest | Class::Gone => (ForJob::End, ForWorker::Answered),
        // Most wishes are refused before anybody is asked: that says nothing about the vendor.
        Class::Unable => (ForJob::OtherBackend, ForWorker::Nothing),
        Class::House => (ForJob::Again, ForWorker::Nothing),
        Class::Bug => (ForJob::End, ForWorker::Nothing),
    };
    Reaction { job, worker }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Class::Gone,
            Class::House,
            Class::Bug,
        ] {
            assert_eq!(react(class).job.may_pass(), class.may_pass(), "{class:?}");
        }
    }
}
