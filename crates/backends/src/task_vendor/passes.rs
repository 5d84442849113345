//! Videos that are longer than one pass of their vendor: which passes they take, and how far a task is on its way through
//! them. All of it is in the task, so that whoever finds the ticket goes on where it was.

use atelier_contract::brief::Brief;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::protocol::TaskResult;
use super::video_request::Lengths;
use crate::backend::{Acceptance, Class, Cost, Fault};

/// Where a task has its chain.
const CHAIN: &str = "chain";
/// How often a part is ordered that the vendor failed at.
const MOST_TRIES: u32 = 3;

/// The passes that a vendor makes a video in, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passes {
    /// The shortest and the longest first one.
    pub(crate) first: (u32, u32),
    /// The shortest and the longest later one.
    pub(crate) later: (u32, u32),
    /// The longest video of all.
    pub(crate) total: u32,
}

impl Passes {
    /// The lengths for a request: what has to end on a frame is made in one pass.
    pub(crate) fn lengths(self, brief: &Brief) -> Lengths {
        let one = brief.looped || brief.last_frame.is_some();
        let most = if one {
            self.first.1
        } else {
            self.total.max(self.first.1)
        };
        Lengths::Between(self.first.0, most)
    }

    /// The first pass of a video and what the later ones add: each as long as it may be, none too short.
    pub(crate) fn split(self, seconds: u32) -> (u32, Vec<u32>) {
        let (least, most) = self.later;
        let count = seconds.saturating_sub(self.first.1).div_ceil(most.max(1));
        let mut left = seconds;
        let mut take = |most: u32, after: u32| {
            let part = most.min(left.saturating_sub(after * least));
            left -= part;
            part
        };
        let first = take(self.first.1, count);
        let later = (1..=count).map(|place| take(most, count - place));
        (first.max(self.first.0), later.collect())
    }
}

/// How far a task is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PassState {
    /// What each part adds that is still to be ordered.
    parts: Vec<u32>,
    /// Parts that are done.
    done: u32,
    /// What they cost, in millionths.
    micros: Option<i64>,
    /// What the part before left for this one.
    from: Value,
    /// What this part adds.
    seconds: u32,
    /// How often the vendor failed at it.
    tries: u32,
    /// Its order is out, and has no name yet.
    out: bool,
}

impl PassState {
    /// The chain of a task that has been begun.
    pub(super) fn of_passes(passes: &[u32]) -> Self {
        Self {
            parts: passes.to_vec(),
            ..Self::default()
        }
    }

    /// The chain of a task; one of a single part for any other.
    pub(super) fn of(task: &Value) -> Self {
        let written = task.get(CHAIN).cloned();
        written
            .and_then(|written| serde_json::from_value(written).ok())
            .unwrap_or_default()
    }

    /// A task that carries it, where there is anything to carry.
    pub(super) fn marked(&self, mut task: Value) -> Value {
        if !self.parts.is_empty() || self.is_later() {
            task[CHAIN] = json!(self);
        }
        task
    }

    fn is_later(&self) -> bool {
        self.done > 0
    }

    /// The same while its order is out.
    pub(super) fn out(&self) -> Self {
        Self {
            out: true,
            ..self.clone()
        }
    }

    /// Whether its order was out when it was written down: found again, nobody knows what became of it.
    pub(super) fn is_out(&self) -> bool {
        self.out
    }

    /// What is to be ordered: what the part before left, and the seconds to add.
    pub(super) fn order(&self) -> (&Value, u32) {
        (&self.from, self.seconds)
    }

    /// What the parts that are done cost.
    pub(super) fn spent(&self, currency: &'static str) -> Option<Cost> {
        let micros = self.micros?;
        Some(Cost { micros, currency })
    }

    /// How far all of it is when this part is so far.
    pub(super) fn percent(&self, share: u8) -> u32 {
        let parts = self.done + 1 + self.parts.len() as u32;
        (self.done * 99 + u32::from(share)) / parts
    }

