//! The service's own addresses and names: a callback there would make the service its own caller.

use std::net::{IpAddr, SocketAddr};

use url::Url;

/// Where this service itself is found.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnAddresses {
    addresses: Vec<SocketAddr>,
    hosts: Vec<(String, Option<u16>)>,
}

impl OwnAddresses {
    /// Takes the listeners and the public names, each as `host`, `host:port` or a whole address.
    pub(crate) fn new(addresses: &[SocketAddr], hosts: &[String]) -> Result<Self, String> {
        let mut own = Self {
            addresses: addresses.to_vec(),
            hosts: Vec::new(),
        };
        for host in hosts {
            own.add(host)?;
        }
        Ok(own)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let whole = text.contains("://");
        let address = if whole {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url = Url::parse(&address).map_err(|_| format!("`{text}` is not a host"))?;
        let host = url
            .host_str()
            .ok_or_else(|| format!("`{text}` has no host"))?
            .trim_end_matches('.')
            .to_owned();
        // `host:80` loses its port in the parser, because 80 is what `http` means anyway.
        let port = if whole {
            url.port_or_known_default()
        } else {
            text.rsplit_once(':')
                .and_then(|(_, port)| port.parse().ok())
        };
        let loopback = super::text::is_localhost(&host)
            || literal(&host).is_some_and(|ip: IpAddr| ip.is_loopback());
        // A bare loopback name would forbid every receiver on the developer's own machine.
        if port.is_some() || !loopback {
            self.hosts.push((host, port));
        }
        Ok(())
    }

    /// Whether one of the listeners answers at this address.
    pub(crate) fn has_address(&self, address: SocketAddr) -> bool {
        self.addresses.iter().any(|own| {
            own.port() == address.port()
                && (own.ip() == address.ip()
                    || own.ip().is_unspecified() && address.ip().is_loopback()
                    || own.ip().is_loopback() && address.ip().is_unspecified())
        }) || self.has_host(&address.ip().to_string(), address.port())
    }

    /// Whether a listener answers on this port of the machine's loopback.
    pub(crate) fn is_loopback_port(&self, port: u16) -> bool {
        self.addresses
            .iter()
            .any(|own| own.port() == port && (own.ip().is_loopback() || own.ip().is_unspecified()))
    }

    /// Whether this is one of the public names.
    pub(crate) fn has_host(&self, host: &str, at: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.hosts.iter().any(|(own, port)| {
            own.trim_start_matches('[')
                .trim_end_matches(']')
                .eq_ignore_ascii_case(host)
                && port.is_none_or(|port| port == at)
        })
    }
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}
