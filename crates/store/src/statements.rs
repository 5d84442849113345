//! Statements: what an account had, got and spent in a month. They are written once; the pages made of them as well.

pub(crate) mod closes;

use atelier_contract::Quota;
use atelier_contract::month::Month;

use crate::Result;
use crate::db::{Conn, args, json};
use crate::ledger_place::first_at;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A statement as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub account_id: String,
    /// Counted from the beginning of year 0.
    pub month: i64,
    /// Of the rows of the ledger behind this number…
    pub first: i64,
    /// …up to this one.
    pub last: i64,
    pub opening: Quota,
    pub credited: Quota,
    pub adjusted: Quota,
    pub charged: Quota,
    pub closing: Quota,
    /// Everything it says, as JSON.
    pub record: String,
    /// The same as a table.
    pub csv: String,
    /// The SHA-256 of the table, in hexadecimal.
    pub hash: String,
    pub made_ms: i64,
}

impl FromRow for Statement {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            month: columns.int()?,
            first: columns.int()?,
            last: columns.int()?,
            opening: columns.quota()?,
            credited: columns.quota()?,
            adjusted: columns.quota()?,
            charged: columns.quota()?,
            closing: columns.quota()?,
            record: columns.text()?,
            csv: columns.text()?,
            hash: columns.text()?,
            made_ms: columns.int()?,
        })
    }
}

const WHOLE: &str = "account_id, month, first_number, last_number, opening, credited, adjusted, charged, closing, record, csv, hash, made_ms";

/// The same without what it says: for lists.
const OUTLINE: &str = "account_id, month, first_number, last_number, opening, credited, adjusted, charged, closing, '', '', hash, made_ms";

/// A page of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPage {
    pub html: String,
    /// The SHA-256 of it, in hexadecimal.
    pub hash: String,
}

impl FromRow for StatementPage {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            html: columns.text()?,
            hash: columns.text()?,
        })
    }
}

/// A picture that statements show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLogo {
    /// The SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    pub media_type: String,
    /// Its bytes in base64.
    pub content: String,
}

impl FromRow for StatementLogo {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            hash: columns.text()?,
            media_type: columns.text()?,
            content: columns.text()?,
        })
    }
}

/// Which rows of a ledger are of a month, and what the account had before the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthSpan {
    /// Behind this number…
    pub first: i64,
    /// …up to this one.
    pub last: i64,
    pub balance: Quota,
    pub frozen: Quota,
    /// Whether some of them are in the archive, so that nobody can add them up.
    pub is_archived: bool,
}

/// What an account had after a row of its ledger.
struct Standing {
    balance: Quota,
    frozen: Quota,
}

impl FromRow for Standing {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            balance: columns.quota()?,
            frozen: columns.quota()?,
        })
    }
}

/// Statements, their pages, and months that are closed.
#[derive(Clone, Copy, Debug)]
pub struct Statements<'a>(pub(crate) &'a StoreCore);

