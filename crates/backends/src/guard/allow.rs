//! One exception of the operator's list: a network, with or without a port, or a name with a port.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// An exception to the rule that only public addresses on the usual ports are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AllowRule {
    /// A network; no port means every port.
    Net { net: IpNet, port: Option<u16> },
    /// A name the operator trusts, whatever it resolves to.
    Host { name: String, port: u16 },
}

impl AllowRule {
    /// Reads `10.0.0.0/8`, `10.0.0.0/8:8080`, `127.0.0.1`, `127.0.0.1:9000`, `[::1]:9000`, `fd00::/8:443` or
    /// `host:port`.
    pub(crate) fn parse(entry: &str) -> Result<Self, String> {
        let entry = entry.trim();
        let wrong = || {
            format!(
                "outbound.allow: `{entry}` is neither an address, a CIDR (with or without :port) nor host:port"
            )
        };
        if let Some((net, rest)) = entry.split_once('/') {
            let net = parse_ip(net).ok_or_else(wrong)?;
            let (bits, port) = match rest.split_once(':') {
                Some((bits, port)) => (bits, Some(parse_port(port).ok_or_else(wrong)?)),
                None => (rest, None),
            };
            let bits: u8 = bits.parse().map_err(|_| wrong())?;
            let net = IpNet::new(net, bits).map_err(|_| wrong())?;
            return Ok(Self::Net { net, port });
        }
        if let Some(net) = parse_ip(entry) {
            return Ok(Self::single(net, None));
        }
        if let Ok(address) = entry.parse::<SocketAddr>() {
            return Ok(Self::single(address.ip(), Some(address.port())));
        }
        let (name, port) = entry.rsplit_once(':').ok_or_else(wrong)?;
        let port = parse_port(port).ok_or_else(wrong)?;
        match url::Host::parse(name.trim_end_matches('.')) {
            Ok(url::Host::Domain(name)) => Ok(Self::Host { name, port }),
            Ok(url::Host::Ipv4(ip)) => Ok(Self::single(ip.into(), Some(port))),
            _ => Err(wrong()),
        }
    }

    /// Whether it covers this address.
    pub(crate) fn covers_address(&self, address: SocketAddr) -> bool {
        match self {
            Self::Net { net, port } => {
                port.is_none_or(|port| port == address.port()) && net.contains(&address.ip())
            }
            Self::Host { .. } => false,
        }
    }

    /// Whether it is about this very name and port.
    pub(crate) fn covers_host(&self, host: &str, at: u16) -> bool {
        match self {
            Self::Net { .. } => false,
            Self::Host { name, port } => *port == at && name.eq_ignore_ascii_case(host),
        }
    }

    /// Whether it is a network with this very port, so that a name on it may turn out to lead there.
    pub(crate) fn has_port(&self, at: u16) -> bool {
        matches!(self, Self::Net { port: Some(port), .. } if *port == at)
    }

    fn single(ip: IpAddr, port: Option<u16>) -> Self {
        let net = ip.into();
        Self::Net { net, port }
    }
}

fn parse_ip(text: &str) -> Option<IpAddr> {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text)
        .parse()
        .ok()
}

fn parse_port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port != 0)
}
