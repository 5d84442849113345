//! Where the work of such a vendor is done: starts, questions, files fetched at once, and what came of it all.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::FileRole;
use atelier_contract::brief::{Brief, Task};
use atelier_fairness::reservation::Reservation;
use bytes::Bytes;
use serde_json::{Value, json};

use super::capabilities::refused_field;
use super::passes::PassState;
use super::protocol::{FileSource, TaskPlan, TaskResult, TaskStatus, TaskVendor};
use super::reply::{TaskReply, call_for_file, call_json, call_with_files};
use super::video_request::is_video_work;
use crate::backend::{
    Backend, BoxFuture, Class, Cost, Fault, LostSubmit, NextPass, PollOutcome, StartOutcome, Work,
    WorkOutput,
};
use crate::downloads::Downloader;
use crate::files;
use crate::fit::Size;
use crate::hooks::WebhookRequest;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::{FinishOptions, finish_images};
use crate::support::FieldSupport;
use crate::vendor_errors;
use crate::videos::finish_videos;
use crate::worker::Worker;

/// How often one question may lead to another at once.
const MOST_STEPS: usize = 4;

/// A worker account at a vendor of tasks.
pub(crate) struct TaskBackend<S> {
    vendor: Arc<S>,
}

/// What came of one start.
enum TaskStart {
    Task(Value),
    Done(TaskResult),
}

impl<S: TaskVendor> TaskBackend<S> {
    /// Wraps a vendor, so that its credential never leaves it.
    pub(crate) fn worker(vendor: S) -> Worker {
        let http = vendor.base().http.clone();
        let vendor = Arc::new(vendor);
        Worker::new(&http, Self { vendor })
    }

    async fn begin(&self, work: Work) -> Result<StartOutcome, Fault> {
        let plan = self.vendor.plan(&work).await?;
        let begun = self.start_all(&work, &plan).await?;
        let (finish, passes) = (plan.finish.clone(), plan.passes.clone());
        drop(plan);
        if begun.iter().all(|one| matches!(one, TaskStart::Done(_))) {
            let task_result = begun.into_iter().filter_map(|one| match one {
                TaskStart::Done(task_result) => Some(task_result),
                TaskStart::Task(_) => None,
            });
            let made = self.made(&work, task_result.collect(), finish).await?;
            return Ok(StartOutcome::Done(made));
        }
        let tasks = begun.into_iter().filter_map(|one| match one {
            TaskStart::Task(task) => Some(PassState::of_passes(&passes).marked(task)),
            TaskStart::Done(_) => None,
        });
        let tasks: Vec<Value> = tasks.collect();
        Ok(StartOutcome::Ticket(
            json!({"tasks": tasks, "size": finish.size}),
        ))
    }

    /// Starts as often as it takes. What was begun before a start failed is not thrown away, unless a part is worth
    /// nothing.
    async fn start_all(&self, work: &Work, plan: &TaskPlan<'_>) -> Result<Vec<TaskStart>, Fault> {
        let mut begun = Vec::new();
        for place in 0..plan.starts {
            let call = (plan.call)(place).within(self.vendor.base().call_timeout);
            let one = if work.cancelled.is_cancelled() {
                Err(Fault::internal("nobody wants the result any more"))
            } else {
                self.start_one(work, call).await
            };
            match one {
                Ok(one) => begun.push(one),
                Err(fault) if begun.is_empty() => return Err(fault),
                Err(fault) if work.brief.grid || work.cancelled.is_cancelled() => {
                    let mut spent = None;
                    for one in begun {
                        match one {
                            TaskStart::Task(task) => self.stop(&task).await,
                            TaskStart::Done(one) => spent = sum(spent, one.cost),
                        }
                    }
                    return Err(fault.paid(spent));
                }
                Err(fault) => {
                    tracing::info!(job = %work.job_id, detail = %fault.detail, "the vendor made fewer results than requested");
                    break;
                }
            }
            if plan.starts > 1 && matches!(begun.last(), Some(TaskStart::Done(_))) {
                work.progress.set(((place + 1) * 90 / plan.starts) as u8);
            }
        }
        Ok(begun)
    }

