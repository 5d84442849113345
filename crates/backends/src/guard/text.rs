//! The text of an address, before any of it is believed. The parser strips and repairs silently, so what it would
//! repair is refused first.

use url::Url;

use super::block_reason::BlockReason;

/// No address is longer.
const MOST_CHARACTERS: usize = 2048;
/// The limits of the name system.
const MOST_NAME_BYTES: usize = 253;
const MOST_LABEL_BYTES: usize = 63;

/// Name endings that belong to local networks or to nobody.
const PRIVATE_SUFFIXES: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "lan",
    "home.arpa",
    "intranet",
    "corp",
    "test",
    "example",
    "invalid",
    "onion",
];

/// Parses an address that needs no repair; a trailing dot of the host is dropped.
pub(crate) fn parse(text: &str) -> Result<Url, BlockReason> {
    if text.len() > MOST_CHARACTERS * 4 || text.chars().count() > MOST_CHARACTERS {
        return Err(BlockReason::new("must have at most 2048 characters"));
    }
    check_characters(text)?;
    let authority = authority(text).ok_or_else(no_address)?;
    if authority.contains('@') {
        return Err(BlockReason::new("must not carry a user name or password"));
    }
    let mut url = Url::parse(text).map_err(|_| no_address())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(no_address());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BlockReason::new("must not carry a user name or password"));
    }
    if let Some(bare) = url.host_str().and_then(|host| host.strip_suffix('.')) {
        let bare = bare.to_owned();
        url.set_host(Some(&bare)).map_err(|_| no_address())?;
    }
    Ok(url)
}

/// Refuses what the parser would drop or turn around.
pub(crate) fn check_characters(text: &str) -> Result<(), BlockReason> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.chars().any(odd) {
        return Err(BlockReason::new(
            "must not contain spaces, backslashes or control characters",
        ));
    }
    Ok(())
}

/// Refuses names that no name server could answer for.
pub(crate) fn check_labels(name: &str) -> Result<(), BlockReason> {
    let fits = name.len() <= MOST_NAME_BYTES
        && name
            .split('.')
            .all(|label| (1..=MOST_LABEL_BYTES).contains(&label.len()));
    if fits {
        Ok(())
    } else {
        Err(BlockReason::new("must have a valid host name"))
    }
}

/// Whether a name is `localhost` or below it.
pub(crate) fn is_localhost(name: &str) -> bool {
    has_suffix(name, "localhost")
}

/// Whether a name can only mean something on a local network.
pub(crate) fn is_private_name(name: &str) -> bool {
    !name.contains('.')
        || PRIVATE_SUFFIXES
            .iter()
            .any(|suffix| has_suffix(name, suffix))
}

fn has_suffix(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// What stands between `http://` or `https://` and the path; `None` for any other beginning.
fn authority(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    (!authority.is_empty()).then_some(authority)
}

fn no_address() -> BlockReason {
    BlockReason::new("must be an http or https URL")
}
