//! Subscriptions at payment providers: whose payments come again by themselves. One that is to end stays here until its provider knows.

use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A subscription that its provider is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingSubscription {
    pub provider: String,
    /// What the provider calls it.
    pub reference: String,
    pub account_id: String,
    /// Whether no further period may be paid for, though one is running.
    pub at_once: bool,
    tried_ms: i64,
}

impl FromRow for EndingSubscription {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            provider: columns.text()?,
            reference: columns.text()?,
            account_id: columns.text()?,
            at_once: columns.int()? > 0,
            tried_ms: columns.int()?,
        })
    }
}

/// A subscription that a payment began.
pub(crate) struct NewSubscription<'a> {
    pub(crate) provider: &'a str,
    pub(crate) reference: &'a str,
    pub(crate) account_id: &'a str,
    pub(crate) payment_id: &'a str,
    pub(crate) plan: &'a str,
    pub(crate) now_ms: i64,
}

/// Subscriptions at providers.
#[derive(Clone, Copy, Debug)]
pub struct Subscriptions<'a>(pub(crate) &'a StoreCore);

impl Subscriptions<'_> {
    /// Takes a subscription in hand that is to end and that no one has tried to end since a moment.
    pub async fn claim(
        self,
        tried_before_ms: i64,
        now_ms: i64,
    ) -> Result<Option<EndingSubscription>> {
        let open: Option<EndingSubscription> =
            self.0.db.maybe(OPEN, args![tried_before_ms]).await?;
        let Some(open) = open else {
            return Ok(None);
        };
        self.0
            .change((open, now_ms), |conn, (open, now_ms)| {
                Box::pin(async move {
                    let values = args![&open.provider, &open.reference, open.tried_ms, *now_ms];
                    let is_ours = conn.run(CLAIM, values).await? > 0;
                    Ok(is_ours.then(|| open.clone()))
                })
            })
            .await
    }

    /// Notes that the provider knows that a subscription ends.
    pub async fn told(self, one: &EndingSubscription) -> Result<()> {
        self.0
            .change(one.clone(), |conn, one| {
                Box::pin(async move {
                    let state = if one.at_once { "ended" } else { "ending" };
                    let values = args![&one.provider, &one.reference, state];
                    conn.run(TOLD, values).await.map(|_| ())
                })
            })
            .await
    }
}

/// Notes a subscription. A second one of an account is to end: no one pays twice without knowing.
pub(crate) async fn begin(conn: &mut Conn, new: &NewSubscription<'_>) -> Result<()> {
    let values = args![
        new.provider,
        new.reference,
        new.account_id,
        new.payment_id,
        new.plan,
        new.now_ms
    ];
    conn.run(BEGIN, values).await.map(|_| ())
}

/// Whether a subscription of an account goes on.
pub(crate) async fn is_active(conn: &mut Conn, account_id: &str) -> Result<bool> {
    let found: Option<String> = conn.maybe(ACTIVE, args![account_id]).await?;
    Ok(found.is_some())
}

/// Has the subscriptions of an account end with the period that was paid for.
pub(crate) async fn cancel(conn: &mut Conn, account_id: &str) -> Result<()> {
    conn.run(CANCEL, args![account_id]).await.map(|_| ())
}

/// Has the subscriptions of an account end at once, whatever was said before: the account goes.
pub(crate) async fn cancel_at_once(conn: &mut Conn, account_id: &str) -> Result<()> {
    conn.run(CANCEL_AT_ONCE, args![account_id])
        .await
        .map(|_| ())
}

/// Has one subscription end at once: no one is there for whom it is paid.
pub(crate) async fn refuse(conn: &mut Conn, provider: &str, reference: &str) -> Result<()> {
    conn.run(REFUSE, args![provider, reference])
        .await
        .map(|_| ())
}

/// Notes that a subscription has ended at its provider; the plan that it was for.
pub(crate) async fn ended(
    conn: &mut Conn,
    provider: &str,
    reference: &str,
) -> Result<Option<String>> {
    let plan: Option<String> = conn.maybe(PLAN, args![provider, reference]).await?;
    conn.run(ENDED, args![provider, reference]).await?;
    Ok(plan)
}

const OPEN: &str = "SELECT provider, reference, account_id, at_once, tried_ms FROM subscription \
     WHERE state = 'cancel' AND tried_ms < $1 ORDER BY tried_ms LIMIT 1";

const CLAIM: &str = "UPDATE subscription SET tried_ms = $4 WHERE provider = $1 AND reference = $2 AND tried_ms = $3 AND state = 'cancel'";

// What was asked for meanwhile stays asked for.
const TOLD: &str = "UPDATE subscription SET state = $3 WHERE provider = $1 AND reference = $2 AND state = 'cancel' \
     AND ($3 = 'ended' OR at_once = 0)";

const BEGIN: &str = "INSERT INTO subscription (provider, reference, account_id, payment_id, plan_key, state, at_once, created_ms, tried_ms) \
     SELECT $1, $2, $3, $4, $5, CASE WHEN EXISTS (SELECT 1 FROM subscription AS other WHERE other.account_id = $3 AND other.state = 'active' \
       AND (other.provider <> $1 OR other.reference <> $2)) THEN 'cancel' ELSE 'active' END, 0, $6, 0 \
     WHERE TRUE ON CONFLICT (provider, reference) DO NOTHING";

const ACTIVE: &str =
    "SELECT reference FROM subscription WHERE account_id = $1 AND state = 'active' LIMIT 1";

const CANCEL: &str = "UPDATE subscription SET state = 'cancel', tried_ms = 0 WHERE account_id = $1 AND state = 'active'";

const CANCEL_AT_ONCE: &str = "UPDATE subscription SET state = 'cancel', at_once = 1, tried_ms = 0 WHERE account_id = $1 AND state <> 'ended'";

const REFUSE: &str = "UPDATE subscription SET state = 'cancel', at_once = 1, tried_ms = 0 \
     WHERE provider = $1 AND reference = $2 AND state <> 'ended' AND at_once = 0";

const PLAN: &str = "SELECT plan_key FROM subscription WHERE provider = $1 AND reference = $2";

const ENDED: &str =
    "UPDATE subscription SET state = 'ended' WHERE provider = $1 AND reference = $2";