    async fn start_one(&self, work: &Work, call: VendorRequest) -> Result<TaskStart, Fault> {
        let task_status = self.start_status(work, call);
        // What comes of a film is a task, which is waited for so that it can be stopped.
        let task_status = if self.vendor.makes_in_call(work) && !is_video_work(work) {
            // Nobody is told that it was taken before it is done.
            work.progress.begin();
            work.unless_cancelled(task_status).await?
        } else {
            task_status.await?
        };
        match task_status {
            TaskStatus::Task(task) => Ok(TaskStart::Task(task)),
            TaskStatus::Done(task_result) => Ok(TaskStart::Done(task_result)),
            TaskStatus::Failed(fault) => Err(fault),
            TaskStatus::Running(_) => Err(Fault::ours("a start without a task")),
        }
    }

    async fn start_status(&self, work: &Work, call: VendorRequest) -> Result<TaskStatus, Fault> {
        let mut reply = self.send(call.clone()).await?;
        if let Err(answer) = &reply
            && let Some(other) = self.vendor.instead(call, answer).await?
        {
            reply = self.send(other).await?;
        }
        match reply {
            Ok(reply) => self.vendor.started(work, reply),
            Err(answer) => Err(vendor_errors::of_start(&answer, self.vendor.fault(&answer))),
        }
    }

    async fn send(&self, call: VendorRequest) -> Result<Result<TaskReply, VendorResponse>, Fault> {
        let http = &self.vendor.base().http;
        if self.vendor.answers_with_bytes() {
            call_for_file(http, call).await
        } else {
            call_with_files(http, call, self.vendor.blobs()).await
        }
    }

    /// What the vendor tells of a task; one question may lead to the next.
    async fn ask(&self, work: &Work, task: &Value) -> Result<TaskStatus, Fault> {
        let mut task = task.clone();
        for _ in 0..MOST_STEPS {
            if let Some(key) = self.vendor.posted_at(&task) {
                return match self.posted(work, key).await? {
                    Some(reply) => self.vendor.task_status(work, &task, reply),
                    None => Ok(TaskStatus::Running(None)),
                };
            }
            let call = self.vendor.poll_request(&task);
            let reply = match self.vendor.blobs() {
                [] => call_json(&self.vendor.base().http, call).await?,
                blobs => call_with_files(&self.vendor.base().http, call, blobs).await?,
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(answer) => {
                    return match self.vendor.ended(&task, &answer) {
                        Some(fault) => Ok(TaskStatus::Failed(fault)),
                        None => Err(vendor_errors::of_question(self.vendor.fault(&answer))),
                    };
                }
            };
            match self.vendor.task_status(work, &task, reply)? {
                TaskStatus::Task(next) => task = next,
                task_status => return Ok(task_status),
            }
        }
        Err(Fault::ours("questions without end"))
    }

