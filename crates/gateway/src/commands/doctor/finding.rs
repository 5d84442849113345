//! What was found when something was looked at.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// As it should be.
    Good,
    /// It works, but somebody should look at it.
    Fair,
    /// The service would not work.
    Bad,
}

impl Verdict {
    /// The word in the command's JSON.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "look",
            Self::Bad => "bad",
        }
    }
}

pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    pub(super) remedy: String,
}

impl Finding {
    pub(super) fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self {
            what,
            verdict: Verdict::Good,
            found: found.into(),
            remedy: String::new(),
        }
    }

    pub(super) fn fair(what: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self {
            verdict: Verdict::Fair,
            remedy: remedy.to_owned(),
            ..Self::good(what, found)
        }
    }

    pub(super) fn bad(what: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self {
            verdict: Verdict::Bad,
            remedy: remedy.to_owned(),
            ..Self::good(what, found)
        }
    }
}
