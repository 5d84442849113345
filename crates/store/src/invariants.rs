//! The auditor of the ledger: everything that is always so, as one table by groups, and the walks that ask it of every
//! row. It may look while others write: each page of rows is asked about in one statement, which sees one moment.

mod counters;
mod credits;
mod deliveries;
mod fences;
mod files;
mod groups;
mod guards;
mod holds;
mod imports;
mod invariant;
mod keys;
mod models;
mod money;
mod payments;
mod plans;
mod scan;
mod vouchers;

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::sleep;

use crate::Result;
use crate::store_core::StoreCore;
use invariant::{Invariant, RowKind};

/// Every invariant that is asked of rows, by groups. Those of the audit log's hash chain are in `audit_chain`.
const GROUPS: &[&[Invariant]] = &[
    money::ALL,
    holds::ALL,
    fences::ALL,
    deliveries::ALL,
    counters::ALL,
    files::ALL,
    models::ALL,
    keys::ALL,
    groups::ALL,
    credits::ALL,
    vouchers::ALL,
    plans::ALL,
    payments::ALL,
    imports::ALL,
];

const SECOND_LOOK: Duration = Duration::from_secs(10);
/// Rows that are remembered for a second look.
const SUSPECTS_MOST: usize = 10_000;
/// Faults that are listed in words.
const LISTED_MOST: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    pub invariant: &'static str,
    pub what: &'static str,
    /// With what: an identifier, or words.
    pub subject: String,
}

#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    pub now_ms: i64,
    /// The service's own time, in which things are due.
    pub steady_ms: i64,
    /// Whether a service works on the database now: then what it promises to do in time is asked too, and what would
    /// read the whole file is left out.
    pub at_work: bool,
    /// What is late at one look may just be being done; what still is after this long is not.
    pub second_look: Duration,
}

impl CheckOptions {
    /// A look at a time, and at the service's own.
    pub fn new(now_ms: i64, steady_ms: i64, at_work: bool) -> Self {
        Self {
            now_ms,
            steady_ms,
            at_work,
            second_look: SECOND_LOOK,
        }
    }
}

/// One page of accounts.
#[derive(Debug)]
pub struct AccountsCheck {
    /// What is wrong with them.
    pub faults: Vec<Violation>,
    /// How many there were.
    pub accounts: usize,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Vec<String>>,
}

/// The names of the invariants of accounts, which are cheap enough to be looked at all the time.
pub fn account_invariants() -> impl Iterator<Item = &'static str> {
    invariants_of(RowKind::Accounts, false).map(|invariant| invariant.name)
}

fn invariants_of(rows: RowKind, at_work: bool) -> impl Iterator<Item = &'static Invariant> {
    let all = GROUPS.iter().copied().flatten();
    all.filter(move |one| one.of == rows && one.at_work == at_work)
}

impl Violation {
    fn of(invariant: &Invariant, subject: String) -> Self {
        Self {
            invariant: invariant.name,
            what: invariant.what,
            subject,
        }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.subject)
    }
}

/// Checks of what must always be true.
#[derive(Clone, Copy, Debug)]
pub struct Invariants<'a>(pub(crate) &'a StoreCore);

