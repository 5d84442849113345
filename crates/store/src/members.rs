//! Members: people who are part of an account. A member is the head of a line of keys, so that what it may do, what it may spend and
//! when it ends is what holds for keys: the sessions of the person stand for the head, and its keys are below that.

pub(crate) mod removal;

use atelier_contract::pages::people::MemberRole;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::keys::change::{self, KeyChange, KeyChangeOutcome};
use crate::keys::{self, KEY_COLUMNS, Key, KeyTerms, NewKey};
use crate::members::removal::MemberEnd;
use crate::migrate::PEOPLE;
use crate::people::{PERSON_COLUMNS, Person};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A person who is part of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Also the identifier of the key at the head of its keys.
    pub id: String,
    pub account_id: String,
    pub person_id: String,
    pub role: MemberRole,
    /// How it came to be one: `invitation`, `sign_up`, or `oidc:` and the name of a provider.
    pub origin: String,
    pub created_ms: i64,
    pub removed_ms: Option<i64>,
}

/// A member with who it is, and the key at the head of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberProfile {
    pub member: Member,
    pub person: Person,
    pub head: Key,
}

/// An account that a person is a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub member: Member,
    /// The account's e-mail address.
    pub account: String,
    /// The hash of the head of the member's keys, which sessions stand for.
    pub head_hash: String,
}

