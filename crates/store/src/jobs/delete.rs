//! Removing the words and files of finished jobs, of one or of a whole account. The ledger keeps its rows, and what jobs
//! were, when and what they cost stays with them.

use crate::accounts::Accounts;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args, json};
use crate::jobs::Jobs;
use crate::subscriptions;
use crate::topups;
use crate::{Error, Result};

/// What is left of a job without its words.
const WORDLESS: &str = "UPDATE job SET deleted_ms = $1, request = $3, request_bytes = 0, message = NULL, alias = NULL, hook_url = NULL, \
     parent_id = NULL, tags = NULL, end_user = NULL, output = CASE WHEN state = 2 THEN $4 END \
     WHERE state >= 2 AND deleted_ms IS NULL AND account_id = $2";
/// Its request and its output.
const NOTHING: [&str; 2] = ["{}", "{\"made\":0}"];

/// Whoever writes a try down at another node is waited for, and finds nothing afterwards: its line would refer to what is gone.
const LOCKED: &str = "SELECT id FROM delivery WHERE";
const TRIES: &str = "DELETE FROM delivery_log WHERE delivery_id IN (SELECT id FROM delivery WHERE";
const DELIVERIES: &str = "DELETE FROM delivery WHERE";

impl Jobs<'_> {
    /// Removes the words of a finished job of an account and has its files expire; whether there was one.
    pub async fn delete(
        self,
        account_id: &str,
        id: &str,
        files: &[String],
        now_ms: i64,
    ) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned(), json(files), now_ms);
        self.0
            .change_alone(input, |conn, (account_id, id, files, now_ms)| {
                Box::pin(async move {
                    // Accounts are locked before their jobs, as everywhere.
                    let sql = "SELECT id FROM account WHERE id = $1 {lock}";
                    conn.maybe::<String>(sql, args![&*account_id]).await?;
                    let sql = "SELECT COALESCE(request_bytes, 0) FROM job \
                     WHERE id = $1 AND account_id = $2 AND state >= 2 AND deleted_ms IS NULL";
                    let words: Option<i64> = conn.maybe(sql, args![&*id, &*account_id]).await?;
                    let Some(words) = words else {
                        return Ok(false);
                    };
                    let sql = format!("{WORDLESS} AND id = $5");
                    let [request, output] = NOTHING;
                    let values = args![*now_ms, &*account_id, request, output, &*id];
                    let deleted = conn.run(&sql, values).await?;
                    if deleted == 0 {
                        return Ok(false);
                    }
                    if words > 0 {
                        let sql = "UPDATE account SET words = words - $2 WHERE id = $1";
                        conn.run(sql, args![&*account_id, words]).await?;
                    }
                    let sql = format!("{LOCKED} job_id = $1 {{lock}}");
                    let _: Vec<String> = conn.all(&sql, args![&*id]).await?;
                    let sql = format!("{TRIES} job_id = $1)");
                    conn.run(&sql, args![&*id]).await?;
                    let sql = format!("{DELIVERIES} job_id = $1");
                    conn.run(&sql, args![&*id]).await?;
                    let sql = "UPDATE asset SET expires_ms = 0 \
                     WHERE key IN ({list:$1}) AND account_id = $2 AND expires_ms > 0";
                    conn.run(sql, args![&*files, &*account_id]).await?;
                    Ok(true)
                })
            })
            .await
    }
}

impl Accounts<'_> {
    /// Removes everything of an account that has no unfinished job, but its ledger; whether there was one. Its keys are
    /// revoked and its name is gone for good.
    pub async fn delete(self, id: &str, now_ms: i64, act: Option<AuditRow>) -> Result<bool> {
        let input = (id.to_owned(), now_ms);
        let gone = |done: &bool| *done;
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (id, now_ms)| Box::pin(remove(conn, id, *now_ms)),
            gone,
        )
        .await
    }
}

async fn remove(conn: &mut Conn, id: &str, now_ms: i64) -> Result<bool> {
    let sql = "SELECT id FROM account WHERE id = $1 {lock}";
    if conn.maybe::<String>(sql, args![id]).await?.is_none() {
        return Ok(false);
    }
    let sql = "SELECT id FROM job WHERE account_id = $1 AND state < 2 LIMIT 1";
    if conn.maybe::<String>(sql, args![id]).await?.is_some() {
        let why = "the account has unfinished jobs; cancel them or wait for them first";
        return Err(Error::Conflict(why.into()));
    }
    let [request, output] = NOTHING;
    conn.run(WORDLESS, args![now_ms, id, request, output])
        .await?;
    let sql = format!("{LOCKED} account_id = $1 ORDER BY id {{lock}}");
    let _: Vec<String> = conn.all(&sql, args![id]).await?;
    let sql = format!("{TRIES} account_id = $1)");
    conn.run(&sql, args![id]).await?;
    let sql = format!("{DELIVERIES} account_id = $1");
    conn.run(&sql, args![id]).await?;
    for sql in [
        "DELETE FROM idempotency WHERE account_id = $1",
        "DELETE FROM bulk WHERE account_id = $1",
        "DELETE FROM refused WHERE account_id = $1",
        "DELETE FROM key_window WHERE account_id = $1",
        "DELETE FROM account_plan WHERE account_id = $1",
        "UPDATE credit SET stays = 0, alone = 0 WHERE account_id = $1 AND stays = 1",
        "UPDATE payment_event SET raw = '' WHERE payment_id IN (SELECT payment.id FROM payment WHERE payment.account_id = $1)",
        "UPDATE payment SET pay_at = NULL WHERE account_id = $1",
        "DELETE FROM account_act WHERE account_id = $1",
        // The row itself stays, or the next import would bring the account back.
        "UPDATE imported SET name = '' WHERE target = $1",
        "DELETE FROM worker WHERE owner = $1",
        "DELETE FROM backend WHERE owner = $1",
        "UPDATE asset SET expires_ms = 0 WHERE account_id = $1 AND expires_ms > 0",
        "UPDATE account SET email = 'deleted-' || id, email_key = 'deleted-' || id, email_verified_ms = NULL, \
         words = 0, disabled = TRUE, counting_keys = 0, group_key = NULL, notes = NULL WHERE id = $1",
    ] {
        conn.run(sql, args![id]).await?;
    }
    subscriptions::cancel_at_once(conn, id).await?;
    topups::forget(conn, id).await?;
    let sql = "UPDATE api_key SET revoked_ms = $2, name = '', note = NULL WHERE account_id = $1 AND revoked_ms IS NULL";
    conn.run(sql, args![id, now_ms]).await?;
    Ok(true)
}
