//! Somebody opens an account: the account, its owner and what a new account is given are one commit.

use crate::accounts::{self, NewAccount};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::ledger::{self, Credit, CreditOutcome};
use crate::members::{self, AddMemberOutcome, Member, NewMember};
use crate::people::People;
use crate::{Error, Result};

/// Somebody who opens an account.
#[derive(Clone, Debug)]
pub struct SignUp {
    pub account: NewAccount,
    /// Its owner.
    pub owner: NewMember,
    /// What it is given, unless the address was given it before.
    pub welcome: Option<Welcome>,
}

/// What a new account is given.
#[derive(Clone, Debug)]
pub struct Welcome {
    /// A digest of the address, without what makes one address look like many.
    pub address_hash: String,
    pub credit: Credit,
}

/// What became of a [`SignUp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignUpOutcome {
    Done {
        owner: Member,
        /// Whether it was given what new accounts are given.
        welcomed: bool,
    },
    /// There is an account with this address, which is somebody else's.
    Taken,
    /// There is no such person.
    NoPerson,
}

impl People<'_> {
    /// Opens an account for a person, with an act in the list of the account.
    pub async fn sign_up(self, sign_up: SignUp, act: Option<AuditRow>) -> Result<SignUpOutcome> {
        audited_change::run(
            self.0,
            sign_up,
            act,
            |conn, sign_up| Box::pin(open(conn, sign_up)),
            |outcome| matches!(outcome, SignUpOutcome::Done { .. }),
        )
        .await
    }
}

async fn open(conn: &mut Conn, sign_up: &SignUp) -> Result<SignUpOutcome> {
    let SignUp {
        account,
        owner,
        welcome,
    } = sign_up;
    // Asked before anything is written: what is refused leaves nothing.
    let person = "SELECT id FROM person WHERE id = $1 AND deleted_ms IS NULL {lock}";
    let person: Option<String> = conn.maybe(person, args![&owner.person_id]).await?;
    if person.is_none() {
        return Ok(SignUpOutcome::NoPerson);
    }
    if accounts::create(conn, account, None).await?.is_none() {
        return Ok(SignUpOutcome::Taken);
    }
    let owner = match members::add(conn, owner).await? {
        AddMemberOutcome::Done(member) | AddMemberOutcome::Already(member) => member,
        // There are people already, so that nobody's program speaks against it; if one does, nothing is kept of all this.
        refused => {
            return Err(Error::Conflict(format!("the owner: {refused:?}")));
        }
    };
    let welcomed = match welcome {
        Some(welcome) => grant(conn, welcome).await?,
        None => false,
    };
    Ok(SignUpOutcome::Done { owner, welcomed })
}

/// Gives a new account what it is given, unless its address was before; whether it was given now.
async fn grant(conn: &mut Conn, welcome: &Welcome) -> Result<bool> {
    let Welcome {
        address_hash,
        credit,
    } = welcome;
    let sql = "INSERT INTO welcome (address_hash, account_id, ledger_id, amount, granted_ms) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (address_hash) DO NOTHING";
    let values = args![
        address_hash,
        &credit.account_id,
        &credit.id,
        credit.amount.thousandths(),
        credit.now_ms
    ];
    if conn.run(sql, values).await? == 0 {
        return Ok(false);
    }
    let posted = ledger::post(conn, credit).await?;
    Ok(matches!(posted, CreditOutcome::Done(_)))
}
