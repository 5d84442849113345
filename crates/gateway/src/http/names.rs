//! The names of the service. Whoever has a name of their own pointed at this machine has every browser that visits them ask
//! here under that name, as if the answers were theirs to read: the name then stands in `Host` and in `Origin`.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};

use atelier_contract::{Code, Refusal};
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use url::{Host, Url};

use super::cors::Origins;
use crate::config::Config;
use crate::server::proxies;

/// Where a browser says how the page that asks is related to what it asks.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Where the kernel says what the machine is called.
const MACHINE: &str = "/proc/sys/kernel/hostname";
/// The longest name that there can be.
const LONGEST: usize = 253;

/// Every name that the settings and the machine give the service.
pub(crate) struct ServiceNames {
    hosts: HashSet<String>,
    /// The origins of its public addresses.
    origins: HashSet<String>,
}

impl ServiceNames {
    /// The names of a configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let urls = [
            &config.base_url,
            &config.origin_url,
            &config.cdn_url,
            &config.legacy_cdn_url,
        ];
        let urls: Vec<Url> = urls.iter().filter_map(|url| url.parse().ok()).collect();
        let machine = std::fs::read_to_string(MACHINE).unwrap_or_default();
        let machine = machine.trim();
        let listeners = config.listeners.iter();
        let listed = listeners.flat_map(|one| [one.address.as_str(), one.host.as_str()]);
        let local = format!("{machine}.local");
        let listed = listed
            .chain([config.listen.as_str(), machine, local.as_str()])
            .chain(config.names.iter().map(String::as_str))
            .chain(urls.iter().filter_map(Url::host_str));
        Self {
            hosts: listed
                .map(name_of)
                .filter(|name| !name.is_empty())
                .collect(),
            origins: urls
                .iter()
                .map(|url| url.origin().ascii_serialization())
                .collect(),
        }
    }

    /// Whether a host, with its port or without, is the service. An address is always: nobody can have one pointed elsewhere.
    fn know(&self, host: &str) -> bool {
        let name = name_of(host);
        is_address(&name)
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.hosts.contains(&name)
    }

    /// The host that a request came to, as the caller wrote it, if it is the service.
    pub(super) fn own_host(&self, head: &Parts, by_proxy: bool) -> Option<String> {
        let host = if by_proxy {
            proxies::forwarded_hosts(&head.headers).into_iter().next()
        } else {
            None
        };
        let host = host.unwrap_or_else(|| asked_for(head).to_owned());
        self.know(&host).then_some(host)
    }

    /// Refuses a request that came under a name that is not the service's, or from a page that has such a name, unless
    /// that page is listed among those that may read answers.
    pub(super) fn check(
        &self,
        head: &Parts,
        by_proxy: bool,
        readers: &Origins,
    ) -> Result<(), Refusal> {
        for host in hosts(head, by_proxy) {
            if !host.is_empty() && !self.know(&host) {
                return Err(foreign(&host));
            }
        }
        let Some(origin) = header(&head.headers, &ORIGIN) else {
            return Ok(());
        };
        if header(&head.headers, &SITE) == Some("same-origin") || readers.lists(origin) {
            return Ok(());
        }
        match origin.split_once("://") {
            Some((_, host)) if self.know(host) => Ok(()),
            Some((_, host)) => Err(foreign(host)),
            None => Err(foreign(origin)),
        }
    }

    /// Whether the page that sent a request, if one did, is the service's own: of the same host and port.
    pub(super) fn is_own_page(&self, head: &Parts, by_proxy: bool) -> bool {
        if let Some(site) = header(&head.headers, &SITE) {
            return matches!(site, "same-origin" | "none");
        }
        let Some(origin) = head.headers.get(ORIGIN) else {
            return true;
        };
        let origin = origin.to_str().unwrap_or_default();
        let of = |host: &String| is_origin_of(origin, host, by_proxy);
        self.origins.contains(origin) || hosts(head, by_proxy).iter().any(of)
    }
}

