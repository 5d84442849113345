//! Sign-ins that were begun and are to be finished: each by the browser that began it, and once.

use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A sign-in that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInRow {
    /// SHA-256 of the word that finishes it, in hexadecimal.
    pub hash: String,
    /// How somebody signs in.
    pub kind: String,
    /// SHA-256 of the word of the browser that began it, in hexadecimal.
    pub browser_hash: String,
    /// The person who began it, of one who is signed in already.
    pub person_id: Option<String>,
    /// The address that it is for.
    pub email: Option<String>,
    pub language: String,
    /// What is needed to finish it, sealed.
    pub state: Option<String>,
    /// Codes that were typed so far.
    pub tries: i64,
    pub created_ms: i64,
}

const COLUMNS: &str =
    "hash, kind, browser_hash, person_id, email, language, state, tries, created_ms";

/// Sign-ins that one browser has begun and not finished, at most; the oldest give way.
const BEGUN_MOST: i64 = 10;

impl FromRow for SignInRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            hash: columns.text()?,
            kind: columns.text()?,
            browser_hash: columns.text()?,
            person_id: columns.maybe_text()?,
            email: columns.maybe_text()?,
            language: columns.text()?,
            state: columns.maybe_text()?,
            tries: columns.int()?,
            created_ms: columns.int()?,
        })
    }
}

/// Sign-ins that were begun.
#[derive(Clone, Copy, Debug)]
pub struct SignIns<'a>(pub(crate) &'a StoreCore);

impl SignIns<'_> {
    /// Begins a sign-in.
    pub async fn begin(self, new: SignInRow) -> Result<()> {
        self.0
            .change(new, |conn, new| Box::pin(begin(conn, new)))
            .await
    }

    /// A sign-in that was begun after a moment, by the hash of its word.
    pub async fn find(self, hash: &str, since_ms: i64) -> Result<Option<SignInRow>> {
        let sql = format!("SELECT {COLUMNS} FROM sign_in WHERE hash = $1 AND created_ms > $2");
        self.0.db.maybe(&sql, args![hash, since_ms]).await
    }

    /// Finishes a sign-in that a browser has begun after a moment; nobody finishes it again.
    pub async fn take(
        self,
        hash: &str,
        browser_hash: &str,
        since_ms: i64,
    ) -> Result<Option<SignInRow>> {
        let input = (hash.to_owned(), browser_hash.to_owned(), since_ms);
        self.0
            .change(input, |conn, (hash, browser_hash, since_ms)| {
                Box::pin(async move {
                    let sql = format!(
                        "DELETE FROM sign_in WHERE hash = $1 AND browser_hash = $2 AND created_ms > $3 RETURNING {COLUMNS}"
                    );
                    let values = args![hash, browser_hash, *since_ms];
                    let taken: Vec<SignInRow> = conn.all(&sql, values).await?;
                    Ok(taken.into_iter().next())
                })
            })
            .await
    }

    /// Counts a code that was typed with all sign-ins of a kind that a browser has begun after a moment, and returns them. It is counted
    /// before anybody compares it, so that codes that are typed at once are no more tries than others.
    pub async fn try_code(
        self,
        browser_hash: &str,
        kind: &str,
        since_ms: i64,
    ) -> Result<Vec<SignInRow>> {
        let input = (browser_hash.to_owned(), kind.to_owned(), since_ms);
        self.0
            .change(input, |conn, (browser_hash, kind, since_ms)| {
                Box::pin(async move {
                    let sql = format!(
                        "UPDATE sign_in SET tries = tries + 1 WHERE browser_hash = $1 AND kind = $2 AND created_ms > $3 \
                         RETURNING {COLUMNS}"
                    );
                    conn.all(&sql, args![browser_hash, kind, *since_ms]).await
                })
            })
            .await
    }
}

async fn begin(conn: &mut Conn, new: &SignInRow) -> Result<()> {
    let sql = "INSERT INTO sign_in (hash, kind, browser_hash, person_id, email, language, state, tries, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = args![
        &new.hash,
        &new.kind,
        &new.browser_hash,
        new.person_id.as_deref(),
        new.email.as_deref(),
        &new.language,
        new.state.as_deref(),
        new.tries,
        new.created_ms
    ];
    conn.run(sql, values).await?;
    let sql = "DELETE FROM sign_in WHERE hash IN (SELECT hash FROM sign_in WHERE browser_hash = $1 AND hash <> $2 \
         ORDER BY created_ms DESC, hash LIMIT 100 OFFSET $3)";
    let values = args![&new.browser_hash, &new.hash, BEGUN_MOST - 1];
    conn.run(sql, values).await.map(|_| ())
}
