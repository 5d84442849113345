//! The option flags of a prompt (`a fox --ar 16:9 --v 6.1`), read once: words apart from flags, every value checked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::version::Version;
use crate::brief::HintKind;
use crate::fields::ImageUrl;
use crate::refusal::{Code, Refusal};

/// What a flag takes.
enum FlagValue {
    /// No value: the flag alone says it.
    Nothing,
    /// Width and height, as in `16:9`.
    Ratio,
    /// A whole number from the first to the second.
    Whole(u32, u32),
    /// A number that may have decimals.
    Decimal(f64, f64),
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// All words up to the next flag.
    Words,
    /// Addresses or codes up to the next flag.
    References,
}

/// Every flag: its spellings, the first of which names it, and what it takes.
const KNOWN: &[(&[&str], FlagValue)] = &[
    (&["--ar", "--aspect"], FlagValue::Ratio),
    (&["--v", "--version"], FlagValue::OneOf(Version::WORDS)),
    (&["--niji"], FlagValue::OneOf(Version::NIJI_WORDS)),
    (&["--seed"], FlagValue::Whole(0, u32::MAX)),
    (&["--no"], FlagValue::Words),
    (&["--stylize", "--s"], FlagValue::Whole(0, 1000)),
    (&["--chaos", "--c"], FlagValue::Whole(0, 100)),
    (&["--weird", "--w"], FlagValue::Whole(0, 3000)),
    (
        &["--quality", "--q"],
        FlagValue::OneOf(&["0.25", ".25", "0.5", ".5", "1", "2", "4"]),
    ),
    (&["--stop"], FlagValue::Whole(10, 100)),
    (&["--tile"], FlagValue::Nothing),
    (&["--iw"], FlagValue::Decimal(0.0, 3.0)),
    (&["--sref"], FlagValue::References),
    (&["--sw"], FlagValue::Whole(0, 1000)),
    (&["--cref"], FlagValue::References),
    (&["--cw"], FlagValue::Whole(0, 100)),
    (&["--raw"], FlagValue::Nothing),
    (
        &["--style"],
        FlagValue::OneOf(&["raw", "cute", "expressive", "original", "scenic"]),
    ),
];

/// The widest and the highest picture: this many times as long as the other side.
const MOST_RATIO: u32 = 14;

/// A prompt taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// The words, without flags and image addresses.
    pub words: String,
    /// Addresses of images at the start of the prompt.
    pub images: Vec<ImageUrl>,
    values: BTreeMap<&'static str, String>,
}

impl Flags {
    /// Takes a prompt apart, or refuses it by the name of the flag.
    pub fn read(prompt: &str) -> Result<Self, Refusal> {
        let mut flags = Self::default();
        let mut words = Vec::new();
        let mut tokens = prompt.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            let Some((name, takes)) = known(token)? else {
                match image(token) {
                    Some(image) if words.is_empty() => flags.images.push(image),
                    _ => words.push(token),
                }
                continue;
            };
            let mut given = Vec::new();
            while let Some(next) = tokens.peek() {
                let full = match takes {
                    FlagValue::Nothing => true,
                    FlagValue::Words | FlagValue::References => false,
                    _ => given.len() == 1,
                };
                if full || known(next)?.is_some() {
                    break;
                }
                given.push(*next);
                tokens.next();
            }
            flags.keep(name, takes, &given.join(" "))?;
        }
        flags.words = words.join(" ");
        if flags.values.contains_key("--v") && flags.values.contains_key("--niji") {
            return Err(bad("--niji", "cannot stand beside --v"));
        }
        if flags.words.is_empty() && flags.images.is_empty() {
            let message = "needs text beside its flags";
            return Err(Refusal::field(Code::MissingParameter, "prompt", message));
        }
        Ok(flags)
    }

    fn keep(&mut self, name: &'static str, takes: &FlagValue, given: &str) -> Result<(), Refusal> {
        check(name, takes, given)?;
        if let Some(earlier) = self.values.get_mut(name) {
            if !matches!(takes, FlagValue::Words) {
                return Err(bad(name, "must not be given twice"));
            }
            *earlier = format!("{earlier}, {given}");
        } else {
            self.values.insert(name, given.to_owned());
        }
        Ok(())
    }

    /// Width to height, from `--ar`; square without it.
    pub fn ratio(&self) -> (u32, u32) {
        self.values
            .get("--ar")
            .and_then(|text| ratio(text))
            .unwrap_or((1, 1))
    }

    /// The version, from `--v` or `--niji`, when one was named.
    pub fn version(&self) -> Option<Version> {
        let plain = self.values.get("--v").map(String::as_str);
        match self.values.get("--niji") {
            Some(number) => Version::parse(&format!("niji {number}")),
            None => plain.and_then(Version::parse),
        }
    }

    /// The seed, from `--seed`.
    pub fn seed(&self) -> Option<u32> {
        self.values.get("--seed").and_then(|text| text.parse().ok())
    }

    /// What to leave out, from `--no`.
    pub fn negative(&self) -> &str {
        self.values.get("--no").map_or("", String::as_str)
    }

    /// Addresses of pictures that lend their style (`--sref`) or the looks of their subject (`--cref`). A weight of
    /// zero takes nothing from them.
    pub fn hints(&self) -> Vec<(HintKind, ImageUrl)> {
        let named = [
            ("--sref", "--sw", HintKind::Style),
            ("--cref", "--cw", HintKind::Looks),
        ];
        let mut all = Vec::new();
        for (flag, weight, lends) in named {
            let given = self.values.get(flag).map_or("", String::as_str);
            let none = self.values.get(weight).and_then(|text| whole(text)) == Some(0);
            let words = given.split(' ').filter(|_| !none);
            all.extend(words.filter_map(|word| Some((lends, image(plain_reference(word))?))));
        }
        all
    }

    /// Every flag as it was given, for back ends that know more of them: `{"ar": "16:9", "tile": true}`.
    pub fn to_json(&self) -> Value {
        let entry = |(name, value): (&&str, &String)| {
            let value = if value.is_empty() {
                Value::Bool(true)
            } else {
                value.clone().into()
            };
            (name.trim_start_matches('-').to_owned(), value)
        };
        Value::Object(self.values.iter().map(entry).collect::<Map<_, _>>())
    }
}

