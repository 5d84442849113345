//! Sessions of the console: only the hash of a session's word is stored, beside the hashes of what it was opened with.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// SHA-256 of its word, in hexadecimal.
    pub hash: String,
    /// The hash of the key it stands for.
    pub key_hash: Option<String>,
    /// The hash of the operator's token it stands for.
    pub operator_hash: Option<String>,
    /// The hash of an operator's token that it stands for nothing without.
    pub bound_hash: Option<String>,
    /// Whether it only opens another one, once.
    pub link: bool,
    /// When it was opened.
    pub created_ms: i64,
    /// When it was last used, to the minute.
    pub seen_ms: i64,
    /// The person who signed in, where one did.
    pub person: Option<PersonSession>,
}

/// What is known of a person's session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonSession {
    pub person_id: String,
    /// What it was opened with; it ends with that.
    pub means: String,
    /// The browser, by its own word.
    pub agent: String,
    /// The network that it was opened from.
    pub network: String,
}

/// Which sessions are over: those from then or before, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct OverdueSessions {
    /// Links, by when they were made.
    pub links: i64,
    /// Those of people, by when they were opened.
    pub people: i64,
    /// Others, by when they were opened.
    pub opened: i64,
    /// All but links, by when they were last used.
    pub seen: i64,
}

/// Sessions that one key or one operator's token has at most.
pub const SESSIONS_MOST: i64 = 20;

/// The oldest that end when there are more; those that a program without the limit left go bit by bit.
const ENDED_AT_ONCE: i64 = 100;

const COLUMNS: &str = "hash, key_hash, operator_hash, bound_hash, link, created_ms, seen_ms, person_id, means, agent, network";

impl FromRow for Option<PersonSession> {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let person_id = columns.maybe_text()?;
        let mut text = || Ok::<_, sqlx::Error>(columns.maybe_text()?.unwrap_or_default());
        let (means, agent, network) = (text()?, text()?, text()?);
        Ok(person_id.map(|person_id| PersonSession {
            person_id,
            means,
            agent,
            network,
        }))
    }
}

impl FromRow for SessionRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            hash: columns.text()?,
            key_hash: columns.maybe_text()?,
            operator_hash: columns.maybe_text()?,
            bound_hash: columns.maybe_text()?,
            link: columns.int()? != 0,
            created_ms: columns.int()?,
            seen_ms: columns.int()?,
            person: FromRow::read(columns)?,
        })
    }
}

/// Sessions of the console.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a>(pub(crate) &'a StoreCore);

