//! Notices: what accounts and operators are told before it hurts. What is noticed is written down once; what it owes to whoever subscribed
//! is sent as callbacks are, with their claims, their schedule and their signatures.

mod compose;
mod looks;
mod operator_looks;
mod sender;
mod subscriptions;
mod texts;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use atelier_contract::pages::notices::{NoticeKind, NoticeSample, NoticeView};
use atelier_contract::pages::statements::Language;
use atelier_contract::{AccountId, Refusal};
use atelier_store::{NoticeDelivery, NoticeFilter, NoticeSubscription, Period};
use tokio::sync::Mutex;

use crate::context::{Context, unavailable};
use crate::model_revisions::ModelRevisions;
use crate::runner::Runner;

use sender::NoticeSender;
pub use subscriptions::{NoticeOwner, SubscriptionRequest};

/// Notices that one step spreads.
const SPREAD_AT_ONCE: i64 = 100;

/// Which notices are listed.
#[derive(Clone, Copy, Debug)]
pub struct NoticeList {
    pub kind: Option<NoticeKind>,
    pub period: Period,
    pub language: Language,
    pub page: i64,
    pub limit: i64,
}

/// Notices and whom they are told to.
pub struct Notices {
    context: Arc<Context>,
    runner: Arc<Runner>,
    models: Arc<ModelRevisions>,
    sender: Arc<NoticeSender>,
    /// Since when back ends are known to take no work.
    ill: Mutex<HashMap<String, i64>>,
}

impl Notices {
    pub(crate) fn new(
        context: Arc<Context>,
        runner: Arc<Runner>,
        models: Arc<ModelRevisions>,
    ) -> Arc<Self> {
        Arc::new(Self {
            sender: NoticeSender::new(context.clone()),
            ill: Mutex::default(),
            context,
            runner,
            models,
        })
    }

    /// Writes down what was noticed here, spreads what is new over whoever subscribed to it, and sends what is due; whether there may be
    /// more to do.
    pub async fn step(&self) -> Result<bool, atelier_store::Error> {
        self.write_down().await?;
        let spread = self.spread().await?;
        Ok(self.sender.send_due().await? > 0 || spread)
    }

    /// Looks for what is to be told to accounts: balances, keys, jobs.
    pub async fn look(&self) -> Result<(), atelier_store::Error> {
        looks::look(&self.context).await
    }

    /// Looks for what is to be told to operators: back ends, routes, disks, certificates.
    pub async fn look_around(&self) -> Result<(), atelier_store::Error> {
        let looker = operator_looks::OperatorLook {
            context: &self.context,
            runner: &self.runner,
            models: &self.models,
        };
        looker.look(&mut *self.ill.lock().await).await
    }

    async fn write_down(&self) -> Result<(), atelier_store::Error> {
        let board = self.context.notices();
        let noticed = board.take();
        if noticed.is_empty() {
            return Ok(());
        }
        let noted = self
            .context
            .store()
            .deliveries()
            .notices()
            .note(noticed.clone())
            .await;
        if noted.is_err() {
            board.forget(&noticed);
        }
        noted.map(|_| ())
    }

    /// Notes what new notices owe to whoever subscribed to them; whether there may be more.
    async fn spread(&self) -> Result<bool, atelier_store::Error> {
        let notices = self.context.store().deliveries().notices();
        let fresh = notices.fresh(SPREAD_AT_ONCE).await?;
        if fresh.is_empty() {
            return Ok(false);
        }
        let mut accounts: Vec<&str> = fresh.iter().map(|one| one.account_id.as_str()).collect();
        accounts.sort_unstable();
        accounts.dedup();
        let subscribed = notices.subscriptions_of(&accounts).await?;
        let owed = fresh.iter().flat_map(|notice| {
            let of = subscribed.iter();
            of.filter(|one| subscriptions::wants(one, notice))
                .map(|one| sender::owed(&self.context, notice, one))
        });
        let owed: Vec<_> = owed.collect();
        let ids: Vec<String> = fresh.iter().map(|one| one.id.clone()).collect();
        let more = fresh.len() as i64 == SPREAD_AT_ONCE;
        notices.spread(ids, owed, self.context.now_ms()).await?;
        Ok(more)
    }

    /// Notices of an owner with what became of them, newest first.
    pub async fn list(
        &self,
        owner: &NoticeOwner,
        asked: NoticeList,
    ) -> Result<(Vec<(NoticeView, Vec<NoticeDelivery>)>, i64), Refusal> {
        let filter = NoticeFilter {
            account_id: owner.id(),
            kind: asked.kind.map(NoticeKind::word),
            period: asked.period,
        };
        let offset = (asked.page - 1).max(0).saturating_mul(asked.limit);
        let notices = self.context.store().deliveries().notices();
        let found = notices.list(filter, offset, asked.limit).await;
        let (found, total) = found.map_err(unavailable)?;
        let ids: Vec<String> = found.iter().map(|one| one.id.clone()).collect();
        let owed = notices.deliveries_of(&ids).await.map_err(unavailable)?;
        let mut owed_by: BTreeMap<String, Vec<NoticeDelivery>> = BTreeMap::new();
        for mut one in owed {
            one.next_ms += self.context.clock().ahead_ms();
            owed_by.entry(one.notice_id.clone()).or_default().push(one);
        }
        let mut rows = Vec::with_capacity(found.len());
        for notice in &found {
            // What only a later program knows is not shown by this one.
            let Some(view) = compose::view(&self.context, notice, asked.language).await? else {
                continue;
            };
            rows.push((view, owed_by.remove(&notice.id).unwrap_or_default()));
        }
        Ok((rows, total))
    }

    /// The subscriptions of an owner.
    pub async fn subscriptions(
        &self,
        owner: &NoticeOwner,
    ) -> Result<Vec<NoticeSubscription>, Refusal> {
        let found = self
            .context
            .store()
            .deliveries()
            .notices()
            .subscriptions(owner.id())
            .await;
        found.map_err(unavailable)
    }

    /// Has an owner be told of something. Whether it may is asked when nothing else speaks against it.
    pub async fn subscribe<E: From<Refusal>>(
        &self,
        owner: &NoticeOwner,
        request: SubscriptionRequest,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<NoticeSubscription, E> {
        subscriptions::subscribe(&self.context, owner, request, may).await
    }

    /// Ends a subscription.
    pub async fn unsubscribe<E: From<Refusal>>(
        &self,
        owner: &NoticeOwner,
        id: &str,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        subscriptions::unsubscribe(&self.context, owner, id, may).await
    }

    /// Sends a sample to the address of a subscription, once.
    pub async fn sample(&self, owner: &NoticeOwner, id: &str) -> Result<NoticeSample, Refusal> {
        let of_owner = self.subscriptions(owner).await?;
        let subscription = of_owner.into_iter().find(|one| one.id == id);
        let subscription = subscription.ok_or_else(subscriptions::no_subscription)?;
        sender::sample(&self.sender, &subscription).await
    }

    /// The secret that the operators' notices are signed with.
    pub async fn secret(&self) -> Result<String, Refusal> {
        crate::callbacks::current_secret(&self.context, &AccountId::from(sender::OPERATORS)).await
    }
}
