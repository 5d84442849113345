//! How many prompts of an account were refused in a family on a day: one number for all nodes. A day that is over does not begin
//! again when a clock is set back over midnight: the one that had begun goes on, with its number. A number from further ahead is
//! of a clock that was wrong by days, and nobody waits for those.

use crate::Result;
use crate::accounts::Accounts;
use crate::db::args;

impl Accounts<'_> {
    /// How many prompts of an account were refused in a family on a day.
    pub async fn refused_prompts(self, account_id: &str, family: &str, day: i64) -> Result<i64> {
        let sql = "SELECT prompts FROM refused WHERE account_id = $1 AND family = $2 \
             AND day BETWEEN $3 AND $3 + 1";
        let reader = self.0.db.of(Some(account_id));
        let found: Option<i64> = reader.maybe(sql, args![account_id, family, day]).await?;
        Ok(found.unwrap_or(0))
    }

    /// Counts a prompt that was refused on a day. Earlier days are forgotten.
    pub async fn count_refused_prompt(
        self,
        account_id: &str,
        family: &str,
        day: i64,
    ) -> Result<()> {
        let input = (account_id.to_owned(), family.to_owned(), day);
        self.0.change(input, |conn, (account_id, family, day)| {
            Box::pin(async move {
                let sql = "INSERT INTO refused (account_id, family, day, prompts) VALUES ($1, $2, $3, 1) \
                     ON CONFLICT (account_id, family) DO UPDATE SET \
                     day = CASE WHEN refused.day = excluded.day + 1 THEN refused.day ELSE excluded.day END, \
                     prompts = CASE WHEN refused.day BETWEEN excluded.day AND excluded.day + 1 \
                       THEN refused.prompts + 1 ELSE 1 END";
                conn.run(sql, args![&*account_id, &*family, *day]).await.map(|_| ())
            })
        })
        .await
    }
}
