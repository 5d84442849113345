//! The callback sender: posts callbacks that are due, writes down how it went and when to try again; and shows callers what it
//! did for them.

mod attempt;
mod history;
mod routes;
mod sample;
mod secrets;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use atelier_contract::pages::callbacks::Sample;
use atelier_contract::{AccountId, JobId, Refusal};
use atelier_store::{Claim, Delivery, DeliveryTry, JobRow, Period};

use crate::assets::Assets;
use crate::callback_queue::{CLAIM_MS, CallbackQueue, QueuedCallback, Route, RouteQueues, TRY_MS};
use crate::context::Context;
use crate::crash;
use attempt::ClaimedCallback;
pub(crate) use attempt::{next_state, signed_headers};
pub(crate) use routes::Routes;
pub(crate) use secrets::SigningSecrets;
pub(crate) use secrets::current as current_secret;

pub(crate) use secrets::PREFIX as CALLBACK_SECRETS;

/// One account may have this share of the callbacks under way: the names and hosts it sends to are its own choice.
const ACCOUNT_SHARE: usize = 4;

pub struct Callbacks {
    context: Arc<Context>,
    assets: Arc<Assets>,
    /// Those that the commits that ended jobs have handed over.
    queue: Arc<CallbackQueue>,
    routes: Routes,
    /// One clone per callback under way; the count is the load.
    load: Arc<()>,
    secrets: SigningSecrets,
}

impl Callbacks {
    pub(crate) fn new(
        context: Arc<Context>,
        assets: Arc<Assets>,
        queue: Arc<CallbackQueue>,
    ) -> Arc<Self> {
        Arc::new(Self {
            routes: Routes::new(context.settings().callbacks.parallel_per_host),
            load: Arc::new(()),
            secrets: SigningSecrets::default(),
            assets,
            queue,
            context,
        })
    }

    /// What waits in this process to be sent.
    pub(crate) fn queue(&self) -> &CallbackQueue {
        &self.queue
    }

