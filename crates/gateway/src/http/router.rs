//! Which path leads where. The families' paths come from the contract's table, so a new operation needs no line here;
//! paths are taken as they are, never decoded or tidied.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::FAMILIES;
use atelier_contract::family::{Family, Submit};
use atelier_contract::{Code, Refusal};
use futures_util::future::BoxFuture;
use hyper::Method;
use hyper::header::HOST;
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use super::denial::Denial;
use super::{
    Answer, Received, account, admin, artgen, assets, custody, docs, events, health, hooks, jobs,
    own,
};
use crate::app::App;
use crate::config::{Config, Role};

/// A handler of a path that no family owns.
pub(super) type Page = fn(Arc<App>, Received) -> BoxFuture<'static, Answer>;

/// What a path leads to.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// Reads a job of a family.
    Fetch(&'static Family),
    /// Submits work, answered with a job or with the result.
    Submit(&'static Family, &'static Submit),
    /// Anything else.
    Page(Page),
}

/// The methods of one path.
type Methods = Vec<(Method, Target)>;

/// Every path.
pub(crate) struct Router {
    exact: HashMap<&'static str, Methods>,
    /// Paths with placeholders: `{}` stands for one segment, a last `*` for all that follow.
    patterns: Vec<(Vec<&'static str>, Methods)>,
    hosts: HashMap<String, Role>,
    metrics_elsewhere: bool,
}

/// Puts an asynchronous function into the table.
macro_rules! page {
    ($handler:path) => {
        Target::Page(|app, received| Box::pin($handler(app, received)))
    };
}

impl Router {
    /// The table for a configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let hosts = config.listeners.iter().filter(|one| !one.host.is_empty());
        let mut router = Self {
            exact: HashMap::new(),
            patterns: Vec::new(),
            hosts: hosts
                .map(|one| (one.host.to_lowercase(), one.role))
                .collect(),
            metrics_elsewhere: config.listeners.iter().any(|one| one.role == Role::Metrics),
        };
        router.add_families();
        router.add_account();
        router.add_jobs();
        router.add_operator();
        router.add_backends();
        router.add_custody();
        router.add_service();
        router
    }

