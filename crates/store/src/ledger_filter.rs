//! Some of the movements of quota: of a key, a model, a tag, in a period. The latest of the period are looked at, and no more of
//! them than one look may.

use crate::Result;
use crate::db::{Arg, args};
use crate::jobs::spender::SpenderFilter;
use crate::ledger::{LEDGER_COLUMNS, Ledger, LedgerRow};
use crate::ledger_place::first_at;

/// Rows that one look at a filtered list sees.
const ROWS_MOST: i64 = 100_000;

/// Which movements to list.
#[derive(Clone, Debug)]
pub struct LedgerFilter {
    pub account_id: String,
    pub of: SpenderFilter,
    /// Only those from this moment on.
    pub from_ms: Option<i64>,
    /// Only those before this moment.
    pub to_ms: Option<i64>,
    pub offset: i64,
    /// Rows to return at most.
    pub limit: i64,
}

impl Ledger<'_> {
    /// A page of some movements of an account, newest first, and how many there are among the latest 100,000 of the period.
    pub async fn filtered(self, filter: &LedgerFilter) -> Result<(Vec<LedgerRow>, i64)> {
        let reader = self.0.db.of(Some(&filter.account_id));
        let sql = "SELECT entries FROM account WHERE id = $1";
        let entries: Option<i64> = reader.maybe(sql, args![&filter.account_id]).await?;
        let entries = entries.unwrap_or(0);
        let end = match filter.to_ms {
            Some(to_ms) => first_at(&reader, &filter.account_id, to_ms, entries).await? - 1,
            None => entries,
        };
        let begin = match filter.from_ms {
            Some(from_ms) => first_at(&reader, &filter.account_id, from_ms, entries).await?,
            None => 1,
        };
        let begin = begin.max(end - ROWS_MOST + 1);
        let tag = filter.of.tag_text();
        let rows = "FROM ledger LEFT JOIN job ON job.id = ledger.job_id AND CAST($8 AS BIGINT) = 1 \
             WHERE ledger.account_id = $1 AND ledger.number >= $2 AND ledger.number <= $3 \
             AND ($4 IS NULL OR ledger.key_id = $4) AND ($5 IS NULL OR ledger.member_id = $5) \
             AND ($6 IS NULL OR ledger.used_model = $6) AND ($7 IS NULL OR (ledger.reason = $7 AND ledger.job_id IS NOT NULL)) \
             AND ($9 IS NULL OR REPLACE(job.tags, $9, '') <> job.tags) AND ($10 IS NULL OR job.end_user = $10)";
        let of = &filter.of;
        let mut values: Vec<Arg<'_>> = args![
            &filter.account_id,
            begin,
            end,
            of.key_id.as_deref(),
            of.member_id.as_deref(),
            of.model.as_deref(),
            of.operation.as_deref(),
            i64::from(of.needs_jobs()),
            tag.as_deref(),
            of.user.as_deref()
        ]
        .to_vec();
        let total: i64 = reader
            .one(&format!("SELECT COUNT(*) {rows}"), &values)
            .await?;
        values.extend_from_slice(args![filter.limit, filter.offset]);
        let page = format!(
            "SELECT {LEDGER_COLUMNS} {rows} ORDER BY ledger.number DESC LIMIT $11 OFFSET $12"
        );
        Ok((reader.all(&page, &values).await?, total))
    }
}
