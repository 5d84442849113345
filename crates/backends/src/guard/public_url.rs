//! Whether strangers on the internet can reach an address, as far as its text tells.

use url::{Host, Url};

use super::ranges::is_public;

/// Ends of names that only one network knows.
const PRIVATE_ENDS: &[&str] = &[
    ".home.arpa",
    ".internal",
    ".intranet",
    ".invalid",
    ".lan",
    ".local",
    ".localdomain",
    ".localhost",
    ".test",
];

/// Whether an address is https at a public host.
pub fn is_public_https(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let is_public = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_lowercase();
            name.contains('.') && !PRIVATE_ENDS.iter().any(|end| name.ends_with(end))
        }
        Some(Host::Ipv4(ip)) => is_public(ip.into()),
        Some(Host::Ipv6(ip)) => is_public(ip.into()),
        None => false,
    };
    url.scheme() == "https" && is_public
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_at_a_host_of_the_internet_is_public() {
        for text in [
            "https://media.example.com",
            "https://8.8.8.8:8443/x",
            "https://[2606:4700::1]",
        ] {
            assert!(is_public_https(text), "{text}");
        }
        for text in [
            "http://media.example.com",
            "https://localhost",
            "https://a.localhost",
            "https://127.0.0.1:8080",
            "https://10.1.2.3",
            "https://192.168.1.5",
            "https://[::1]",
            "https://[fd00::1]",
            "https://nas",
            "https://nas.lan",
            "https://printer.local.",
            "",
            "media.example.com",
        ] {
            assert!(!is_public_https(text), "{text}");
        }
    }
}
