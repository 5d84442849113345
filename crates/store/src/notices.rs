//! Notices: what accounts and operators are told, whom it is told to, and what is owed to their addresses.

pub(crate) mod found;
pub(crate) mod subscription;
pub(crate) mod subscriptions;

use crate::Result;
use crate::batch::notices::{NewNotice, insert};
use crate::batch::tries;
use crate::changes::delivery::{self, ChosenDeliveries, DeliveryResult};
use crate::db::{Arg, Line, args, json};
use crate::deliveries::claim::{self, Claim};
use crate::deliveries::texts::NOTICES;
use crate::notices::subscription::NoticeSubscription;
use crate::period::Period;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: String,
    /// Whom it concerns; the operators where it is empty.
    pub account_id: String,
    pub kind: String,
    pub subject: String,
    pub since_ms: i64,
    /// What its text is made of, as a JSON object of texts.
    pub facts: String,
    pub created_ms: i64,
}

impl FromRow for Notice {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            kind: columns.text()?,
            subject: columns.text()?,
            since_ms: columns.int()?,
            facts: columns.text()?,
            created_ms: columns.int()?,
        })
    }
}

const COLUMNS: &str = "id, account_id, kind, subject, since_ms, facts, created_ms";

/// What is owed of a notice to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeDelivery {
    pub id: String,
    pub notice_id: String,
    pub subscription_id: String,
    pub account_id: String,
    pub channel: String,
    /// Where it goes, without what is secret.
    pub shown: String,
    /// Those of an account to one host wait together.
    pub host: String,
    /// due, sending, delivered, exhausted or stopped.
    pub state: String,
    /// Tries made or being made.
    pub attempts: i64,
    /// Tries known to have failed.
    pub failures: i64,
    /// When the next try is due; while sending, when the try counts as lost.
    pub next_ms: i64,
    pub last_status: Option<i64>,
    pub last_error: Option<String>,
    pub created_ms: i64,
    pub delivered_ms: Option<i64>,
}

impl FromRow for NoticeDelivery {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            notice_id: columns.text()?,
            subscription_id: columns.text()?,
            account_id: columns.text()?,
            channel: columns.text()?,
            shown: columns.text()?,
            host: columns.text()?,
            state: columns.text()?,
            attempts: columns.int()?,
            failures: columns.int()?,
            next_ms: columns.int()?,
            last_status: columns.maybe_int()?,
            last_error: columns.maybe_text()?,
            created_ms: columns.int()?,
            delivered_ms: columns.maybe_int()?,
        })
    }
}

const DELIVERY_COLUMNS: &str = "id, notice_id, subscription_id, account_id, channel, shown, host, state, attempts, failures, next_ms, \
     last_status, last_error, created_ms, delivered_ms";

/// What a notice owes one who subscribed to it.
#[derive(Clone, Debug)]
pub struct NewNoticeDelivery {
    pub notice_id: String,
    pub subscription: NoticeSubscription,
    /// When it may be sent.
    pub next_ms: i64,
}

impl Line for NewNoticeDelivery {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        let subscription = &self.subscription;
        out.extend_from_slice(args![
            &self.notice_id,
            &subscription.id,
            &subscription.account_id,
            &subscription.channel,
            &subscription.shown,
            &subscription.host,
            self.next_ms,
        ]);
    }
}

/// Which notices to list.
#[derive(Clone, Copy, Debug)]
pub struct NoticeFilter<'a> {
    /// Whose; the operators' where it is empty.
    pub account_id: &'a str,
    pub kind: Option<&'a str>,
    pub period: Period,
}

/// Notices, whom they are told to, and what is owed to their addresses.
#[derive(Clone, Copy, Debug)]
pub struct Notices<'a>(pub(crate) &'a StoreCore);

