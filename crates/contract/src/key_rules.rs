//! What a key may do beside its scopes: which operations and models, from where, how fast. Names may have `*` in them, which stands
//! for any letters.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};

use crate::refusal::{Code, Refusal};

/// What a key may do; what is empty or absent is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyRules {
    /// Operations, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Models, by name in any case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Networks that its calls come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<IpNet>,
    /// Submits in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submits_per_second: Option<u32>,
}

impl KeyRules {
    /// Whether they limit nothing.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses an operation that is not among those of the key.
    pub fn check_operation(&self, operation: &str) -> Result<(), Refusal> {
        if self.operations.is_empty() || matches_any(&self.operations, operation) {
            return Ok(());
        }
        let message = format!(
            "this key may not use `{operation}`; it may use {}",
            self.operations.join(", ")
        );
        Err(Refusal::new(Code::Forbidden, message))
    }

    /// Refuses a model that is not among those of the key, and an operation that names none when the key has some.
    pub fn check_model(&self, operation: &str, model: Option<&str>) -> Result<(), Refusal> {
        if self.models.is_empty() {
            return Ok(());
        }
        let some = self.models.join(", ");
        let message = match model {
            Some(model) if matches_any(&self.models, &model.to_ascii_lowercase()) => return Ok(()),
            Some(model) => format!("this key may not use the model `{model}`; it may use {some}"),
            None => {
                format!("this key may use the models {some} only, and `{operation}` names none")
            }
        };
        Err(Refusal::new(Code::Forbidden, message))
    }

    /// Refuses an address outside the networks of the key.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Refusal> {
        let address = address.to_canonical();
        if self.addresses.is_empty() || self.addresses.iter().any(|net| net.contains(&address)) {
            return Ok(());
        }
        let message = format!("this key may not be used from {address}");
        Err(Refusal::new(Code::Forbidden, message))
    }

    /// Of these what is different from what was before; the rest limits nothing.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Self {
        let mut changed = self.clone();
        if changed.operations == before.operations {
            changed.operations.clear();
        }
        if changed.models == before.models {
            changed.models.clear();
        }
        if changed.addresses == before.addresses {
            changed.addresses.clear();
        }
        if changed.submits_per_second == before.submits_per_second {
            changed.submits_per_second = None;
        }
        changed
    }

    /// The field in which these allow something that others do not; what is left out here is limited by the others all the same.
    pub fn wider_than(&self, others: &Self) -> Option<&'static str> {
        let beyond = |own: &[String], theirs: &[String]| {
            !theirs.is_empty()
                && own
                    .iter()
                    .any(|pattern| !matches_any(theirs, &pattern.to_ascii_lowercase()))
        };
        let outside = |net: &IpNet| !others.addresses.iter().any(|wide| wide.contains(net));
        if beyond(&self.operations, &others.operations) {
            return Some("operations");
        }
        if beyond(&self.models, &others.models) {
            return Some("models");
        }
        if !others.addresses.is_empty() && self.addresses.iter().any(outside) {
            return Some("addresses");
        }
        let rates = self.submits_per_second.zip(others.submits_per_second);
        rates
            .filter(|(own, most)| own > most)
            .map(|_| "submitsPerSecond")
    }
}

/// Whether a name, in small letters, is one of these patterns or fits one.
fn matches_any(patterns: &[String], name: &str) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| fits(pattern.to_ascii_lowercase().as_bytes(), name.as_bytes()))
}

/// Whether a name fits a pattern. The last `*` takes one letter more whenever what follows does not fit, so that no pattern takes long.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        if pattern.get(place) == Some(&b'*') {
            star = Some((place, at));
            place += 1;
        } else if pattern.get(place) == Some(&name[at]) {
            (at, place) = (at + 1, place + 1);
        } else if let Some((after, taken)) = star {
            star = Some((after, taken + 1));
            (at, place) = (taken + 1, after + 1);
        } else {
            return false;
        }
    }
    pattern[place..].iter().all(|byte| *byte == b'*')
}

