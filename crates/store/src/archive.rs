//! Moving old jobs and ledger rows out of the database. The oldest rows of an account's ledger go, up to a cut, with
//! the jobs that they end; the commit that removes them writes down what the account had there, so that its balance
//! is still the sum. Nothing is removed that has not been handed out to be kept elsewhere.

mod archive_file;
mod cut;
mod lines;
mod remove;

use crate::Result;
use crate::db::args;
use crate::store_core::StoreCore;

pub use archive_file::ArchiveFile;
pub use cut::ArchiveCut;

/// Old ledger rows, jobs and attempts that move into files.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a>(pub(crate) &'a StoreCore);

impl Archive<'_> {
    /// The next account after one that has anything to move, and how far; `None` when there is no other account.
    pub async fn cut(self, after: &str, before_ms: i64) -> Result<Option<ArchiveCut>> {
        let sql = "SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT 1";
        let Some(account_id) = self.0.db.maybe::<String>(sql, args![after]).await? else {
            return Ok(None);
        };
        cut::find(&self.0.db, account_id, before_ms).await.map(Some)
    }

    /// Some ledger rows of a cut, after a number, with their jobs and deliveries, each as a line of JSON that names its
    /// table; and the number to go on after.
    pub async fn lines(self, cut: &ArchiveCut, after: i64) -> Result<(Vec<String>, i64)> {
        lines::cut_lines(&self.0.db, cut, after).await
    }

    /// Removes what cuts cover, and writes down what their accounts had there. The file must be durable by now.
    pub async fn remove(self, cuts: Vec<ArchiveCut>, file: ArchiveFile) -> Result<()> {
        self.0
            .change_alone((cuts, file), |conn, (cuts, file)| {
                Box::pin(async move {
                    for cut in cuts {
                        remove::cut(conn, cut, file).await?;
                    }
                    remove::note(conn, file).await
                })
            })
            .await
    }

    /// Some attempts that ended before a time at final jobs, as lines of JSON, with their identifiers.
    pub async fn old_attempts(self, before_ms: i64, limit: i64) -> Result<Vec<(String, String)>> {
        lines::attempt_lines(&self.0.db, before_ms, limit).await
    }

    /// Removes attempts. The file must be durable by now.
    pub async fn remove_attempts(self, ids: Vec<String>, file: ArchiveFile) -> Result<()> {
        self.0
            .change_alone((ids, file), |conn, (ids, file)| {
                Box::pin(async move {
                    remove::attempts(conn, ids).await?;
                    remove::note(conn, file).await
                })
            })
            .await
    }

    /// Whether rows were moved to a file.
    pub async fn has_file(self, name: &str) -> Result<bool> {
        let sql = "SELECT name FROM archive_file WHERE name = $1";
        let found: Option<String> = self.0.db.maybe(sql, args![name]).await?;
        Ok(found.is_some())
    }

    /// Files that rows were moved to, in the order of their names, after one of them.
    pub async fn files(self, after: &str, limit: i64) -> Result<Vec<ArchiveFile>> {
        let sql = "SELECT name, hash, before_ms, jobs, entries, time_ms FROM archive_file \
             WHERE name > $1 ORDER BY name LIMIT $2";
        self.0.db.all(sql, args![after, limit]).await
    }
}
