//! People: somebody with an e-mail address. A row outlives its person, so that what members did stays somebody's; deleting one takes
//! away everything that says who it was.

use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::first_use;
use crate::jobs::filter::containing;
use crate::members::removal::{self, MemberEnd};
use crate::migrate::PEOPLE;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;
use crate::{Error, Result};

/// Somebody with an e-mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: String,
    /// None of one who was deleted.
    pub email: Option<String>,
    /// What others call them; may be empty.
    pub name: String,
    /// The language in which they are written to.
    pub language: String,
    /// When it was proved that the address is theirs.
    pub verified_ms: Option<i64>,
    pub created_ms: i64,
    /// When they signed in last.
    pub seen_ms: Option<i64>,
    pub deleted_ms: Option<i64>,
}

/// Somebody to be stored.
#[derive(Clone, Debug)]
pub struct NewPerson {
    pub id: String,
    pub email: String,
    /// The same in the spelling in which addresses are compared.
    pub email_key: String,
    pub name: String,
    pub language: String,
    pub verified_ms: Option<i64>,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`NewPerson`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonOutcome {
    /// Made now, or there already with this address, which is verified if it was to be.
    Done(Person),
    /// There is no person yet, and a node is at work whose program knows of none.
    OlderNode(String),
}

/// Who a person is at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityRow {
    pub issuer: String,
    /// What the provider knows them by; nobody else is ever given it.
    pub subject: String,
    pub id: String,
    pub person_id: String,
    /// The name of the provider here.
    pub provider: String,
    pub created_ms: i64,
    pub used_ms: Option<i64>,
}

/// A person to be deleted.
#[derive(Clone, Debug)]
pub struct PersonRemoval {
    pub person_id: String,
    /// Whether accounts of which nobody else is a member may be left without an owner.
    pub leaves_accounts: bool,
    pub now_ms: i64,
}

/// What became of a [`PersonRemoval`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonRemovalOutcome {
    /// Done; the hashes of keys that work no more, with their accounts.
    Done(Vec<(String, String)>),
    /// Nobody else is an owner of these accounts; nothing changed.
    LastOwner(Vec<String>),
    NoPerson,
}

pub(crate) const PERSON_COLUMNS: &str = "person.id, person.email, person.name, person.language, person.verified_ms, person.created_ms, \
     person.seen_ms, person.deleted_ms";

impl FromRow for Person {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            email: columns.maybe_text()?,
            name: columns.text()?,
            language: columns.text()?,
            verified_ms: columns.maybe_int()?,
            created_ms: columns.int()?,
            seen_ms: columns.maybe_int()?,
            deleted_ms: columns.maybe_int()?,
        })
    }
}

/// People.
#[derive(Clone, Copy, Debug)]
pub struct People<'a>(pub(crate) &'a StoreCore);

impl People<'_> {
    /// Makes a person, or finds the one who has the address.
    pub async fn ensure(self, new: NewPerson) -> Result<PersonOutcome> {
        self.0
            .change_alone(new, |conn, new| Box::pin(ensure(conn, new)))
            .await
    }

    /// A person, also one who was deleted.
    pub async fn find(self, id: &str) -> Result<Option<Person>> {
        let sql = format!("SELECT {PERSON_COLUMNS} FROM person WHERE id = $1");
        self.0.db.maybe(&sql, args![id]).await
    }

    /// The person who has an address, in the spelling in which addresses are compared.
    pub async fn by_email(self, email_key: &str) -> Result<Option<Person>> {
        let sql = format!("SELECT {PERSON_COLUMNS} FROM person WHERE email_key = $1");
        self.0.db.maybe(&sql, args![email_key]).await
    }

    /// The person whom a provider knows by a subject.
    pub async fn by_identity(self, issuer: &str, subject: &str) -> Result<Option<Person>> {
        let sql = format!(
            "SELECT {PERSON_COLUMNS} FROM person_identity JOIN person ON person.id = person_identity.person_id \
             WHERE person_identity.issuer = $1 AND person_identity.subject = $2"
        );
        self.0.db.maybe(&sql, args![issuer, subject]).await
    }

    /// Notes by which subject a provider knows a person; whether nobody was known by it.
    pub async fn link_identity(self, new: IdentityRow) -> Result<bool> {
        self.0
            .change(new, |conn, new| {
                Box::pin(async move {
                    let sql = "INSERT INTO person_identity (issuer, subject, id, person_id, provider, created_ms, used_ms) \
                         SELECT $1, $2, $3, person.id, $5, CAST($6 AS BIGINT), CAST($7 AS BIGINT) FROM person \
                         WHERE person.id = $4 AND person.deleted_ms IS NULL ON CONFLICT DO NOTHING";
                    let values = args![
                        &new.issuer,
                        &new.subject,
                        &new.id,
                        &new.person_id,
                        &new.provider,
                        new.created_ms,
                        new.used_ms
                    ];
                    Ok(conn.run(sql, values).await? > 0)
                })
            })
            .await
    }

    /// A page of the people with a text in their address or name, the latest first, and how many there are.
    pub async fn list(self, text: &str, offset: i64, limit: i64) -> Result<(Vec<Person>, i64)> {
        let pattern = containing(&text.to_lowercase());
        let which = "deleted_ms IS NULL AND (email_key LIKE $1 ESCAPE '\\' OR LOWER(name) LIKE $1 ESCAPE '\\' OR id = $2)";
        let page = format!(
            "SELECT {PERSON_COLUMNS} FROM person WHERE {which} ORDER BY created_ms DESC, id DESC LIMIT $3 OFFSET $4"
        );
        let values = args![&pattern, text, limit, offset];
        let rows = self.0.db.all(&page, values).await?;
        let count = format!("SELECT COUNT(*) FROM person WHERE {which}");
        Ok((rows, self.0.db.one(&count, args![&pattern, text]).await?))
    }

    /// Changes what a person is called and in which language they are written to; whether there is one.
    pub async fn rename(self, id: &str, name: &str, language: &str) -> Result<bool> {
        let input = [id, name, language].map(str::to_owned);
        self.0
            .change(input, |conn, [id, name, language]| {
                Box::pin(async move {
                    let sql = "UPDATE person SET name = $2, language = $3 WHERE id = $1 AND deleted_ms IS NULL";
                    Ok(conn.run(sql, args![id, name, language]).await? > 0)
                })
            })
            .await
    }

    /// Notes that a person signed in.
    pub async fn saw(self, id: &str, now_ms: i64) -> Result<()> {
        self.0
            .change((id.to_owned(), now_ms), |conn, (id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE person SET seen_ms = $2 WHERE id = $1 AND deleted_ms IS NULL";
                    conn.run(sql, args![id, *now_ms]).await.map(|_| ())
                })
            })
            .await
    }

    /// Deletes a person together with the act of whoever does it: memberships, sessions, ways to sign in, address and name. What its
    /// keys did stays with the accounts.
    pub async fn delete(
        self,
        removal: PersonRemoval,
        act: Option<AuditRow>,
    ) -> Result<PersonRemovalOutcome> {
        audited_change::run(
            self.0,
            removal,
            act,
            |conn, removal| Box::pin(delete(conn, removal)),
            |outcome| matches!(outcome, PersonRemovalOutcome::Done(_)),
        )
        .await
    }
}

