//! Many calls of one caller, submitted together: each is made ready or refused on its own, all within the time that a single
//! one has, whatever is silent. Nothing is kept before; whoever is told that it took too long submits the same again.

use std::pin::pin;

use atelier_contract::body::Fields;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{Idempotency, NewBulk};
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::admin::Caller;
use crate::intake::accept::{self, PreparedJob};
use crate::intake::bulk::{self, BulkCall, BulkView};
use crate::intake::{ANSWERED_WITHIN, Intake, PREPARED_WITHIN};

const BEYOND_RATE: &str = "too many requests of this account; submit this one again later";
const NOT_READY: &str = "the requests could not be looked at in time and none was accepted; submit them again shortly, fewer at once if this goes on";

/// Calls of a batch that are made ready at once where each is reviewed: one after the other, a few would take all the time.
const REVIEWED_AT_ONCE: usize = 32;
/// Prompts of a batch that are translated at once, so that other callers find a place too.
const TRANSLATED_AT_ONCE: usize = 8;

/// The operation of a call, and what became of it so far.
type PreparedCall = (String, Result<PreparedJob, Refusal>);

/// Calls that were looked at.
enum PreparedBatch {
    /// They repeat earlier calls, which were told this.
    Earlier(BulkView),
    /// They are to be accepted, or refused each on its own.
    New(Vec<PreparedCall>),
}

impl Intake {
    /// Accepts calls together, in one commit, or refuses each on its own.
    pub async fn submit_bulk(&self, mut call: BulkCall) -> Result<BulkView, Refusal> {
        let (begun, created_ms) = (call.begun, self.context.now_ms());
        let account_id = call.caller.account_id.to_string();
        let keep_after_ms = created_ms - self.context.settings().retention.idempotency_hours.ms();
        let idempotency = call.idempotency.take();
        let idempotency = idempotency.map(|(key, fingerprint)| Idempotency {
            key,
            fingerprint,
            keep_after_ms,
        });
        let prepared_until = begun + PREPARED_WITHIN;
        let ready = self.many_ready(call, idempotency.as_ref());
        let Ok(ready) = timeout_at(prepared_until, ready).await else {
            tracing::error!("a batch could not be prepared in time");
            return Err(Refusal::new(Code::Overloaded, NOT_READY));
        };
        let mut ready = match ready? {
            PreparedBatch::Earlier(earlier) => return Ok(earlier),
            PreparedBatch::New(ready) => ready,
        };
        self.translate_all(&mut ready, prepared_until).await?;
        let new = NewBulk {
            id: self.context.ids().uuid(),
            account_id,
            idempotency,
            items: Vec::new(),
            created_ms,
        };
        let (context, runner, assets) = (
            self.context.clone(),
            self.runner.clone(),
            self.assets.clone(),
        );
        let accepted = bulk::accept(context, runner, assets, new, ready);
        let until = begun + ANSWERED_WITHIN;
        accept::in_time(until, self.context.tasks().spawn(accepted)).await
    }

    /// What an account submitted together.
    pub async fn bulk(&self, account_id: &AccountId, id: &str) -> Result<BulkView, Refusal> {
        bulk::show(&self.context, account_id, id).await
    }

    /// Makes calls ready to be accepted, unless they repeat earlier ones; a refusal of all when one of them met something that
    /// is away for a moment.
    async fn many_ready(
        &self,
        call: BulkCall,
        idempotency: Option<&Idempotency>,
    ) -> Result<PreparedBatch, Refusal> {
        let caller = &call.caller;
        if let Some(given) = idempotency
            && let Some(earlier) =
                accept::find_replay(&self.context, &caller.account_id, given).await?
        {
            let earlier = self.bulk(&caller.account_id, earlier.job_id.as_str());
            return earlier.await.map(PreparedBatch::Earlier);
        }
        // One after the other where nobody outside is asked: what is refused of one counts against the next.
        let reviewed = self.context.settings().prompts.is_moderated();
        let at_once = if reviewed { REVIEWED_AT_ONCE } else { 1 };
        let (within_rate, custody) = (call.within_rate, call.custody);
        let mut ready = Vec::with_capacity(call.requests.len());
        let requests = stream::iter(call.requests.into_iter().enumerate());
        let looked = requests.map(move |(place, (name, fields))| async move {
            let one = if place < within_rate {
                self.one_of_many(caller, &name, fields, custody).await
            } else {
                Err(Refusal::new(Code::RateLimited, BEYOND_RATE))
            };
            (name, one)
        });
        let mut looked = pin!(looked.buffered(at_once));
        while let Some((name, one)) = looked.next().await {
            if let Some(refusal) = bulk::passing(&one) {
                return Err(refusal.clone());
            }
            ready.push((name, one));
        }
        Ok(PreparedBatch::New(ready))
    }

    /// Makes a call ready that is submitted together with others.
    async fn one_of_many(
        &self,
        caller: &Caller,
        name: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<PreparedJob, Refusal> {
        let endpoint = bulk::endpoint(name, &fields)?;
        let custody = custody && endpoint.family.custody;
        let prepared = self.prepare(caller, endpoint, fields, Fields::new(), custody);
        let (mut prepared, request) = prepared.await?;
        prepared.job.batched = true;
        accept::fits(&self.runner, &prepared)?;
        self.reviewed(endpoint.family, request.as_ref(), &prepared)
            .await?;
        Ok(prepared)
    }

    /// Has the prompts of calls that come together put into English, several at once; those that are not done when the time
    /// for all is over are left as they are.
    async fn translate_all(
        &self,
        ready: &mut [PreparedCall],
        until: Instant,
    ) -> Result<(), Refusal> {
        let some = stream::iter(ready.iter_mut());
        let all = some.for_each_concurrent(TRANSLATED_AT_ONCE, async |(_, one)| {
            if let Ok(prepared) = one
                && let Err(refusal) = self.translate(prepared).await
            {
                *one = Err(refusal);
            }
        });
        if timeout_at(until, all).await.is_err() {
            tracing::warn!("some prompts of a batch could not be translated in time");
        }
        let passing = ready.iter().find_map(|(_, one)| bulk::passing(one));
        passing.map_or(Ok(()), |refusal| Err(refusal.clone()))
    }
}
