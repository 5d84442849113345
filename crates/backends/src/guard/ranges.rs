//! Which IP addresses are public. IPv4 lists what is not; IPv6 lists what is, because most of it is unassigned.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// IPv4 networks that nothing on the public internet lives in, and one cloud agent that only looks public.
const CLOSED_V4: &[Ipv4Net] = &[
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([168, 63, 129, 16], 32),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// The only IPv6 network with public hosts.
const OPEN_V6: Ipv6Net = v6([0x2000, 0], 3);

/// Parts of it that carry other protocols (Teredo, 6to4) or are set aside for documents and benchmarks.
const CLOSED_V6: &[Ipv6Net] = &[
    v6([0x2001, 0], 23),
    v6([0x2001, 0xdb8], 32),
    v6([0x2002, 0], 16),
    v6([0x3fff, 0], 20),
];

const fn v4(start: [u8; 4], bits: u8) -> Ipv4Net {
    let [a, b, c, d] = start;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(start: [u16; 2], bits: u8) -> Ipv6Net {
    let [a, b] = start;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

/// Whether an address belongs to the public internet.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !CLOSED_V4.iter().any(|net| net.contains(&ip)),
        IpAddr::V6(ip) => OPEN_V6.contains(&ip) && !CLOSED_V6.iter().any(|net| net.contains(&ip)),
    }
}
