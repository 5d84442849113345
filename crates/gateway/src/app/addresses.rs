//! Where the service can be reached, and by whom.

use std::net::SocketAddr;

use url::{Host, Url};

use crate::config::{Config, Role};

/// Where the service can be reached.
pub(crate) struct Addresses {
    /// The bound sockets, the main one first.
    pub(crate) bound: Vec<SocketAddr>,
    /// What callers see: the URL that links and asset addresses begin with.
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

    /// Whether anything says that strangers can reach the service: also a listener for somebody else than this machine's
    /// operator.
    pub(crate) fn is_public(&self, config: &Config) -> bool {
        let for_callers = config.listeners.iter().any(|one| one.role != Role::Metrics);
        for_callers || !self.is_private(config)
    }

    /// Whether only this machine can know of the service: it listens on loopback, all its addresses and names are there, and
    /// nothing says that somebody in front of it lets strangers in. A name from elsewhere does: only a proxy can lead it here.
    pub(super) fn is_private(&self, config: &Config) -> bool {
        let hosts = config.listeners.iter().map(|one| &one.host);
        let mut hosts = hosts
            .chain(&config.names)
            .filter(|host| !host.is_empty())
            .map(|host| format!("http://{}", host.trim()));
        config.proxies.trusted.is_empty()
            && self.listens_on_loopback()
            && self.urls(config).iter().all(|url| names_loopback(url))
            && hosts.all(|host| names_loopback(&host))
    }

    /// The public addresses of the service and of its files.
    pub(super) fn urls(&self, config: &Config) -> Vec<String> {
        let urls = [
            &self.base_url,
            &config.origin_url,
            &config.cdn_url,
            &config.legacy_cdn_url,
        ];
        let urls = urls.into_iter().filter(|url| !url.is_empty());
        urls.cloned().collect()
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
    use crate::config::ListenerSetting;

    fn by_host(host: &str) -> Vec<ListenerSetting> {
        vec![ListenerSetting {
            address: String::new(),
            host: host.into(),
            role: Role::Custody,
            plain: false,
        }]
    }

    #[test]
    fn a_service_is_private_only_while_nothing_says_otherwise() {
        let private = |change: fn(&mut Config), bound: &str| {
            let mut config = Config::defaults();
            change(&mut config);
            let bound = vec![bound.parse().expect("an address")];
            Addresses::new(&config, bound).is_private(&config)
        };
        assert!(private(|_| {}, "127.0.0.1:8080"));
        assert!(private(|_| {}, "[::1]:8080"));
        assert!(!private(|_| {}, "0.0.0.0:8080"));
        let here: fn(&mut Config) = |config| config.base_url = "http://localhost:8080".into();
        assert!(private(here, "127.0.0.1:8080"));
        let named: fn(&mut Config) = |config| {
            config.listeners = by_host("own.localhost");
            config.names = vec!["studio.localhost:8080".into(), "127.0.0.2".into()];
        };
        assert!(private(named, "127.0.0.1:8080"));
        let public: [fn(&mut Config); 6] = [
            |config| config.base_url = "https://media.example.com".into(),
            |config| config.base_url = "http://192.0.2.1".into(),
            |config| config.cdn_url = "https://cdn.example.com".into(),
            |config| config.proxies.trusted = vec!["127.0.0.1".into()],
            |config| config.listeners = by_host("own.example.com"),
            |config| config.names = vec!["nas.lan".into()],
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
            let bound = vec![bound.parse().expect("an address")];
            Addresses::new(&config, bound).is_public(&config)
        };
        assert!(!public("", "127.0.0.1:8080"));
        assert!(!public("http://localhost:8080", "[::1]:8080"));
        assert!(public("", "0.0.0.0:8080"));
        assert!(public("https://media.example.com", "127.0.0.1:8080"));
        assert!(public("http://localhost:8080", "192.0.2.1:8080"));
    }
}
