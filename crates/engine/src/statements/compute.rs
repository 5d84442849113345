//! A statement is added up from the rows of a ledger, page by page. What comes of it must meet what the ledger says the account had.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::Quota;
use atelier_contract::hex;
use atelier_contract::month::Month;
use atelier_contract::pages::statements::{
    Issuer, StatementCharge, StatementMovement, StatementRecord, StatementSum,
};
use atelier_contract::time::timestamp;
use atelier_store::{
    ExportOwner, LedgerExport, LedgerSpan, MonthSpan, Statement, StatementLogo, Store,
};
use sha2::{Digest as _, Sha256};

use super::error::StatementError;

/// Rows of the ledger read at once.
const PAGE: i64 = 1_000;
/// Movements that a statement tells one by one; further ones of a kind are one line.
const MOVEMENTS_MOST: usize = 500;
/// Lines of what jobs consumed; what does not fit is added up without key and member.
const CHARGES_MOST: usize = 2_000;
/// Keys, members or models that a statement tells by name.
const SUMS_MOST: usize = 500;
/// What stands for all that are not told by name.
const OTHERS: &str = "…";

/// Who a statement is from.
#[derive(Clone, Debug, Default)]
pub struct StatementIssuer {
    pub(super) issuer: Issuer,
    pub(super) logo: Option<StatementLogo>,
    pub(super) quota_usd: f64,
}

/// Whose statement is made, and of which month.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatementWish<'a> {
    pub(super) account_id: &'a str,
    pub(super) email: &'a str,
    pub(super) month: Month,
    pub(super) now_ms: i64,
}

/// Adds a statement up; it is not written down yet.
pub(super) async fn compute(
    store: &Store,
    from: &StatementIssuer,
    wish: StatementWish<'_>,
) -> Result<Statement, StatementError> {
    let StatementWish {
        account_id,
        email,
        month,
        now_ms,
    } = wish;
    let span = store.ledger().statements().span(account_id, month).await?;
    let span = span.ok_or(StatementError::NoAccount)?;
    if span.is_archived {
        return Err(StatementError::Archived(month));
    }
    let sums = LedgerSums::read(store, account_id, &span).await?;
    let (opening, closing) = (span.balance + span.frozen, sums.balance + sums.frozen);
    let (credited, adjusted) = (total(&sums.credits), total(&sums.adjustments));
    let meets = opening + credited + adjusted - sums.charged == closing
        && span.balance + sums.balance_moved == sums.balance
        && span.frozen + sums.frozen_moved == sums.frozen;
    if !meets {
        return Err(StatementError::Apart {
            month,
            account_id: account_id.to_owned(),
        });
    }
    let names = key_names(store, account_id, &sums).await?;
    let record = StatementRecord {
        month,
        account_id: account_id.to_owned(),
        email: email.to_owned(),
        issuer: from.issuer.clone(),
        quota_usd: from.quota_usd,
        opening,
        opening_held: span.frozen,
        charges: charges(&sums, &names),
        by_operation: named(&sums.by_operation, &HashMap::new()),
        by_model: named(&sums.by_model, &HashMap::new()),
        by_key: named(&sums.by_key, &names),
        by_member: named(&sums.by_member, &HashMap::new()),
        credited,
        adjusted,
        charged: sums.charged,
        jobs: sums.jobs,
        closing,
        closing_held: sums.frozen,
        made_at: timestamp(now_ms),
        credits: sums.credits,
        adjustments: sums.adjustments,
    };
    let csv = record.csv();
    Ok(Statement {
        account_id: account_id.to_owned(),
        month: month.number(),
        first: span.first,
        last: span.last,
        opening,
        credited,
        adjusted,
        charged: record.charged,
        closing,
        record: serde_json::to_string(&record).unwrap_or_default(),
        hash: hex(&Sha256::digest(csv.as_bytes())),
        csv,
        made_ms: now_ms,
    })
}

fn total(movements: &[StatementMovement]) -> Quota {
    movements
        .iter()
        .fold(Quota::ZERO, |sum, one| sum + one.amount)
}

/// Jobs, and what they consumed.
type JobSum = (i64, Quota);
/// An operation, a model, a key and a member.
type ChargeGroup = (String, String, String, String);

/// The rows of a month, added up.
struct LedgerSums {
    /// After the last row.
    balance: Quota,
    frozen: Quota,
    balance_moved: Quota,
    frozen_moved: Quota,
    credits: Vec<StatementMovement>,
    adjustments: Vec<StatementMovement>,
    charges: BTreeMap<ChargeGroup, JobSum>,
    by_operation: BTreeMap<String, JobSum>,
    by_model: BTreeMap<String, JobSum>,
    by_key: BTreeMap<String, JobSum>,
    by_member: BTreeMap<String, JobSum>,
    charged: Quota,
    jobs: i64,
}

