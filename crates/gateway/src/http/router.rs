//! Which path leads where: the families' table and the table of pages, put together once. Paths are taken as they are,
//! never decoded or tidied. Those without placeholders are one look into a hash table, which is where every family's
//! calls are found; the others are matched by a tree.

use std::collections::HashMap;
use std::sync::LazyLock;

use atelier_contract::FAMILIES;
use atelier_contract::family::{Family, SubmitEndpoint};
use atelier_contract::pages::{Access, Method, Page, PageListeners};
use atelier_contract::{Code, Refusal, Scope};
use hyper::Method as HttpMethod;
use hyper::header::{IF_NONE_MATCH, RANGE};
use hyper::http::request::Parts;

use super::denial::Denial;
use super::hosts::Hosts;
use super::page::Handler;
use super::rate::{CallKind, OpenPage};
use crate::config::Role;
use crate::counts::{self, RouteLabel};
use crate::pages::PAGES;

/// What a path leads to.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// Reads a job of a family.
    Fetch(&'static Family),
    /// Submits work, answered with a job or with the result.
    Submit(&'static Family, &'static SubmitEndpoint),
    /// A page of the service's own.
    Page(&'static Page<Handler>),
}

impl Target {
    /// Who may call it.
    pub(super) const fn access(self) -> Access {
        match self {
            Self::Fetch(_) => Access::Caller(Scope::Read),
            Self::Submit(..) => Access::Caller(Scope::Submit),
            Self::Page(page) => page.access,
        }
    }

    /// What a call counts as.
    pub(super) const fn kind(self) -> CallKind {
        match self.access() {
            Access::Caller(Scope::Submit) => CallKind::Submit,
            _ => CallKind::Call,
        }
    }

    /// Whether it makes jobs, as what keys have rates for; what does so can be repeated under a key of the caller's. A tool of agents
    /// counts by itself.
    pub(super) fn makes_jobs(self) -> bool {
        match self {
            Self::Fetch(_) => false,
            Self::Submit(..) => true,
            Self::Page(page) => self.kind() == CallKind::Submit && page.idempotent,
        }
    }

    /// Whether it makes something that has to be kept; cancelling and deleting do not.
    pub(super) fn makes_work(self, head: &Parts) -> bool {
        self.kind() == CallKind::Submit
            && head.method == HttpMethod::POST
            && !head.uri.path().ends_with("/cancel")
    }

    /// Who may, when the request came from inside: counters then need no token.
    pub(super) fn access_from(self, inside: bool) -> Access {
        if inside && self.door() == PageListeners::Metrics {
            Access::Open
        } else {
            self.access()
        }
    }

    /// Whether it answers under the service's own names alone. Files whose address has their version in it are the same for
    /// everybody, and the documents are drawn by some of them.
    pub(super) fn answers_under_own_names(self, params: &[String]) -> bool {
        let is_fixed = || params.first().is_some_and(|first| first.starts_with('~'));
        matches!(self, Self::Page(page) if page.own_names) && !is_fixed()
    }

    /// What its durations are counted under.
    pub(super) const fn route(self) -> RouteLabel {
        match self {
            Self::Fetch(family) => (counts::FETCH, family.name),
            Self::Submit(family, _) => (counts::SUBMIT, family.name),
            Self::Page(_) => counts::PAGE,
        }
    }

    const fn door(self) -> PageListeners {
        match self {
            Self::Submit(_, submit) if submit.alternative => PageListeners::Alternative,
            Self::Fetch(_) | Self::Submit(..) => PageListeners::Main,
            Self::Page(page) => page.door,
        }
    }

    /// What a network is counted for when anybody may ask for it. Result files are paced by their bytes, too, unless the answer
    /// may have none or few; health is always told.
    pub(super) fn open_rate(self, head: &Parts) -> Option<OpenPage> {
        let few_bytes = || {
            let mut fewer = [IF_NONE_MATCH, RANGE].into_iter();
            head.method == HttpMethod::HEAD || fewer.any(|name| head.headers.contains_key(name))
        };
        if self.access() != Access::Open {
            return None;
        }
        match self.door() {
            PageListeners::Main => Some(OpenPage::Page),
            PageListeners::Files if few_bytes() => Some(OpenPage::Page),
            PageListeners::Files => Some(OpenPage::File),
            PageListeners::Every | PageListeners::Alternative | PageListeners::Metrics => None,
        }
    }

    /// Whether it is answered however much else is going on.
    pub(super) fn needs_no_place(self) -> bool {
        self.door() == PageListeners::Every
    }
}

/// The methods of one path.
type Methods = Vec<(&'static str, Target)>;

/// Every path with its methods.
#[derive(Default)]
struct Router {
    exact: HashMap<&'static str, Methods, foldhash::quality::RandomState>,
    patterns: matchit::Router<usize>,
    /// What the patterns lead to; pages with the same pattern stand together.
    behind: Vec<(&'static str, Methods)>,
}

static ROUTER: LazyLock<Router> = LazyLock::new(Router::new);

/// The way of a request, with what stood at the placeholders.
pub(super) fn find(
    hosts: &Hosts,
    role: Role,
    method: &HttpMethod,
    path: &str,
) -> Result<(Target, Vec<String>), Denial> {
    let nothing = || Refusal::new(Code::NotFound, "there is nothing at this path");
    let (methods, params) = ROUTER.at(path).ok_or_else(nothing)?;
    let (_, first) = methods.first().ok_or_else(nothing)?;
    if !hosts.serves(role, first.door()) {
        return Err(nothing().into());
    }
    Ok((choose(methods, method)?, params))
}

impl Router {
    fn new() -> Self {
        let mut router = Self::default();
        for family in FAMILIES {
            for submit in family.submits {
                router.add(&[Method::Post], submit.path, Target::Submit(family, submit));
            }
            for fetch in family.fetches {
                router.add(
                    &[Method::Get, Method::Post],
                    fetch.path,
                    Target::Fetch(family),
                );
            }
        }
        for page in PAGES {
            router.add(page.methods, page.path, Target::Page(page));
        }
        router
    }

    fn add(&mut self, methods: &[Method], path: &'static str, target: Target) {
        let place = if path.contains('{') {
            let known = self.behind.iter().position(|(other, _)| *other == path);
            let index = known.unwrap_or_else(|| {
                self.behind.push((path, Vec::new()));
                let index = self.behind.len() - 1;
                // Two patterns that exclude each other are a mistake in the table; the tests of the table find it.
                let _ = self.patterns.insert(path, index);
                index
            });
            &mut self.behind[index].1
        } else {
            self.exact.entry(path).or_default()
        };
        place.extend(methods.iter().map(|method| (method.word(), target)));
    }

    fn at(&self, path: &str) -> Option<(&Methods, Vec<String>)> {
        if let Some(methods) = self.exact.get(path) {
            return Some((methods, Vec::new()));
        }
        let found = self.patterns.at(path).ok()?;
        let (_, methods) = self.behind.get(*found.value)?;
        let params = found.params.iter().map(|(_, value)| value.to_owned());
        Some((methods, params.collect()))
    }
}

fn choose(methods: &Methods, method: &HttpMethod) -> Result<Target, Denial> {
    let wanted = if method == HttpMethod::HEAD {
        Method::Get.word()
    } else {
        method.as_str()
    };
    if let Some((_, target)) = methods.iter().find(|(one, _)| *one == wanted) {
        return Ok(*target);
    }
    let mut allow: Vec<_> = methods.iter().map(|(one, _)| *one).collect();
    if let Some(get) = allow.iter().position(|one| *one == Method::Get.word()) {
        allow.insert(get + 1, "HEAD");
    }
    Err(Denial::method(allow.join(", ")))
}

#[cfg(test)]
mod tests {
    use hyper::Method;

    use super::*;
    use crate::config::Config;

    fn found(role: Role, method: &Method, path: &str) -> Result<Vec<String>, Code> {
        find(&Hosts::new(&Config::defaults()), role, method, path)
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
        let hosts = Hosts::new(&Config::defaults());
        let denial = find(&hosts, Role::Main, &Method::PUT, "/facegen/v1/fetch")
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
        assert!(found(Role::Alt, &Method::POST, "/v1/images/generations").is_ok());
        assert!(found(Role::Main, &Method::GET, "/metrics").is_ok());
        for role in [Role::Main, Role::Alt, Role::Cdn, Role::Metrics] {
            assert!(found(role, &Method::GET, "/healthz").is_ok(), "{role:?}");
        }
    }

    #[test]
    fn a_word_in_the_place_of_a_placeholder_goes_first() {
        let secret = found(Role::Main, &Method::GET, "/account/v1/callbacks/secret");
        assert_eq!(secret, Ok(Vec::new()));
        let one = found(Role::Main, &Method::GET, "/account/v1/callbacks/one");
        assert_eq!(one, Ok(vec!["one".into()]));
    }

    #[test]
    fn every_line_of_both_tables_is_found_by_its_own_path_and_methods() {
        let submits = FAMILIES.iter().flat_map(|family| family.submits);
        let mut all: Vec<_> = submits
            .map(|one| (one.path, one.name, Method::POST))
            .collect();
        for page in PAGES {
            for method in page.methods {
                let method = Method::from_bytes(method.word().as_bytes()).expect("a method");
                all.push((page.path, page.name, method));
            }
        }
        let hosts = Hosts::new(&Config::defaults());
        for (path, name, method) in all {
            let asked = path.replace(['{', '}', '*'], "");
            let (target, _) = find(&hosts, Role::Main, &method, &asked)
                .unwrap_or_else(|denial| panic!("{method} {path}: {:?}", denial.refusal));
            let found = match target {
                Target::Submit(_, submit) => submit.name,
                Target::Page(page) => page.name,
                Target::Fetch(family) => family.name,
            };
            assert_eq!(found, name, "{method} {path}");
        }
    }
}
