//! Where the service may go on behalf of a caller: pure rules over addresses, no sockets, no names looked up.
//!
//! An address is judged twice: its text when it is submitted ([`Policy::check_url`]) and every socket address its
//! name leads to right before a connection ([`Policy::check_address`]). Both must agree, or nothing is opened.

mod allow;
mod block_reason;
mod own_addresses;
mod ports;
mod public_url;
mod ranges;
mod text;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

use allow::AllowRule;
pub use block_reason::BlockReason;
use own_addresses::OwnAddresses;
use ports::Ports;
pub use public_url::is_public_https;

/// What an address is for; the service itself is a fair source of images but never a receiver of callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The service posts a finished job there.
    Callback,
    /// The service reads an image or another file from there.
    Image,
}

/// The rules of one deployment.
#[derive(Clone, Debug)]
pub struct Policy {
    ports: Ports,
    allow: Vec<AllowRule>,
    /// Whether what names this machine itself may be reached, although nobody listed it.
    own_machine: bool,
    own: OwnAddresses,
}

impl Policy {
    /// Builds the policy from the settings.
    ///
    /// `ports` are those of public addresses that may be used; none means all that belong to no other protocol. `allow`
    /// holds exceptions: an address or CIDR with or without `:port` (without one it covers every port), or `host:port`.
    /// `None` means that the setting was not given: then a service that listens on loopback only may reach what names
    /// loopback, on every port. An empty list means no exception at all.
    /// `own` are the service's listeners; `own_hosts` its public names, as `host`, `host:port` or a whole address.
    pub fn from_settings(
        ports: &[u16],
        allow: Option<&[String]>,
        loopback_listener: bool,
        own: &[SocketAddr],
        own_hosts: &[String],
    ) -> Result<Self, String> {
        let allow_missing = allow.is_none();
        let listed = allow.unwrap_or_default().iter();
        let allow = listed.map(|entry| AllowRule::parse(entry));
        Ok(Self {
            ports: Ports::new(ports)?,
            allow: allow.collect::<Result<_, _>>()?,
            own_machine: allow_missing && loopback_listener,
            own: OwnAddresses::new(own, own_hosts)?,
        })
    }

    /// The same rules for somebody who is not on this machine, although the service seems to be reached from there alone.
    #[must_use]
    pub fn from_outside(&self) -> Self {
        Self {
            own_machine: false,
            ..self.clone()
        }
    }

    /// Whether what names this machine itself may be reached, although nobody listed it.
    pub fn reaches_own_machine(&self) -> bool {
        self.own_machine
    }

    /// The same rules with one more exception, written like an entry of `allow`.
    pub fn with_exception(&self, entry: &str) -> Result<Self, String> {
        let mut policy = self.clone();
        policy.allow.push(AllowRule::parse(entry)?);
        Ok(policy)
    }

    /// Judges the text of an address as it was submitted; gives back its one normal form, without fragment.
    pub fn check_url(&self, text: &str, purpose: Purpose) -> Result<Url, BlockReason> {
        let mut url = text::parse(text)?;
        url.set_fragment(None);
        let port = url.port_or_known_default().unwrap_or(0);
        if port == 0 {
            return Err(self.ports.wrong(port));
        }
        match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.to_owned();
                self.check_name(&name, port, purpose)?;
            }
            Some(Host::Ipv4(ip)) => self.check_literal(ip.into(), port, purpose)?,
            Some(Host::Ipv6(ip)) => self.check_literal(ip.into(), port, purpose)?,
            None => return Err(BlockReason::new("must have a host")),
        }
        Ok(url)
    }

    /// Judges one socket address that `host` leads to, right before a connection is opened to exactly that address.
    pub fn check_address(
        &self,
        purpose: Purpose,
        host: &str,
        address: SocketAddr,
    ) -> Result<(), BlockReason> {
        if purpose == Purpose::Callback
            && (self.own.has_address(address) || self.own.has_host(host, address.port()))
        {
            return Err(itself());
        }
        if self.allows(host, address) {
            return Ok(());
        }
        if !self.ports.may_use(address.port()) {
            return Err(self.ports.wrong(address.port()));
        }
        if !ranges::is_public(address.ip()) {
            return Err(not_public());
        }
        Ok(())
    }

    /// Whether an exception covers this address. A name of somebody else's that leads to this machine is none of its own.
    pub fn allows(&self, host: &str, address: SocketAddr) -> bool {
        let own = self.own_machine && address.ip().is_loopback() && names_own_machine(host);
        own || self
            .allow
            .iter()
            .any(|rule| rule.covers_address(address) || rule.covers_host(host, address.port()))
    }

    /// Whether the operator listed this very name; such names are looked up the way the machine looks up its own.
    pub fn names_host(&self, host: &str, port: u16) -> bool {
        self.allow.iter().any(|rule| rule.covers_host(host, port))
    }

    fn check_literal(&self, ip: IpAddr, port: u16, purpose: Purpose) -> Result<(), BlockReason> {
        self.check_address(purpose, &ip.to_string(), SocketAddr::new(ip, port))
    }

    fn check_name(&self, name: &str, port: u16, purpose: Purpose) -> Result<(), BlockReason> {
        text::check_labels(name)?;
        let local = text::is_localhost(name);
        if purpose == Purpose::Callback
            && (self.own.has_host(name, port) || local && self.own.is_loopback_port(port))
        {
            return Err(itself());
        }
        let listed = self.names_host(name, port)
            || local && loopback(port).iter().any(|ip| self.allows(name, *ip));
        if listed {
            return Ok(());
        }
        if text::is_private_name(name) {
            return Err(BlockReason::new("must have a public host name"));
        }
        let known = self.ports.may_use(port) || self.allow.iter().any(|rule| rule.has_port(port));
        if known {
            Ok(())
        } else {
            Err(self.ports.wrong(port))
        }
    }
}

/// Whether a host says by itself that it is this machine: `localhost` and below, or a literal of loopback.
pub fn names_own_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let literal = bare.parse::<IpAddr>();
    literal.map_or_else(|_| text::is_localhost(host), |ip| ip.is_loopback())
}

fn loopback(port: u16) -> [SocketAddr; 2] {
    [
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
    ]
}

fn itself() -> BlockReason {
    BlockReason::new("must not lead back to this service")
}

pub(crate) fn not_public() -> BlockReason {
    BlockReason::new("must resolve to public IP addresses, not to private or reserved ones")
}

#[cfg(test)]
mod tests;