impl LedgerSums {
    async fn read(
        store: &Store,
        account_id: &str,
        span: &MonthSpan,
    ) -> Result<Self, atelier_store::Error> {
        let mut sums = Self {
            balance: span.balance,
            frozen: span.frozen,
            balance_moved: Quota::ZERO,
            frozen_moved: Quota::ZERO,
            credits: Vec::new(),
            adjustments: Vec::new(),
            charges: BTreeMap::new(),
            by_operation: BTreeMap::new(),
            by_model: BTreeMap::new(),
            by_key: BTreeMap::new(),
            by_member: BTreeMap::new(),
            charged: Quota::ZERO,
            jobs: 0,
        };
        let owner = ExportOwner {
            account_id,
            is_own: false,
        };
        let mut rest = LedgerSpan {
            after: span.first,
            until: span.last,
        };
        while rest.after < rest.until {
            let rows = store.ledger().exports().ledger(owner, rest, false, PAGE);
            let rows = rows.await?;
            let Some(last) = rows.last() else {
                break;
            };
            rest.after = last.number;
            let grants = rows.iter().filter(|row| row.kind == "grant");
            let grants: Vec<&str> = grants.map(|row| row.id.as_str()).collect();
            let sources = if grants.is_empty() {
                HashMap::new()
            } else {
                let sources = store.ledger().statements().sources(&grants).await?;
                sources.into_iter().collect()
            };
            for row in rows {
                sums.add(row, &sources);
            }
        }
        Ok(sums)
    }

    fn add(&mut self, row: LedgerExport, sources: &HashMap<String, String>) {
        (self.balance, self.frozen) = (row.balance_after, row.frozen_after);
        self.balance_moved = self.balance_moved + row.balance_delta;
        self.frozen_moved = self.frozen_moved + row.frozen_delta;
        match row.kind.as_str() {
            "grant" => {
                let kind = row.cause.clone().or_else(|| sources.get(&row.id).cloned());
                let kind = kind.unwrap_or_else(|| row.kind.clone());
                tell(&mut self.credits, kind, row);
            }
            "adjust" => {
                let kind = row.cause.clone().unwrap_or_else(|| row.kind.clone());
                tell(&mut self.adjustments, kind, row);
            }
            "capture" => self.charge(row),
            // What is held and given back changes nothing of the whole.
            _ => {}
        }
    }

    fn charge(&mut self, row: LedgerExport) {
        self.charged = self.charged + row.amount;
        self.jobs += 1;
        let text = Option::unwrap_or_default;
        let (model, key, member) = (text(row.model), text(row.key_id), text(row.member_id));
        let group = (row.reason, model, key, member);
        for (sums, id) in [
            (&mut self.by_operation, &group.0),
            (&mut self.by_model, &group.1),
            (&mut self.by_key, &group.2),
            (&mut self.by_member, &group.3),
        ] {
            let is_told = sums.contains_key(id) || sums.len() < SUMS_MOST;
            let id = if is_told { id.as_str() } else { OTHERS };
            count(sums.entry(id.to_owned()).or_default(), row.amount);
        }
        let is_told = self.charges.contains_key(&group) || self.charges.len() < CHARGES_MOST;
        let group = if is_told {
            group
        } else {
            (group.0, group.1, OTHERS.to_owned(), OTHERS.to_owned())
        };
        count(self.charges.entry(group).or_default(), row.amount);
    }
}

fn count(sum: &mut JobSum, amount: Quota) {
    *sum = (sum.0 + 1, sum.1 + amount);
}

/// Tells of a movement, or adds it to the line of all further ones of its kind.
fn tell(movements: &mut Vec<StatementMovement>, kind: String, row: LedgerExport) {
    if movements.len() >= MOVEMENTS_MOST {
        let mut others = movements.iter_mut().skip(MOVEMENTS_MOST);
        if let Some(line) = others.find(|line| line.kind == kind) {
            line.amount = line.amount + row.amount;
            line.rows += 1;
            return;
        }
    }
    let is_told = movements.len() < MOVEMENTS_MOST;
    movements.push(StatementMovement {
        time: timestamp(row.time_ms),
        kind,
        description: if is_told {
            row.reason
        } else {
            OTHERS.to_owned()
        },
        amount: row.amount,
        rows: 1,
    });
}

/// The names of the keys that a statement tells of.
async fn key_names(
    store: &Store,
    account_id: &str,
    sums: &LedgerSums,
) -> Result<HashMap<String, String>, atelier_store::Error> {
    let in_charges = sums.charges.keys().map(|group| group.2.as_str());
    let ids = in_charges.chain(sums.by_key.keys().map(String::as_str));
    let ids: std::collections::BTreeSet<&str> = ids.filter(|id| !id.is_empty()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let names = store.keys().names(account_id, &ids).await?;
    Ok(names.into_iter().collect())
}

fn charges(sums: &LedgerSums, names: &HashMap<String, String>) -> Vec<StatementCharge> {
    let charge = |(group, (jobs, quota)): (&ChargeGroup, &JobSum)| StatementCharge {
        operation: group.0.clone(),
        model: group.1.clone(),
        key_id: group.2.clone(),
        key: names.get(&group.2).cloned().unwrap_or_default(),
        member_id: group.3.clone(),
        member: String::new(),
        jobs: *jobs,
        quota: *quota,
    };
    sums.charges.iter().map(charge).collect()
}

/// Sums with their names, those first that consumed most.
fn named(sums: &BTreeMap<String, JobSum>, names: &HashMap<String, String>) -> Vec<StatementSum> {
    let sum = |(id, (jobs, quota)): (&String, &JobSum)| StatementSum {
        id: id.clone(),
        name: names.get(id).cloned().unwrap_or_else(|| id.clone()),
        jobs: *jobs,
        quota: *quota,
    };
    let mut sums: Vec<StatementSum> = sums.iter().map(sum).collect();
    sums.sort_by(|a, b| b.quota.cmp(&a.quota).then_with(|| a.id.cmp(&b.id)));
    sums
}
