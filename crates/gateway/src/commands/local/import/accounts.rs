//! Those who spend there become accounts here, a page a commit.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::{Result, anyhow, bail};
use atelier_contract::Quota;
use atelier_contract::models::DEFAULT_GROUP;
use atelier_engine::AccountImport;
use atelier_import::{ReportAction, ReportRow, SourceAccount, SourceState, Units};

use super::report::{ImportReport, ImportSums};
use super::{ACTOR, ImportRun};

/// Letters of a name that an address is made of.
const NAME_MOST: usize = 64;
/// The longest address that is taken.
const EMAIL_MOST: usize = 254;

/// Rows by their origin, remembered in a few bytes each.
pub(super) struct OriginSet(HashSet<u64>);

impl OriginSet {
    fn add(&mut self, text: &str) -> bool {
        self.0.insert(mark(text))
    }

    /// Whether a row is among them.
    pub(super) fn has(&self, text: &str) -> bool {
        self.0.contains(&mark(text))
    }
}

fn mark(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// An import of accounts as it goes on.
pub(super) struct AccountsImport<'a> {
    run: &'a ImportRun,
    report: &'a mut ImportReport,
    sums: ImportSums,
    /// Addresses that earlier rows of this run have.
    emails: OriginSet,
    /// Rows that this run takes over.
    taken: OriginSet,
    /// What the ledger said before.
    before: Option<Quota>,
}

/// A row that is taken over, and what is said of it.
struct PlannedAccount {
    row: SourceAccount,
    balance: Quota,
    notes: Vec<String>,
}

impl<'a> AccountsImport<'a> {
    pub(super) fn new(run: &'a ImportRun, report: &'a mut ImportReport) -> Self {
        Self {
            run,
            report,
            sums: ImportSums::default(),
            emails: OriginSet(HashSet::new()),
            taken: OriginSet(HashSet::new()),
            before: None,
        }
    }

    /// Takes a page over.
    pub(super) async fn take(&mut self, page: Vec<SourceAccount>) -> Result<()> {
        let (run, source) = (self.run, &self.run.source);
        let imports = run.engine.admin().imports();
        if self.before.is_none() {
            self.before = Some(imports.brought(source).await?);
        }
        let origins: Vec<String> = page.iter().map(|row| row.origin.clone()).collect();
        let known = imports.accounts(source, &origins).await?;
        let given = page.iter().filter_map(|row| row.email.as_deref());
        let given = given.map(|email| email.trim().to_lowercase());
        let emails: Vec<String> = given
            .chain(page.iter().map(|row| self.placeholder(row, "")))
            .collect();
        let taken = imports.emails_taken(&emails).await?;
        let mut planned = Vec::new();
        for row in page {
            let balance = row.balance.unwrap_or_default();
            self.sums.there = self.sums.there.plus(balance);
            if let Some(earlier) = known.get(&row.origin) {
                if !earlier.name.is_empty() && earlier.name != row.name {
                    bail!(
                        "{} {} is `{}` here and was `{}` in an earlier run: this is another database. Give it a name of its own with \
                         --as; this page of it and what comes behind were not taken over",
                        row.table,
                        row.origin,
                        row.name,
                        earlier.name
                    );
                }
                self.sums.earlier = self.sums.earlier.plus(balance);
                self.say(&row, ReportAction::Unchanged, String::new())?;
            } else if let Some(plan) = self.plan(row, balance)? {
                planned.push(plan);
            }
        }
        let mut accounts = Vec::new();
        for plan in planned {
            accounts.push(self.account(plan, &taken)?);
        }
        if !run.dry && !accounts.is_empty() {
            imports.take_accounts(ACTOR, source, accounts).await?;
        }
        Ok(())
    }

    /// What becomes of a row that was not taken over before; nothing when it stays there.
    fn plan(&mut self, row: SourceAccount, balance: Units) -> Result<Option<PlannedAccount>> {
        let why = match &row.state {
            SourceState::Enabled | SourceState::Disabled => None,
            SourceState::Deleted if balance == Units::ZERO => {
                Some("it was deleted there".to_owned())
            }
            SourceState::Deleted => Some(format!(
                "it was deleted there with a balance of {balance}, which stays there; restore it there first if it is owed to somebody"
            )),
            SourceState::Unusable(why) => Some(why.clone()),
        };
        if let Some(why) = why {
            self.sums.left = self.sums.left.plus(balance);
            self.say(&row, ReportAction::Skip, why)?;
            return Ok(None);
        }
        let mut notes = row.notes.clone();
        let (quota, rest) = self.run.exchange.quota(balance);
        self.sums.rest = self.sums.rest.plus(rest);
        let exact = balance.less(rest);
        if quota < Quota::ZERO {
            self.sums.left = self.sums.left.plus(exact);
            notes.push(format!(
                "it owes {balance}, which is {} quota here; that debt stays there",
                Quota::from_thousandths(-quota.thousandths())
            ));
        } else {
            self.sums.granted = self.sums.granted.plus(exact);
            self.sums.quota = self.sums.quota + quota;
        }
        Ok(Some(PlannedAccount {
            row,
            balance: quota.max(Quota::ZERO),
            notes,
        }))
    }