    /// Claims callbacks that are due and posts each in a task of its own; says how many.
    pub async fn step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        let context = &self.context;
        context.outbound().close_idle();
        self.send_queued().await?;
        let free = self.free();
        if free == 0 || context.stopping().is_cancelled() {
            return Ok(0);
        }
        let (now_ms, per_account) = (context.steady_ms(), self.per_account());
        self.queue.look();
        let claim = Claim {
            now_ms,
            for_ms: CLAIM_MS,
            limit: free as i64,
            per_route: context.settings().callbacks.parallel_per_host,
            routes: self.routes.places(now_ms),
            per_account,
            accounts: self.routes.accounts(per_account),
        };
        let claimed = context
            .store()
            .deliveries()
            .claim(&claim, || context.steady_ms());
        let claimed = claimed.await;
        if claimed.as_ref().map_or(true, |claimed| !claimed.is_empty()) {
            self.queue.leave();
        }
        let claimed = claimed?;
        if claimed.is_empty() {
            // What is due although nothing was taken waits for a place.
            let next_ms = context.store().deliveries().next_due_ms().await?;
            if next_ms.is_some_and(|next_ms| next_ms <= now_ms) {
                self.queue.leave();
            }
            return Ok(0);
        }
        crash::point("callbacks.claimed");
        let claimed_callbacks = self.claimed_callbacks(claimed).await?;
        let count = claimed_callbacks.len();
        for callback in claimed_callbacks {
            self.routes.begin(&Route::of(&callback.delivery));
            self.post(callback);
        }
        Ok(count)
    }

    /// Posts what was handed over by the commits that ended jobs, as far as there are places.
    pub async fn send_queued(self: &Arc<Self>) -> Result<(), atelier_store::Error> {
        let context = &self.context;
        if self.queue.is_empty() || context.stopping().is_cancelled() {
            return Ok(());
        }
        let (now_ms, free, per_account) = (context.steady_ms(), self.free(), self.per_account());
        let mut back = Vec::new();
        let taken = self.queue.take(|queues| {
            let (send, late) = self.routes.admit(queues, now_ms, free, per_account);
            back.extend(late.iter().map(|one| one.delivery.id.clone()));
            send.into_iter().chain(late).collect()
        });
        let send = taken.len() - back.len();
        back.extend(self.queue.take_too_many());
        if send > 0 {
            crash::point("callbacks.claimed");
        }
        let mut secrets = HashMap::new();
        for QueuedCallback { delivery, row, .. } in taken.into_iter().take(send) {
            let account_id = AccountId::new(delivery.account_id.clone());
            if !secrets.contains_key(&account_id) {
                let signing = self.secrets.signing(context, &account_id).await;
                secrets.insert(account_id.clone(), signing);
            }
            self.post(ClaimedCallback {
                row: Some(row),
                secrets: secrets[&account_id].clone(),
                delivery,
            });
        }
        if back.is_empty() {
            return Ok(());
        }
        context
            .store()
            .deliveries()
            .return_unsent(&back, now_ms)
            .await?;
        self.queue.wake(context);
        Ok(())
    }

    /// Gives what was handed over and not sent back to the store, because the process is about to end.
    pub(crate) async fn return_queued(&self) -> Result<(), atelier_store::Error> {
        let context = &self.context;
        let all = self.queue.take(RouteQueues::drain).into_iter();
        let mut ids: Vec<String> = all.map(|one| one.delivery.id).collect();
        ids.extend(self.queue.take_too_many());
        if ids.is_empty() {
            return Ok(());
        }
        let returned = context
            .store()
            .deliveries()
            .return_unsent(&ids, context.steady_ms());
        returned.await.map(|_| ())
    }

    /// Posts a callback whose place on its route is taken, in a task of its own.
    fn post(self: &Arc<Self>, callback: ClaimedCallback) {
        let (callbacks, load) = (self.clone(), self.load.clone());
        self.context.tasks().spawn(async move {
            callbacks.send(callback).await;
            drop(load);
            callbacks.look_again();
        });
    }

    /// A place is free: whoever waits for one should look.
    fn look_again(&self) {
        let queue = &self.queue;
        if !queue.is_empty() {
            queue.hint.notify_one();
        }
        if queue.has_left() {
            self.context.wakes().callbacks.notify_one();
        }
    }

    /// How many more may be under way.
    fn free(&self) -> usize {
        let at_once = self.context.settings().callbacks.parallel;
        at_once.saturating_sub(Arc::strong_count(&self.load) - 1)
    }

    /// How many of one account may be under way.
    fn per_account(&self) -> i64 {
        (self.context.settings().callbacks.parallel / ACCOUNT_SHARE).max(1) as i64
    }

    /// What is needed to write each callback, read for all of them together.
    async fn claimed_callbacks(
        &self,
        claimed: Vec<Delivery>,
    ) -> Result<Vec<ClaimedCallback>, atelier_store::Error> {
        let ids: Vec<String> = claimed.iter().map(|one| one.job_id.clone()).collect();
        let accounts: BTreeSet<AccountId> = claimed
            .iter()
            .map(|one| one.account_id.as_str().into())
            .collect();
        let secrets = accounts.into_iter().map(|id| async move {
            let secrets = self.secrets.signing(&self.context, &id).await;
            (id, secrets)
        });
        let (rows, secrets) = tokio::join!(
            self.context.store().jobs().find_many_of_any_account(&ids),
            futures_util::future::join_all(secrets)
        );
        let mut rows: HashMap<String, JobRow> =
            rows?.into_iter().map(|row| (row.id.clone(), row)).collect();
        let secrets: HashMap<AccountId, Result<Vec<String>, Refusal>> =
            secrets.into_iter().collect();
        let callback = |delivery: Delivery| ClaimedCallback {
            row: rows.remove(&delivery.job_id),
            secrets: secrets[delivery.account_id.as_str()].clone(),
            delivery,
        };
        Ok(claimed.into_iter().map(callback).collect())
    }

    async fn send(&self, callback: ClaimedCallback) {
        let route = Route::of(&callback.delivery);
        let delivery = callback.delivery.clone();
        if delivery.next_ms - self.context.steady_ms() < TRY_MS {
            // Before this try was over, somebody else might have claimed it. One that nobody has tried is due again at once, any
            // other when its claim has run out.
            self.routes.leave(&route);
            if delivery.attempts == 1 && delivery.failures == 0 {
                let queue = &self.queue;
                queue.return_unsent(&self.context, delivery.id).await;
            }
            return;
        }
        let Some(outcome) = attempt::send(&self.context, &self.assets, callback).await else {
            // The claim runs out and it is due again.
            self.routes.leave(&route);
            return;
        };
        crash::point("callbacks.posted");
        // The place is free as soon as the receiver is rid of us: writing it down is no business of the route.
        let silent = outcome.status.is_none() && !outcome.blocked && !outcome.busy;
        self.routes.end(&route, !silent, self.context.steady_ms());
        self.look_again();
        attempt::record(&self.context, delivery, outcome).await;
    }

    /// Callbacks in pages, newest first, of one account or of all.
    pub async fn callbacks(
        &self,
        account_id: Option<&AccountId>,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Delivery>, i64), Refusal> {
        self.callbacks_of(account_id, Period::default(), page, limit)
            .await
    }

    /// Those of a period.
    pub async fn callbacks_of(
        &self,
        account_id: Option<&AccountId>,
        period: Period,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Delivery>, i64), Refusal> {
        history::list(&self.context, account_id, period, page, limit).await
    }

    /// One callback of an account and its tries, oldest first, as far as they are still remembered.
    pub async fn callback(
        &self,
        account_id: &AccountId,
        id: &str,
    ) -> Result<(Delivery, Vec<DeliveryTry>), Refusal> {
        history::one(&self.context, account_id, id).await
    }

    /// The callback of a job and its tries; none when it has none.
    pub async fn callback_of(
        &self,
        account_id: &AccountId,
        job_id: &JobId,
    ) -> Result<Option<(Delivery, Vec<DeliveryTry>)>, Refusal> {
        history::of_job(&self.context, account_id, job_id).await
    }

    /// Sends a signed sample to an address of the account's choice, once; `outside` says that who asks is not on this machine.
    pub async fn sample(
        &self,
        account_id: &AccountId,
        url: &str,
        outside: bool,
    ) -> Result<Sample, Refusal> {
        sample::send(&self.context, account_id, url, outside).await
    }

    /// Sends a callback again, now.
    pub async fn redeliver(&self, account_id: &AccountId, id: &str) -> Result<(), Refusal> {
        history::redeliver(&self.context, &self.queue, account_id, id).await
    }

    /// Sends every callback again that was given up since a time; says how many.
    pub async fn redeliver_since(
        &self,
        account_id: &AccountId,
        since_ms: i64,
    ) -> Result<u64, Refusal> {
        history::redeliver_since(&self.context, &self.queue, account_id, since_ms).await
    }

    /// The secret callbacks of an account are signed with.
    pub async fn secret(&self, account_id: &AccountId) -> Result<String, Refusal> {
        secrets::current(&self.context, account_id).await
    }

    /// A new secret; the old one goes on signing beside it for a day. Whether the account may is asked when nothing else speaks
    /// against it.
    pub async fn rotate_secret<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<String, E> {
        let rotated = secrets::rotate(&self.context, account_id, may).await;
        self.secrets.forget(account_id);
        rotated
    }
}
