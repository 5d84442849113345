//! Many calls at once: each is made ready or refused on its own, then all are accepted in one commit.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::AnswerWay;
use atelier_contract::{AccountId, Code, JobId, LimitWindow, Quota, Refusal};
use atelier_store::{
    AcceptOutcome, Bulk, BulkEntry, BulkItem, BulkItemOutcome, BulkOutcome, KeyLimitReached,
    NewBulk, NewBulkItem,
};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::admin::Caller;
use crate::assets::{Assets, InputGuard};
use crate::context::{Context, unavailable};
use crate::intake::accept::{self, PlacedJob, PreparedJob};
use crate::intake::call::FamilyEndpoint;
use crate::intake::operations;
use crate::runner::{Runner, ShortSeen};
use crate::tracer::SpanKind;

/// Calls that are submitted together.
pub struct BulkCall {
    pub caller: Caller,
    /// The operation and the fields of each, in order.
    pub requests: Vec<(String, Fields)>,
    /// The caller's own key for the whole, and a digest of its body.
    pub idempotency: Option<(String, String)>,
    /// How many of them, from the first, are within the caller's rate; the others are refused.
    pub within_rate: usize,
    /// Whether they must run on the caller's own hosted accounts, where their family can.
    pub custody: bool,
    /// Since when the caller waits for an answer: what it waited for its turn is part of the time that it is answered within.
    pub begun: Instant,
}

/// What was submitted together, and what each was told.
#[derive(Clone, Debug)]
pub struct BulkView {
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// What each was told, in order.
    pub answers: Vec<BulkAnswer>,
}

/// What one of them was told.
#[derive(Clone, Debug)]
pub struct BulkAnswer {
    /// The operation that was asked for.
    pub operation: String,
    /// The job, or why not.
    pub answer: Result<JobId, Refusal>,
}

/// What a repeated batch answers for a request that was refused.
#[derive(Serialize, Deserialize)]
struct StoredRefusal {
    code: String,
    field: Option<String>,
    message: String,
}

/// The endpoint of a call that is one of many. Nobody waits for its result, and a stream has nowhere to go.
pub(super) fn endpoint(name: &str, fields: &Fields) -> Result<FamilyEndpoint, Refusal> {
    let (family, submit) = operations::find(name)?;
    if matches!(submit.answer_wish(fields)?.way, AnswerWay::Stream { .. }) {
        let message = "a batch has no stream; leave it out and follow the batch's events";
        return Err(Refusal::invalid("stream", message));
    }
    Ok(FamilyEndpoint { family, submit })
}

/// A refusal that would be remembered as the answer of one call for ever, and passes in a moment.
pub(super) fn passing<T>(one: &Result<T, Refusal>) -> Option<&Refusal> {
    let refusal = one.as_ref().err();
    refusal.filter(|refusal| refusal.code == Code::Overloaded)
}

