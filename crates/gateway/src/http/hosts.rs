//! What a listener serves: its own role, or the one of the host that was asked for.

use std::collections::HashMap;

use atelier_contract::pages::PageListeners;
use hyper::header::HOST;
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use crate::config::{Config, Role};

/// The hosts that have a role of their own.
pub(crate) struct Hosts {
    roles: HashMap<String, Role>,
    metrics_elsewhere: bool,
}

impl Hosts {
    /// The hosts of a configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let named = config.listeners.iter().filter(|one| !one.host.is_empty());
        Self {
            roles: named
                .map(|one| (one.host.to_lowercase(), one.role))
                .collect(),
            metrics_elsewhere: config.listeners.iter().any(|one| one.role == Role::Metrics),
        }
    }

    /// What a listener serves for this request.
    pub(super) fn role_of(&self, head: &Parts, role: Role) -> Role {
        if role != Role::Main || self.roles.is_empty() {
            return role;
        }
        let host = head.uri.authority().map(Authority::as_str);
        let host = host
            .or_else(|| head.headers.get(HOST)?.to_str().ok())
            .unwrap_or_default();
        let name = host
            .rsplit_once(':')
            .map_or(host, |(name, _)| name)
            .to_lowercase();
        self.roles
            .get(&name)
            .or_else(|| self.roles.get(host))
            .copied()
            .unwrap_or(role)
    }

    /// Whether a listener of a role has what stands behind a door.
    pub(super) fn serves(&self, role: Role, door: PageListeners) -> bool {
        match (role, door) {
            (_, PageListeners::Every)
            | (
                Role::Main | Role::Custody,
                PageListeners::Main | PageListeners::Files | PageListeners::Alternative,
            )
            | (Role::Alt, PageListeners::Alternative)
            | (Role::Cdn, PageListeners::Files)
            | (Role::Metrics, PageListeners::Metrics) => true,
            (Role::Main | Role::Custody, PageListeners::Metrics) => !self.metrics_elsewhere,
            _ => false,
        }
    }
}