    /// What a vendor posted, if it has been kept by now.
    async fn posted(&self, work: &Work, key: String) -> Result<Option<TaskReply>, Fault> {
        match (work.read)(key).await {
            Ok(bytes) => Ok(Some(TaskReply::posted(&self.vendor.base().http, bytes))),
            // An asset store that is away is another matter.
            Err(fault) if fault.class == Class::BadRequest => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Starts a piece of work again under the same name, which does not begin what has been begun; what has been posted about
    /// it meanwhile is enough.
    async fn start_again(&self, work: &Work, task: Value) -> Result<StartOutcome, Fault> {
        if let Some(key) = self.vendor.posted_at(&task)
            && self.posted(work, key).await?.is_some()
        {
            let size = crate::fit::target(&work.brief, None);
            let ticket = json!({"tasks": [task], "size": size});
            return Ok(StartOutcome::Ticket(ticket));
        }
        self.begin(work.clone()).await
    }

    async fn poll_task(&self, work: &Work, ticket: &Value) -> Result<PollOutcome, Fault> {
        let tasks = ticket["tasks"].as_array();
        let tasks = tasks.filter(|tasks| !tasks.is_empty());
        let tasks = tasks.ok_or_else(|| Fault::ours("a ticket without tasks"))?;
        let mut task_result = Vec::new();
        // What failed, and what was taken for it.
        let (mut failed, mut lost) = (None, None);
        let (mut running, mut percent) = (false, 0);
        for (place, task) in tasks.iter().enumerate() {
            let chain = PassState::of(task);
            let spent = chain.spent(self.vendor.currency());
            match self.ask_pass(work, task, &chain).await? {
                TaskStatus::Running(share) => {
                    running = true;
                    percent += chain.percent(share.unwrap_or(0));
                }
                TaskStatus::Done(one) => {
                    if let Some(next) = chain.after(&one) {
                        return Ok(self.next_pass(work, ticket, place, next));
                    }
                    percent += 99;
                    task_result.push(TaskResult {
                        cost: sum(spent, one.cost),
                        ..one
                    });
                }
                TaskStatus::Failed(fault) => {
                    if let Some(again) = chain.again(&fault) {
                        return Ok(self.next_pass(work, ticket, place, again));
                    }
                    let fault = Fault {
                        cost: sum(spent, fault.cost.clone()),
                        ..chain.ended(fault)
                    };
                    if work.brief.grid {
                        return Ok(PollOutcome::Failed(fault));
                    }
                    lost = sum(lost, fault.cost.clone());
                    failed = failed.or(Some(fault));
                }
                TaskStatus::Task(_) => return Err(Fault::ours("a task that leads to another")),
            }
        }
        work.progress
            .set((percent / tasks.len() as u32).min(99) as u8);
        if running {
            return Ok(PollOutcome::Running(self.vendor.base().poll_interval));
        }
        if let Some(fault) = failed
            && task_result.is_empty()
        {
            let fault = Fault {
                cost: lost,
                ..fault
            };
            return Ok(PollOutcome::Failed(fault));
        }
        // What some of them took for nothing was paid for as well.
        task_result.extend(lost.map(|cost| TaskResult {
            cost: Some(cost),
            ..TaskResult::default()
        }));
        let finish = FinishOptions {
            size: size_of(&ticket["size"]),
            ..FinishOptions::default()
        };
        let made = self.made(work, task_result, finish).await;
        made.map(PollOutcome::Done)
    }

    /// What a task says, with what its earlier parts took if it cannot be asked.
    async fn ask_pass(
        &self,
        work: &Work,
        task: &Value,
        chain: &PassState,
    ) -> Result<TaskStatus, Fault> {
        if chain.is_out() {
            return Ok(TaskStatus::Failed(PassState::lost()));
        }
        let task_status = self.ask(work, task).await;
        task_status.map_err(|fault| Fault {
            cost: chain.spent(self.vendor.currency()),
            ..fault
        })
    }

    /// The order of the next part of a task, with the ticket before it.
    fn next_pass(
        &self,
        work: &Work,
        ticket: &Value,
        place: usize,
        chain: PassState,
    ) -> PollOutcome {
        let spent = chain.spent(self.vendor.currency());
        let paid = move |fault| Fault {
            cost: spent.clone(),
            ..fault
        };
        work.progress.set(chain.percent(0) as u8);
        let (from, seconds) = chain.order();
        let call = match self.vendor.next_pass(work, from, seconds) {
            Ok(call) => call.within(self.vendor.base().call_timeout),
            Err(fault) => return PollOutcome::Failed(paid(fault)),
        };
        let placed = |task: Value| {
            let mut ticket = ticket.clone();
            ticket["tasks"][place] = task;
            ticket
        };
        let intent = placed(chain.out().marked(json!({})));
        let (backend, work, mut ticket) = (self.same(), work.clone(), ticket.clone());
        let order = Box::pin(async move {
            let begun = backend.start_one(&work, call).await;
            match begun.map_err(|fault| chain.unsent(fault)).map_err(paid)? {
                TaskStart::Task(task) => ticket["tasks"][place] = chain.marked(task),
                TaskStart::Done(_) => return Err(Fault::ours("a part without a task")),
            }
            Ok(ticket)
        });
        PollOutcome::Step(NextPass { intent, order })
    }

    fn same(&self) -> Self {
        Self {
            vendor: Arc::clone(&self.vendor),
        }
    }

    /// The result of everything that was brought; what cannot be used was paid for all the same.
    async fn made(
        &self,
        work: &Work,
        all: Vec<TaskResult>,
        finish: FinishOptions,
    ) -> Result<WorkOutput, Fault> {
        let spent = all.iter().map(|one| one.cost.clone()).fold(None, sum);
        let made = self.finished(work, all, finish).await;
        made.map_err(|fault| fault.paid(spent))
    }

    async fn finished(
        &self,
        work: &Work,
        all: Vec<TaskResult>,
        finish: FinishOptions,
    ) -> Result<WorkOutput, Fault> {
        let mut downloads = Downloader::new(&self.vendor.base().http);
        let mut bytes: Vec<Bytes> = Vec::new();
        let mut whole = TaskResult::default();
        for one in all {
            for found in one.files {
                bytes.push(match found {
                    FileSource::File(bytes) => bytes,
                    FileSource::Address(address) => downloads.file(&address).await?,
                });
            }
            whole.cost = sum(whole.cost, one.cost);
            whole.seed = whole.seed.or(one.seed);
            whole.revised_prompt = whole.revised_prompt.or(one.revised_prompt);
            whole.prompts.extend(one.prompts);
            whole.notes = merge_notes(whole.notes, one.notes);
        }
        let made = match work.brief.task {
            Task::Animate | Task::Extend(_) => finish_videos(work, bytes, whole.notes).await?,
            Task::Describe => WorkOutput {
                made: whole.prompts.len() as u32,
                prompts: whole.prompts,
                ..WorkOutput::default()
            },
            Task::Vectorize => vector_output(work, bytes)?,
            _ => {
                let finish = FinishOptions {
                    seed: finish.seed.or(whole.seed),
                    tell_seed: work.brief.tells_seed,
                    revised_prompt: whole.revised_prompt,
                    notes: whole.notes,
                    ..finish
                };
                finish_images(work, bytes, finish).await?
            }
        };
        Ok(WorkOutput {
            cost: whole.cost,
            ..made
        })
    }

    async fn stop(&self, task: &Value) {
        let Some(call) = self.vendor.stop(task) else {
            return;
        };
        match self.vendor.base().http.ask(call).await {
            Ok(answer) if answer.is_good() => {}
            Ok(answer) => {
                tracing::info!(detail = %answer.start(), "the vendor did not cancel a task");
            }
            Err(fault) => {
                tracing::info!(detail = %fault.detail, "the vendor could not be told to cancel a task");
            }
        }
    }

    /// Looks for every start of a piece of work. A part of them may be all that was sent, or all that the vendor has entered
    /// so far, so that it is believed only when it is `late`. Then it is treated as what a failed start leaves behind: fewer
    /// are made than were asked for, unless a part is worth nothing.
    async fn search(&self, work: &Work, late: bool) -> Result<Option<StartOutcome>, Fault> {
        if let Some(task) = self.vendor.named_task(work) {
            return self.start_again(work, task).await.map(Some);
        }
        let starts = starts(work);
        let mut tasks = Vec::new();
        for place in 0..starts {
            let Some(call) = self.vendor.lost(work, place) else {
                return Ok(None);
            };
            match call_json(&self.vendor.base().http, call).await? {
                Ok(reply) => tasks.extend(self.vendor.found(reply)?),
                Err(answer) => return Err(self.vendor.fault(&answer)),
            }
        }
        let partial = tasks.len() < starts as usize;
        if tasks.is_empty() || (partial && !late) {
            return Ok(None);
        }
        if partial && work.brief.grid {
            for task in &tasks {
                self.stop(task).await;
            }
            return Ok(None);
        }
        let size = crate::fit::target(&work.brief, None);
        Ok(Some(StartOutcome::Ticket(
            json!({"tasks": tasks, "size": size}),
        )))
    }

    async fn health_check(&self) -> Result<Option<Cost>, Fault> {
        let answer = self.vendor.base().http.ask(self.vendor.probe()).await?;
        if answer.is_good() || self.vendor.is_healthy(&answer) {
            self.vendor.inspect().await?;
            return Ok(self.vendor.balance(&answer));
        }
        Err(self.vendor.fault(&answer))
    }
}

/// How many starts a piece of work takes that can be looked for: one for each result.
fn starts(work: &Work) -> u32 {
    work.brief.count.clamp(1, 16)
}

/// Vector drawings as they came.
fn vector_output(work: &Work, all: Vec<Bytes>) -> Result<WorkOutput, Fault> {
    let files = all
        .into_iter()
        .map(|bytes| files::file(work, FileRole::Main, bytes));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    if files.is_empty() {
        return Err(Fault::useless("no drawing"));
    }
    Ok(WorkOutput {
        made: files.len() as u32,
        files,
        ..WorkOutput::default()
    })
}

/// The notes of several tasks: lists one after the other, anything else as the first has it.
fn merge_notes(mut notes: Value, more: Value) -> Value {
    if notes.is_null() {
        return more;
    }
    for (name, value) in more.as_object().into_iter().flatten() {
        if let (Some(list), Some(more)) = (notes[name].as_array_mut(), value.as_array()) {
            list.extend(more.iter().cloned());
        }
    }
    notes
}

fn sum(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    match (one, other) {
        (Some(one), Some(other)) if one.currency == other.currency => Some(Cost {
            micros: one.micros + other.micros,
            ..one
        }),
        (one, other) => one.or(other),
    }
}

fn size_of(value: &Value) -> Option<Size> {
    let side = |at: usize| value.get(at)?.as_u64()?.try_into().ok();
    Some((side(0)?, side(1)?))
}

impl<S: TaskVendor> Backend for TaskBackend<S> {
    fn serves(&self, operation: &str) -> bool {
        self.vendor.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        self.vendor.lost_submit()
    }

    /// One start goes after the other, and nobody knows how far a process came that is gone.
    fn submit_limit(&self, work: &Work) -> Duration {
        self.vendor.base().call_timeout * starts(work)
    }

    /// None goes after one that failed. Whoever waited for all of them one by one would find a part when its job is over.
    fn last_call_limit(&self, _: &Work) -> Duration {
        self.vendor.base().call_timeout
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        match self.vendor.capabilities(operation, brief) {
            Ok(capabilities) => capabilities.support(operation, brief),
            Err(fault) => vec![refused_field(fault)],
        }
    }

    fn ordered_seconds(&self, operation: &str, brief: &Brief) -> u32 {
        let capabilities = self.vendor.capabilities(operation, brief).ok();
        capabilities.map_or(brief.seconds, |can| can.ordered_seconds(brief))
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(self.begin(work))
    }

    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(self.poll_task(work, ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for task in ticket["tasks"].as_array().into_iter().flatten() {
                self.stop(task).await;
            }
        })
    }

    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        late: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(self.search(work, late))
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(self.health_check())
    }

    fn verify_webhook<'a>(&'a self, post: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(self.vendor.verify_webhook(post))
    }

    fn keeps_posts(&self) -> bool {
        self.vendor.keeps_posts()
    }

    fn kept_post(&self, attempt_id: &str, post: &WebhookRequest) -> Option<String> {
        self.vendor.kept_post(attempt_id, post)
    }
}
