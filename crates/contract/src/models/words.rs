//! How values of fields are compared: as leniently as the types of the fields read them.

use std::borrow::Cow;

use serde_json::Value;

/// The longest length of a video that a model may offer, in seconds.
pub(super) const SECONDS_MOST: u32 = 600;
/// The shortest and the longest side of a size.
const SIDES: std::ops::RangeInclusive<u32> = 64..=8192;
/// The most pixels of a size.
const PIXELS_MOST: u64 = 33_554_432;
/// The side of a square that stands for a size which nobody named.
pub(super) const AUTO_SIDE: u32 = 1024;
/// The size that leaves the choice to whoever makes it.
pub(super) const AUTO: &str = "auto";

/// The fields whose lists an operator may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FreeKind {
    Size,
    Seconds,
    Quality,
}

impl FreeKind {
    /// The kind of a field, by its name.
    pub(super) fn of(field: &str) -> Option<Self> {
        match field {
            "size" => Some(Self::Size),
            "seconds" | "duration" | "video_length" => Some(Self::Seconds),
            "quality" => Some(Self::Quality),
            _ => None,
        }
    }

    /// Whether a word that `like` does not know may stand in such a list.
    pub(super) fn takes(self, word: &Value) -> bool {
        match self {
            Self::Size => word
                .as_str()
                .is_some_and(|word| word == AUTO || pixels(word).is_some()),
            Self::Seconds => seconds(word).is_some(),
            Self::Quality => word.as_str().is_some_and(super::names::is_name),
        }
    }

    /// What such a list takes, for messages.
    pub(super) const fn wanted(self) -> &'static str {
        match self {
            Self::Size => {
                "must be WxH with sides of 64 to 8192 and at most 33554432 pixels, or auto"
            }
            Self::Seconds => "must be whole seconds from 1 to 600",
            Self::Quality => "must be 1 to 64 of a-z, A-Z, 0-9, `.`, `_`, `:`, `/`, `-`",
        }
    }
}

/// The text that stands for a value.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

/// A value as a number, also where it came as text.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Whether two values are the same to the type of a field: `4`, `4.0` and `"4"` are, and lengths with their unit.
pub(super) fn is_same(kind: Option<FreeKind>, one: &Value, other: &Value) -> bool {
    if text_of(one) == text_of(other) {
        return true;
    }
    if kind == Some(FreeKind::Seconds) {
        return seconds(one).is_some_and(|length| seconds(other) == Some(length));
    }
    number_of(one).is_some_and(|number| number_of(other) == Some(number))
}

/// Whole seconds: a number, its text, or its text with the unit.
pub(super) fn seconds(value: &Value) -> Option<u32> {
    let text = text_of(value);
    let text = text.trim();
    let text = text.strip_suffix('s').unwrap_or(text);
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| number.fract() == 0.0)?;
    (1.0..=f64::from(SECONDS_MOST))
        .contains(&number)
        .then_some(number as u32)
}

/// Width and height of a size such as `1024x1536`.
pub(super) fn pixels(word: &str) -> Option<(u32, u32)> {
    let side = |text: &str| {
        let plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        let side = text.parse().ok().filter(|_| plain)?;
        SIDES.contains(&side).then_some(side)
    };
    let (width, height) = word.split_once('x')?;
    let (width, height) = (side(width)?, side(height)?);
    (u64::from(width) * u64::from(height) <= PIXELS_MOST).then_some((width, height))
}

/// Words for a message.
pub(super) fn word_list(words: &[Value]) -> String {
    let words: Vec<_> = words.iter().map(text_of).collect();
    words.join(", ")
}
