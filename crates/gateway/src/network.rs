//! Whoever has no key is known by the network it comes from: one address of IPv4, or a /64 of IPv6, which is what a
//! household or a rented machine has to choose addresses from.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The network of an address. An address of IPv4 that is written as one of IPv6 is of IPv4.
pub(crate) fn of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The network of an address as the name of a holder of shares.
pub(crate) fn holder(peer: IpAddr) -> Arc<str> {
    match of(peer) {
        IpAddr::V6(network) => format!("{network}/64").into(),
        v4 @ IpAddr::V4(_) => v4.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(address: &str) -> Arc<str> {
        holder(address.parse().expect("an address"))
    }

    #[test]
    fn a_network_is_one_address_of_ipv4_or_64_bits_of_ipv6() {
        assert_eq!(&*named("192.0.2.1"), "192.0.2.1");
        assert_eq!(&*named("::ffff:192.0.2.1"), "192.0.2.1");
        assert_ne!(named("192.0.2.1"), named("192.0.2.2"));
        assert_eq!(&*named("2001:db8:1:2::1"), "2001:db8:1:2::/64");
        assert_eq!(named("2001:db8:1:2::1"), named("2001:db8:1:2:ffff::9"));
        assert_ne!(named("2001:db8:1:2::1"), named("2001:db8:1:3::1"));
    }
}
