//! What signing in works with. What it does is in the files beside this one.

#[cfg(feature = "people")]
use super::known_providers::KnownProviders;
use super::link_queue::LinkQueue;
use crate::people::invitations::Invitations;
use crate::people::members::Members;
use crate::people::people_deps::PeopleDeps;
use crate::people::persons::Persons;

/// How people sign in.
pub struct SignIns {
    pub(super) deps: PeopleDeps,
    pub(super) invitations: Invitations,
    #[cfg_attr(not(feature = "people"), expect(dead_code, reason = "for providers"))]
    pub(super) members: Members,
    #[cfg_attr(not(feature = "people"), expect(dead_code, reason = "for providers"))]
    pub(super) persons: Persons,
    #[cfg(feature = "people")]
    pub(super) providers: KnownProviders,
    pub(super) links: LinkQueue,
}

impl SignIns {
    pub(in crate::people) fn new(deps: PeopleDeps) -> Self {
        Self {
            invitations: Invitations::new(deps.clone()),
            members: Members::new(deps.clone()),
            persons: Persons::new(deps.clone()),
            #[cfg(feature = "people")]
            providers: KnownProviders::default(),
            deps,
            links: LinkQueue::default(),
        }
    }
}