    /// The next part, once this one has brought something; `None` after the last.
    pub(super) fn after(&self, task_result: &TaskResult) -> Option<Self> {
        let (seconds, rest) = self.parts.split_first()?;
        let cost = task_result.cost.as_ref().map(|cost| cost.micros);
        Some(Self {
            parts: rest.to_vec(),
            done: self.done + 1,
            micros: match (self.micros, cost) {
                (Some(before), Some(now)) => Some(before + now),
                (before, now) => before.or(now),
            },
            from: task_result.notes.clone(),
            seconds: *seconds,
            tries: 0,
            out: false,
        })
    }

    /// The same part once more, where the vendor failed at it and may not again: what came before is paid for.
    pub(super) fn again(&self, fault: &Fault) -> Option<Self> {
        let tries = self.tries + 1;
        let may = self.is_later() && !self.out && fault.class.may_pass() && tries < MOST_TRIES;
        may.then(|| Self {
            tries,
            ..self.clone()
        })
    }

    /// What an end without a result means: with parts that are paid for, nobody begins anew.
    pub(super) fn ended(&self, fault: Fault) -> Fault {
        let anew = fault.class.may_pass() || fault.class == Class::Unable;
        match fault.class {
            _ if !self.is_later() || !anew || self.out => fault,
            _ => Fault {
                class: Class::Gone,
                ..fault
            },
        }
    }

    /// What a refused order means: one that may pass is sent again later.
    pub(super) fn unsent(&self, fault: Fault) -> Fault {
        match fault.class {
            Class::Unable => self.ended(fault),
            _ => fault,
        }
    }

    /// An order that was out when the process ended.
    pub(super) fn lost() -> Fault {
        Fault {
            taken: Acceptance::Perhaps,
            ..Fault::vendor(Class::Retry, "the answer to the order of a part was lost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_video_is_split_into_passes_none_of_them_too_long_or_too_short() {
        let passes = Passes {
            first: (3, 15),
            later: (3, 10),
            total: 30,
        };
        assert_eq!(passes.split(2), (3, vec![]));
        assert_eq!(passes.split(15), (15, vec![]));
        assert_eq!(passes.split(16), (13, vec![3]));
        assert_eq!(passes.split(25), (15, vec![10]));
        assert_eq!(passes.split(26), (15, vec![8, 3]));
        assert_eq!(passes.split(30), (15, vec![10, 5]));
        for seconds in 3..=60 {
            let (first, later) = passes.split(seconds);
            assert_eq!(first + later.iter().sum::<u32>(), seconds);
            assert!((3..=15).contains(&first), "{seconds}: {first}");
            assert!(
                later.iter().all(|part| (3..=10).contains(part)),
                "{seconds}: {later:?}"
            );
        }
    }

    #[test]
    fn parts_that_are_paid_for_are_counted_and_nobody_begins_them_anew() {
        let first = PassState::of(&PassState::of_passes(&[10, 5]).marked(json!({"id": "a"})));
        let fault = Fault::vendor(Class::Retry, "it failed");
        assert!(first.again(&fault).is_none(), "nothing is paid for yet");
        assert_eq!(first.ended(fault.clone()).class, Class::Retry);
        let task_result = |micros| TaskResult {
            cost: Some(Cost {
                micros,
                currency: "USD",
            }),
            notes: json!({"at": micros}),
            ..TaskResult::default()
        };
        let second = first.after(&task_result(7)).expect("a second part");
        assert_eq!(second.order(), (&json!({"at": 7}), 10));
        let mut tried = PassState::of(&second.marked(json!({"id": "b"})));
        for _ in 1..MOST_TRIES {
            tried = tried.again(&fault).expect("once more");
        }
        assert!(tried.again(&fault).is_none());
        assert_eq!(tried.ended(fault).class, Class::Gone);
        assert_eq!(tried.percent(0), 33);
        let third = tried.after(&task_result(3)).expect("a third part");
        assert_eq!(third.spent("USD").map(|cost| cost.micros), Some(10));
        assert_eq!(third.order().1, 5);
        assert!(third.after(&task_result(1)).is_none());
        assert!(PassState::of(&third.out().marked(json!({}))).is_out());
    }
}
