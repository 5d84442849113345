//! Where the service can be reached, and by whom.

use std::net::SocketAddr;

use url::{Host, Url};

use crate::config::Config;

/// Where the service can be reached.
pub(crate) struct Addresses {
    /// The bound sockets, the main one first.
    pub(crate) bound: Vec<SocketAddr>,
    /// The public address.
    pub(crate) base_url: String,
}

impl Addresses {
    /// What follows from the bound sockets and the settings.
    pub(crate) fn new(config: &Config, bound: Vec<SocketAddr>) -> Self {
        let base_url = if config.base_url.is_empty() {
            bound
                .first()
                .map(|address| {
                    let scheme = if config.tls.is_set() { "https" } else { "http" };
                    format!("{scheme}://{}", reachable(*address))
                })
                .unwrap_or_default()
        } else {
            config.base_url.trim_end_matches('/').to_owned()
        };
        Self { bound, base_url }
    }

    /// Whether anything says that others than this machine can reach the service, be it through a proxy.
    pub(crate) fn is_public(&self) -> bool {
        !self.listens_on_loopback() || !names_loopback(&self.base_url)
    }

    /// Whether only this machine can know of the service: it listens on loopback, all its names are there, and nothing
    /// says that somebody in front of it lets strangers in.
    pub(super) fn is_private(&self, config: &Config, names: &[String]) -> bool {
        config.proxies.trusted.is_empty()
            && self.listens_on_loopback()
            && names.iter().all(|name| names_loopback(name))
    }

    fn listens_on_loopback(&self) -> bool {
        self.bound.iter().all(|address| address.ip().is_loopback())
    }
}

/// Whether a URL names this machine and no other.
fn names_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(host)) => host == "localhost" || host.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// An address that listens everywhere is reached on this machine by its loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => ([127, 0, 0, 1], v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, v6.port()).into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_private_only_while_nothing_says_otherwise() {
        let private = |change: fn(&mut Config), bound: &str| {
            let mut config = Config::defaults();
            change(&mut config);
            let addresses = Addresses::new(&config, vec![bound.parse().expect("an address")]);
            let names = [addresses.base_url.clone(), config.cdn_url.clone()];
            let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            addresses.is_private(&config, &names)
        };
        assert!(private(|_| {}, "127.0.0.1:8080"));
        assert!(private(|_| {}, "[::1]:8080"));
        assert!(!private(|_| {}, "0.0.0.0:8080"));
        let here: fn(&mut Config) = |config| config.base_url = "http://localhost:8080".into();
        assert!(private(here, "127.0.0.1:8080"));
        let public: [fn(&mut Config); 4] = [
            |config| config.base_url = "https://media.example.com".into(),
            |config| config.base_url = "http://192.0.2.1".into(),
            |config| config.cdn_url = "https://cdn.example.com".into(),
            |config| config.proxies.trusted = vec!["127.0.0.1".into()],
        ];
        for change in public {
            assert!(!private(change, "127.0.0.1:8080"));
        }
    }

    #[test]
    fn whatever_names_another_machine_makes_a_service_public() {
        let public = |base_url: &str, bound: &str| {
            let mut config = Config::defaults();
            config.base_url = base_url.into();
            Addresses::new(&config, vec![bound.parse().expect("an address")]).is_public()
        };
        assert!(!public("", "127.0.0.1:8080"));
        assert!(!public("http://localhost:8080", "[::1]:8080"));
        assert!(public("", "0.0.0.0:8080"));
        assert!(public("https://media.example.com", "127.0.0.1:8080"));
        assert!(public("http://localhost:8080", "192.0.2.1:8080"));
    }
}
