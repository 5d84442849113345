//! Named operators: only the hash of a token is stored. A change is written together with its line in the audit list.

use atelier_contract::pages::operators::OperatorRole;

use crate::audit::{Admin, AuditRow};
use crate::audited_change;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::{Error, Result};

/// An operator as others may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRow {
    pub id: String,
    /// Its name, never used twice.
    pub name: String,
    /// What it may do.
    pub role: OperatorRole,
    /// The first characters of its token, for display.
    pub prefix: String,
    /// When it was made.
    pub created_ms: i64,
    /// When its token was last used, to the minute.
    pub last_used_ms: Option<i64>,
    /// When it was revoked.
    pub revoked_ms: Option<i64>,
    /// The person who it is; nobody knows its token then.
    pub person_id: Option<String>,
}

/// An operator to be stored.
#[derive(Clone, Debug)]
pub struct NewOperator {
    pub id: String,
    pub name: String,
    /// What it may do.
    pub role: OperatorRole,
    /// SHA-256 of its token, in hexadecimal.
    pub hash: String,
    /// The first characters of its token.
    pub prefix: String,
    /// The person who it is.
    pub person_id: Option<String>,
    pub now_ms: i64,
}

const COLUMNS: &str = "id, name, role, prefix, created_ms, last_used_ms, revoked_ms, person_id";

impl FromRow for OperatorRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            name: columns.text()?,
            // A role that nobody knows may only look.
            role: OperatorRole::from_word(&columns.text()?).unwrap_or(OperatorRole::Viewer),
            prefix: columns.text()?,
            created_ms: columns.int()?,
            last_used_ms: columns.maybe_int()?,
            revoked_ms: columns.maybe_int()?,
            person_id: columns.maybe_text()?,
        })
    }
}

impl Admin<'_> {
    /// Makes an operator; a conflict when the name is or was taken.
    pub async fn add_operator(self, new: NewOperator, act: AuditRow) -> Result<()> {
        let added = audited_change::run(
            self.0,
            new,
            Some(act),
            |conn, new| Box::pin(add(conn, new)),
            |added| *added,
        )
        .await?;
        added
            .then_some(())
            .ok_or_else(|| Error::Conflict("there is or was an operator with this name".into()))
    }

    /// Every operator that was ever made, oldest first.
    pub async fn operators(self) -> Result<Vec<OperatorRow>> {
        let sql = format!("SELECT {COLUMNS} FROM operator_token ORDER BY created_ms, id");
        self.0.db.all(&sql, &[]).await
    }

    /// Who a token belongs to, unless it is revoked.
    pub async fn operator_for_token(self, hash: &str) -> Result<Option<OperatorRow>> {
        let sql =
            format!("SELECT {COLUMNS} FROM operator_token WHERE hash = $1 AND revoked_ms IS NULL");
        self.0.db.maybe(&sql, args![hash]).await
    }

    /// The hash of the token of the operator who a person is, unless it is revoked.
    pub async fn operator_of_person(self, person_id: &str) -> Result<Option<String>> {
        let sql = "SELECT hash FROM operator_token WHERE person_id = $1 AND revoked_ms IS NULL ORDER BY created_ms DESC, id LIMIT 1";
        self.0.db.maybe(sql, args![person_id]).await
    }

    /// Revokes an operator; whether it was there and not revoked.
    pub async fn revoke_operator(self, id: &str, now_ms: i64, act: AuditRow) -> Result<bool> {
        audited_change::run(
            self.0,
            (id.to_owned(), now_ms),
            Some(act),
            |conn, (id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE operator_token SET revoked_ms = $2 \
                         WHERE id = $1 AND revoked_ms IS NULL";
                    Ok(conn.run(sql, args![id, *now_ms]).await? == 1)
                })
            },
            |revoked| *revoked,
        )
        .await
    }

    /// Notes that an operator's token was used.
    pub async fn touch_operator(self, id: &str, now_ms: i64) -> Result<()> {
        self.0
            .change((id.to_owned(), now_ms), |conn, (id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE operator_token SET last_used_ms = $2 WHERE id = $1";
                    conn.run(sql, args![id, *now_ms]).await.map(|_| ())
                })
            })
            .await
    }
}

async fn add(conn: &mut Conn, new: &NewOperator) -> Result<bool> {
    let sql = "INSERT INTO operator_token (id, name, role, hash, prefix, created_ms, person_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let args = args![
        &new.id,
        &new.name,
        new.role.word(),
        &new.hash,
        &new.prefix,
        new.now_ms,
        new.person_id.as_deref()
    ];
    if conn.run(sql, args).await? == 0 {
        return Ok(false);
    }
    // A person is one operator at a time.
    let sql = "UPDATE operator_token SET revoked_ms = $3 WHERE person_id = $1 AND id <> $2 AND revoked_ms IS NULL";
    let args = args![new.person_id.as_deref(), &new.id, new.now_ms];
    conn.run(sql, args).await?;
    Ok(true)
}