/// Accepts what was made ready, in one commit. Inputs are kept before it, and dropped again of those it did not take.
pub(super) async fn accept(
    context: Arc<Context>,
    runner: Arc<Runner>,
    assets: Arc<Assets>,
    bulk: NewBulk,
    ready: Vec<(String, Result<PreparedJob, Refusal>)>,
) -> Result<BulkView, Refusal> {
    let (id, owner) = (bulk.id.clone(), AccountId::new(bulk.account_id.clone()));
    let created_ms = bulk.created_ms;
    let mut placed: Vec<PlacedItem> = Vec::with_capacity(ready.len());
    // They are placed within a moment: what short work there is besides is asked once, and not while places are held for each.
    let mut seen = ShortSeen::for_caller();
    for (operation, prepared) in ready {
        let one = match prepared {
            Ok(prepared) => place(&runner, &assets, &owner, prepared, &mut seen).await,
            Err(refusal) => Err(refusal),
        };
        if let Some(refusal) = passing(&one) {
            for (_, kept) in placed.into_iter().filter_map(|(_, one)| one.ok()) {
                assets.drop_inputs(kept).await;
            }
            return Err(refusal.clone());
        }
        placed.push((operation, one));
    }
    let mut taken = placed.iter().filter_map(|(_, one)| one.as_ref().ok());
    let above = taken.find_map(|(one, _)| one.trace());
    let span = context
        .tracer()
        .open(above, "commit", SpanKind::Internal, context.now_ms())
        .with("atelier.batch", &id)
        .with("atelier.calls", &placed.len());
    let accepted = commit(&context, bulk, &placed).await;
    let error = accepted.as_ref().err().map(ToString::to_string);
    context.tracer().close(span, error);
    let answers = match accepted.map_err(unavailable)? {
        BulkOutcome::New(answers) => answers,
        BulkOutcome::Replayed { bulk_id } => return show(&context, &owner, &bulk_id).await,
        BulkOutcome::Mismatch => {
            return Err(accept::refusal_of(&AcceptOutcome::Mismatch, Quota::ZERO));
        }
        BulkOutcome::NoAccount => {
            return Err(accept::refusal_of(&AcceptOutcome::NoAccount, Quota::ZERO));
        }
        BulkOutcome::PlanDue => {
            return Err(accept::refusal_of(&AcceptOutcome::PlanDue, Quota::ZERO));
        }
    };
    let (mut told, mut unused) = (Vec::with_capacity(placed.len()), Vec::new());
    for ((operation, one), accepted) in placed.into_iter().zip(answers) {
        let answer = match (one, accepted) {
            (Err(refusal), _) => Err(refusal),
            (Ok((one, _)), Some(AcceptOutcome::New { fence, begun })) => {
                Ok(one.begin(&context, &runner, fence, begun))
            }
            (Ok((one, kept)), accepted) => {
                unused.push(kept);
                let refused = accepted.unwrap_or(AcceptOutcome::NoAccount);
                Err(accept::refusal_of(&refused, one.price()))
            }
        };
        told.push(BulkAnswer { operation, answer });
    }
    for kept in unused {
        assets.drop_inputs(kept).await;
    }
    context.wake_account(&owner);
    Ok(BulkView {
        id,
        created_ms,
        answers: told,
    })
}

/// One of the calls: its operation, and the job with its inputs or why it was refused.
type PlacedItem = (String, Result<(PlacedJob, InputGuard), Refusal>);

/// Has the store decide about all of them.
async fn commit(
    context: &Context,
    bulk: NewBulk,
    placed: &[PlacedItem],
) -> Result<BulkOutcome, atelier_store::Error> {
    let items = || {
        let item = |(operation, one): &PlacedItem| NewBulkItem {
            operation: operation.clone(),
            wish: match one {
                Ok((one, _)) => BulkEntry::Accept(Box::new(one.acceptance(context, None))),
                Err(refusal) => BulkEntry::Refused(stored(refusal)),
            },
        };
        placed.iter().map(item).collect()
    };
    let jobs = context.store().jobs();
    let again = bulk.clone();
    let first = NewBulk {
        items: items(),
        ..bulk
    };
    let accepted = jobs.accept_bulk(first).await;
    if !matches!(accepted, Ok(BulkOutcome::PlanDue)) {
        return accepted;
    }
    accept::renew_plan(context, &again.account_id).await?;
    let second = NewBulk {
        items: items(),
        ..again
    };
    jobs.accept_bulk(second).await
}

/// Takes a place for a job and keeps its inputs.
async fn place(
    runner: &Runner,
    assets: &Assets,
    owner: &AccountId,
    prepared: PreparedJob,
    seen: &mut ShortSeen,
) -> Result<(PlacedJob, InputGuard), Refusal> {
    let kept = assets.keep_inputs(owner, &prepared.brief).await?;
    match PlacedJob::new(runner, prepared, seen).await {
        Ok(placed) => Ok((placed, kept)),
        Err(refusal) => {
            assets.drop_inputs(kept).await;
            Err(refusal)
        }
    }
}

/// What an account submitted together.
pub(super) async fn show(
    context: &Context,
    account_id: &str,
    id: &str,
) -> Result<BulkView, Refusal> {
    let bulk = context.store().jobs().find_bulk(account_id, id).await;
    let bulk = bulk.map_err(unavailable)?;
    let bulk = bulk.ok_or_else(|| Refusal::new(Code::NotFound, "no such batch"))?;
    Ok(view(bulk))
}

