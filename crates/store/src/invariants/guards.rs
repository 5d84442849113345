//! The schema's own guards: indexes that keep things single and triggers that keep them as they are. Without them the
//! rows may still be right, but only by luck.

use crate::Result;
use crate::dialect::Dialect;
use crate::readers::Db;

/// The name under which a missing guard is reported.
pub(super) const NAME: &str = "schema.guard";
/// What is wrong without one.
pub(super) const WHAT: &str = "index or trigger that guards the rows is missing or not in force";
/// The name under which damage of the file is reported.
pub(super) const FILE: &str = "schema.file";
/// What is wrong then.
pub(super) const FILE_WHAT: &str = "database file is damaged";

const GUARDS: &[&str] = &[
    "ledger_once",
    "ledger_hold",
    "ledger_resolved",
    "ledger_credit",
    "ledger_kept",
    "ledger_stays",
    "attempt_live",
    "job_final",
    "job_counted",
    "job_used",
    "job_uncounted",
    "job_totalled",
    "tally_lowered",
    "job_words_removed",
    "bulk_words_removed",
    "model_kept",
    "model_stays",
    "price_group_kept",
    "price_group_stays",
    "credit_kept",
    "credit_stays",
    "voucher_batch_kept",
    "voucher_batch_stays",
    "voucher_once",
    "plan_kept",
    "plan_stays",
    "plan_period_kept",
    "plan_period_stays",
    "product_kept",
    "product_stays",
    "payment_kept",
    "payment_once",
    "payment_gives_once",
    "payment_stays",
    "payment_event_kept",
    "payment_event_stays",
    "refund_kept",
    "refund_stays",
    "receipt_kept",
    "receipt_stays",
    "receipt_key_kept",
    "receipt_key_stays",
    "voucher_stays",
    "statement_kept",
    "statement_stays",
    "statement_page_kept",
    "statement_page_stays",
    "statement_logo_kept",
    "statement_logo_stays",
    "notice_delivery_once",
    "audit_by_number",
];

const IN_SQLITE: &str = "SELECT name FROM sqlite_schema WHERE type IN ('index', 'trigger')";
const IN_POSTGRES: &str = "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE i.indisvalid AND n.nspname = current_schema() \
     UNION ALL SELECT t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE t.tgenabled <> 'D' AND n.nspname = current_schema()";

/// The guards that are not in force.
pub(super) async fn missing(db: &Db) -> Result<Vec<String>> {
    let sql = match db.dialect() {
        Dialect::Sqlite => IN_SQLITE,
        Dialect::Postgres => IN_POSTGRES,
    };
    let found: Vec<String> = db.all(sql, &[]).await?;
    let guards = GUARDS.iter().map(|name| (*name).to_owned());
    Ok(guards.filter(|name| !found.contains(name)).collect())
}

/// What SQLite itself finds wrong with its file, in its words. It reads the whole file, so it is asked only while no
/// service works on it; PostgreSQL has tools of its own for this.
pub(super) async fn damage(db: &Db) -> Result<Vec<String>> {
    judged(db, "PRAGMA integrity_check(20)").await
}

/// The same of its pages alone, without a look at what indexes say of rows.
pub(super) async fn damaged_pages(db: &Db) -> Result<Vec<String>> {
    judged(db, "PRAGMA quick_check(20)").await
}

async fn judged(db: &Db, sql: &str) -> Result<Vec<String>> {
    if db.dialect() == Dialect::Postgres {
        return Ok(Vec::new());
    }
    let mut words: Vec<String> = db.without_limit().all(sql, &[]).await?;
    words.retain(|word| word != "ok");
    Ok(words)
}