/// What a prompt asks for: all of it but the words of `--no`, which end where the next flag begins.
pub(super) fn asked_for(prompt: &str) -> Cow<'_, str> {
    let leaves_out = |token: &str| {
        let name = token.strip_prefix("--").or(token.strip_prefix('—'));
        name.is_some_and(|name| name.eq_ignore_ascii_case("no"))
    };
    let has_flags = prompt.contains("--") || prompt.contains('—');
    if !has_flags || !prompt.split_whitespace().any(leaves_out) {
        return prompt.into();
    }
    let (mut asked, mut left_out) = (Vec::new(), false);
    for token in prompt.split_whitespace() {
        if leaves_out(token) {
            left_out = true;
            continue;
        }
        // A flag that nobody knows is refused elsewhere; until then it is a flag.
        left_out &= matches!(known(token), Ok(None));
        if !left_out {
            asked.push(token);
        }
    }
    asked.join(" ").into()
}

/// The flag a token names. A dash pair before a letter must be a flag we know; other dashes are words.
fn known(token: &str) -> Result<Option<(&'static str, &'static FlagValue)>, Refusal> {
    // Writing programs turn two dashes into one long one.
    let plain = token.replacen('—', "--", 1).to_ascii_lowercase();
    let found = KNOWN
        .iter()
        .find(|(names, _)| names.contains(&plain.as_str()));
    if let Some((names, takes)) = found {
        return Ok(Some((names[0], takes)));
    }
    let letter = token
        .strip_prefix("--")
        .and_then(|rest| rest.chars().next());
    if letter.is_some_and(char::is_alphabetic) {
        let names: Vec<_> = KNOWN
            .iter()
            .flat_map(|(names, _)| *names)
            .copied()
            .collect();
        let shown: String = token.chars().take(40).collect();
        return Err(Refusal::invalid(
            "prompt",
            format_args!("unknown flag {shown}, known are {}", names.join(", ")),
        ));
    }
    Ok(None)
}

fn bad(flag: &str, message: impl std::fmt::Display) -> Refusal {
    Refusal::invalid("prompt", format_args!("flag {flag} {message}"))
}

fn check(flag: &str, takes: &FlagValue, given: &str) -> Result<(), Refusal> {
    let shown: String = given.chars().take(40).collect();
    let refuse = |wanted: String| Err(bad(flag, format_args!("must be {wanted}, is `{shown}`")));
    match takes {
        FlagValue::Nothing => Ok(()),
        FlagValue::Ratio if ratio(given).is_some() => Ok(()),
        FlagValue::Ratio => refuse(format!(
            "width:height in whole numbers such as 16:9, from 1:{MOST_RATIO} to {MOST_RATIO}:1"
        )),
        FlagValue::Whole(least, most) => match whole(given) {
            Some(number) if (*least..=*most).contains(&number) => Ok(()),
            _ => refuse(format!("a whole number from {least} to {most}")),
        },
        FlagValue::Decimal(least, most) => match given.parse::<f64>() {
            Ok(number) if number >= *least && number <= *most => Ok(()),
            _ => refuse(format!("a number from {least} to {most}")),
        },
        FlagValue::OneOf(words) if words.contains(&given) => Ok(()),
        FlagValue::OneOf(words) => refuse(format!("one of {}", words.join(", "))),
        FlagValue::Words if !given.is_empty() => Ok(()),
        FlagValue::Words => refuse("followed by words".into()),
        FlagValue::References => {
            let all = given.split(' ').all(is_reference);
            if all {
                Ok(())
            } else {
                refuse("image addresses, codes of digits or random".into())
            }
        }
    }
}

fn whole(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn ratio(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once(':')?;
    let (width, height) = (whole(width)?, whole(height)?);
    let long = width.max(height);
    let short = width.min(height);
    (short > 0 && long <= 10_000 && long <= short * MOST_RATIO).then_some((width, height))
}

/// A style or character reference, with an optional weight: `https://example.com/a.png::2`, `1234`, `random`.
fn is_reference(text: &str) -> bool {
    let plain = plain_reference(text);
    plain == "random" || (!plain.is_empty() && whole(plain).is_some()) || image(plain).is_some()
}

/// A reference without its weight.
fn plain_reference(text: &str) -> &str {
    match text.rsplit_once("::") {
        Some((plain, weight)) if weight.parse::<f64>().is_ok() => plain,
        _ => text,
    }
}

fn image(token: &str) -> Option<ImageUrl> {
    let address = token.starts_with("http://") || token.starts_with("https://");
    address.then(|| serde_json::from_value(token.into()).ok())?
}

#[cfg(test)]
mod tests;
