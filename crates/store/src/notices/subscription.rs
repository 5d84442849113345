//! Whom notices are told to, as it is kept.

use atelier_contract::Quota;

use crate::row::{Columns, FromRow};

/// Whom notices are told to, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeSubscription {
    pub id: String,
    /// Whose notices; the operators' where it is empty.
    pub account_id: String,
    /// The member who subscribed, where that is known.
    pub member_id: Option<String>,
    /// Only notices of this kind.
    pub kind: Option<String>,
    pub channel: String,
    /// Where, without what is secret.
    pub shown: String,
    /// Deliveries of an account to one host wait together.
    pub host: String,
    /// Hours in which nothing is sent.
    pub quiet: Option<String>,
    pub language: String,
    /// The balance below which it is told that the balance is low.
    pub below: Option<Quota>,
    /// How many jobs have to fail in a row.
    pub jobs: i64,
    pub created_ms: i64,
}

impl FromRow for NoticeSubscription {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            member_id: columns.maybe_text()?,
            kind: columns.maybe_text()?,
            channel: columns.text()?,
            shown: columns.text()?,
            host: columns.text()?,
            quiet: columns.maybe_text()?,
            language: columns.text()?,
            below: columns.maybe_int()?.map(Quota::from_thousandths),
            jobs: columns.int()?,
            created_ms: columns.int()?,
        })
    }
}
