//! How many prompts of an account were refused in a family on a day: one number for all nodes.

use crate::db::args;
use crate::{Result, Store};

impl Store {
    /// How many prompts of an account were refused in a family on a day.
    pub async fn refused_prompts(&self, account_id: &str, family: &str, day: i64) -> Result<i64> {
        let sql = "SELECT prompts FROM refused WHERE account_id = $1 AND family = $2 AND day = $3";
        let found: Option<i64> = self.db().maybe(sql, args![account_id, family, day]).await?;
        Ok(found.unwrap_or(0))
    }

    /// Counts a prompt that was refused on a day. Earlier days are forgotten.
    pub async fn count_refused(&self, account_id: &str, family: &str, day: i64) -> Result<()> {
        let input = (account_id.to_owned(), family.to_owned(), day);
        self.change(input, |conn, (account_id, family, day)| {
            Box::pin(async move {
                let sql = "INSERT INTO refused (account_id, family, day, prompts) VALUES ($1, $2, $3, 1) \
                     ON CONFLICT (account_id, family) DO UPDATE SET day = excluded.day, \
                     prompts = CASE WHEN refused.day = excluded.day THEN refused.prompts + 1 ELSE 1 END";
                conn.run(sql, args![&*account_id, &*family, *day]).await.map(|_| ())
            })
        })
        .await
    }
}