/// A member to be stored.
#[derive(Clone, Debug)]
pub struct NewMember {
    pub id: String,
    pub account_id: String,
    pub person_id: String,
    pub role: MemberRole,
    pub origin: String,
    /// The hash of a secret that nobody knows.
    pub hash: String,
    /// The most members that the account may have, this one included.
    pub most: i64,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`NewMember`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddMemberOutcome {
    Done(Member),
    /// The person is one already; as such.
    Already(Member),
    /// The account has as many as it may have.
    TooMany,
    /// There is no member yet, and a node is at work whose program knows of none.
    OlderNode(String),
    /// There is no such account, or no such person.
    NoAccount,
}

/// What a member becomes.
#[derive(Clone, Debug)]
pub struct MemberChange {
    /// As whoever changes it saw it.
    pub seen: MemberProfile,
    pub role: MemberRole,
    pub terms: KeyTerms,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`MemberChange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberChangeOutcome {
    Done,
    /// It was changed since it was seen; nothing changed.
    Crossed,
    /// Nobody else is an owner; nothing changed.
    LastOwner,
    /// No key has terms yet, and a node is at work whose program does not keep to them.
    OlderNode(String),
    NoMember,
}

/// What became of a member to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoveMemberOutcome {
    /// Done; the hashes of the keys that work no more.
    Done(Vec<String>),
    /// Nobody else is an owner; nothing changed.
    LastOwner,
    NoMember,
}

const MEMBER_COLUMNS: &str = "member.id, member.account_id, member.person_id, member.role, member.origin, member.created_ms, \
     member.removed_ms";

/// The longest list of members; an account has fewer.
const LISTED_MOST: i64 = 10_000;

impl FromRow for Member {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            person_id: columns.text()?,
            // A role that nobody knows may only look.
            role: MemberRole::from_word(&columns.text()?).unwrap_or(MemberRole::Viewer),
            origin: columns.text()?,
            created_ms: columns.int()?,
            removed_ms: columns.maybe_int()?,
        })
    }
}

impl FromRow for MemberProfile {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            member: Member::read(columns)?,
            person: Person::read(columns)?,
            head: Key::read(columns)?,
        })
    }
}

impl FromRow for Membership {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            member: Member::read(columns)?,
            account: columns.text()?,
            head_hash: columns.text()?,
        })
    }
}

/// Members of accounts.
#[derive(Clone, Copy, Debug)]
pub struct Members<'a>(pub(crate) &'a StoreCore);

impl Members<'_> {
    /// Makes a person a member of an account, together with the act of whoever does it.
    pub async fn add(self, new: NewMember, act: Option<AuditRow>) -> Result<AddMemberOutcome> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(add(conn, new)),
            |outcome| matches!(outcome, AddMemberOutcome::Done(_)),
        )
        .await
    }

    /// The members of an account, the first one first.
    pub async fn list(self, account_id: &str) -> Result<Vec<MemberProfile>> {
        let sql = format!(
            "{} ORDER BY member.created_ms, member.id LIMIT {LISTED_MOST}",
            profiles()
        );
        let reader = self.0.db.of(Some(account_id));
        reader.all(&sql, args![account_id]).await
    }

    /// One member of an account.
    pub async fn find(self, account_id: &str, id: &str) -> Result<Option<MemberProfile>> {
        let sql = format!("{} AND member.id = $2", profiles());
        let reader = self.0.db.of(Some(account_id));
        reader.maybe(&sql, args![account_id, id]).await
    }

    /// The accounts that a person is a member of, the first one first; those that are disabled are left out.
    pub async fn of_person(self, person_id: &str) -> Result<Vec<Membership>> {
        let sql = format!(
            "SELECT {MEMBER_COLUMNS}, account.email, api_key.hash FROM member JOIN account ON account.id = member.account_id \
             JOIN api_key ON api_key.id = member.id \
             WHERE member.person_id = $1 AND member.removed_ms IS NULL AND account.disabled = FALSE \
             ORDER BY member.created_ms, member.id LIMIT {LISTED_MOST}"
        );
        self.0.db.all(&sql, args![person_id]).await
    }

    /// What some members of an account are called, of removed ones as well: their name, or else their address.
    pub async fn names(self, account_id: &str, ids: &[&str]) -> Result<Vec<(String, String)>> {
        let sql = "SELECT member.id, COALESCE(NULLIF(person.name, ''), person.email, '') FROM member \
             JOIN person ON person.id = member.person_id WHERE member.account_id = $1 AND member.id IN ({list:$2})";
        let reader = self.0.db.of(Some(account_id));
        reader.all(sql, args![account_id, &json(ids)]).await
    }

    /// Changes what a member may do and spend, together with the act of whoever does it.
    pub async fn change(
        self,
        change: MemberChange,
        act: Option<AuditRow>,
    ) -> Result<MemberChangeOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(apply(conn, change)),
            |outcome| *outcome == MemberChangeOutcome::Done,
        )
        .await
    }

    /// Removes a member with its keys and sessions, together with the act of whoever does it. What its jobs hold stays held until they
    /// end.
    pub async fn remove(
        self,
        account_id: &str,
        id: &str,
        now_ms: i64,
        act: Option<AuditRow>,
    ) -> Result<RemoveMemberOutcome> {
        let input = (account_id.to_owned(), id.to_owned(), now_ms);
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (account_id, id, now_ms)| {
                let end = MemberEnd {
                    account_id,
                    member_id: id,
                    now_ms: *now_ms,
                };
                Box::pin(remove(conn, end))
            },
            |outcome| matches!(outcome, RemoveMemberOutcome::Done(_)),
        )
        .await
    }
}

/// The members of an account who are not removed, with who they are.
fn profiles() -> String {
    format!(
        "SELECT {MEMBER_COLUMNS}, {PERSON_COLUMNS}, {KEY_COLUMNS} FROM member \
         JOIN person ON person.id = member.person_id JOIN api_key ON api_key.id = member.id \
         WHERE member.account_id = $1 AND member.removed_ms IS NULL"
    )
}

/// Makes a person a member of an account.
pub(crate) async fn add(conn: &mut Conn, new: &NewMember) -> Result<AddMemberOutcome> {
    let account_id = &*new.account_id;
    let lock = "SELECT id FROM account WHERE id = $1 AND disabled = FALSE {lock}";
    let account: Option<String> = conn.maybe(lock, args![account_id]).await?;
    let person = "SELECT id FROM person WHERE id = $1 AND deleted_ms IS NULL {lock}";
    let person: Option<String> = conn.maybe(person, args![&new.person_id]).await?;
    if account.is_none() || person.is_none() {
        return Ok(AddMemberOutcome::NoAccount);
    }
    let already = format!(
        "SELECT {MEMBER_COLUMNS} FROM member WHERE account_id = $1 AND person_id = $2 AND removed_ms IS NULL"
    );
    let already: Option<Member> = conn
        .maybe(&already, args![account_id, &new.person_id])
        .await?;
    if let Some(member) = already {
        return Ok(AddMemberOutcome::Already(member));
    }
    let count = "SELECT COUNT(*) FROM member WHERE account_id = $1 AND removed_ms IS NULL";
    let count: Option<i64> = conn.maybe(count, args![account_id]).await?;
    if count.unwrap_or_default() >= new.most {
        return Ok(AddMemberOutcome::TooMany);
    }
    if let Some(node) = first_use::begin(conn, PEOPLE, new.alive_since_ms).await? {
        return Ok(AddMemberOutcome::OlderNode(node));
    }
    let member = Member {
        id: new.id.clone(),
        account_id: new.account_id.clone(),
        person_id: new.person_id.clone(),
        role: new.role,
        origin: new.origin.clone(),
        created_ms: new.now_ms,
        removed_ms: None,
    };
    let sql = "INSERT INTO member (id, account_id, person_id, role, origin, created_ms) VALUES ($1, $2, $3, $4, $5, $6)";
    let values = args![
        &member.id,
        &member.account_id,
        &member.person_id,
        member.role.word(),
        &member.origin,
        member.created_ms
    ];
    conn.run(sql, values).await?;
    let head = NewKey {
        id: new.id.clone(),
        account_id: new.account_id.clone(),
        hash: new.hash.clone(),
        prefix: String::new(),
        name: String::new(),
        scopes: new.role.scopes().to_string(),
        now_ms: new.now_ms,
        expires_ms: None,
        most: 0,
        above: None,
        terms: KeyTerms::default(),
        note: None,
        member_id: Some(new.id.clone()),
        alive_since_ms: new.alive_since_ms,
    };
    keys::insert(conn, &head, None).await?;
    Ok(AddMemberOutcome::Done(member))
}

async fn apply(conn: &mut Conn, change: &MemberChange) -> Result<MemberChangeOutcome> {
    let MemberProfile { member, head, .. } = &change.seen;
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![&member.account_id])
        .await?;
    let now = format!("SELECT {MEMBER_COLUMNS} FROM member WHERE id = $1 AND removed_ms IS NULL");
    let now: Option<Member> = conn.maybe(&now, args![&member.id]).await?;
    match now {
        None => return Ok(MemberChangeOutcome::NoMember),
        Some(now) if now != *member => return Ok(MemberChangeOutcome::Crossed),
        Some(_) => {}
    }
    if change.role != MemberRole::Owner
        && removal::is_last_owner(conn, &member.account_id, &member.id).await?
    {
        return Ok(MemberChangeOutcome::LastOwner);
    }
    let head_change = KeyChange {
        seen: head.clone(),
        wanted: Key {
            scopes: change.role.scopes().to_string(),
            terms: change.terms.clone(),
            ..head.clone()
        },
        now_ms: change.now_ms,
        alive_since_ms: change.alive_since_ms,
    };
    match change::apply(conn, &head_change).await? {
        KeyChangeOutcome::Done(_) => {}
        KeyChangeOutcome::Crossed => return Ok(MemberChangeOutcome::Crossed),
        KeyChangeOutcome::NoKey => return Ok(MemberChangeOutcome::NoMember),
        KeyChangeOutcome::OlderNode(node) => return Ok(MemberChangeOutcome::OlderNode(node)),
    }
    let sql = "UPDATE member SET role = $2 WHERE id = $1";
    conn.run(sql, args![&member.id, change.role.word()]).await?;
    Ok(MemberChangeOutcome::Done)
}

async fn remove(conn: &mut Conn, end: MemberEnd<'_>) -> Result<RemoveMemberOutcome> {
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![end.account_id]).await?;
    let there = "SELECT id FROM member WHERE account_id = $1 AND id = $2 AND removed_ms IS NULL";
    let there: Option<String> = conn
        .maybe(there, args![end.account_id, end.member_id])
        .await?;
    if there.is_none() {
        return Ok(RemoveMemberOutcome::NoMember);
    }
    if removal::is_last_owner(conn, end.account_id, end.member_id).await? {
        return Ok(RemoveMemberOutcome::LastOwner);
    }
    let hashes = removal::end(conn, end).await?;
    Ok(RemoveMemberOutcome::Done(hashes))
}
