//! Who a request is from when it came through proxies: what they say counts only if they are known.

use std::net::IpAddr;

use hyper::header::{FORWARDED, HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The networks of known proxies.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Reads networks (`10.0.0.0/8`) and single addresses.
    pub(crate) fn new(networks: &[String]) -> Result<Self, String> {
        let read = |text: &String| {
            let one = text.parse::<IpAddr>().map(IpNet::from);
            one.or_else(|_| text.parse::<IpNet>())
                .map_err(|_| format!("proxies.trusted: {text} is neither an address nor a network"))
        };
        networks
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether an address is one of them.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The address behind the known proxies: each of them names who it heard from, the last one at the end.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if self.0.is_empty() || !self.contains(peer) {
            return peer;
        }
        let mut hops = forwarded_addresses(headers);
        let mut client = peer;
        while let Some(hop) = hops.pop() {
            let Some(address) = hop else { break };
            client = address;
            if !self.contains(address) {
                break;
            }
        }
        client
    }
}

/// Whether a proxy says that somebody spoke TLS with it or with one before it. A caller that claims so only binds itself.
pub(crate) fn forwarded_over_tls(headers: &HeaderMap) -> bool {
    forwarded_values(headers, "proto", &X_FORWARDED_PROTO)
        .iter()
        .any(|scheme| scheme.eq_ignore_ascii_case("https"))
}

/// The hosts that proxies say they were asked for.
pub(crate) fn forwarded_hosts(headers: &HeaderMap) -> Vec<String> {
    forwarded_values(headers, "host", &X_FORWARDED_HOST)
}

/// What both the standard header and the older one say.
fn forwarded_values(headers: &HeaderMap, word: &str, older: &HeaderName) -> Vec<String> {
    let texts = |name: &HeaderName| {
        let lines = headers.get_all(name).iter();
        let lines = lines.filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).collect::<Vec<_>>()
    };
    let standard = texts(&FORWARDED);
    let standard = standard.iter().filter_map(|element| pair(element, word));
    let all = standard.chain(texts(older));
    let all = all.map(|text| text.trim().trim_matches('"').to_owned());
    all.filter(|text| !text.is_empty()).collect()
}

/// The value of a word in one element of `Forwarded`.
fn pair<'a>(element: &'a str, word: &str) -> Option<&'a str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(word));
    found.map(|(_, value)| value)
}

/// The addresses that the headers name, in order; `None` where somebody would not say. `Forwarded` goes before the
/// header that it replaces.
fn forwarded_addresses(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let (name, standard) = if headers.contains_key(FORWARDED) {
        (FORWARDED, true)
    } else {
        (X_FORWARDED_FOR, false)
    };
    let lines = headers.get_all(name).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let hops = lines.flat_map(|line| line.split(','));
    hops.map(|hop| {
        if standard {
            forwarded_for(hop)
        } else {
            address(hop)
        }
    })
    .collect()
}

/// The `for` of one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    address(pair(element, "for")?)
}

/// An address, perhaps quoted, in brackets, with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => text,
    };
    let parsed = bare.parse::<IpAddr>().ok();
    let parsed = parsed.or_else(|| {
        text.parse::<std::net::SocketAddr>()
            .ok()
            .map(|one| one.ip())
    });
    parsed.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let proxies =
            TrustedProxies::new(&["10.0.0.0/8".into(), "192.0.2.7".into()]).expect("networks");
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("a header"));
        }
        let peer = peer.parse().expect("an address");
        proxies.client(peer, &headers).to_string()
    }

    #[test]
    fn only_known_proxies_are_believed() {
        let says = [("x-forwarded-for", "198.51.100.1")];
        assert_eq!(client("203.0.113.9", &says), "203.0.113.9");
        assert_eq!(client("10.1.1.1", &says), "198.51.100.1");
        assert_eq!(client("192.0.2.7", &says), "198.51.100.1");
        assert_eq!(client("10.1.1.1", &[]), "10.1.1.1");
    }

    #[test]
    fn what_a_stranger_claims_about_others_is_not_believed() {
        // The stranger wrote the first one, the proxy only the last.
        let says = [("x-forwarded-for", "127.0.0.1, 198.51.100.1")];
        assert_eq!(client("10.1.1.1", &says), "198.51.100.1");
        let says = [
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-for", "198.51.100.1, 10.2.2.2"),
        ];
        assert_eq!(client("10.1.1.1", &says), "198.51.100.1");
        let says = [("x-forwarded-for", "198.51.100.1, nonsense")];
        assert_eq!(client("10.1.1.1", &says), "10.1.1.1");
    }

    #[test]
    fn the_standard_header_is_read_in_all_its_spellings() {
        for (line, expected) in [
            ("for=198.51.100.1;proto=https", "198.51.100.1"),
            ("For=\"198.51.100.1:4711\"", "198.51.100.1"),
            ("proto=http;for=\"[2001:db8::1]:80\"", "2001:db8::1"),
            ("for=127.0.0.1, for=198.51.100.1", "198.51.100.1"),
            ("for=unknown", "10.1.1.1"),
            ("for=_hidden, for=10.3.3.3", "10.3.3.3"),
        ] {
            let lines = [("forwarded", line), ("x-forwarded-for", "192.0.2.99")];
            assert_eq!(client("10.1.1.1", &lines), expected, "{line}");
        }
    }

    #[test]
    fn networks_are_checked() {
        assert!(TrustedProxies::new(&["10.0.0.0/33".into()]).is_err());
        assert!(TrustedProxies::new(&["here".into()]).is_err());
    }
}
