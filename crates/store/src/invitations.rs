//! Invitations: somebody with an address is asked to become a member of an account, or to open one. Nobody becomes anything without
//! accepting.

use atelier_contract::pages::people::MemberRole;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::first_use;
use crate::members::{self, AddMemberOutcome, Member, NewMember};
use crate::migrate::PEOPLE;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// Who is asked to join, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub id: String,
    /// The account; none of one that lets an account be opened.
    pub account_id: Option<String>,
    pub email: String,
    pub role: MemberRole,
    /// The member, key or operator that invited.
    pub invited_by: String,
    pub created_ms: i64,
    pub expires_ms: i64,
}

/// An invitation with the e-mail address of its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingInvitation {
    pub invitation: Invitation,
    pub account: Option<String>,
}

/// An invitation to be stored.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub invitation: Invitation,
    /// The address in the spelling in which addresses are compared.
    pub email_key: String,
    /// SHA-256 of the word in the e-mail, in hexadecimal.
    pub hash: String,
    /// The most invitations that the account may have.
    pub most: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`NewInvitation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InviteOutcome {
    /// Done; an earlier one to the same address is void.
    Done,
    /// Whoever has the address is a member already.
    Already,
    /// The account has as many invitations, or members, as it may have.
    TooMany,
    /// There is no member yet, and a node is at work whose program knows of none.
    OlderNode(String),
    NoAccount,
}

/// Somebody who accepts an invitation.
#[derive(Clone, Debug)]
pub struct Acceptee {
    pub invitation_id: String,
    /// The address that is proved to be theirs, in the spelling in which addresses are compared.
    pub email_key: String,
    /// What they become; account and role are the invitation's.
    pub member: NewMember,
}

/// What became of an invitation to be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptInvitationOutcome {
    /// Done; or the person was a member already, as such.
    Done(Member),
    /// It is not there any more, is over, or is another address's.
    NoInvitation,
    /// The account has as many members as it may have.
    TooMany,
    /// There is no member yet, and a node is at work whose program knows of none.
    OlderNode(String),
}

const INVITATION_COLUMNS: &str = "invitation.id, invitation.account_id, invitation.email, invitation.role, invitation.invited_by, \
     invitation.created_ms, invitation.expires_ms";

/// The longest list of invitations.
const LISTED_MOST: i64 = 1_000;

impl FromRow for Invitation {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.maybe_text()?,
            email: columns.text()?,
            role: MemberRole::from_word(&columns.text()?).unwrap_or(MemberRole::Viewer),
            invited_by: columns.text()?,
            created_ms: columns.int()?,
            expires_ms: columns.int()?,
        })
    }
}

impl FromRow for PendingInvitation {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            invitation: Invitation::read(columns)?,
            account: columns.maybe_text()?,
        })
    }
}

/// Invitations.
#[derive(Clone, Copy, Debug)]
pub struct Invitations<'a>(pub(crate) &'a StoreCore);

impl Invitations<'_> {
    /// Stores an invitation with the act of whoever invites.
    pub async fn add(self, new: NewInvitation, act: Option<AuditRow>) -> Result<InviteOutcome> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(add(conn, new)),
            |outcome| *outcome == InviteOutcome::Done,
        )
        .await
    }

    /// The invitations into an account that are not over, the latest first; `None` for those that let an account be opened.
    pub async fn list(self, account_id: Option<&str>, now_ms: i64) -> Result<Vec<Invitation>> {
        let which = "(account_id = $1 OR ($1 IS NULL AND account_id IS NULL)) AND expires_ms > $2";
        let sql = format!(
            "SELECT {INVITATION_COLUMNS} FROM invitation WHERE {which} ORDER BY created_ms DESC, id DESC LIMIT {LISTED_MOST}"
        );
        self.0.db.all(&sql, args![account_id, now_ms]).await
    }

    /// The invitations of an address that are not over.
    pub async fn to(self, email_key: &str, now_ms: i64) -> Result<Vec<PendingInvitation>> {
        let sql = format!(
            "{} WHERE invitation.email_key = $1 AND invitation.expires_ms > $2 \
             ORDER BY invitation.created_ms DESC, invitation.id LIMIT {LISTED_MOST}",
            pending()
        );
        self.0.db.all(&sql, args![email_key, now_ms]).await
    }

    /// The invitation whose e-mail had a word, by its hash; none when it is over.
    pub async fn of_word(self, hash: &str, now_ms: i64) -> Result<Option<PendingInvitation>> {
        let sql = format!(
            "{} WHERE invitation.hash = $1 AND invitation.expires_ms > $2",
            pending()
        );
        self.0.db.maybe(&sql, args![hash, now_ms]).await
    }

    /// Takes an invitation back, with the act of whoever does; of an account, or of those that let one be opened. Whether there was
    /// one.
    pub async fn withdraw(
        self,
        account_id: Option<&str>,
        id: &str,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        let input = (account_id.map(str::to_owned), id.to_owned());
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (account_id, id)| {
                Box::pin(async move {
                    let sql = "DELETE FROM invitation WHERE id = $2 \
                         AND (account_id = $1 OR ($1 IS NULL AND account_id IS NULL))";
                    Ok(conn.run(sql, args![account_id.as_deref(), id]).await? > 0)
                })
            },
            |gone| *gone,
        )
        .await
    }

    /// Declines an invitation of an address; whether there was one.
    pub async fn decline(self, email_key: &str, id: &str) -> Result<bool> {
        let input = (email_key.to_owned(), id.to_owned());
        self.0
            .change(input, |conn, (email_key, id)| {
                Box::pin(async move {
                    let sql = "DELETE FROM invitation WHERE id = $1 AND email_key = $2";
                    Ok(conn.run(sql, args![id, email_key]).await? > 0)
                })
            })
            .await
    }

    /// Makes whoever accepts an invitation a member, with an act in the list of the account.
    pub async fn accept(
        self,
        acceptee: Acceptee,
        act: Option<AuditRow>,
    ) -> Result<AcceptInvitationOutcome> {
        audited_change::run(
            self.0,
            acceptee,
            act,
            |conn, acceptee| Box::pin(accept(conn, acceptee)),
            |outcome| matches!(outcome, AcceptInvitationOutcome::Done(_)),
        )
        .await
    }
}

fn pending() -> String {
    format!(
        "SELECT {INVITATION_COLUMNS}, account.email FROM invitation LEFT JOIN account ON account.id = invitation.account_id"
    )
}

async fn add(conn: &mut Conn, new: &NewInvitation) -> Result<InviteOutcome> {
    let Invitation {
        id,
        account_id,
        email,
        role,
        invited_by,
        created_ms,
        expires_ms,
    } = &new.invitation;
    let account_id = account_id.as_deref();
    if account_id.is_some() {
        let lock = "SELECT id FROM account WHERE id = $1 AND disabled = FALSE {lock}";
        if conn
            .maybe::<String>(lock, args![account_id])
            .await?
            .is_none()
        {
            return Ok(InviteOutcome::NoAccount);
        }
        let already = "SELECT member.id FROM member JOIN person ON person.id = member.person_id \
             WHERE member.account_id = $1 AND member.removed_ms IS NULL AND person.email_key = $2";
        let already: Option<String> = conn
            .maybe(already, args![account_id, &new.email_key])
            .await?;
        if already.is_some() {
            return Ok(InviteOutcome::Already);
        }
    }
    let same = "(account_id = $1 OR ($1 IS NULL AND account_id IS NULL))";
    let count = format!(
        "SELECT COUNT(*) FROM invitation WHERE {same} AND email_key <> $2 AND expires_ms > $3"
    );
    let values = args![account_id, &new.email_key, *created_ms];
    let count: Option<i64> = conn.maybe(&count, values).await?;
    if count.unwrap_or_default() >= new.most {
        return Ok(InviteOutcome::TooMany);
    }
    if let Some(node) = first_use::begin(conn, PEOPLE, new.alive_since_ms).await? {
        return Ok(InviteOutcome::OlderNode(node));
    }
    let sql =
        format!("DELETE FROM invitation WHERE {same} AND (email_key = $2 OR expires_ms <= $3)");
    conn.run(&sql, values).await?;
    let sql = "INSERT INTO invitation (id, hash, account_id, email, email_key, role, invited_by, created_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = args![
        id,
        &new.hash,
        account_id,
        email,
        &new.email_key,
        role.word(),
        invited_by,
        *created_ms,
        *expires_ms
    ];
    conn.run(sql, values).await?;
    Ok(InviteOutcome::Done)
}

async fn accept(conn: &mut Conn, acceptee: &Acceptee) -> Result<AcceptInvitationOutcome> {
    // The account first, as everywhere.
    let account_id = &*acceptee.member.account_id;
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![account_id]).await?;
    let sql = "SELECT role FROM invitation WHERE id = $1 AND account_id = $2 AND email_key = $3 AND expires_ms > $4 {lock}";
    let values = args![
        &acceptee.invitation_id,
        account_id,
        &acceptee.email_key,
        acceptee.member.now_ms
    ];
    let role: Option<String> = conn.maybe(sql, values).await?;
    let Some(role) = role.and_then(|word| MemberRole::from_word(&word)) else {
        return Ok(AcceptInvitationOutcome::NoInvitation);
    };
    let new = NewMember {
        role,
        ..acceptee.member.clone()
    };
    // What is refused leaves the invitation where it is.
    Ok(match members::add(conn, &new).await? {
        AddMemberOutcome::Done(member) | AddMemberOutcome::Already(member) => {
            let sql = "DELETE FROM invitation WHERE id = $1";
            conn.run(sql, args![&acceptee.invitation_id]).await?;
            AcceptInvitationOutcome::Done(member)
        }
        AddMemberOutcome::TooMany => AcceptInvitationOutcome::TooMany,
        AddMemberOutcome::OlderNode(node) => AcceptInvitationOutcome::OlderNode(node),
        AddMemberOutcome::NoAccount => AcceptInvitationOutcome::NoInvitation,
    })
}
