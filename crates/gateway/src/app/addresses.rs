//! Where the service can be reached, and by whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use url::{Host, Url};

use crate::config::{Config, Role};

/// Where the service can be reached.
pub(crate) struct Addresses {
    /// The bound sockets, the main one first.
    pub(crate) bound: Vec<SocketAddr>,
    /// What callers see: the URL that links and asset addresses begin with.
    pub(crate) base_url: String,
    /// The listener that others than this machine reach, although no setting says under which URL they do.
    pub(crate) unnamed: Option<SocketAddr>,
}

impl Addresses {
    /// What follows from the bound sockets and the settings.
    pub(crate) fn new(config: &Config, bound: Vec<SocketAddr>) -> Self {
        let unnamed = unnamed(config, &bound);
        let base_url = if config.base_url.is_empty() {
            unnamed
                .as_ref()
                .or(bound.first())
                .map(|address| {
                    let scheme = if config.tls.is_set() { "https" } else { "http" };
                    format!("{scheme}://{}", reachable(*address))
                })
                .unwrap_or_default()
        } else {
            config.base_url.trim_end_matches('/').to_owned()
        };
        Self {
            bound,
            base_url,
            unnamed,
        }
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

/// The listener that others than this machine reach, while no setting says under which URL. The first of the bound addresses is the
/// main one, and the others are those of the listeners in their order.
fn unnamed(config: &Config, bound: &[SocketAddr]) -> Option<SocketAddr> {
    if !config.base_url.is_empty() {
        return None;
    }
    let others = config
        .listeners
        .iter()
        .filter(|one| !one.address.is_empty());
    let roles = std::iter::once(Role::Main).chain(others.map(|one| one.role));
    let for_callers = bound.iter().zip(roles);
    let mut for_callers = for_callers.filter(|(_, role)| *role != Role::Metrics);
    let behind_proxy = !config.proxies.trusted.is_empty();
    let reached = |(address, _): &(&SocketAddr, Role)| {
        behind_proxy || !address.ip().to_canonical().is_loopback()
    };
    for_callers.find(reached).map(|(address, _)| *address)
}

/// An address that listens everywhere is reached by the machine's own.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let own = own_address(Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1:9");
    let own = own.or_else(|| own_address(Ipv6Addr::UNSPECIFIED.into(), "[2001:db8::1]:9"));
    let loopback = match address {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::LOCALHOST),
    };
    let own = own.filter(|own| own.is_ipv4() || address.is_ipv6());
    SocketAddr::new(own.unwrap_or(loopback), address.port())
}

/// The address that the machine would send from to another one. Nothing is sent: the other one is an example of the documents.
fn own_address(from: IpAddr, to: &str) -> Option<IpAddr> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect(to).ok()?;
    Some(socket.local_addr().ok()?.ip())
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

    /// The promise: no URL that leaves the machine leads back to whoever follows it.
    #[test]
    fn a_listener_for_others_is_not_known_by_its_loopback_address() {
        let config = Config::defaults();
        let at = |bound: &str| {
            let bound = vec![bound.parse().expect("an address")];
            Addresses::new(&config, bound)
        };
        assert_eq!(at("127.0.0.1:8080").base_url, "http://127.0.0.1:8080");
        assert_eq!(at("192.0.2.7:8080").base_url, "http://192.0.2.7:8080");
        let base_url = at("0.0.0.0:8080").base_url;
        // A machine without a network has no other address.
        let alone = own_address(Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1:9").is_none();
        assert!(alone || !names_loopback(&base_url), "{base_url}");
    }

    #[test]
    fn a_listener_for_others_has_no_name_until_the_settings_give_it_one() {
        let unnamed = |change: fn(&mut Config), bound: &[&str]| {
            let mut config = Config::defaults();
            change(&mut config);
            let bound = bound.iter().map(|one| one.parse().expect("an address"));
            Addresses::new(&config, bound.collect()).unnamed
        };
        let with = |role| {
            move |config: &mut Config| {
                config.listeners = vec![ListenerSetting {
                    address: "0.0.0.0:9090".into(),
                    host: String::new(),
                    role,
                    plain: true,
                }];
            }
        };
        let everywhere = "0.0.0.0:8080".parse().ok();
        assert_eq!(unnamed(|_| {}, &["127.0.0.1:8080"]), None);
        assert_eq!(unnamed(|_| {}, &["0.0.0.0:8080"]), everywhere);
        let named: fn(&mut Config) = |config| config.base_url = "https://media.example.com".into();
        assert_eq!(unnamed(named, &["0.0.0.0:8080"]), None);
        let behind: fn(&mut Config) = |config| config.proxies.trusted = vec!["10.0.0.0/8".into()];
        assert!(unnamed(behind, &["127.0.0.1:8080"]).is_some());
        for (role, is_unnamed) in [(Role::Metrics, false), (Role::Cdn, true)] {
            let mut config = Config::defaults();
            with(role)(&mut config);
            let bound = ["127.0.0.1:8080", "0.0.0.0:9090"];
            let bound = bound.iter().map(|one| one.parse().expect("an address"));
            let addresses = Addresses::new(&config, bound.collect());
            assert_eq!(addresses.unnamed.is_some(), is_unnamed, "{role:?}");
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
