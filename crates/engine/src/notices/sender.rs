//! Sending notices: claimed as callbacks are, written for their channel, posted through the guarded client, and tried again by the same
//! schedule.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_backends::http::CallbackOutcome;
use atelier_contract::pages::notices::{NoticeChannel, NoticeKind, NoticeSample};
use atelier_contract::pages::quiet::Quiet;
use atelier_contract::pages::statements::Language;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    Claim, DeliveryResult, DeliveryState, NewNoticeDelivery, Notice, NoticeDelivery,
    NoticeSubscription,
};
use bytes::Bytes;

use super::compose;
use super::subscriptions::opened_address;
use crate::callback_queue::{CLAIM_MS, Route, TRY_MS};
use crate::callbacks::{Routes, SigningSecrets, next_state, signed_headers};
use crate::context::Context;
use crate::crash;

/// Notices sent at once.
const PARALLEL: usize = 32;
/// Notices of one account, or of the operators, sent at once to one host.
const PARALLEL_PER_HOST: i64 = 4;
/// Whose secret signs what operators are told.
pub(super) const OPERATORS: &str = "operators";
/// What is kept of an answer.
const ANSWER_START: usize = 500;

/// What a notice owes to one who subscribed to it: at once, or when quiet hours end.
pub(super) fn owed(
    context: &Context,
    notice: &Notice,
    subscription: &NoticeSubscription,
) -> NewNoticeDelivery {
    NewNoticeDelivery {
        notice_id: notice.id.clone(),
        next_ms: context.steady_ms() + quiet_for_ms(context, subscription),
        subscription: subscription.clone(),
    }
}

/// How long it is quiet still for one who subscribed.
fn quiet_for_ms(context: &Context, subscription: &NoticeSubscription) -> i64 {
    let now_ms = context.now_ms();
    let quiet = subscription.quiet.as_deref().and_then(Quiet::parse);
    quiet.map_or(0, |quiet| quiet.over_ms(now_ms) - now_ms)
}

/// Sends what is due, and knows how the addresses fare.
pub(super) struct NoticeSender {
    context: Arc<Context>,
    routes: Routes,
    /// One clone per notice under way; the count is the load.
    load: Arc<()>,
    secrets: SigningSecrets,
}