/// Whether the page that sent a request came by TLS, by its own word.
pub(super) fn came_by_tls(headers: &HeaderMap) -> bool {
    header(headers, &ORIGIN).is_some_and(|origin| origin.starts_with("https://"))
}

/// The names that a request came under: the one that was asked here, and those that known proxies were asked under. All of
/// them count, because not every proxy replaces what a page has written into the request.
fn hosts(head: &Parts, by_proxy: bool) -> Vec<String> {
    let mut all = vec![asked_for(head).to_owned()];
    if by_proxy {
        all.extend(proxies::forwarded_hosts(&head.headers));
    }
    all
}

/// The host that was asked for, with its port.
fn asked_for(head: &Parts) -> &str {
    let authority = head.uri.authority().map(Authority::as_str);
    authority
        .or_else(|| head.headers.get(HOST)?.to_str().ok())
        .unwrap_or_default()
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_origin_of(origin: &str, host: &str, by_proxy: bool) -> bool {
    let Some((scheme, page)) = origin.split_once("://") else {
        return false;
    };
    let usual = if scheme == "https" { 443 } else { 80 };
    let page_port = port_of(page).unwrap_or(usual);
    // Some proxies hand on the name without the port that they were asked at.
    let same_port = match port_of(host) {
        Some(port) => port == page_port,
        None => by_proxy || page_port == usual,
    };
    name_of(page) == name_of(host) && same_port
}

/// What follows the last colon outside of brackets.
fn port_of(host: &str) -> Option<u16> {
    let (_, port) = host.rsplit_once(':')?;
    port.parse().ok()
}

/// A host without its port, in the spelling in which names are compared.
fn name_of(host: &str) -> String {
    let host = host.trim();
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => host,
    };
    let bare = bare.trim_end_matches('.');
    match Host::parse(bare) {
        Ok(Host::Domain(name)) => name,
        _ => bare.to_ascii_lowercase(),
    }
}

fn is_address(name: &str) -> bool {
    let bare = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().is_ok(),
        None => name.parse::<IpAddr>().is_ok(),
    }
}

fn foreign(host: &str) -> Refusal {
    let name: String = name_of(host).chars().take(LONGEST).collect();
    let message = format!(
        "{name} is none of the service's names: use the address in base_url or an IP address, or have the operator add the \
         name to the setting `names`; requests with a key or a token of their own are answered under every name"
    );
    Refusal::new(Code::Forbidden, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_port_case_and_last_dot() {
        let mut config = Config::defaults();
        config.base_url = "https://Media.Example.com:8443/x".into();
        config.listen = "store.lan:8080".into();
        config.names = vec!["bücher.example".into()];
        let names = ServiceNames::new(&config);
        for own in [
            "media.example.com",
            "MEDIA.example.com.:443",
            "store.lan",
            "xn--bcher-kva.example:80",
            "localhost:8080",
            "x.localhost",
            "127.0.0.1:8080",
            "192.0.2.1",
            "[::1]:8080",
            "[2001:db8::1]",
        ] {
            assert!(names.know(own), "{own}");
        }
        for other in [
            "example.com",
            "127.0.0.1.example.net",
            "localhost.example.net",
            "media.example.com.example.net",
            "[evil]",
            "media.example.com:80:80",
            "",
        ] {
            assert!(!names.know(other), "{other}");
        }
    }

    #[test]
    fn an_origin_is_the_same_host_at_the_same_port() {
        for (origin, host, by_proxy, same) in [
            ("http://a.example:8080", "a.example:8080", false, true),
            ("http://a.example", "a.example", false, true),
            ("https://a.example", "a.example:443", false, true),
            ("https://[::1]:8443", "[::1]:8443", false, true),
            ("http://a.example:3000", "a.example:8080", false, false),
            ("http://a.example:3000", "a.example", false, false),
            // nginx hands on `$host`, which has no port.
            ("https://a.example:8443", "a.example", true, true),
            ("https://b.example", "a.example", true, false),
            ("null", "a.example", true, false),
        ] {
            assert_eq!(
                is_origin_of(origin, host, by_proxy),
                same,
                "{origin} at {host}"
            );
        }
    }
}