impl Notices<'_> {
    /// Notes what is to be told of; how many of it are new.
    pub async fn note(self, notices: Vec<NewNotice>) -> Result<u64> {
        self.0
            .change(notices, |conn, notices| Box::pin(insert(conn, notices)))
            .await
    }

    /// A page of notices, newest first, and how many there are.
    pub async fn list(
        self,
        filter: NoticeFilter<'_>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Notice>, i64)> {
        let which = "account_id = $1 AND ($2 IS NULL OR kind = $2) AND created_ms >= $3 AND created_ms < $4";
        let own = Some(filter.account_id).filter(|id| !id.is_empty());
        let reader = self.0.db.of(own);
        let (first, end) = (filter.period.first_ms(), filter.period.end_ms());
        let page = format!(
            "SELECT {COLUMNS} FROM notice WHERE {which} ORDER BY created_ms DESC, id DESC LIMIT $5 OFFSET $6"
        );
        let values = args![filter.account_id, filter.kind, first, end, limit, offset];
        let rows = reader.all(&page, values).await?;
        let count = format!("SELECT COUNT(*) FROM notice WHERE {which}");
        let values = args![filter.account_id, filter.kind, first, end];
        Ok((rows, reader.one(&count, values).await?))
    }

    /// Some notices by their names.
    pub async fn find_many(self, ids: &[String]) -> Result<Vec<Notice>> {
        let sql = format!("SELECT {COLUMNS} FROM notice WHERE id IN ({{list:$1}})");
        self.0.db.all(&sql, args![&json(ids)]).await
    }

    /// What some notices owe, in the order in which it came to be owed.
    pub async fn deliveries_of(self, ids: &[String]) -> Result<Vec<NoticeDelivery>> {
        let sql = format!(
            "SELECT {DELIVERY_COLUMNS} FROM notice_delivery WHERE notice_id IN ({{list:$1}}) ORDER BY created_ms, id"
        );
        self.0.db.all(&sql, args![&json(ids)]).await
    }

    /// Notices that nobody has been told of yet, oldest first.
    pub async fn fresh(self, limit: i64) -> Result<Vec<Notice>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM notice WHERE spread_ms IS NULL ORDER BY created_ms, id LIMIT $1"
        );
        self.0.db.all(&sql, args![limit]).await
    }

    /// Writes down what notices owe to those who subscribed to them; they are spread once, whoever does it.
    pub async fn spread(
        self,
        notices: Vec<String>,
        owed: Vec<NewNoticeDelivery>,
        now_ms: i64,
    ) -> Result<()> {
        self.0
            .change((notices, owed, now_ms), |conn, (notices, owed, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE notice SET spread_ms = $2 WHERE id IN (SELECT id FROM notice WHERE id IN ({list:$1}) \
                         AND spread_ms IS NULL ORDER BY id {lock free}) RETURNING id";
                    let fresh: Vec<String> = conn.all(sql, args![&json(notices), *now_ms]).await?;
                    let mine = owed.iter().filter(|one| fresh.contains(&one.notice_id));
                    let mine: Vec<NewNoticeDelivery> = mine.cloned().collect();
                    if !mine.is_empty() {
                        conn.run_lines(OWE, &mine).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Takes deliveries whose time has come, as callbacks are taken.
    pub async fn claim(
        self,
        claim: &Claim,
        now_ms: impl FnOnce() -> i64 + Send,
    ) -> Result<Vec<NoticeDelivery>> {
        let ids = claim::choose(&self.0.db, &NOTICES, claim).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let write_slot = self.0.write_slot().await?;
        let now_ms = now_ms();
        let chosen = ChosenDeliveries {
            ids,
            now_ms,
            lease_until_ms: now_ms + claim.for_ms,
        };
        self.0
            .change_in(write_slot, chosen, |conn, chosen| {
                Box::pin(delivery::take(conn, &NOTICES, chosen))
            })
            .await
    }

    /// Records a try; false when it was not the current one.
    pub async fn finish(self, result: DeliveryResult) -> Result<bool> {
        self.0
            .change(result, |conn, result| {
                Box::pin(async move {
                    let current = tries::move_on(conn, &NOTICES, &[result]).await?;
                    Ok(!current.is_empty())
                })
            })
            .await
    }

    /// Makes tries that nobody will speak of again due at once: for a store of one process, at its start.
    pub async fn free_claims(self, now_ms: i64) -> Result<u64> {
        self.0
            .change(now_ms, |conn, now_ms| {
                Box::pin(async move { conn.run(NOTICES.free, args![*now_ms]).await })
            })
            .await
    }
}

const OWE: &str = "INSERT INTO notice_delivery (id, notice_id, subscription_id, account_id, channel, shown, host, state, attempts, failures, \
     next_ms, created_ms) SELECT v.notice_id || '.' || v.subscription_id, v.notice_id, v.subscription_id, v.account_id, v.channel, v.shown, \
     v.host, 'due', 0, 0, v.next_ms, (SELECT created_ms FROM notice WHERE notice.id = v.notice_id) \
     FROM {lines:notice_id text, subscription_id text, account_id text, channel text, shown text, host text, next_ms bigint} \
     WHERE TRUE ON CONFLICT (id) DO NOTHING";
