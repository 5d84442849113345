//! Deciding a batch in memory, in the order of arrival: who is admitted, who settles, what that moves.

use std::collections::HashMap;

use atelier_contract::{JobState, Quota};

use crate::batch::attempts::{AttemptLine, Workload};
use crate::batch::calls::{Call, Calls};
use crate::batch::costs::Costs;
use crate::batch::key_windows::KeyWindows;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::batch::lines::{BulkLine, DeliveryLine, FinalLine, JobLine};
use crate::batch::receipts::ReceiptDraft;
use crate::changes::accept::{AcceptOutcome, Acceptance, Idempotency};
use crate::changes::asset::Asset;
use crate::changes::bulk::{BulkEntry, BulkItem, BulkItemOutcome, BulkOutcome, NewBulk};
use crate::changes::settle::{Guard, Outcome, SettleOutcome, Settlement, SettlementChange};
use crate::jobs::row::JobRow;

/// Whose call it is, and the key it may be repeated by.
#[derive(Clone, Copy)]
struct Caller<'a> {
    account_id: &'a str,
    idempotency: Option<&'a Idempotency>,
}

impl Caller<'_> {
    fn key(self) -> Option<(String, String)> {
        let key = &self.idempotency?.key;
        Some((self.account_id.to_owned(), key.clone()))
    }
}

/// A call whose key is known.
enum RepeatedCall {
    /// The same call; what it made.
    Same(String),
    /// Another call with the same key.
    Other,
}

/// What a batch decided and has yet to write.
pub(crate) struct Decisions<'a> {
    pub(crate) books: LedgerBatch,
    jobs: HashMap<String, JobRow>,
    pub(crate) calls: Calls,
    pub(crate) workload: Workload,
    pub(crate) new_jobs: Vec<JobLine<'a>>,
    pub(crate) new_attempts: Vec<AttemptLine<'a>>,
    pub(crate) new_calls: Vec<(String, String)>,
    pub(crate) new_bulks: Vec<BulkLine<'a>>,
    pub(crate) finals: Vec<FinalLine>,
    pub(crate) deliveries: Vec<DeliveryLine>,
    pub(crate) assets: Vec<Asset>,
    pub(crate) costs: Costs,
    pub(crate) receipts: Vec<ReceiptDraft>,
    /// What keys hold and have spent.
    pub(crate) windows: KeyWindows,
}

impl<'a> Decisions<'a> {
    pub(crate) fn new(
        books: LedgerBatch,
        jobs: HashMap<String, JobRow>,
        calls: Calls,
        windows: KeyWindows,
    ) -> Self {
        Self {
            books,
            jobs,
            calls,
            workload: Workload::default(),
            new_jobs: Vec::new(),
            new_attempts: Vec::new(),
            new_calls: Vec::new(),
            new_bulks: Vec::new(),
            finals: Vec::new(),
            deliveries: Vec::new(),
            assets: Vec::new(),
            costs: Costs::default(),
            receipts: Vec::new(),
            windows,
        }
    }

    /// Admits a job or says why not: repeated call first.
    pub(crate) fn accept(&mut self, accept: &'a Acceptance) -> AcceptOutcome {
        let job = &accept.job;
        let call = Caller {
            account_id: &job.account_id,
            idempotency: accept.idempotency.as_ref(),
        };
        match self.repeated(call) {
            Some(RepeatedCall::Same(job_id)) => return AcceptOutcome::Replayed { job_id },
            Some(RepeatedCall::Other) => return AcceptOutcome::Mismatch,
            None => {}
        }
        let accepted = self.admit(accept);
        if matches!(accepted, AcceptOutcome::New { .. }) {
            self.remember(call, &job.id, job.created_ms);
        }
        accepted
    }

