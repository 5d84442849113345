//! Sandbox words: what an integrator writes into a prompt to see a job wait, fail, be rejected or never end.
//!
//! `[[delay 5s]]`, `[[delay 250ms]]`, `[[fail: reason]]`, `[[reject]]`, `[[stall]]`. They are taken out before anything
//! is painted. A follow-up that inherits its prompt inherits its words too.

use std::time::Duration;

use atelier_contract::FaultKind;
use atelier_contract::brief::Brief;

use crate::backend::{Class, Fault};

/// No delay is longer, whatever the words say; the time limit of a job is shorter anyway.
const LONGEST_DELAY: Duration = Duration::from_hours(1);
/// A reason is shown to callers and kept with the job, so it stays short.
const MOST_REASON_CHARACTERS: usize = 200;

/// How the words want a job to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SandboxOutcome {
    Fail(String),
    /// As review would reject it.
    Reject,
    /// It runs until its deadline.
    Stall,
}

/// What the sandbox words of a prompt ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SandboxDirectives {
    /// How long to wait first.
    pub(super) delay: Duration,
    /// How to end, when not by making something.
    pub(super) ending: Option<SandboxOutcome>,
}

impl SandboxDirectives {
    /// Takes the sandbox words out of a brief.
    pub(super) fn take(brief: &mut Brief) -> Self {
        let mut wishes = Self::default();
        for text in [&mut brief.prompt, &mut brief.negative] {
            if text.contains("[[") {
                *text = wishes.strip(text);
            }
        }
        wishes.delay = wishes.delay.min(LONGEST_DELAY);
        wishes
    }

    /// The text without the words that were understood; other double brackets stay.
    fn strip(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("[[") {
            let Some(length) = rest[start..].find("]]") else {
                break;
            };
            let end = start + length + 2;
            kept.push_str(&rest[..start]);
            if !self.apply_directive(rest[start + 2..end - 2].trim()) {
                kept.push_str(&rest[start..end]);
            }
            rest = &rest[end..];
        }
        kept.push_str(rest);
        kept.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn apply_directive(&mut self, word: &str) -> bool {
        if let Some(wait) = word.strip_prefix("delay ").and_then(duration) {
            self.delay = self.delay.saturating_add(wait);
        } else if let Some(reason) = word.strip_prefix("fail:") {
            let reason: String = reason.trim().chars().take(MOST_REASON_CHARACTERS).collect();
            self.ending = Some(SandboxOutcome::Fail(reason));
        } else if word == "reject" {
            self.ending = Some(SandboxOutcome::Reject);
        } else if word == "stall" {
            self.ending = Some(SandboxOutcome::Stall);
        } else {
            return false;
        }
        true
    }
}

impl SandboxOutcome {
    /// The fault of an ending; a stall has none, because it does not end.
    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::Fail(reason) => Some(Fault::new(Class::BadRequest, FaultKind::Internal, reason)),
            Self::Reject => Some(Fault::denied(
                "the sandbox word [[reject]] asked for a rejection",
            )),
            Self::Stall => None,
        }
    }
}

/// Reads `5s`, `1.5 s` or `250ms`.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use atelier_contract::brief::Task;

    use super::*;

    fn taken(prompt: &str) -> (SandboxDirectives, String) {
        let mut brief = Brief::new(Task::Draw).words(prompt);
        let wishes = SandboxDirectives::take(&mut brief);
        (wishes, brief.prompt)
    }

    #[test]
    fn delays_add_up_and_leave_the_prompt() {
        let (wishes, prompt) = taken("a fox [[delay 5s]] in snow [[delay 250ms]]");
        assert_eq!(wishes.delay, Duration::from_millis(5250));
        assert_eq!(wishes.ending, None);
        assert_eq!(prompt, "a fox in snow");
    }

    #[test]
    fn each_ending_is_understood() {
        let fail = SandboxOutcome::Fail("no more paint".into());
        assert_eq!(taken("[[fail: no more paint]] x").0.ending, Some(fail));
        assert_eq!(taken("x [[reject]]").0.ending, Some(SandboxOutcome::Reject));
        assert_eq!(taken("x [[stall]]").0.ending, Some(SandboxOutcome::Stall));
    }

    #[test]
    fn a_delay_never_outgrows_its_bound() {
        for text in [
            "[[delay 1e300s]]",
            "[[delay 999999999s]] [[delay 999999999s]]",
        ] {
            assert!(taken(text).0.delay <= LONGEST_DELAY, "{text}");
        }
    }

    #[test]
    fn other_brackets_stay_words() {
        for text in [
            "[[hello]] x",
            "a [[delay soon]]",
            "open [[fail: x",
            "[[delay -5s]]",
        ] {
            let (wishes, prompt) = taken(text);
            assert_eq!(wishes, SandboxDirectives::default(), "{text}");
            assert_eq!(prompt, text);
        }
    }
}
