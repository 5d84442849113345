//! A look at the ledger all the time, some accounts at each step: what is cheap to ask is asked while the service works,
//! and shown as a metric.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use atelier_store::{NewNotice, Violation};
use serde_json::json;

use crate::context::Context;

const DAY_MS: i64 = 86_400_000;
/// How often some accounts are looked at.
pub(crate) const PAUSE_MS: u64 = 5_000;

/// Looks at accounts, round after round.
pub struct Auditor {
    context: Arc<Context>,
    round: Mutex<Round>,
}

/// What a round has found so far, and what the one before it found.
#[derive(Default)]
struct Round {
    cursor: Option<Vec<String>>,
    broken: BTreeMap<&'static str, u64>,
    before: BTreeMap<&'static str, u64>,
    accounts: u64,
}

impl Auditor {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            round: Mutex::default(),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Round) -> T) -> T {
        act(&mut self.round.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the next accounts.
    pub(crate) async fn step(&self) -> Result<(), atelier_store::Error> {
        let cursor = self.with(|round| round.cursor.clone());
        let looked = self
            .context
            .store()
            .invariants()
            .check_accounts(cursor.as_ref())
            .await?;
        for fault in &looked.faults {
            self.tell(fault);
            tracing::error!(
                invariant = fault.invariant,
                account = fault.subject,
                "the ledger is wrong: {}",
                fault.what
            );
        }
        self.with(|round| {
            for fault in &looked.faults {
                *round.broken.entry(fault.invariant).or_default() += 1;
            }
            round.accounts += looked.accounts as u64;
            round.cursor = looked.next;
            if round.cursor.is_none() {
                round.before = std::mem::take(&mut round.broken);
            }
        });
        Ok(())
    }

    /// Has operators be told, once a day for each invariant.
    fn tell(&self, fault: &Violation) {
        let now_ms = self.context.now_ms();
        let facts =
            json!({ "invariant": fault.invariant, "what": fault.what, "subject": fault.subject });
        self.context.notices().put(NewNotice {
            account_id: String::new(),
            kind: "invariant_broken",
            subject: fault.invariant.to_owned(),
            window_ms: now_ms - now_ms.rem_euclid(DAY_MS),
            since_ms: now_ms,
            facts: facts.to_string(),
            now_ms,
        });
    }

    /// How many accounts break each invariant, by the last round and this one, and how many accounts were looked at.
    pub fn broken(&self) -> (Vec<(&'static str, u64)>, u64) {
        self.with(|round| {
            let count = |name: &'static str| {
                let found = |map: &BTreeMap<_, u64>| map.get(name).copied().unwrap_or(0);
                (name, found(&round.before).max(found(&round.broken)))
            };
            let counts = atelier_store::account_invariants().map(count).collect();
            (counts, round.accounts)
        })
    }
}