    /// A row as an account here, under an address that no other has.
    fn account(&mut self, plan: PlannedAccount, taken: &HashSet<String>) -> Result<AccountImport> {
        let PlannedAccount {
            row,
            balance,
            mut notes,
        } = plan;
        let mut placeholder = self.placeholder(&row, "");
        if taken.contains(&placeholder) {
            placeholder = self.placeholder(&row, &self.run.source);
        }
        let email = match row.email.as_deref().map(str::trim) {
            None => placeholder,
            Some(email) if !is_address(email) => {
                notes.push(format!(
                    "`{}` is no e-mail address; it is {placeholder} here",
                    email.chars().take(60).collect::<String>()
                ));
                placeholder
            }
            Some(email) => {
                let key = email.to_lowercase();
                if taken.contains(&key) || self.emails.has(&key) {
                    notes.push(format!(
                        "another account has the e-mail address {email}; it is {placeholder} here"
                    ));
                    placeholder
                } else {
                    self.emails.add(&key);
                    email.to_owned()
                }
            }
        };
        let group = self.group(&row, &mut notes);
        if row.state == SourceState::Disabled {
            notes.push("it is switched off there, and here".to_owned());
        }
        self.taken.add(&row.origin);
        let action = if notes.is_empty() {
            ReportAction::Import
        } else {
            ReportAction::Partly
        };
        self.say(&row, action, notes.join("; "))?;
        Ok(AccountImport {
            origin: row.origin,
            name: row.name,
            email,
            balance,
            disabled: row.state == SourceState::Disabled,
            group,
            max_queue: row.max_queue,
            created_ms: row.created_ms,
        })
    }

    /// An address that nobody can have anywhere else; of a source, where another has the same.
    fn placeholder(&self, row: &SourceAccount, of: &str) -> String {
        let plain = |text: &str| -> String {
            let letters = text.chars().flat_map(char::to_lowercase);
            let kept = letters.filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c));
            kept.take(NAME_MOST).collect()
        };
        let name = plain(&row.name);
        let name = if name.is_empty() { "user" } else { &name };
        let of = match (of, self.run.is_usual_name()) {
            ("", true) => String::new(),
            ("", false) => format!(".{}", plain(&self.run.source)),
            (of, _) => format!(".{}", plain(of)),
        };
        format!("{name}.{}{of}@import.invalid", plain(&row.origin))
    }

    /// The group of an account here, where there is such a one.
    fn group(&self, row: &SourceAccount, notes: &mut Vec<String>) -> Option<String> {
        let name = row.group.as_ref()?.to_lowercase();
        if name == DEFAULT_GROUP {
            return None;
        }
        if self.run.groups.contains(&name) {
            return Some(name);
        }
        notes.push(format!(
            "its group `{name}` has no prices there; it is in the group that all begin in"
        ));
        None
    }

    fn say(&mut self, row: &SourceAccount, action: ReportAction, reason: String) -> Result<()> {
        self.report.row(ReportRow::new(
            row.table,
            row.origin.clone(),
            action,
            reason,
        ))
    }

    /// Whether everything met; which rows are accounts now.
    pub(super) async fn finish(self) -> Result<(ImportSums, OriginSet)> {
        if !self.sums.meet() {
            return Err(anyhow!(
                "the sums do not meet: {:?}; this is a mistake of this program",
                self.sums
            ));
        }
        if let Some(before) = self.before.filter(|_| !self.run.dry) {
            let imports = self.run.engine.admin().imports();
            let after = imports.brought(&self.run.source).await?;
            if after != before + self.sums.quota {
                return Err(anyhow!(
                    "the ledger has {after} of this source and was to have {}; run `atelier audit`",
                    before + self.sums.quota
                ));
            }
        }
        Ok((self.sums, self.taken))
    }
}

fn is_address(email: &str) -> bool {
    let plain =
        email.len() <= EMAIL_MOST && !email.chars().any(|c| c.is_whitespace() || c.is_control());
    match email.split_once('@') {
        Some((name, host)) => plain && !name.is_empty() && !host.is_empty() && !host.contains('@'),
        None => false,
    }
}