    /// What a listener serves for this request: its own role, or the one of the host that was asked for.
    pub(super) fn role_of(&self, head: &Parts, role: Role) -> Role {
        if role != Role::Main || self.hosts.is_empty() {
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
        self.hosts
            .get(&name)
            .or_else(|| self.hosts.get(host))
            .copied()
            .unwrap_or(role)
    }

    /// The way of a request, with what stood at the placeholders.
    pub(super) fn find(
        &self,
        role: Role,
        method: &Method,
        path: &str,
    ) -> Result<(Target, Vec<String>), Denial> {
        let nothing = || Refusal::new(Code::NotFound, "there is nothing at this path");
        if !self.serves(role, path) {
            return Err(nothing().into());
        }
        if let Some(methods) = self.exact.get(path) {
            return Ok((choose(methods, method)?, Vec::new()));
        }
        for (segments, methods) in &self.patterns {
            if let Some(params) = match_path(segments, path) {
                return Ok((choose(methods, method)?, params));
            }
        }
        Err(nothing().into())
    }

    fn serves(&self, role: Role, path: &str) -> bool {
        let health = matches!(path, "/healthz" | "/readyz");
        match role {
            Role::Main | Role::Custody => path != "/metrics" || !self.metrics_elsewhere,
            Role::Alt => health || path == "/v1/images/generations",
            Role::Cdn => health || path.starts_with(assets::PREFIX),
            Role::Metrics => health || path == "/metrics",
        }
    }

    fn add_families(&mut self) {
        for family in FAMILIES {
            for entry in family.submits {
                self.add(&[Method::POST], entry.path, Target::Submit(family, entry));
            }
            for fetch in family.fetches {
                self.add(
                    &[Method::GET, Method::POST],
                    fetch.path,
                    Target::Fetch(family),
                );
            }
        }
        let (get, post) = (Method::GET, Method::POST);
        self.add(
            &[get.clone(), post.clone()],
            "/artgen/v1/info",
            page!(account::info),
        );
        self.add(
            &[get.clone(), post.clone()],
            "/artgen/v1/fetch-list",
            page!(account::history),
        );
        self.add(
            &[post],
            "/artgen/v1/promptCheck",
            page!(artgen::check_prompt),
        );
        self.add(&[get], "/artgen/status", page!(artgen::status));
    }

    fn add_account(&mut self) {
        let (get, post, delete) = (&[Method::GET], &[Method::POST], &[Method::DELETE]);
        self.add(get, "/account/v1/usage", page!(own::usage));
        self.add(get, "/account/v1/ledger", page!(own::ledger));
        self.add(get, "/account/v1/keys", page!(own::keys));
        self.add(post, "/account/v1/keys", page!(own::issue_key));
        self.add(delete, "/account/v1/keys/{}", page!(own::revoke_key));
        self.add(post, "/account/v1/quote", page!(own::quote));
        self.add(get, "/account/v1/callbacks", page!(own::callbacks));
        self.add(get, "/account/v1/callbacks/{}", page!(own::callback));
        self.add(
            get,
            "/account/v1/callbacks/secret",
            page!(own::callback_secret),
        );
        self.add(
            post,
            "/account/v1/callbacks/secret",
            page!(own::rotate_callback_secret),
        );
        self.add(
            post,
            "/account/v1/callbacks/redeliver",
            page!(own::redeliver_since),
        );
        self.add(
            post,
            "/account/v1/callbacks/{}/redeliver",
            page!(own::redeliver),
        );
    }

    fn add_jobs(&mut self) {
        let (get, post) = (&[Method::GET], &[Method::POST]);
        self.add(get, "/jobs/v1", page!(jobs::list));
        self.add(get, "/jobs/v1/{}", page!(jobs::show));
        self.add(get, "/jobs/v1/{}/events", page!(events::follow));
        self.add(post, "/jobs/v1/{}/cancel", page!(jobs::cancel));
    }

    fn add_operator(&mut self) {
        let (get, post) = (&[Method::GET], &[Method::POST]);
        self.add(get, "/admin/v1/accounts", page!(admin::accounts::list));
        self.add(post, "/admin/v1/accounts", page!(admin::accounts::create));
        self.add(get, "/admin/v1/accounts/{}", page!(admin::accounts::show));
        self.add(
            &[Method::PATCH],
            "/admin/v1/accounts/{}",
            page!(admin::accounts::change),
        );
        self.add(
            post,
            "/admin/v1/accounts/{}/credit",
            page!(admin::accounts::credit),
        );
        self.add(
            get,
            "/admin/v1/accounts/{}/keys",
            page!(admin::accounts::keys),
        );
        self.add(
            post,
            "/admin/v1/accounts/{}/keys",
            page!(admin::accounts::issue_key),
        );
        self.add(
            &[Method::DELETE],
            "/admin/v1/accounts/{}/keys/{}",
            page!(admin::accounts::revoke_key),
        );
        self.add(get, "/admin/v1/prices", page!(admin::prices::show));
        self.add(
            &[Method::PUT],
            "/admin/v1/prices",
            page!(admin::prices::change),
        );
        self.add(get, "/admin/v1/jobs", page!(admin::views::jobs));
        self.add(get, "/admin/v1/ledger", page!(admin::views::ledger));
        self.add(get, "/admin/v1/callbacks", page!(admin::views::callbacks));
        self.add(get, "/admin/v1/audit", page!(admin::views::audit));
        self.add(get, "/admin/v1/stats", page!(admin::views::stats));
        self.add(get, "/admin/v1/nodes", page!(admin::views::nodes));
    }

    fn add_backends(&mut self) {
        use admin::backends;
        let (get, post) = (&[Method::GET], &[Method::POST]);
        let (patch, delete) = (&[Method::PATCH], &[Method::DELETE]);
        let (all, one) = ("/admin/v1/backends", "/admin/v1/backends/{}");
        self.add(get, all, page!(backends::list));
        self.add(post, all, page!(backends::create));
        self.add(get, one, page!(backends::show));
        self.add(patch, one, page!(backends::change));
        self.add(delete, one, page!(backends::remove));
        self.add(post, "/admin/v1/backends/{}/probe", page!(backends::probe));
        let accounts = "/admin/v1/backends/{}/accounts";
        self.add(get, accounts, page!(backends::workers));
        self.add(post, accounts, page!(backends::create_worker));
        let account = "/admin/v1/backends/{}/accounts/{}";
        self.add(get, account, page!(backends::show_worker));
        self.add(patch, account, page!(backends::change_worker));
        self.add(delete, account, page!(backends::remove_worker));
        self.add(
            post,
            "/admin/v1/backends/{}/accounts/{}/probe",
            page!(backends::probe),
        );
    }

    fn add_custody(&mut self) {
        let (all, one) = ("/custody/v1/accounts", "/custody/v1/accounts/{}");
        self.add(&[Method::GET], all, page!(custody::list));
        self.add(&[Method::POST], all, page!(custody::create));
        self.add(&[Method::PATCH], one, page!(custody::change));
        self.add(&[Method::DELETE], one, page!(custody::remove));
        self.add(&[Method::POST], "/hooks/v1/{}/{}", page!(hooks::take));
    }

    fn add_service(&mut self) {
        let get = &[Method::GET];
        self.add(get, "/assets/*", page!(assets::serve));
        self.add(get, "/openapi.json", page!(docs::document));
        self.add(get, "/docs", page!(docs::page));
        self.add(get, "/console/", page!(docs::console));
        self.add(get, "/healthz", page!(health::alive));
        self.add(get, "/readyz", page!(health::ready));
        self.add(get, "/metrics", page!(health::metrics));
    }

    fn add(&mut self, methods: &[Method], path: &'static str, target: Target) {
        let place = if path.contains(['{', '*']) {
            let segments: Vec<_> = path.split('/').skip(1).collect();
            let known = self
                .patterns
                .iter()
                .position(|(other, _)| *other == segments);
            let index = known.unwrap_or_else(|| {
                self.patterns.push((segments, Vec::new()));
                self.patterns.len() - 1
            });
            &mut self.patterns[index].1
        } else {
            self.exact.entry(path).or_default()
        };
        place.extend(methods.iter().map(|method| (method.clone(), target)));
    }
}

fn choose(methods: &Methods, method: &Method) -> Result<Target, Denial> {
    let wanted = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    if let Some((_, target)) = methods.iter().find(|(one, _)| one == wanted) {
        return Ok(*target);
    }
    let mut allow: Vec<_> = methods.iter().map(|(one, _)| one.as_str()).collect();
    if allow.contains(&"GET") {
        allow.insert(1, "HEAD");
    }
    Err(Denial::method(allow.join(", ")))
}

fn match_path(segments: &[&'static str], path: &str) -> Option<Vec<String>> {
    let mut params = Vec::new();
    let mut rest = path.strip_prefix('/')?;
    for (place, segment) in segments.iter().enumerate() {
        if *segment == "*" {
            params.push(rest.to_owned());
            return (!rest.is_empty()).then_some(params);
        }
        let last = place + 1 == segments.len();
        let (head, tail) = match rest.split_once('/') {
            Some((_, _)) if last => return None,
            Some(parts) => parts,
            None if last => (rest, ""),
            None => return None,
        };
        match *segment {
            "{}" if !head.is_empty() => params.push(head.to_owned()),
            literal if literal == head => {}
            _ => return None,
        }
        rest = tail;
    }
    Some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(role: Role, method: &Method, path: &str) -> Result<Vec<String>, Code> {
        let router = Router::new(&Config::defaults());
        router
            .find(role, method, path)
            .map(|(_, params)| params)
            .map_err(|denial| denial.refusal.code)
    }

    #[test]
    fn placeholders_are_read_in_order() {
        let path = "/admin/v1/accounts/a/keys/k";
        assert_eq!(
            found(Role::Main, &Method::DELETE, path),
            Ok(vec!["a".into(), "k".into()])
        );
        assert_eq!(
            found(Role::Main, &Method::GET, "/assets/a/b.png"),
            Ok(vec!["a/b.png".into()])
        );
    }

    #[test]
    fn paths_are_not_tidied() {
        for path in [
            "/facegen/v1/swap/",
            "//facegen/v1/swap",
            "/facegen/v1/%73wap",
            "/facegen/v1/../v1/swap",
            "/facegen/v1/swap;x=1",
            "/jobs/v1/",
            "/jobs/v1/a/b",
            "",
        ] {
            assert_eq!(
                found(Role::Main, &Method::POST, path),
                Err(Code::NotFound),
                "{path}"
            );
        }
    }

    #[test]
    fn a_wrong_method_names_the_right_ones() {
        let router = Router::new(&Config::defaults());
        let denial = router
            .find(Role::Main, &Method::PUT, "/facegen/v1/fetch")
            .map(|_| ())
            .expect_err("PUT");
        assert_eq!(denial.allow.as_deref(), Some("GET, HEAD, POST"));
    }

    #[test]
    fn a_listener_serves_its_role_only() {
        assert!(found(Role::Cdn, &Method::GET, "/assets/a").is_ok());
        assert!(found(Role::Cdn, &Method::GET, "/jobs/v1").is_err());
        assert!(found(Role::Alt, &Method::POST, "/facegen/v1/swap").is_err());
        assert!(found(Role::Custody, &Method::POST, "/facegen/v1/swap").is_ok());
    }
}