impl Statements<'_> {
    /// The statement of an account for a month.
    pub async fn find(self, account_id: &str, month: i64) -> Result<Option<Statement>> {
        let sql = format!("SELECT {WHOLE} FROM statement WHERE account_id = $1 AND month = $2");
        self.0.db.maybe(&sql, args![account_id, month]).await
    }

    /// The statements of an account for some months, without what they say, the latest first.
    pub async fn of_account(
        self,
        account_id: &str,
        first: i64,
        last: i64,
    ) -> Result<Vec<Statement>> {
        let sql = format!(
            "SELECT {OUTLINE} FROM statement WHERE account_id = $1 AND month >= $2 AND month <= $3 ORDER BY month DESC"
        );
        let reader = self.0.db.of(Some(account_id));
        reader.all(&sql, args![account_id, first, last]).await
    }

    /// Which rows of an account's ledger are of a month: those that the statements beside it leave, or else those of its time.
    pub async fn span(self, account_id: &str, month: Month) -> Result<Option<MonthSpan>> {
        let reader = self.0.db.without_limit();
        let sql = "SELECT entries FROM account WHERE id = $1";
        let Some(entries) = reader.maybe::<i64>(sql, args![account_id]).await? else {
            return Ok(None);
        };
        let before = "SELECT last_number FROM statement WHERE account_id = $1 AND month = $2 - 1";
        let after = "SELECT first_number FROM statement WHERE account_id = $1 AND month = $2 + 1";
        let beside = args![account_id, month.number()];
        let first = match reader.maybe(before, beside).await? {
            Some(first) => first,
            None => first_at(&reader, account_id, month.from_ms(), entries).await? - 1,
        };
        let last = match reader.maybe(after, beside).await? {
            Some(last) => last,
            None => first_at(&reader, account_id, month.until_ms(), entries).await? - 1,
        };
        let archived = "SELECT number FROM ledger_checkpoint WHERE account_id = $1";
        let archived: Option<i64> = reader.maybe(archived, args![account_id]).await?;
        let standing = "SELECT balance_after, frozen_after FROM ledger WHERE account_id = $1 AND number = $2 \
             UNION ALL SELECT balance, frozen FROM ledger_checkpoint WHERE account_id = $1 AND number = $2";
        let standing: Option<Standing> = reader.maybe(standing, args![account_id, first]).await?;
        let standing = standing.unwrap_or(Standing {
            balance: Quota::ZERO,
            frozen: Quota::ZERO,
        });
        Ok(Some(MonthSpan {
            first,
            last: last.max(first),
            balance: standing.balance,
            frozen: standing.frozen,
            is_archived: first < archived.unwrap_or(0),
        }))
    }

    /// Where some grants of an account came from, by their rows in the ledger, of those that ended or will.
    pub async fn sources(self, ids: &[&str]) -> Result<Vec<(String, String)>> {
        let sql = "SELECT id, source FROM credit WHERE id IN ({list:$1})";
        self.0.db.all(sql, args![&json(ids)]).await
    }

    /// Writes a statement down unless there is one, with the logo that it shows. It must go on where the one before it ends, and end
    /// where the one behind it begins; false when one of those was made meanwhile and does not fit.
    pub async fn add(self, statement: Statement, logo: Option<StatementLogo>) -> Result<bool> {
        self.0
            .change_alone((statement, logo), |conn, (statement, logo)| {
                Box::pin(add(conn, statement, logo.as_ref()))
            })
            .await
    }

    /// A page of a statement, in a language.
    pub async fn page(
        self,
        account_id: &str,
        month: i64,
        language: &str,
    ) -> Result<Option<StatementPage>> {
        let sql = "SELECT html, hash FROM statement_page WHERE account_id = $1 AND month = $2 AND language = $3";
        let values = args![account_id, month, language];
        self.0.db.maybe(sql, values).await
    }

    /// Writes a page of a statement down unless there is one; the one that stands.
    pub async fn add_page(
        self,
        of: &Statement,
        language: &str,
        page: StatementPage,
        now_ms: i64,
    ) -> Result<StatementPage> {
        let input = (
            of.account_id.clone(),
            of.month,
            language.to_owned(),
            page,
            now_ms,
        );
        self.0
            .change(input, |conn, (account_id, month, language, page, now_ms)| {
                Box::pin(async move {
                    let sql = "INSERT INTO statement_page (account_id, month, language, html, hash, made_ms) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, month, language) DO NOTHING";
                    let values = args![account_id, *month, language, &page.html, &page.hash, *now_ms];
                    conn.run(sql, values).await?;
                    let sql = "SELECT html, hash FROM statement_page WHERE account_id = $1 AND month = $2 AND language = $3";
                    let stands = conn.maybe(sql, args![account_id, *month, language]).await?;
                    Ok(stands.unwrap_or_else(|| page.clone()))
                })
            })
            .await
    }

    /// A logo by its hash.
    pub async fn logo(self, hash: &str) -> Result<Option<StatementLogo>> {
        let sql = "SELECT hash, media_type, content FROM statement_logo WHERE hash = $1";
        self.0.db.maybe(sql, args![hash]).await
    }

    /// The next statements in the order of account and month, whole: for whoever checks all of them.
    pub async fn after(self, account_id: &str, month: i64, limit: i64) -> Result<Vec<Statement>> {
        let sql = format!(
            "SELECT {WHOLE} FROM statement WHERE (account_id, month) > ($1, $2) ORDER BY account_id, month LIMIT $3"
        );
        self.0.db.all(&sql, args![account_id, month, limit]).await
    }

    /// The pages of a statement with their hashes.
    pub async fn pages(self, of: &Statement) -> Result<Vec<StatementPage>> {
        let sql = "SELECT html, hash FROM statement_page WHERE account_id = $1 AND month = $2 ORDER BY language";
        self.0.db.all(sql, args![&of.account_id, of.month]).await
    }

    /// When the first row of an account's ledger was written that no statement has, if that is before a moment; rows that are in the
    /// archive are not looked at.
    pub async fn first_without(self, account_id: &str, before_ms: i64) -> Result<Option<i64>> {
        let archived = "SELECT number FROM ledger_checkpoint WHERE account_id = $1";
        let archived: Option<i64> = self.0.db.maybe(archived, args![account_id]).await?;
        let mut covered = archived.unwrap_or(0);
        let spans =
            "SELECT first_number, last_number FROM statement WHERE account_id = $1 ORDER BY month";
        let spans: Vec<(i64, i64)> = self.0.db.all(spans, args![account_id]).await?;
        for (first, last) in spans {
            if first <= covered {
                covered = covered.max(last);
            }
        }
        let sql = "SELECT time_ms FROM ledger WHERE account_id = $1 AND number > $2 ORDER BY number LIMIT 1";
        let next: Option<i64> = self.0.db.maybe(sql, args![account_id, covered]).await?;
        Ok(next.filter(|time_ms| *time_ms < before_ms))
    }
}

async fn add(conn: &mut Conn, statement: &Statement, logo: Option<&StatementLogo>) -> Result<bool> {
    // Whoever makes the one beside it waits for this commit.
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![&statement.account_id])
        .await?;
    let values = args![
        &statement.account_id,
        statement.month,
        statement.first,
        statement.last
    ];
    if conn.maybe::<i64>(BESIDE, values).await?.is_some() {
        return Ok(false);
    }
    if let Some(logo) = logo {
        let sql = "INSERT INTO statement_logo (hash, media_type, content) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING";
        let values = args![&logo.hash, &logo.media_type, &logo.content];
        conn.run(sql, values).await?;
    }
    let values = args![
        &statement.account_id,
        statement.month,
        statement.first,
        statement.last,
        statement.opening.thousandths(),
        statement.credited.thousandths(),
        statement.adjusted.thousandths(),
        statement.charged.thousandths(),
        statement.closing.thousandths(),
        &statement.record,
        &statement.csv,
        &statement.hash,
        statement.made_ms
    ];
    conn.run(INSERT, values).await?;
    Ok(true)
}

/// One beside it that does not fit.
const BESIDE: &str = "SELECT month FROM statement WHERE account_id = $1 \
     AND ((month = $2 - 1 AND last_number <> $3) OR (month = $2 + 1 AND first_number <> $4))";

const INSERT: &str = "INSERT INTO statement (account_id, month, first_number, last_number, opening, credited, adjusted, charged, closing, \
     record, csv, hash, made_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (account_id, month) DO NOTHING";
