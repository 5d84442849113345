//! Which IP addresses are public. IPv4 lists what is not; IPv6 lists what is, because most of it is unassigned.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that nothing on the public internet lives in, and one cloud agent that only looks public.
const CLOSED_V4: &[(Ipv4Addr, u8)] = &[
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The only IPv6 network with public hosts.
const OPEN_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Parts of it that carry other protocols (Teredo, 6to4) or are set aside for documents and benchmarks.
const CLOSED_V6: &[(Ipv6Addr, u8)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address belongs to the public internet.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !CLOSED_V4
            .iter()
            .any(|(net, bits)| holds((*net).into(), *bits, ip.into())),
        IpAddr::V6(ip) => {
            holds(OPEN_V6.0.into(), OPEN_V6.1, ip.into())
                && !CLOSED_V6
                    .iter()
                    .any(|(net, bits)| holds((*net).into(), *bits, ip.into()))
        }
    }
}

/// Whether the network `net/bits` holds `ip`; the two families never hold each other's addresses.
pub(crate) fn holds(net: IpAddr, bits: u8, ip: IpAddr) -> bool {
    match (net, ip) {
        (IpAddr::V4(net), IpAddr::V4(ip)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            net.to_bits() & mask == ip.to_bits() & mask
        }
        (IpAddr::V6(net), IpAddr::V6(ip)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            net.to_bits() & mask == ip.to_bits() & mask
        }
        _ => false,
    }
}
