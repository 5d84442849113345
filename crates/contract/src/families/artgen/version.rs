//! The back-end version a picture is made with; it decides the price factor and which follow-ups are offered.

use std::fmt;

/// A version such as 6.1, of the plain or of the niji line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    niji: bool,
    major: u8,
    minor: u8,
}

impl Version {
    /// The words `--v` takes.
    pub const WORDS: &'static [&'static str] = &[
        "1", "2", "3", "4", "5", "5.0", "5.1", "5.2", "6", "6.0", "6.1", "7", "7.0",
    ];
    /// The words `--niji` takes.
    pub const NIJI_WORDS: &'static [&'static str] = &["4", "5", "6", "7"];
    /// The newest, used when the prompt names none.
    pub const NEWEST: Self = Self {
        niji: false,
        major: 7,
        minor: 0,
    };

    /// Reads `6.1` or `niji 6`.
    pub fn parse(text: &str) -> Option<Self> {
        let (niji, number) = match text.strip_prefix("niji ") {
            Some(number) => (true, number),
            None => (false, text),
        };
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        Some(Self {
            niji,
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// The number before the dot.
    pub const fn major(self) -> u8 {
        self.major
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = if self.niji { "niji " } else { "" };
        match self.minor {
            0 => write!(f, "{line}{}", self.major),
            minor => write!(f, "{line}{}.{minor}", self.major),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_reads_back_what_it_writes() {
        for (given, written) in [("6.0", "6"), ("6.1", "6.1"), ("niji 5", "niji 5")] {
            let version = Version::parse(given).expect("a version");
            assert_eq!(version.to_string(), written);
            assert_eq!(Version::parse(written), Some(version));
        }
    }
}