impl Invariants<'_> {
    /// Looks for broken invariants of the ledger and tells `found` of each; how many rows were looked at.
    pub async fn check(
        self,
        look: CheckOptions,
        found: &mut (dyn FnMut(Violation) + Send),
    ) -> Result<u64> {
        for name in guards::missing(&self.0.db).await? {
            found(violation(guards::NAME, guards::WHAT, name));
        }
        if !look.at_work {
            for words in guards::damage(&self.0.db).await? {
                found(violation(guards::FILE, guards::FILE_WHAT, words));
            }
        }
        let mut looked = 0;
        for rows in RowKind::ALL {
            looked += self.walk(rows, false, look.steady_ms, found).await?;
        }
        if look.at_work {
            self.recheck_late(look, found).await?;
        }
        Ok(looked)
    }

    /// What is wrong with the pages of a SQLite file, in its own words. Others may be at work on it; the whole file is read.
    pub async fn check_pages(self) -> Result<Vec<String>> {
        guards::damaged_pages(&self.0.db).await
    }

    /// Every broken invariant of the ledger in words; empty when all is well.
    pub async fn check_books(self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        let mut found = |fault: Violation| {
            if words.len() < LISTED_MOST {
                words.push(fault.to_string());
            }
        };
        self.check(CheckOptions::new(0, 0, false), &mut found)
            .await?;
        Ok(words)
    }

    /// Looks at some accounts: where the last look ended, or at the first ones.
    pub async fn check_accounts(self, after: Option<&Vec<String>>) -> Result<AccountsCheck> {
        let asked: Vec<&Invariant> = invariants_of(RowKind::Accounts, false).collect();
        let page = scan::scan_page(&self.0.db, RowKind::Accounts, &asked, after, 0).await?;
        let faults = page.broken.into_iter();
        Ok(AccountsCheck {
            faults: faults.map(|(one, name)| Violation::of(one, name)).collect(),
            accounts: page.rows,
            next: page.next,
        })
    }

    /// Walks over all rows of a kind; how many there were.
    async fn walk(
        self,
        rows: RowKind,
        at_work: bool,
        now_ms: i64,
        found: &mut (dyn FnMut(Violation) + Send),
    ) -> Result<u64> {
        let asked: Vec<&Invariant> = invariants_of(rows, at_work).collect();
        if asked.is_empty() {
            return Ok(0);
        }
        let (mut place, mut looked) = (None, 0);
        loop {
            let page = scan::scan_page(&self.0.db, rows, &asked, place.as_ref(), now_ms).await?;
            looked += page.rows as u64;
            for (invariant, subject) in page.broken {
                found(Violation::of(invariant, subject));
            }
            place = page.next;
            if place.is_none() {
                return Ok(looked);
            }
        }
    }

    /// Looks for what is late, waits, and tells of what still is.
    async fn recheck_late(
        self,
        look: CheckOptions,
        found: &mut (dyn FnMut(Violation) + Send),
    ) -> Result<()> {
        let mut suspects = HashSet::new();
        for rows in RowKind::ALL {
            let mut suspect = |fault| {
                if suspects.len() < SUSPECTS_MOST {
                    suspects.insert(fault);
                }
            };
            self.walk(rows, true, look.steady_ms, &mut suspect).await?;
        }
        if suspects.is_empty() {
            return Ok(());
        }
        sleep(look.second_look).await;
        let later_ms = look.steady_ms + look.second_look.as_millis() as i64;
        for rows in RowKind::ALL {
            let mut still = |fault| {
                if suspects.contains(&fault) {
                    found(fault);
                }
            };
            self.walk(rows, true, later_ms, &mut still).await?;
        }
        Ok(())
    }
}

fn violation(invariant: &'static str, what: &'static str, subject: String) -> Violation {
    Violation {
        invariant,
        what,
        subject,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: the auditor asks about accounts all the time, so it goes over no account's history. Of the tables that grow with
    /// use it reads unfinished jobs, and single rows.
    #[test]
    fn what_is_asked_all_the_time_reads_no_history() {
        let grow = [
            ("job", "job.state < 2"),
            ("ledger", "ledger.number "),
            ("used", "used.hour ="),
            ("credit", "credit.ended_ms IS NULL OR credit.held > 0"),
        ];
        for invariant in invariants_of(RowKind::Accounts, false) {
            for (table, bound) in grow {
                for reads in invariant.broken.split(&format!("FROM {table} ")).skip(1) {
                    assert!(reads.contains(bound), "{}: {reads}", invariant.name);
                }
            }
            assert!(
                !invariant.broken.contains("FROM bulk"),
                "{}",
                invariant.name
            );
        }
    }
}
