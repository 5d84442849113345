//! Accepting many jobs at once: each is admitted or refused in its turn, all in one commit that also remembers what each
//! request was told.

use std::collections::HashMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Error;

use crate::changes::accept::{AcceptOutcome, Acceptance, Idempotency};
use crate::db::json;

/// Requests that a caller submits together.
#[derive(Clone, Debug)]
pub struct NewBulk {
    pub id: String,
    pub account_id: String,
    /// The caller's key for the whole, if any.
    pub idempotency: Option<Idempotency>,
    /// The requests in order.
    pub items: Vec<NewBulkItem>,
    pub created_ms: i64,
}

impl NewBulk {
    /// Those of its requests that may be accepted.
    pub(crate) fn accepts(&self) -> impl Iterator<Item = &Acceptance> {
        self.items.iter().filter_map(|item| match &item.wish {
            BulkEntry::Accept(accept) => Some(&**accept),
            BulkEntry::Refused(_) => None,
        })
    }
}

/// One of the requests.
#[derive(Clone, Debug)]
pub struct NewBulkItem {
    pub operation: String,
    /// The parsed request, or why it was refused.
    pub wish: BulkEntry,
}

/// A request that can be accepted, or that was refused before it came here.
#[derive(Clone, Debug)]
pub enum BulkEntry {
    /// To be accepted like a single one. Its own key is not looked at.
    Accept(Box<Acceptance>),
    /// Refused already; the text is kept as it is.
    Refused(String),
}

/// What became of a [`NewBulk`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkOutcome {
    /// Each request in order; `None` for those that were refused already.
    New(Vec<Option<AcceptOutcome>>),
    /// The same call was accepted before; nothing changed.
    Replayed {
        /// The batch of the first call.
        bulk_id: String,
    },
    /// The key was used before with another body.
    Mismatch,
    /// There is no such account.
    NoAccount,
    /// A period of the account's plan is over: the next one is to begin before anything is spent.
    PlanDue,
}

/// What callers submitted together, as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bulk {
    pub id: String,
    /// What each request was told, in order.
    pub items: Vec<BulkItem>,
    /// When it was submitted.
    pub created_ms: i64,
}

/// What one of the requests was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BulkItem {
    pub operation: String,
    /// What it was told.
    pub told: BulkItemOutcome,
}

/// What a request was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkItemOutcome {
    /// It became this job.
    Job(String),
    /// It was refused before the store was asked; the text is the caller's of the store.
    Refused(String),
    /// The balance was below the price.
    QuotaShort {
        /// What it would have cost, in thousandths.
        price: i64,
        /// What there was, in thousandths.
        balance: i64,
    },
    /// The account owed quota that was taken back of it.
    Debt {
        /// How much, in thousandths.
        debt: i64,
    },
    /// A limit of the key did not allow it.
    KeyLimit {
        /// The window it counts in.
        window: String,
        /// How much may be spent in it, in thousandths.
        quota: i64,
        /// How much was spent or held in it, in thousandths.
        spent: i64,
        /// When the next window begins.
        until_ms: i64,
        /// What it would have cost, in thousandths.
        price: i64,
    },
    /// The account had as many unfinished jobs in the queue as it may.
    QueueFull {
        /// How many it may have.
        max_queue: i64,
    },
    /// As many bytes of files were kept for the account as may be.
    StorageFull {
        /// How many may be.
        max_storage: i64,
    },
    /// The account was gone.
    NoAccount,
}

impl BulkItemOutcome {
    /// What an acceptance comes to; `None` for what cannot be of a single request.
    pub(crate) fn of(accept: &Acceptance, accepted: &AcceptOutcome) -> Option<Self> {
        Some(match accepted {
            AcceptOutcome::New { .. } => Self::Job(accept.job.id.clone()),
            AcceptOutcome::QuotaShort { balance } => Self::QuotaShort {
                price: accept.job.price.thousandths(),
                balance: balance.thousandths(),
            },
            AcceptOutcome::Debt { debt } => Self::Debt {
                debt: debt.thousandths(),
            },
            AcceptOutcome::KeyLimit(reached) => Self::KeyLimit {
                window: reached.window.word().to_owned(),
                quota: reached.quota.thousandths(),
                spent: reached.spent.thousandths(),
                until_ms: reached.until_ms,
                price: accept.job.price.thousandths(),
            },
            AcceptOutcome::QueueFull { max_queue } => Self::QueueFull {
                max_queue: *max_queue,
            },
            AcceptOutcome::StorageFull { max_storage } => Self::StorageFull {
                max_storage: *max_storage,
            },
            AcceptOutcome::NoAccount => Self::NoAccount,
            AcceptOutcome::Replayed { .. } | AcceptOutcome::Mismatch | AcceptOutcome::PlanDue => {
                return None;
            }
        })
    }
}

/// What many requests were told, as it is written: an account without quota could fill the disk with the same refusal.
#[derive(Serialize)]
struct EncodedItems<'a> {
    /// Every answer once.
    different: Vec<&'a BulkItem>,
    /// Which of them each request was given, in order.
    order: Vec<usize>,
}

/// The same, as it is read; the first version wrote one after the other.
#[derive(Deserialize)]
#[serde(untagged)]
enum DecodedItems {
    Different {
        different: Vec<BulkItem>,
        order: Vec<usize>,
    },
    All(Vec<BulkItem>),
}

/// Writes what requests were told.
pub(crate) fn encode_items(items: &[BulkItem]) -> String {
    let (mut places, mut different) = (HashMap::new(), Vec::new());
    let order = items.iter().map(|item| {
        *places.entry(item).or_insert_with(|| {
            different.push(item);
            different.len() - 1
        })
    });
    let order = order.collect();
    json(&EncodedItems { different, order })
}

/// Reads what `encode_items` wrote.
pub(crate) fn decode_items(text: &str) -> serde_json::Result<Vec<BulkItem>> {
    Ok(match serde_json::from_str(text)? {
        DecodedItems::All(items) => items,
        DecodedItems::Different { different, order } => {
            let item = |place: &usize| {
                let missing = || Error::custom(format_args!("no answer at {place}"));
                different.get(*place).cloned().ok_or_else(missing)
            };
            order.iter().map(item).collect::<serde_json::Result<_>>()?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(max_queue: i64) -> BulkItem {
        BulkItem {
            operation: "artgen.imagine".into(),
            told: BulkItemOutcome::QueueFull { max_queue },
        }
    }

    /// Requests that are refused leave next to nothing on the disk, however many come together.
    #[test]
    fn a_thousand_equal_refusals_are_written_once() {
        let mut items = vec![refused(10); 1000];
        items[500] = BulkItem {
            operation: "artgen.blend".into(),
            told: BulkItemOutcome::Job("a job".into()),
        };
        let text = encode_items(&items);
        assert!(text.len() < 2_500, "{} bytes", text.len());
        assert_eq!(decode_items(&text).expect("read"), items);
    }

    /// A batch is never shorter than it was.
    #[test]
    fn an_answer_that_is_missing_is_no_answer() {
        let text = encode_items(&[refused(10), refused(11)]);
        let damaged = text.replace("[0,1]", "[0,2]");
        assert_ne!(text, damaged);
        assert!(decode_items(&damaged).is_err());
    }

    #[test]
    fn what_the_first_version_wrote_is_read() {
        let items = vec![refused(10), refused(10), refused(11)];
        assert_eq!(decode_items(&json(&items)).expect("read"), items);
    }
}