fn view(bulk: Bulk) -> BulkView {
    BulkView {
        id: bulk.id,
        created_ms: bulk.created_ms,
        answers: bulk.items.into_iter().map(answer).collect(),
    }
}

fn answer(item: BulkItem) -> BulkAnswer {
    let quota = Quota::from_thousandths;
    BulkAnswer {
        operation: item.operation,
        answer: match item.told {
            BulkItemOutcome::Job(id) => Ok(JobId::new(id)),
            BulkItemOutcome::Refused(why) => Err(restored(&why)),
            BulkItemOutcome::QuotaShort { price, balance } => {
                let balance = quota(balance);
                let refused = AcceptOutcome::QuotaShort { balance };
                Err(accept::refusal_of(&refused, quota(price)))
            }
            BulkItemOutcome::Debt { debt } => {
                let debt = quota(debt);
                Err(accept::refusal_of(
                    &AcceptOutcome::Debt { debt },
                    Quota::ZERO,
                ))
            }
            BulkItemOutcome::KeyLimit {
                window,
                quota: limit,
                spent,
                until_ms,
                price,
            } => {
                let reached = KeyLimitReached {
                    key_id: String::new(),
                    from_ms: 0,
                    window: LimitWindow::from_word(&window).unwrap_or_default(),
                    quota: quota(limit),
                    spent: quota(spent),
                    until_ms,
                };
                let refused = AcceptOutcome::KeyLimit(reached);
                Err(accept::refusal_of(&refused, quota(price)))
            }
            BulkItemOutcome::QueueFull { max_queue } => {
                let refused = AcceptOutcome::QueueFull { max_queue };
                Err(accept::refusal_of(&refused, Quota::ZERO))
            }
            BulkItemOutcome::StorageFull { max_storage } => {
                let refused = AcceptOutcome::StorageFull { max_storage };
                Err(accept::refusal_of(&refused, Quota::ZERO))
            }
            BulkItemOutcome::NoAccount => {
                Err(accept::refusal_of(&AcceptOutcome::NoAccount, Quota::ZERO))
            }
        },
    }
}

fn stored(refusal: &Refusal) -> String {
    let stored = StoredRefusal {
        code: refusal.code.word().to_owned(),
        field: refusal.field.clone(),
        message: refusal.message.clone(),
    };
    serde_json::to_string(&stored).unwrap_or_default()
}

fn restored(text: &str) -> Refusal {
    let Ok(stored) = serde_json::from_str::<StoredRefusal>(text) else {
        return Refusal::new(Code::Internal, "the request was refused");
    };
    let code = Code::ALL.iter().find(|code| code.word() == stored.code);
    Refusal {
        code: code.copied().unwrap_or(Code::Internal),
        field: stored.field,
        message: stored.message,
        limit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: what passes in a moment is nobody's answer for ever.
    #[test]
    fn only_what_passes_is_told_of_all_at_once() {
        let refused = |code| Err::<(), _>(Refusal::new(code, "no"));
        assert!(passing(&refused(Code::Overloaded)).is_some());
        for code in [Code::BannedPrompt, Code::RateLimited, Code::QueueFull] {
            assert!(passing(&refused(code)).is_none());
        }
        assert!(passing(&Ok(())).is_none());
    }

    #[test]
    fn a_refusal_is_the_same_after_it_was_stored() {
        let refusal = Refusal::invalid("prompt", "is \"too\" long");
        assert_eq!(restored(&stored(&refusal)), refusal);
    }

    #[test]
    fn every_operation_may_be_one_of_many_but_streams_nothing() {
        let plain = Fields::new();
        for name in ["artgen.imagine", "design.generations", "imgmodel.edits"] {
            assert!(endpoint(name, &plain).is_ok(), "{name}");
        }
        let refusal = endpoint("no.such", &plain).err().expect("no operation");
        assert_eq!(refusal.field.as_deref(), Some("operation"));
        let mut streamed = Fields::new();
        streamed.insert("stream".into(), true.into());
        for name in ["design.generations", "imgmodel.edits"] {
            let refusal = endpoint(name, &streamed).err().expect(name);
            assert_eq!(refusal.field.as_deref(), Some("stream"), "{name}");
        }
    }
}