/// Reads a network or a single address. A network of IPv4 that is written as one of IPv6 is of IPv4.
pub fn parse_network(text: &str) -> Option<IpNet> {
    let one = text
        .parse::<IpAddr>()
        .map(|one| IpNet::from(one.to_canonical()));
    let net = one.or_else(|_| text.parse::<IpNet>()).ok()?.trunc();
    match net {
        IpNet::V6(six) if six.prefix_len() >= 96 => {
            let four = six.addr().to_ipv4_mapped();
            let net = four.and_then(|four| Ipv4Net::new(four, six.prefix_len() - 96).ok());
            Some(net.map_or(IpNet::V6(six), IpNet::V4))
        }
        net => Some(net),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(operations: &[&str], models: &[&str], addresses: &[&str]) -> KeyRules {
        let texts = |some: &[&str]| some.iter().map(|one| (*one).to_owned()).collect();
        KeyRules {
            operations: texts(operations),
            models: texts(models),
            addresses: addresses
                .iter()
                .filter_map(|one| parse_network(one))
                .collect(),
            submits_per_second: None,
        }
    }

    #[test]
    fn names_fit_patterns() {
        for (pattern, name, expected) in [
            ("artgen.imagine", "artgen.imagine", true),
            ("artgen.imagine", "artgen.imagines", false),
            ("artgen.*", "artgen.imagine", true),
            ("artgen.*", "artgen", false),
            ("*", "", true),
            ("*.imagine", "artgen.imagine", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("", "a", false),
        ] {
            assert_eq!(
                fits(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
        // What would take others for ever takes a moment.
        let pattern = "a*".repeat(40) + "b";
        assert!(!fits(pattern.as_bytes(), "a".repeat(5_000).as_bytes()));
    }

    #[test]
    fn a_key_with_models_uses_no_others_and_nothing_without_one() {
        let some = rules(&[], &["Image-*"], &[]);
        assert_eq!(
            some.check_model("imgmodel.generations", Some("image-1")),
            Ok(())
        );
        for (model, said) in [(Some("art-2"), "art-2"), (None, "artgen.imagine")] {
            let refusal = some
                .check_model("artgen.imagine", model)
                .expect_err("refused");
            assert_eq!(refusal.code, Code::Forbidden);
            assert!(refusal.message.contains(said), "{}", refusal.message);
        }
    }

    #[test]
    fn addresses_are_judged_by_their_network_however_they_are_written() {
        let some = rules(
            &[],
            &[],
            &[
                "10.1.2.3/8",
                "::ffff:192.0.2.0/120",
                "2001:db8::/32",
                "::ffff:198.51.100.7",
            ],
        );
        assert_eq!(some.addresses.len(), 4);
        let may = |text: &str| {
            some.check_address(text.parse().expect("an address"))
                .is_ok()
        };
        for inside in [
            "10.255.0.1",
            "::ffff:10.0.0.1",
            "192.0.2.200",
            "::ffff:192.0.2.1",
            "2001:db8:1::9",
            "198.51.100.7",
        ] {
            assert!(may(inside), "{inside}");
        }
        for outside in [
            "11.0.0.1",
            "192.0.3.1",
            "2001:db9::1",
            "198.51.100.8",
            "::1",
        ] {
            assert!(!may(outside), "{outside}");
        }
        for nonsense in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            "example.com",
            "10.0.0.1/",
            "1.2.3.4/-1",
            "0x7f.1",
        ] {
            assert_eq!(parse_network(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn rules_are_wider_where_they_allow_more() {
        let parent = KeyRules {
            submits_per_second: Some(5),
            ..rules(&["artgen.*"], &["image-1", "b-*"], &["10.0.0.0/8"])
        };
        assert_eq!(
            KeyRules::default().wider_than(&parent),
            None,
            "what is left out stays limited"
        );
        assert_eq!(
            rules(&["artgen.im*"], &["B-2"], &["10.2.0.0/16"]).wider_than(&parent),
            None
        );
        assert_eq!(
            rules(&["*"], &[], &[]).wider_than(&parent),
            Some("operations")
        );
        assert_eq!(
            rules(&[], &["*-2"], &[]).wider_than(&parent),
            Some("models")
        );
        assert_eq!(
            rules(&[], &[], &["0.0.0.0/0"]).wider_than(&parent),
            Some("addresses")
        );
        let faster = KeyRules {
            submits_per_second: Some(6),
            ..KeyRules::default()
        };
        assert_eq!(faster.wider_than(&parent), Some("submitsPerSecond"));
        assert_eq!(faster.wider_than(&KeyRules::default()), None);
    }
}