    /// Admits what was submitted together, each in its turn; nothing is remembered by its key unless something was
    /// admitted.
    pub(crate) fn accept_bulk(&mut self, bulk: &'a NewBulk) -> BulkOutcome {
        let call = Caller {
            account_id: &bulk.account_id,
            idempotency: bulk.idempotency.as_ref(),
        };
        match self.repeated(call) {
            Some(RepeatedCall::Same(bulk_id)) => return BulkOutcome::Replayed { bulk_id },
            Some(RepeatedCall::Other) => return BulkOutcome::Mismatch,
            None => {}
        }
        if self.books.standing(&bulk.account_id).is_none() {
            return BulkOutcome::NoAccount;
        }
        self.books.end_credits(&bulk.account_id, bulk.created_ms);
        if self.books.is_plan_due(&bulk.account_id, bulk.created_ms) {
            return BulkOutcome::PlanDue;
        }
        let (mut answers, mut items) = (Vec::new(), Vec::new());
        for item in &bulk.items {
            let (answer, told) = match &item.wish {
                BulkEntry::Refused(why) => (None, BulkItemOutcome::Refused(why.clone())),
                BulkEntry::Accept(accept) => {
                    let accepted = self.admit(accept);
                    let told = BulkItemOutcome::of(accept, &accepted)
                        .unwrap_or(BulkItemOutcome::NoAccount);
                    (Some(accepted), told)
                }
            };
            answers.push(answer);
            items.push(BulkItem {
                operation: item.operation.clone(),
                told,
            });
        }
        let admitted = |told: &BulkItem| matches!(told.told, BulkItemOutcome::Job(_));
        if items.iter().any(admitted) {
            self.remember(call, &bulk.id, bulk.created_ms);
        }
        let line = BulkLine::new(bulk, &items);
        self.books.keep_words(&bulk.account_id, line.bytes);
        self.new_bulks.push(line);
        BulkOutcome::New(answers)
    }

    /// Admits a job: queue limits, then storage, then the limits of its keys, then what is owed, then quota.
    fn admit(&mut self, accept: &'a Acceptance) -> AcceptOutcome {
        let job = &accept.job;
        self.books.end_credits(&job.account_id, job.created_ms);
        if self.books.is_plan_due(&job.account_id, job.created_ms) {
            return AcceptOutcome::PlanDue;
        }
        let Some(standing) = self.books.standing(&job.account_id) else {
            return AcceptOutcome::NoAccount;
        };
        let unfinished = self.books.unfinished(&job.account_id, &job.queue);
        if unfinished >= standing.max_queue {
            return AcceptOutcome::QueueFull {
                max_queue: standing.max_queue,
            };
        }
        let counted_ms = self.windows.counted_ms(&job.attribution, job.created_ms);
        if let Some(max_queue) = self.windows.full_queue(&job.attribution, &job.queue) {
            return AcceptOutcome::QueueFull { max_queue };
        }
        if let Some(max_storage) = standing.full_storage(accept.max_storage) {
            return AcceptOutcome::StorageFull { max_storage };
        }
        let price = job.price.thousandths();
        if let Some(reached) = self.windows.reached(&job.attribution, counted_ms, price) {
            self.windows.refuse(&reached, job);
            return AcceptOutcome::KeyLimit(reached);
        }
        if standing.over_limit() > 0 {
            let debt = Quota::from_thousandths(standing.debt());
            return AcceptOutcome::Debt { debt };
        }
        let spendable = self.books.spendable(&job.account_id, job.created_ms);
        let lendable = self.books.lendable(&job.account_id);
        if spendable + lendable < price {
            return AcceptOutcome::QuotaShort {
                balance: Quota::from_thousandths(spendable + lendable),
            };
        }
        let queued_ms = job.created_ms - job.ahead_ms;
        let turn_ms = queued_ms + job.turn_delay_ms + job.turn_step_ms * unfinished;
        self.books.count(&job.account_id, &job.queue, 1);
        self.windows.hold(job, counted_ms);
        let hold = Posting {
            id: &accept.ledger_id,
            job_id: Some(&job.id),
            kind: "hold",
            cause: None,
            amount: job.price,
            balance_delta: -price,
            frozen_delta: price,
            reason: &job.operation,
            idempotency_key: None,
            time_ms: job.created_ms,
            spender: Some(&job.attribution),
        };
        if spendable < price {
            self.books.lend(&job.account_id, price - spendable, &hold);
        }
        self.books.hold(&job.account_id, &job.id, &hold);
        // What its worker has no place for is left to begin later.
        let first = accept.attempt.as_ref();
        let first = first.filter(|first| self.workload.take(first));
        self.new_attempts.extend(first.map(AttemptLine));
        self.books.keep_words(&job.account_id, job.words());
        let line = JobLine::new(accept, turn_ms, counted_ms, first);
        let fence = line.fence;
        self.new_jobs.push(line);
        AcceptOutcome::New {
            fence,
            begun: first.is_some(),
        }
    }