/// The person who has an address; made if there is none.
pub(crate) async fn ensure(conn: &mut Conn, new: &NewPerson) -> Result<PersonOutcome> {
    if let Some(node) = first_use::begin(conn, PEOPLE, new.alive_since_ms).await? {
        return Ok(PersonOutcome::OlderNode(node));
    }
    let sql = "INSERT INTO person (id, email, email_key, name, language, verified_ms, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (email_key) DO UPDATE SET verified_ms = COALESCE(person.verified_ms, excluded.verified_ms)";
    let values = args![
        &new.id,
        &new.email,
        &new.email_key,
        &new.name,
        &new.language,
        new.verified_ms,
        new.now_ms
    ];
    conn.run(sql, values).await?;
    let sql = format!("SELECT {PERSON_COLUMNS} FROM person WHERE email_key = $1");
    let found: Option<Person> = conn.maybe(&sql, args![&new.email_key]).await?;
    found.map(PersonOutcome::Done).ok_or(Error::NotFound)
}

async fn delete(conn: &mut Conn, removal: &PersonRemoval) -> Result<PersonRemovalOutcome> {
    let PersonRemoval {
        person_id, now_ms, ..
    } = removal;
    // Accounts before whoever is in them, in the order of their identifiers, as everywhere.
    let lock = "SELECT id FROM account WHERE id IN (SELECT account_id FROM member WHERE person_id = $1 AND removed_ms IS NULL) \
         ORDER BY id {lock}";
    conn.all::<String>(lock, args![person_id]).await?;
    let person = "SELECT id FROM person WHERE id = $1 AND deleted_ms IS NULL {lock}";
    if conn
        .maybe::<String>(person, args![person_id])
        .await?
        .is_none()
    {
        return Ok(PersonRemovalOutcome::NoPerson);
    }
    let of = "SELECT account_id, id FROM member WHERE person_id = $1 AND removed_ms IS NULL ORDER BY account_id";
    let members: Vec<(String, String)> = conn.all(of, args![person_id]).await?;
    let mut kept = Vec::new();
    for (account_id, member_id) in &members {
        if removal::is_last_owner(conn, account_id, member_id).await?
            && !(removal.leaves_accounts && removal::is_alone(conn, account_id, member_id).await?)
        {
            kept.push(account_id.clone());
        }
    }
    if !kept.is_empty() {
        return Ok(PersonRemovalOutcome::LastOwner(kept));
    }
    let mut ended = Vec::new();
    for (account_id, member_id) in members {
        let end = MemberEnd {
            account_id: &account_id,
            member_id: &member_id,
            now_ms: *now_ms,
        };
        let hashes = removal::end(conn, end).await?;
        ended.extend(hashes.into_iter().map(|hash| (account_id.clone(), hash)));
    }
    for sql in [
        "DELETE FROM invitation WHERE email_key = (SELECT email_key FROM person WHERE id = $1)",
        "DELETE FROM sign_in WHERE person_id = $1 OR LOWER(email) = (SELECT email_key FROM person WHERE id = $1)",
        "DELETE FROM person_identity WHERE person_id = $1",
        "DELETE FROM console_session WHERE person_id = $1",
    ] {
        conn.run(sql, args![person_id]).await?;
    }
    for sql in [
        "UPDATE operator_token SET revoked_ms = $2 WHERE person_id = $1 AND revoked_ms IS NULL",
        "UPDATE person SET email = NULL, email_key = NULL, name = '', verified_ms = NULL, seen_ms = NULL, deleted_ms = $2 WHERE id = $1",
    ] {
        conn.run(sql, args![person_id, *now_ms]).await?;
    }
    Ok(PersonRemovalOutcome::Done(ended))
}
