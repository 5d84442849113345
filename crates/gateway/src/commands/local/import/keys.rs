//! Keys of callers, which go on working as they are, a page a commit.

use std::collections::HashSet;

use anyhow::Result;
use atelier_contract::Quota;
use atelier_contract::key_rules::KeyRules;
use atelier_contract::pages::keys::{KeyLimit, KeyTerms};
use atelier_engine::{KeyImport, key};
use atelier_import::{ForeignKey, ReportAction, ReportRow, SourceKey, SourceState};
use ipnet::IpNet;

use super::accounts::OriginSet;
use super::report::ImportReport;
use super::{ACTOR, ImportRun};

/// Models and networks that a key may name.
const NAMES_MOST: usize = 200;

/// An import of keys as it goes on.
pub(super) struct KeysImport<'a> {
    run: &'a ImportRun,
    report: &'a mut ImportReport,
    /// Accounts that this run takes over.
    accounts: OriginSet,
    /// Keys that earlier rows of this run have.
    hashes: HashSet<String>,
}

impl<'a> KeysImport<'a> {
    pub(super) fn new(
        run: &'a ImportRun,
        report: &'a mut ImportReport,
        accounts: OriginSet,
    ) -> Self {
        Self {
            run,
            report,
            accounts,
            hashes: HashSet::new(),
        }
    }

    /// Takes a page over.
    pub(super) async fn take(&mut self, page: Vec<SourceKey>) -> Result<()> {
        let (run, source) = (self.run, &self.run.source);
        let imports = run.engine.admin().imports();
        let origins: Vec<String> = page.iter().map(|row| row.origin.clone()).collect();
        let known = imports.keys(source, &origins).await?;
        let owners: Vec<String> = page.iter().map(|row| row.owner.clone()).collect();
        let owners = imports.accounts(source, &owners).await?;
        let hashes: Vec<String> = page.iter().map(hash_of).collect();
        let taken = imports.hashes_taken(&hashes).await?;
        self.hashes.clear();
        let now_ms = run.engine.now_ms();
        let mut keys = Vec::new();
        for (row, hash) in page.into_iter().zip(hashes) {
            if known.contains_key(&row.origin) {
                self.say(&row, ReportAction::Unchanged, String::new())?;
                continue;
            }
            let owner = owners.get(&row.owner).map(|owner| owner.target.clone());
            let why = match &row.state {
                SourceState::Deleted => Some("it was deleted there".to_owned()),
                SourceState::Disabled => {
                    Some("it is switched off there; issue a new one if it is needed".to_owned())
                }
                SourceState::Unusable(why) => Some(why.clone()),
                SourceState::Enabled if row.expires_ms.is_some_and(|at| at <= now_ms) => {
                    Some("it has expired".to_owned())
                }
                SourceState::Enabled if owner.is_none() && !self.accounts.has(&row.owner) => {
                    Some(format!("its owner {} is not taken over", row.owner))
                }
                SourceState::Enabled
                    if taken.contains(&hash) || !self.hashes.insert(hash.clone()) =>
                {
                    Some("a key that is the same is here already".to_owned())
                }
                SourceState::Enabled => None,
            };
            if let Some(why) = why {
                self.say(&row, ReportAction::Skip, why)?;
                continue;
            }
            let mut notes = row.notes.clone();
            let terms = self.terms(&row, &mut notes);
            let action = if notes.is_empty() {
                ReportAction::Import
            } else {
                ReportAction::Partly
            };
            self.say(&row, action, notes.join("; "))?;
            // In a dry run nobody owns it yet.
            let Some(account_id) = owner else { continue };
            keys.push(KeyImport {
                origin: row.origin,
                account_id,
                hash,
                shown: row.shown,
                name: row.name,
                expires_ms: row.expires_ms,
                terms,
                created_ms: row.created_ms,
            });
        }
        if !run.dry && !keys.is_empty() {
            imports.take_keys(ACTOR, source, keys).await?;
        }
        Ok(())
    }

    /// What a key may spend and do.
    fn terms(&self, row: &SourceKey, notes: &mut Vec<String>) -> KeyTerms {
        let limits = row.limits.iter().map(|(window, units)| KeyLimit {
            window: *window,
            quota: self.run.exchange.quota(*units).0.max(Quota::ZERO),
        });
        let mut addresses = Vec::new();
        for text in &row.addresses {
            match network(text) {
                Some(net) => addresses.push(net),
                None => notes.push(format!(
                    "`{}` is no network; the key may come from the others that it names alone",
                    text.chars().take(60).collect::<String>()
                )),
            }
        }
        if !row.addresses.is_empty() && addresses.is_empty() {
            // Nothing that can be read is no leave to come from anywhere.
            addresses.extend(network("127.0.0.1"));
            notes.push(
                "none of its networks can be read; it works from this machine alone until you change that".to_owned(),
            );
        }
        for (what, count) in [
            ("models", row.models.len()),
            ("networks", row.addresses.len()),
        ] {
            if count > NAMES_MOST {
                notes.push(format!(
                    "it names {count} {what}, of which {NAMES_MOST} are kept"
                ));
            }
        }
        addresses.truncate(NAMES_MOST);
        KeyTerms {
            limits: limits.collect(),
            rules: KeyRules {
                models: row
                    .models
                    .iter()
                    .map(|name| name.to_lowercase())
                    .take(NAMES_MOST)
                    .collect(),
                addresses,
                ..KeyRules::default()
            },
            max_queue: None,
        }
    }

    fn say(&mut self, row: &SourceKey, action: ReportAction, reason: String) -> Result<()> {
        let table = if row.table == "users" {
            "tokens of users"
        } else {
            row.table
        };
        self.report
            .row(ReportRow::new(table, row.origin.clone(), action, reason))
    }
}

fn network(text: &str) -> Option<IpNet> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let address: std::net::IpAddr = text.parse().ok()?;
        Some(address.into())
    })
}

fn hash_of(row: &SourceKey) -> String {
    match &row.secret {
        ForeignKey::Hash(hash) => hash.clone(),
        ForeignKey::Whole(text) => key::hash(text),
        ForeignKey::Cut(text) => key::hash_of_cut(text),
    }
}