    fn repeated(&self, call: Caller<'_>) -> Option<RepeatedCall> {
        let given = call.idempotency?;
        let known = self.calls.get(&call.key()?)?;
        if known.created_ms < given.keep_after_ms {
            return None;
        }
        if known.fingerprint != given.fingerprint {
            return Some(RepeatedCall::Other);
        }
        Some(RepeatedCall::Same(known.job_id.clone()))
    }

    fn remember(&mut self, call: Caller<'_>, id: &str, created_ms: i64) {
        let (Some(given), Some(key)) = (call.idempotency, call.key()) else {
            return;
        };
        let call = Call {
            fingerprint: given.fingerprint.clone(),
            job_id: id.to_owned(),
            created_ms,
        };
        self.calls.insert(key.clone(), call);
        self.new_calls.push(key);
    }

    /// Ends a job, unless it has ended or is not this runner's any more.
    pub(crate) fn settle(&mut self, ending: &SettlementChange) -> SettleOutcome {
        let settlement = &ending.settlement;
        let Some(row) = self.jobs.get_mut(&settlement.job_id) else {
            return SettleOutcome::Lost;
        };
        self.costs.told(row, settlement);
        let allowed = match settlement.guard {
            Guard::Fence(fence) => row.state == JobState::Running && row.fence == fence,
            Guard::Unfinished => !row.state.is_final(),
        };
        if !allowed {
            return SettleOutcome::Lost;
        }
        finish(row, settlement);
        let row = row.clone();
        if let Outcome::Succeeded { assets, hashes, .. } = &settlement.outcome {
            self.assets.extend(assets.iter().cloned());
            self.costs.paid(&row, settlement);
            if let Some(files) = hashes {
                let draft = ReceiptDraft::of(&row, files, settlement.now_ms);
                self.receipts.push(draft);
            }
        }
        self.books.count(&row.account_id, &row.queue, -1);
        self.windows.resolve(&row);
        self.books.end_credits(&row.account_id, settlement.now_ms);
        let spent = match row.state {
            JobState::Succeeded => row.quota.thousandths(),
            _ => 0,
        };
        self.books
            .resolve(&row.account_id, spent, &resolution(&row, spent, settlement));
        let due_ms = settlement.now_ms - settlement.ahead_ms;
        let owed = DeliveryLine::owed(&row, due_ms, ending.claimed_until_ms);
        self.deliveries.extend(owed);
        self.finals.push(FinalLine::new(&row));
        SettleOutcome::Done(row)
    }
}

/// Makes a row what it will be for ever.
fn finish(row: &mut JobRow, settlement: &Settlement) {
    match &settlement.outcome {
        Outcome::Succeeded {
            output,
            alias,
            quota,
            ..
        } => {
            row.state = JobState::Succeeded;
            row.progress = 100;
            row.message = None;
            row.output = Some(output.clone());
            row.alias.clone_from(alias);
            row.quota = (*quota).clamp(Quota::ZERO, row.price);
        }
        Outcome::Failed { fault, message } => {
            row.state = JobState::Failed;
            row.fault = Some(*fault);
            row.message = Some(message.clone());
        }
    }
    row.started_ms = row.started_ms.or(settlement.began_ms);
    row.finished_ms = Some(settlement.now_ms);
    // It is only shown from now on.
    row.deadline_ms += settlement.ahead_ms;
    row.updated_ms = settlement.now_ms;
    row.revision += 1;
    row.lease_owner = None;
    row.lease_until_ms = None;
}

/// The ledger row that resolves the hold of a final job.
fn resolution<'a>(row: &'a JobRow, spent: i64, settlement: &'a Settlement) -> Posting<'a> {
    let price = row.price.thousandths();
    let succeeded = row.state == JobState::Succeeded;
    Posting {
        id: &settlement.ledger_id,
        job_id: Some(&row.id),
        kind: if succeeded { "capture" } else { "release" },
        cause: None,
        amount: if succeeded { row.quota } else { row.price },
        balance_delta: price - spent,
        frozen_delta: -price,
        reason: &row.operation,
        idempotency_key: None,
        time_ms: settlement.now_ms,
        spender: Some(&row.attribution),
    }
}