impl NoticeSender {
    pub(super) fn new(context: Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            routes: Routes::new(PARALLEL_PER_HOST),
            load: Arc::default(),
            secrets: SigningSecrets::default(),
            context,
        })
    }

    /// Claims what is due and posts each in a task of its own; how many.
    pub(super) async fn send_due(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        let context = &self.context;
        let free = PARALLEL.saturating_sub(Arc::strong_count(&self.load) - 1);
        if free == 0 || context.stopping().is_cancelled() {
            return Ok(0);
        }
        let now_ms = context.steady_ms();
        let per_account = (PARALLEL / 2) as i64;
        let claim = Claim {
            now_ms,
            for_ms: CLAIM_MS,
            limit: free as i64,
            per_route: PARALLEL_PER_HOST,
            routes: self.routes.places(now_ms),
            per_account,
            accounts: self.routes.accounts(per_account),
        };
        let notices = context.store().deliveries().notices();
        let claimed = notices.claim(&claim, || context.steady_ms()).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        crash::point("notices.claimed");
        let ids: Vec<String> = claimed.iter().map(|one| one.notice_id.clone()).collect();
        let subscribed: Vec<&str> = claimed.iter().map(|one| &*one.subscription_id).collect();
        let (found, subscribed) = tokio::try_join!(
            notices.find_many(&ids),
            notices.subscriptions_by_id(&subscribed)
        )?;
        let found: HashMap<String, Notice> =
            found.into_iter().map(|one| (one.id.clone(), one)).collect();
        let count = claimed.len();
        for delivery in claimed {
            let subscription = subscribed
                .iter()
                .find(|one| one.id == delivery.subscription_id);
            let (Some(notice), Some(subscription)) = (found.get(&delivery.notice_id), subscription)
            else {
                self.record(&delivery, None, ended()).await;
                continue;
            };
            let route = route_of(&delivery);
            self.routes.begin(&route);
            let (this, load) = (self.clone(), self.load.clone());
            let (notice, subscription) = (notice.clone(), subscription.clone());
            context.tasks().spawn(async move {
                this.send(delivery, notice, subscription).await;
                drop(load);
            });
        }
        Ok(count)
    }

    async fn send(
        &self,
        delivery: NoticeDelivery,
        notice: Notice,
        subscription: NoticeSubscription,
    ) {
        let (context, route) = (&self.context, route_of(&delivery));
        if delivery.next_ms - context.steady_ms() < TRY_MS {
            // Before this try was over, somebody else might have claimed it.
            self.routes.leave(&route);
            return;
        }
        let outcome = match self.post(&delivery.id, &notice, &subscription).await {
            Ok(outcome) => outcome,
            Err(refusal) => {
                tracing::warn!(notice = %notice.id, error = %refusal.message, "a notice could not be written");
                CallbackOutcome {
                    error: Some(refusal.message),
                    ..CallbackOutcome::default()
                }
            }
        };
        crash::point("notices.posted");
        let silent = outcome.status.is_none() && !outcome.blocked && !outcome.busy;
        self.routes.end(&route, !silent, context.steady_ms());
        self.record(&delivery, Some(&subscription), outcome).await;
    }

    /// Writes a notice for its channel and posts it.
    async fn post(
        &self,
        id: &str,
        notice: &Notice,
        subscription: &NoticeSubscription,
    ) -> Result<CallbackOutcome, Refusal> {
        let context = &self.context;
        let Some(address) = opened_address(context, &subscription.id).await? else {
            return Ok(ended());
        };
        let language = Language::from_word(&subscription.language).unwrap_or_default();
        let view = compose::view(context, notice, language).await?;
        let view = view.ok_or_else(|| {
            Refusal::new(Code::Internal, "this program does not know this notice")
        })?;
        let channel = NoticeChannel::from_word(&subscription.channel);
        let channel = channel.ok_or_else(|| {
            Refusal::new(Code::Internal, "this program does not know this channel")
        })?;
        let body = Bytes::from(compose::body(&view, channel));
        let headers = if channel == NoticeChannel::Webhook {
            let whose = if subscription.account_id.is_empty() {
                AccountId::from(OPERATORS)
            } else {
                AccountId::from(subscription.account_id.as_str())
            };
            let secrets = self.secrets.signing(context, &whose).await?;
            signed_headers(context, &secrets, id, &body)
        } else {
            Vec::new()
        };
        if subscription.account_id.is_empty() {
            let reaching = context.outbound().reaching(&address);
            let (outbound, _) =
                reaching.map_err(|why| Refusal::field(Code::AddressNotAllowed, "address", why))?;
            return Ok(outbound.post_callback(&address, &headers, body).await);
        }
        Ok(context
            .outbound()
            .post_callback(&address, &headers, body)
            .await)
    }

    /// Writes down how a try went and when the next one is due, which is in no quiet hours.
    async fn record(
        &self,
        delivery: &NoticeDelivery,
        subscription: Option<&NoticeSubscription>,
        outcome: CallbackOutcome,
    ) {
        let context = &self.context;
        let state = match next_state(context, delivery.failures, &outcome, context.steady_ms()) {
            DeliveryState::Due { next_ms } => {
                let quiet_ms = subscription.map_or(0, |one| quiet_for_ms(context, one));
                let over_ms = context.steady_ms() + quiet_ms;
                DeliveryState::Due {
                    next_ms: next_ms.max(over_ms),
                }
            }
            other => other,
        };
        context.meters().told(&delivery.channel, &state);
        let failed = !outcome.delivered() && !outcome.busy;
        let result = DeliveryResult {
            id: delivery.id.clone(),
            attempts: delivery.attempts,
            failures: delivery.failures + i64::from(failed),
            state,
            status: outcome.status.map(i64::from),
            error: outcome.error,
            duration_ms: outcome.duration_ms as i64,
            answer_start: outcome.answer_start.chars().take(ANSWER_START).collect(),
            now_ms: context.now_ms(),
        };
        if let Err(error) = context.store().deliveries().notices().finish(result).await {
            tracing::warn!(%error, delivery = %delivery.id, "a notice's outcome was not written down");
        }
    }
}

/// Sends a sample of what a subscription is told.
pub(super) async fn sample(
    sender: &NoticeSender,
    subscription: &NoticeSubscription,
) -> Result<NoticeSample, Refusal> {
    let context = &sender.context;
    let kind = subscription.kind.as_deref().and_then(NoticeKind::from_word);
    let usual = if subscription.account_id.is_empty() {
        NoticeKind::DiskLow
    } else {
        NoticeKind::Limit80
    };
    let id = format!("sample_{}", context.ids().uuid());
    let notice = compose::sample(kind.unwrap_or(usual), &id, subscription, context.now_ms());
    let outcome = sender.post(&id, &notice, subscription).await?;
    Ok(NoticeSample {
        delivered: outcome.delivered(),
        status: outcome.status,
        error: outcome.error,
        duration_ms: outcome.duration_ms,
        answer: outcome.answer_start,
    })
}

/// What becomes of what is owed to one who subscribed no more: nothing.
fn ended() -> CallbackOutcome {
    CallbackOutcome {
        status: Some(410),
        error: Some("the subscription has ended".to_owned()),
        ..CallbackOutcome::default()
    }
}

fn route_of(delivery: &NoticeDelivery) -> Route {
    Route {
        account_id: delivery.account_id.as_str().into(),
        host: delivery.host.clone(),
    }
}
