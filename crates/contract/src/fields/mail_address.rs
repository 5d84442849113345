//! Addresses of people: only what every mail server takes, so that nothing else of a message can hide in one.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use url::Host;

use super::values::as_text;

/// No address is longer, by the rules of SMTP.
const MOST_CHARACTERS: usize = 254;
/// The most before the `@`.
const NAME_MOST: usize = 64;

/// Domains that deliver `a.b` and `ab` to the same person, each with the name under which it is known.
const DOTLESS: [(&str, &str); 2] = [("gmail.com", "gmail.com"), ("googlemail.com", "gmail.com")];

/// The e-mail address of a person.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MailAddress {
    /// As it was given, with its host in the spelling of the DNS.
    text: String,
    /// The place of the `@`.
    at: usize,
}

impl MailAddress {
    /// Reads an address; `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, host) = text.trim().rsplit_once('@')?;
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
        let good = (1..=NAME_MOST).contains(&name.len())
            && name.bytes().all(plain)
            && name.split('.').all(|part| !part.is_empty());
        let Ok(Host::Domain(host)) = Host::parse(host) else {
            return None;
        };
        let host = host.trim_end_matches('.');
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
        let known = host.bytes().all(letters) && host.split('.').all(|part| !part.is_empty());
        let text = format!("{name}@{host}");
        (good && known && text.len() <= MOST_CHARACTERS).then_some(Self {
            at: name.len(),
            text,
        })
    }

    /// The address as it is written to.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What comes after the `@`, in lower case.
    pub fn host(&self) -> &str {
        &self.text[self.at + 1..]
    }

    /// What makes two addresses the same.
    pub fn key(&self) -> String {
        self.text.to_lowercase()
    }

    /// What two addresses have in common that certainly reach the same person: the part after a `+` goes, and the dots where the host
    /// ignores them.
    pub fn folded(&self) -> String {
        let name = self.text[..self.at].to_lowercase();
        let name = name.split('+').next().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| self.text[..self.at].to_lowercase(), str::to_owned);
        match DOTLESS.iter().find(|(host, _)| *host == self.host()) {
            Some((_, known)) => format!("{}@{known}", name.replace('.', "")),
            None => format!("{name}@{}", self.host()),
        }
    }
}

impl<'de> Deserialize<'de> for MailAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let wrong = || de::Error::custom("must be an e-mail address such as ada@example.com");
        Self::parse(&text).ok_or_else(wrong)
    }
}

impl JsonSchema for MailAddress {
    fn schema_name() -> Cow<'static, str> {
        "MailAddress".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "email", "maxLength": MOST_CHARACTERS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        MailAddress::parse(text).expect("an address").folded()
    }

    #[test]
    fn addresses_are_taken_in_the_spelling_of_the_dns() {
        for (given, written) in [
            ("ada@example.com", "ada@example.com"),
            (" Ada.L@Example.COM ", "Ada.L@example.com"),
            ("o'neil+x@sub.example.com", "o'neil+x@sub.example.com"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("root@intranet", "root@intranet"),
        ] {
            let read = MailAddress::parse(given).expect(given);
            assert_eq!(read.as_str(), written);
            assert_eq!(read.key(), written.to_lowercase());
        }
    }

    /// The promise: nothing that a mail server or a header could read in another way is an address.
    #[test]
    fn what_could_be_read_in_another_way_is_refused() {
        let long = format!("{}@example.com", "a".repeat(65));
        let longer = format!("a@{}.example", "b".repeat(250));
        for wrong in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "a b@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada\n@example.com",
            "\"ada eve\"@example.com",
            "ada@exam ple.com",
            "ada@example.com>",
            "<ada@example.com>",
            "ada,eve@example.com",
            "ada;eve@example.com",
            ".ada@example.com",
            "a..b@example.com",
            "ada@.example.com",
            "ada@example..com",
            "ada@[192.0.2.1]",
            "ada@192.0.2.1",
            "ada@exa_mple.com",
            "ädä@example.com",
            &long,
            &longer,
        ] {
            assert_eq!(MailAddress::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn addresses_of_the_same_person_are_folded() {
        for same in [
            "ada@example.com",
            "Ada+1@example.com",
            "ada+x+y@EXAMPLE.com",
        ] {
            assert_eq!(folded(same), "ada@example.com");
        }
        for same in [
            "a.d.a@gmail.com",
            "ada@googlemail.com",
            "A.da+new@gmail.com",
        ] {
            assert_eq!(folded(same), "ada@gmail.com");
        }
        assert_eq!(folded("a.da@example.com"), "a.da@example.com");
        assert_eq!(folded("+x@example.com"), "+x@example.com");
    }
}