impl Sessions<'_> {
    /// Opens a session, together with the act of whoever did it; the one it replaces ends in the same commit, and so do the
    /// oldest of a key or an operator that has too many. False when the one to be replaced is not there any more.
    pub async fn open(
        self,
        new: SessionRow,
        replaces: Option<&str>,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        let input = (new, replaces.map(str::to_owned));
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (new, replaces)| Box::pin(open(conn, new, replaces.as_deref())),
            |opened| *opened,
        )
        .await
    }

    /// A session by the hash of its word.
    pub async fn find(self, hash: &str) -> Result<Option<SessionRow>> {
        let sql = format!("SELECT {COLUMNS} FROM console_session WHERE hash = $1");
        self.0.db.maybe(&sql, args![hash]).await
    }

    /// Notes that a session was used.
    pub async fn touch(self, hash: &str, now_ms: i64) -> Result<()> {
        self.0
            .change((hash.to_owned(), now_ms), |conn, (hash, now_ms)| {
                Box::pin(async move {
                    let sql =
                        "UPDATE console_session SET seen_ms = $2 WHERE hash = $1 AND seen_ms < $2";
                    conn.run(sql, args![hash, *now_ms]).await.map(|_| ())
                })
            })
            .await
    }

    /// Ends all that are over; how many.
    pub async fn end_overdue(self, overdue: OverdueSessions) -> Result<u64> {
        self.0
            .change(overdue, |conn, overdue| {
                Box::pin(async move {
                    let args = args![
                        overdue.links,
                        overdue.opened,
                        overdue.seen,
                        overdue.people
                    ];
                    let sql = "DELETE FROM console_session WHERE (link = 1 AND created_ms <= $1) OR (link = 0 AND (seen_ms <= $3 \
                         OR created_ms <= CASE WHEN person_id IS NULL THEN $2 ELSE $4 END))";
                    conn.run(sql, args).await
                })
            })
            .await
    }

    /// The sessions of a person, the latest first.
    pub async fn of_person(self, person_id: &str) -> Result<Vec<SessionRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM console_session WHERE person_id = $1 AND link = 0 ORDER BY created_ms DESC, hash LIMIT {SESSIONS_MOST}"
        );
        self.0.db.all(&sql, args![person_id]).await
    }

    /// Ends the sessions that stand for a member; how many.
    pub async fn close_member(self, account_id: &str, member_id: &str) -> Result<u64> {
        let input = (account_id.to_owned(), member_id.to_owned());
        self.0
            .change(input, |conn, (account_id, member_id)| {
                Box::pin(async move {
                    let sql = "DELETE FROM console_session WHERE key_hash = \
                         (SELECT hash FROM api_key WHERE account_id = $1 AND id = $2 AND member_id = $2)";
                    conn.run(sql, args![account_id, member_id]).await
                })
            })
            .await
    }

    /// Ends a session, or with it all that stand for the same key, operator or person; how many.
    pub async fn close(self, hash: &str, everywhere: bool) -> Result<u64> {
        let sql = if everywhere {
            "DELETE FROM console_session WHERE hash = $1 \
             OR key_hash = (SELECT key_hash FROM console_session WHERE hash = $1) \
             OR operator_hash = (SELECT operator_hash FROM console_session WHERE hash = $1) \
             OR person_id = (SELECT person_id FROM console_session WHERE hash = $1)"
        } else {
            "DELETE FROM console_session WHERE hash = $1"
        };
        self.0
            .change((hash.to_owned(), sql), |conn, (hash, sql)| {
                Box::pin(async move { conn.run(sql, args![hash]).await })
            })
            .await
    }
}

async fn open(conn: &mut Conn, new: &SessionRow, replaces: Option<&str>) -> Result<bool> {
    if let Some(replaces) = replaces {
        let sql = "DELETE FROM console_session WHERE hash = $1";
        if conn.run(sql, args![replaces]).await? == 0 {
            return Ok(false);
        }
    }
    let sql = "INSERT INTO console_session (hash, key_hash, operator_hash, bound_hash, link, created_ms, seen_ms, \
         person_id, means, agent, network) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let person = new.person.as_ref();
    let person_id = person.map(|person| person.person_id.clone());
    let args = args![
        &new.hash,
        new.key_hash.as_deref(),
        new.operator_hash.as_deref(),
        new.bound_hash.as_deref(),
        i64::from(new.link),
        new.created_ms,
        new.seen_ms,
        person_id.as_deref(),
        person.map(|person| &*person.means),
        person.map(|person| &*person.agent),
        person.map(|person| &*person.network),
    ];
    conn.run(sql, args).await?;
    let owners = [
        ("key_hash", &new.key_hash),
        ("operator_hash", &new.operator_hash),
        ("person_id", &person_id),
    ];
    for (column, owner) in owners {
        let Some(owner) = owner else { continue };
        // Links count apart: who is sent one shall not be signed out by it.
        let sql = format!(
            "DELETE FROM console_session WHERE hash IN (SELECT hash FROM console_session \
             WHERE {column} = $1 AND link = $2 AND hash <> $3 ORDER BY created_ms DESC, hash LIMIT $4 OFFSET $5)"
        );
        let values = args![
            owner,
            i64::from(new.link),
            &new.hash,
            ENDED_AT_ONCE,
            SESSIONS_MOST - 1
        ];
        conn.run(&sql, values).await?;
    }
    Ok(true)
}
