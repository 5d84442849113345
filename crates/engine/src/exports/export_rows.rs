//! All rows of a kind in the order of an index: account after account, page after page. Where it is, is a small text, by which another
//! process goes on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use atelier_contract::Quota;
use atelier_contract::pages::exports::{
    ExportFormat, ExportKind, ExportRow, ExportedJob, ExportedMovement, ExportedUsage, header,
    write_rows,
};
use atelier_contract::pages::jobs::JobCursor;
use atelier_store::{ExportOwner, JobUse, LedgerSpan, RowSpender, SpenderFilter, UsageExport};
use serde::{Deserialize, Serialize};

use super::export_request::ExportRequest;
use super::records;
use crate::context::Context;

/// Jobs read at once: their prompts may be long.
const JOBS: i64 = 200;
/// Rows of other kinds read at once.
const ROWS: i64 = 500;
/// Accounts read at once.
const ACCOUNTS: i64 = 200;
const HOUR_MS: i64 = 3_600_000;

/// Where an export is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ExportPlace {
    /// The account whose rows are taken, or were taken last.
    account_id: String,
    /// Where among its rows; none when there are no more.
    rows: Option<RowPlace>,
    /// Whether there are no more accounts.
    over: bool,
}

/// Where it is among the rows of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RowPlace {
    /// Behind a job, by when that was accepted.
    Jobs { at_ms: i64, id: String },
    /// Behind a number of the ledger, and up to which they are wanted.
    Ledger { after: i64, until: i64 },
    /// Behind what something consumed in an hour.
    Usage(UsagePlace),
    /// Behind what jobs consumed that say nothing of what they came by.
    Unnamed { hour: i64, operation: String },
    /// Behind a job, by when that ended.
    UsedJobs { at_ms: i64, id: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct UsagePlace {
    hour: i64,
    key_id: String,
    member_id: String,
    model: String,
    operation: String,
}

/// Some rows as they are written.
pub struct ExportPiece {
    pub text: String,
    pub rows: usize,
}

/// Rows that are taken one piece after the other.
pub struct ExportRows {
    context: Arc<Context>,
    request: ExportRequest,
    /// Up to when rows are taken: what comes meanwhile is for the next export.
    to_ms: i64,
    place: ExportPlace,
    /// The next accounts.
    accounts: VecDeque<String>,
    /// What is being added up of an hour.
    hour: HourSums,
}

impl ExportRows {
    pub(super) fn new(context: Arc<Context>, request: ExportRequest) -> Self {
        let now_ms = context.now_ms();
        Self {
            to_ms: request.to_ms.unwrap_or(now_ms + 1),
            context,
            request,
            place: ExportPlace::default(),
            accounts: VecDeque::new(),
            hour: HourSums::default(),
        }
    }

    /// Goes on where another one was; nothing is known of a place that cannot be read.
    pub(super) fn go_on_at(mut self, place: &str) -> Self {
        self.place = serde_json::from_str(place).unwrap_or_default();
        self
    }

    /// Where it is.
    pub(super) fn place(&self) -> String {
        serde_json::to_string(&self.place).unwrap_or_default()
    }

    /// Whether there are no more rows.
    pub(super) fn is_over(&self) -> bool {
        self.place.over
    }

    /// The line of names that a table begins with; other formats have none.
    pub fn header(&self) -> String {
        let with_account = !self.request.is_own;
        match (self.request.format, self.request.kind) {
            (ExportFormat::Jsonl, _) => String::new(),
            (ExportFormat::Csv, ExportKind::Jobs) => header::<ExportedJob>(with_account),
            (ExportFormat::Csv, ExportKind::Ledger) => header::<ExportedMovement>(with_account),
            (ExportFormat::Csv, ExportKind::Usage) => header::<ExportedUsage>(with_account),
        }
    }

    /// The next rows; none at the end.
    pub async fn next(&mut self) -> Result<Option<ExportPiece>, atelier_store::Error> {
        while !self.place.over {
            let Some(place) = self.place.rows.clone() else {
                self.next_account().await?;
                continue;
            };
            let piece = match place {
                RowPlace::Jobs { at_ms, id } => self.jobs(at_ms, id).await?,
                RowPlace::Ledger { after, until } => self.ledger(after, until).await?,
                RowPlace::Usage(after) => self.usage(after).await?,
                RowPlace::Unnamed { hour, operation } => self.unnamed(hour, operation).await?,
                RowPlace::UsedJobs { at_ms, id } => self.used_jobs(at_ms, id).await?,
            };
            if piece.rows > 0 {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Goes on with the next account, if there is one.
    async fn next_account(&mut self) -> Result<(), atelier_store::Error> {
        let next = if let Some(own) = &self.request.account_id {
            Some(own.clone()).filter(|own| *own != self.place.account_id)
        } else {
            if self.accounts.is_empty() {
                let after = &self.place.account_id;
                let exports = self.context.store().ledger().exports();
                self.accounts = exports.accounts(after, ACCOUNTS).await?.into();
            }
            self.accounts.pop_front()
        };
        let Some(account_id) = next else {
            self.place.over = true;
            return Ok(());
        };
        let (from_ms, from_hour) = (self.request.from_ms, self.first_hour());
        self.place.account_id = account_id;
        self.place.rows = match self.request.kind {
            ExportKind::Jobs => Some(RowPlace::Jobs {
                at_ms: from_ms.unwrap_or(0),
                id: String::new(),
            }),
            ExportKind::Ledger => {
                let to_ms = self.request.to_ms;
                let exports = self.context.store().ledger().exports();
                let span = exports.ledger_span(self.owner(), from_ms, to_ms);
                let LedgerSpan { after, until } = span.await?;
                Some(RowPlace::Ledger { after, until })
            }
            ExportKind::Usage if self.request.of.needs_jobs() => Some(RowPlace::UsedJobs {
                at_ms: from_hour * HOUR_MS,
                id: String::new(),
            }),
            ExportKind::Usage => Some(RowPlace::Usage(UsagePlace {
                hour: from_hour,
                ..UsagePlace::default()
            })),
        };
        Ok(())
    }

    fn owner(&self) -> ExportOwner<'_> {
        ExportOwner {
            account_id: &self.place.account_id,
            is_own: self.request.is_own,
        }
    }

    /// Whose a row is, where that is told.
    fn told(&self) -> Option<String> {
        (!self.request.is_own).then(|| self.place.account_id.clone())
    }

    /// The hour before which usage is wanted.
    fn to_hour(&self) -> i64 {
        (self.to_ms + HOUR_MS - 1).div_euclid(HOUR_MS)
    }

    fn written<R: ExportRow>(&self, rows: &[R]) -> ExportPiece {
        ExportPiece {
            text: write_rows(rows, self.request.format),
            rows: rows.len(),
        }
    }

    async fn jobs(&mut self, at_ms: i64, id: String) -> Result<ExportPiece, atelier_store::Error> {
        let after = JobCursor {
            created_ms: at_ms,
            id,
        };
        let exports = self.context.store().ledger().exports();
        let page = exports.jobs(self.owner(), &after, self.to_ms, JOBS).await?;
        let last = page.last().filter(|_| page.len() as i64 == JOBS);
        let next = last.map(|last| RowPlace::Jobs {
            at_ms: last.created_ms,
            id: last.id.clone(),
        });
        let of = &self.request.of;
        let wanted = page.into_iter().filter(|row| {
            !row.is_deleted
                && of.matches(&RowSpender {
                    key_id: row.key_id.as_deref(),
                    member_id: row.member_id.as_deref(),
                    model: row.model.as_deref(),
                    operation: Some(&row.operation),
                    tags: row.tags.as_deref(),
                    user: row.user.as_deref(),
                })
        });
        let rows: Vec<ExportedJob> = wanted.map(|row| records::job(row, self.told())).collect();
        let piece = self.written(&rows);
        self.place.rows = next;
        Ok(piece)
    }

    async fn ledger(
        &mut self,
        after: i64,
        until: i64,
    ) -> Result<ExportPiece, atelier_store::Error> {
        let (exports, of) = (self.context.store().ledger().exports(), &self.request.of);
        let span = LedgerSpan { after, until };
        let page = exports.ledger(self.owner(), span, of.needs_jobs(), ROWS);
        let page = page.await?;
        let last = page.last().filter(|_| page.len() as i64 == ROWS);
        let next = last.map(|last| RowPlace::Ledger {
            after: last.number,
            until,
        });
        let wanted = page.into_iter().filter(|row| {
            of.matches(&RowSpender {
                key_id: row.key_id.as_deref(),
                member_id: row.member_id.as_deref(),
                model: row.model.as_deref(),
                operation: row.job_id.is_some().then_some(row.reason.as_str()),
                tags: row.tags.as_deref(),
                user: row.user.as_deref(),
            })
        });
        let rows: Vec<ExportedMovement> = wanted
            .map(|row| records::movement(row, self.told()))
            .collect();
        let piece = self.written(&rows);
        self.place.rows = next;
        Ok(piece)
    }

    async fn usage(&mut self, after: UsagePlace) -> Result<ExportPiece, atelier_store::Error> {
        let exports = self.context.store().ledger().exports();
        let after = UsageExport {
            hour: after.hour,
            key_id: after.key_id,
            member_id: after.member_id,
            model: after.model,
            operation: after.operation,
            ..UsageExport::default()
        };
        let page = exports.usage(self.owner(), &after, self.to_hour(), ROWS);
        let page = page.await?;
        let last = page.last().filter(|_| page.len() as i64 == ROWS);
        let next = match last {
            Some(last) => RowPlace::Usage(UsagePlace {
                hour: last.hour,
                key_id: last.key_id.clone(),
                member_id: last.member_id.clone(),
                model: last.model.clone(),
                operation: last.operation.clone(),
            }),
            None => RowPlace::Unnamed {
                hour: self.first_hour(),
                operation: String::new(),
            },
        };
        let piece = self.sums(page);
        self.place.rows = Some(next);
        Ok(piece)
    }

    async fn unnamed(
        &mut self,
        hour: i64,
        operation: String,
    ) -> Result<ExportPiece, atelier_store::Error> {
        let exports = self.context.store().ledger().exports();
        let after = UsageExport {
            hour,
            operation,
            ..UsageExport::default()
        };
        let page = exports.unnamed_usage(self.owner(), &after, self.to_hour(), ROWS);
        let mut page = page.await?;
        let last = page.last().filter(|_| page.len() as i64 == ROWS);
        let next = last.map(|last| RowPlace::Unnamed {
            hour: last.hour,
            operation: last.operation.clone(),
        });
        page.retain(|row| row.jobs > 0);
        let piece = self.sums(page);
        self.place.rows = next;
        Ok(piece)
    }

    /// What was added up when jobs ended, as far as it is asked for.
    fn sums(&self, page: Vec<UsageExport>) -> ExportPiece {
        let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let wanted = page.into_iter().filter(|row| {
            let (key_id, member_id, model) =
                (named(&row.key_id), named(&row.member_id), named(&row.model));
            self.request.of.matches(&RowSpender {
                key_id: key_id.as_deref(),
                member_id: member_id.as_deref(),
                model: model.as_deref(),
                operation: Some(&row.operation),
                ..RowSpender::default()
            })
        });
        let rows: Vec<ExportedUsage> = wanted.map(|row| records::usage(row, self.told())).collect();
        self.written(&rows)
    }

    async fn used_jobs(
        &mut self,
        at_ms: i64,
        id: String,
    ) -> Result<ExportPiece, atelier_store::Error> {
        let after = JobCursor {
            created_ms: at_ms,
            id,
        };
        let exports = self.context.store().ledger().exports();
        let to_ms = self.to_hour() * HOUR_MS;
        let page = exports.used_jobs(self.owner(), &after, to_ms, ROWS).await?;
        let last = page.last().filter(|_| page.len() as i64 == ROWS);
        let next = last.map(|last| RowPlace::UsedJobs {
            at_ms: last.finished_ms,
            id: last.id.clone(),
        });
        let mut over = Vec::new();
        for job in page.iter().filter(|job| is_wanted(&self.request.of, job)) {
            over.extend(self.hour.add(job));
        }
        if next.is_none() {
            over.extend(self.hour.end());
        }
        let rows: Vec<ExportedUsage> = over
            .into_iter()
            .map(|row| records::usage(row, self.told()))
            .collect();
        let piece = self.written(&rows);
        self.place.rows = next;
        Ok(piece)
    }

    fn first_hour(&self) -> i64 {
        let from_ms = self.request.from_ms.unwrap_or(0);
        from_ms.div_euclid(HOUR_MS).max(0)
    }
}

fn is_wanted(of: &SpenderFilter, job: &JobUse) -> bool {
    of.matches(&RowSpender {
        key_id: job.key_id.as_deref(),
        member_id: job.member_id.as_deref(),
        model: job.model.as_deref(),
        operation: Some(&job.operation),
        tags: job.tags.as_deref(),
        user: job.user.as_deref(),
    })
}

/// What jobs of one hour consumed, by what they came by.
#[derive(Default)]
struct HourSums {
    hour: i64,
    sums: BTreeMap<[String; 4], (i64, Quota)>,
}

impl HourSums {
    /// Adds a job; what the hour before it consumed, if it is the first of another.
    fn add(&mut self, job: &JobUse) -> Vec<UsageExport> {
        let hour = job.finished_ms.div_euclid(HOUR_MS);
        let over = if hour == self.hour {
            Vec::new()
        } else {
            self.end()
        };
        self.hour = hour;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let group = [
            text(&job.key_id),
            text(&job.member_id),
            text(&job.model),
            job.operation.clone(),
        ];
        let sum = self.sums.entry(group).or_default();
        *sum = (sum.0 + 1, sum.1 + job.quota);
        over
    }

    fn end(&mut self) -> Vec<UsageExport> {
        let sums = std::mem::take(&mut self.sums).into_iter();
        let row = |(group, (jobs, quota)): ([String; 4], (i64, Quota))| {
            let [key_id, member_id, model, operation] = group;
            UsageExport {
                hour: self.hour,
                key_id,
                member_id,
                model,
                operation,
                jobs,
                quota,
            }
        };
        sums.map(row).collect()
    }
}
