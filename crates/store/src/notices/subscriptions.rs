//! Whom notices are told to, and where.

use atelier_contract::Quota;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{args, json};
use crate::notices::Notices;
use crate::notices::subscription::NoticeSubscription;

const COLUMNS: &str = "id, account_id, member_id, kind, channel, shown, host, quiet, language, below, jobs, created_ms";

/// A subscription that is to be made.
#[derive(Clone, Debug)]
pub struct NewNoticeSubscription {
    pub subscription: NoticeSubscription,
    /// The setting in which its address is kept, and that address, sealed.
    pub address: (String, String),
    /// How many its owner may have.
    pub most: i64,
}

impl Notices<'_> {
    /// The subscriptions of an account, or the operators' where none is named, oldest first.
    pub async fn subscriptions(self, account_id: &str) -> Result<Vec<NoticeSubscription>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM notice_subscription WHERE account_id = $1 ORDER BY created_ms, id"
        );
        let own = Some(account_id).filter(|id| !id.is_empty());
        self.0.db.of(own).all(&sql, args![account_id]).await
    }

    /// The subscriptions of some accounts.
    pub async fn subscriptions_of(self, accounts: &[&str]) -> Result<Vec<NoticeSubscription>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM notice_subscription WHERE account_id IN ({{list:$1}}) ORDER BY created_ms, id"
        );
        self.0.db.all(&sql, args![&json(accounts)]).await
    }

    /// Some subscriptions by their identifiers.
    pub async fn subscriptions_by_id(self, ids: &[&str]) -> Result<Vec<NoticeSubscription>> {
        let sql = format!("SELECT {COLUMNS} FROM notice_subscription WHERE id IN ({{list:$1}})");
        self.0.db.all(&sql, args![&json(ids)]).await
    }

    /// Adds a subscription; false when its owner has as many as it may.
    pub async fn subscribe(
        self,
        new: NewNoticeSubscription,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| {
                Box::pin(async move {
                    let one = &new.subscription;
                    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
                    conn.maybe::<String>(lock, args![&one.account_id]).await?;
                    let count = "SELECT COUNT(*) FROM notice_subscription WHERE account_id = $1";
                    let count: Option<i64> = conn.maybe(count, args![&one.account_id]).await?;
                    if count.unwrap_or(0) >= new.most {
                        return Ok(false);
                    }
                    let sql = format!(
                        "INSERT INTO notice_subscription ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
                    );
                    let values = args![
                        &one.id,
                        &one.account_id,
                        one.member_id.as_deref(),
                        one.kind.as_deref(),
                        &one.channel,
                        &one.shown,
                        &one.host,
                        one.quiet.as_deref(),
                        &one.language,
                        one.below.map(Quota::thousandths),
                        one.jobs,
                        one.created_ms
                    ];
                    conn.run(&sql, values).await?;
                    let sql = "INSERT INTO setting (name, value) VALUES ($1, $2)";
                    conn.run(sql, args![&new.address.0, &new.address.1]).await?;
                    Ok(true)
                })
            },
            |added| *added,
        )
        .await
    }

    /// Ends a subscription, and with it what is owed to it and its address; whether it was there.
    pub async fn unsubscribe(
        self,
        account_id: &str,
        id: &str,
        setting: &str,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        audited_change::run(
            self.0,
            (account_id.to_owned(), id.to_owned(), setting.to_owned()),
            act,
            |conn, (account_id, id, setting)| {
                Box::pin(async move {
                    let sql = "DELETE FROM notice_subscription WHERE account_id = $1 AND id = $2";
                    if conn.run(sql, args![account_id, id]).await? == 0 {
                        return Ok(false);
                    }
                    let sql = "UPDATE notice_delivery SET state = 'stopped' WHERE subscription_id = $1 AND state = 'due'";
                    conn.run(sql, args![id]).await?;
                    let sql = "DELETE FROM setting WHERE name = $1";
                    conn.run(sql, args![setting]).await?;
                    Ok(true)
                })
            },
            |gone| *gone,
        )
        .await
    }
}
