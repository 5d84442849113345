//! Jobs as they are stored and read.

pub mod attempt;
mod change;
mod delete;
pub mod filter;
mod group_jobs;
pub mod history;
pub mod lease;
mod list;
pub mod margins;
pub(crate) mod outline;
mod page_window;
mod precheck;
pub mod queue;
pub(crate) mod row;
mod search;
pub mod short_work;
pub mod spender;
pub mod statistics;
pub mod summaries;
pub mod usage;

pub use row::JobRow;

use crate::Result;
use crate::db::{args, json};
use crate::jobs::row::JOB_COLUMNS;
use crate::store_core::StoreCore;

/// Jobs: accepted, read, listed, settled and deleted.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a>(pub(crate) &'a StoreCore);

impl Jobs<'_> {
    /// A job of an account. It is found by its name: an index by account would do while there are few, and a plan is kept.
    pub async fn find(self, account_id: &str, id: &str) -> Result<Option<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE id = $1 AND account_id || '' = $2 AND deleted_ms IS NULL"
        );
        self.0
            .db
            .of(Some(account_id))
            .maybe(&sql, args![id, account_id])
            .await
    }

    /// The job of an account's call, by the caller's name for that call.
    pub async fn by_idempotency_key(self, account_id: &str, key: &str) -> Result<Option<String>> {
        let sql = "SELECT job_id FROM idempotency WHERE account_id = $1 AND key = $2";
        self.0
            .db
            .of(Some(account_id))
            .maybe(sql, args![account_id, key])
            .await
    }

    /// A job, whoever owns it: for the engine and the operator only.
    pub async fn find_of_any_account(self, id: &str) -> Result<Option<JobRow>> {
        let sql = format!("SELECT {JOB_COLUMNS} FROM job WHERE id = $1");
        self.0.db.maybe(&sql, args![id]).await
    }

    /// Some jobs, whoever owns them, in no particular order: for the engine only.
    pub async fn find_many_of_any_account(self, ids: &[String]) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) AND deleted_ms IS NULL"
        );
        self.0.db.all(&sql, args![&json(ids)]).await
    }

    /// Some jobs of an account, in no particular order; found by their names, like one.
    pub async fn find_many(self, account_id: &str, ids: &[String]) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) AND account_id || '' = $2 AND deleted_ms IS NULL"
        );
        self.0
            .db
            .of(Some(account_id))
            .all(&sql, args![&json(ids), account_id])
            .await
    }

    /// An unfinished job of an account whose request has a word in it: for the auditor.
    pub async fn unfinished_with(self, account_id: &str, word: &str) -> Result<Option<String>> {
        let sql = "SELECT id FROM job WHERE account_id = $1 AND state < 2 \
             AND request LIKE '%' || $2 || '%' LIMIT 1";
        self.0.db.maybe(sql, args![account_id, word]).await
    }

    /// The succeeded jobs of an account that bear one of these names.
    pub async fn by_alias(self, account_id: &str, aliases: &[String]) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE account_id = $1 AND alias IN ({{list:$2}}) \
             AND alias IS NOT NULL AND state = 2 ORDER BY created_ms, id"
        );
        self.0
            .db
            .of(Some(account_id))
            .all(&sql, args![account_id, &json(aliases)])
            .await
    }
}
