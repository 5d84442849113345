//! How many files and sockets the process may have open. Systems give a low number and allow a high one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors kept for the database, the log, the runtime and outgoing calls.
const KEPT: u64 = 512;

/// Raises the limit as far as it goes and says what it is.
pub(crate) fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::warn!(%error, "the limit on open files cannot be raised");
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// How many connections there can be beside so many downloads.
pub(crate) fn connections(wanted: usize, downloads: u64) -> usize {
    let limit = raise();
    let room = limit.saturating_sub(KEPT + downloads).max(limit / 2);
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if room < wanted {
        tracing::warn!(
            limit,
            connections = room,
            "the limit on open files allows fewer connections than limits.connections"
        );
    }
    wanted.min(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        let limit = getrlimit(Resource::Nofile);
        let low = Rlimit {
            current: Some(256),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, low).expect("lowered");
        let raised = raise();
        assert_eq!(raised, limit.maximum.unwrap_or(u64::MAX));
        assert!(connections(usize::MAX, 100) < usize::MAX);
    }
}
