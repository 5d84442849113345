//! Whether somebody stands between a caller and the service of whom nobody told it. Such a service takes its callers for
//! people on its own machine and lets them name addresses there, so that whoever came from elsewhere has to be known by what
//! proxies leave in a head.

use atelier_engine::names_own_machine;
use hyper::Version;
use hyper::header::{HOST, HeaderMap};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use url::Url;

use crate::config::Config;

/// What tells of somebody in between.
pub(crate) struct ProxyDetector {
    /// Whether it matters: callers may name addresses on this machine.
    matters: bool,
    /// The names under which the service knows itself.
    names: Vec<String>,
}

impl ProxyDetector {
    /// For a service whose callers may name addresses on its machine, or may not.
    pub(crate) fn new(config: &Config, matters: bool) -> Self {
        let addresses = [
            &config.base_url,
            &config.origin_url,
            &config.cdn_url,
            &config.legacy_cdn_url,
        ];
        let named = addresses.into_iter().filter_map(|url| {
            let url = Url::parse(url).ok()?;
            Some(url.host_str()?.to_owned())
        });
        let hosts = config.listeners.iter().map(|one| bare(&one.host));
        let names = named.chain(hosts.map(str::to_owned));
        Self {
            matters,
            names: names.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// Whether a request came through somebody in between, as far as it matters. Nothing that is only read names addresses.
    pub(super) fn detects(&self, head: &Parts) -> bool {
        self.matters && !head.method.is_safe() && self.detects_in(head)
    }

    fn detects_in(&self, head: &Parts) -> bool {
        let host = head.uri.authority().map(Authority::as_str);
        let host = host.or_else(|| head.headers.get(HOST)?.to_str().ok());
        // Proxies speak the old version to those behind them unless they are told otherwise; programs do not.
        head.version == Version::HTTP_10
            || passed_on(&head.headers)
            || !host.is_some_and(|host| self.is_own(bare(host)))
    }

    /// Whether a host is this machine, or a name of the service.
    fn is_own(&self, host: &str) -> bool {
        names_own_machine(host) || self.names.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

/// A host without its port.
fn bare(host: &str) -> &str {
    let end = host.rfind(':').filter(|at| !host[*at..].contains(']'));
    end.map_or(host, |at| &host[..at])
}

/// Whether somebody wrote into a head that it was passed on.
fn passed_on(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        name.starts_with("x-forwarded-")
            || matches!(
                name,
                "forwarded"
                    | "via"
                    | "x-real-ip"
                    | "x-client-ip"
                    | "true-client-ip"
                    | "cf-connecting-ip"
            )
    })
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn detects(change: fn(&mut Config), host: &str, name: &str, value: &str) -> bool {
        let mut config = Config::defaults();
        change(&mut config);
        let request = Request::post("/").header("host", host).header(name, value);
        let (head, ()) = request.body(()).expect("a request").into_parts();
        ProxyDetector::new(&config, true).detects(&head)
    }

    /// Looks at a head whose only line beside the host says nothing.
    fn detects_host(change: fn(&mut Config), host: &str) -> bool {
        detects(change, host, "x-other", "x")
    }

    #[test]
    fn a_head_that_was_passed_on_shows_it() {
        for (name, value) in [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-proto", "https"),
            ("forwarded", "for=_hidden"),
            ("via", "1.1 somebody"),
            ("x-real-ip", "127.0.0.1"),
        ] {
            assert!(
                detects(|_| {}, "127.0.0.1:8080", name, value),
                "{name}: {value}"
            );
        }
        assert!(!detects_host(|_| {}, "127.0.0.1:8080"));
    }

    #[test]
    fn a_name_that_is_not_the_services_own_shows_it() {
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "app.localhost:80",
            "[::1]:8080",
        ] {
            assert!(!detects_host(|_| {}, host), "{host}");
        }
        for host in [
            "media.example.com",
            "198.51.100.1:8080",
            "[2001:db8::1]",
            "localhost.example.com",
            "",
        ] {
            assert!(detects_host(|_| {}, host), "{host}");
        }
        let named = |config: &mut Config| config.base_url = "http://Studio.test:8080".into();
        assert!(!detects_host(named, "studio.TEST:8080"));
    }

    #[test]
    fn it_is_looked_at_only_where_it_matters() {
        let request = |method: &str, version| {
            let request = Request::builder().method(method).version(version);
            let request = request.header("host", "media.example.com");
            request.body(()).expect("a request").into_parts().0
        };
        let between = ProxyDetector::new(&Config::defaults(), true);
        assert!(between.detects(&request("POST", Version::HTTP_11)));
        assert!(between.detects(&request("PATCH", Version::HTTP_10)));
        assert!(!between.detects(&request("GET", Version::HTTP_11)));
        let elsewhere = ProxyDetector::new(&Config::defaults(), false);
        assert!(!elsewhere.detects(&request("POST", Version::HTTP_11)));
    }
}
