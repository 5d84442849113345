//! Lanes: where a job may run. Stored with the job, so that a node leases only what it has a place for.

/// Where a job may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RoutingConstraint<'a> {
    /// On any back end of the operator's.
    Any,
    /// On one back end, because it made the job that this one follows.
    At(&'a str),
    /// On the worker accounts of one caller.
    Own(&'a str),
}

const AT: &str = "at:";
const OWN: &str = "own:";

impl<'a> RoutingConstraint<'a> {
    /// Reads the form in which a job keeps it.
    pub(crate) fn read(text: &'a str) -> Self {
        if let Some(backend) = text.strip_prefix(AT) {
            return Self::At(backend);
        }
        match text.strip_prefix(OWN) {
            Some(owner) => Self::Own(owner),
            None => Self::Any,
        }
    }

    /// The form in which a job keeps it.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Any => String::new(),
            Self::At(backend) => format!("{AT}{backend}"),
            Self::Own(owner) => format!("{OWN}{owner}"),
        }
    }

    /// Whether a worker account belongs to it, by its owner and its back end.
    pub(crate) fn admits(self, owner: Option<&str>, backend: &str) -> bool {
        match self {
            Self::Any => owner.is_none(),
            Self::At(wanted) => owner.is_none() && backend == wanted,
            Self::Own(wanted) => owner == Some(wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_read_as_it_was_written() {
        for lane in [
            RoutingConstraint::Any,
            RoutingConstraint::At("own:x"),
            RoutingConstraint::Own("at:y"),
        ] {
            assert_eq!(RoutingConstraint::read(&lane.text()), lane);
        }
    }
}
