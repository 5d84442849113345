//! Where the work of such a vendor is done: starts, questions, files fetched at once, and what came of it all.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::Role;
use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use serde_json::{Value, json};

use super::chain::Chain;
use super::heard::{ask, hear, whole};
use super::scene::films;
use super::skills::refused;
use super::speech::{Brought, Found, Plan, Speech, Told};
use crate::answers;
use crate::backend::{
    Backend, Cost, Fault, Later, LostSubmit, Made, Progress, Started, Step, Work,
};
use crate::clips::filmed;
use crate::downloads::Downloads;
use crate::files;
use crate::fit::Size;
use crate::hooks::Post;
use crate::http::VendorCall;
use crate::pictures::{Finish, finished};
use crate::regard::Regarded;
use crate::reserved::Reserved;
use crate::worker::Worker;

/// How often one question may lead to another at once.
const MOST_STEPS: usize = 4;

/// A worker account at a vendor of tasks.
pub(crate) struct Desk<S> {
    vendor: Arc<S>,
}

/// What came of one start.
enum Begun {
    Task(Value),
    Done(Brought),
}

impl<S: Speech> Desk<S> {
    /// A worker account.
    pub(crate) fn worker(vendor: S) -> Worker {
        let http = vendor.http().clone();
        let vendor = Arc::new(vendor);
        Worker::new(&http, Self { vendor })
    }

    async fn begin(&self, work: Work) -> Result<Started, Fault> {
        let plan = self.vendor.plan(&work).await?;
        let begun = self.start_all(&work, &plan).await?;
        let (finish, passes) = (plan.finish.clone(), plan.passes.clone());
        drop(plan);
        if begun.iter().all(|one| matches!(one, Begun::Done(_))) {
            let brought = begun.into_iter().filter_map(|one| match one {
                Begun::Done(brought) => Some(brought),
                Begun::Task(_) => None,
            });
            let made = self.made(&work, brought.collect(), finish).await?;
            return Ok(Started::Done(made));
        }
        let tasks = begun.into_iter().filter_map(|one| match one {
            Begun::Task(task) => Some(Chain::of_passes(&passes).marked(task)),
            Begun::Done(_) => None,
        });
        let tasks: Vec<Value> = tasks.collect();
        Ok(Started::Ticket(
            json!({"tasks": tasks, "size": finish.size}),
        ))
    }

    /// Starts as often as it takes. What was begun before a start failed is not thrown away, unless a part is worth
    /// nothing.
    async fn start_all(&self, work: &Work, plan: &Plan<'_>) -> Result<Vec<Begun>, Fault> {
        let mut begun = Vec::new();
        for place in 0..plan.starts {
            let call = (plan.call)(place).within(self.vendor.patience());
            let one = if work.cancelled.is_cancelled() {
                Err(Fault::house("nobody wants the result any more"))
            } else {
                self.start_one(work, call).await
            };
            match one {
                Ok(one) => begun.push(one),
                Err(fault) if begun.is_empty() => return Err(fault),
                Err(fault) if work.brief.grid || work.cancelled.is_cancelled() => {
                    for one in begun {
                        if let Begun::Task(task) = one {
                            self.stop(&task).await;
                        }
                    }
                    return Err(fault);
                }
                Err(fault) => {
                    tracing::info!(job = %work.job_id, detail = %fault.detail, "made fewer than asked for");
                    break;
                }
            }
            if plan.starts > 1 && matches!(begun.last(), Some(Begun::Done(_))) {
                work.progress.set(((place + 1) * 90 / plan.starts) as u8);
            }
        }
        Ok(begun)
    }

    async fn start_one(&self, work: &Work, call: VendorCall) -> Result<Begun, Fault> {
        let told = self.start_told(work, call);
        // What comes of a film is a task, which is waited for so that it can be stopped.
        let told = if self.vendor.makes_in_call() && !films(work) {
            // Nobody is told that it was taken before it is done.
            work.progress.begin();
            work.unless_cancelled(told).await?
        } else {
            told.await?
        };
        match told {
            Told::Task(task) => Ok(Begun::Task(task)),
            Told::Done(brought) => Ok(Begun::Done(brought)),
            Told::Failed(fault) => Err(fault),
            Told::Running(_) => Err(Fault::ours("a start without a task")),
        }
    }

    async fn start_told(&self, work: &Work, call: VendorCall) -> Result<Told, Fault> {
        let heard = if self.vendor.answers_with_bytes() {
            whole(self.vendor.http(), call).await?
        } else {
            hear(self.vendor.http(), call, self.vendor.blobs()).await?
        };
        match heard {
            Ok(heard) => self.vendor.started(work, heard),
            Err(answer) => Err(answers::of_start(&answer, self.vendor.fault(&answer))),
        }
    }

    /// What the vendor tells of a task; one question may lead to the next.
    async fn ask(&self, work: &Work, task: &Value) -> Result<Told, Fault> {
        let mut task = task.clone();
        for _ in 0..MOST_STEPS {
            let call = self.vendor.question(&task);
            let heard = match self.vendor.blobs() {
                [] => ask(self.vendor.http(), call).await?,
                blobs => hear(self.vendor.http(), call, blobs).await?,
            };
            let heard = match heard {
                Ok(heard) => heard,
                Err(answer) => {
                    return match self.vendor.ended(&task, &answer) {
                        Some(fault) => Ok(Told::Failed(fault)),
                        None => Err(self.vendor.fault(&answer)),
                    };
                }
            };
            match self.vendor.told(work, &task, heard)? {
                Told::Task(next) => task = next,
                told => return Ok(told),
            }
        }
        Err(Fault::ours("questions without end"))
    }

    async fn look(&self, work: &Work, ticket: &Value) -> Result<Progress, Fault> {
        let tasks = ticket["tasks"].as_array();
        let tasks = tasks.filter(|tasks| !tasks.is_empty());
        let tasks = tasks.ok_or_else(|| Fault::ours("a ticket without tasks"))?;
        let mut brought = Vec::new();
        let mut failed = None;
        let (mut running, mut percent) = (false, 0);
        for (place, task) in tasks.iter().enumerate() {
            let chain = Chain::of(task);
            let spent = chain.spent(self.vendor.currency());
            let told = if chain.is_out() {
                Told::Failed(Chain::lost())
            } else {
                let told = self.ask(work, task).await;
                told.map_err(|fault| Fault {
                    cost: spent.clone(),
                    ..fault
                })?
            };
            match told {
                Told::Running(share) => {
                    running = true;
                    percent += chain.percent(share.unwrap_or(0));
                }
                Told::Done(one) => {
                    if let Some(next) = chain.after(&one) {
                        return Ok(self.carry_on(work, ticket, place, next));
                    }
                    percent += 99;
                    brought.push(Brought {
                        cost: sum(spent, one.cost),
                        ..one
                    });
                }
                Told::Failed(fault) => {
                    if let Some(again) = chain.again(&fault) {
                        return Ok(self.carry_on(work, ticket, place, again));
                    }
                    let fault = Fault {
                        cost: spent,
                        ..chain.ended(fault)
                    };
                    if work.brief.grid {
                        return Ok(Progress::Failed(fault));
                    }
                    failed = failed.or(Some(fault));
                }
                Told::Task(_) => return Err(Fault::ours("a task that leads to another")),
            }
        }
        work.progress
            .set((percent / tasks.len() as u32).min(99) as u8);
        if running {
            return Ok(Progress::Running(self.vendor.pause()));
        }
        if let (true, Some(fault)) = (brought.is_empty(), failed) {
            return Ok(Progress::Failed(fault));
        }
        let finish = Finish {
            size: size_of(&ticket["size"]),
            ..Finish::default()
        };
        self.made(work, brought, finish).await.map(Progress::Done)
    }

    /// The order of the next part of a task, with the ticket before it.
    fn carry_on(&self, work: &Work, ticket: &Value, place: usize, chain: Chain) -> Progress {
        let spent = chain.spent(self.vendor.currency());
        let paid = move |fault| Fault {
            cost: spent.clone(),
            ..fault
        };
        work.progress.set(chain.percent(0) as u8);
        let (from, seconds) = chain.order();
        let call = match self.vendor.carry_on(work, from, seconds) {
            Ok(call) => call.within(self.vendor.patience()),
            Err(fault) => return Progress::Failed(paid(fault)),
        };
        let placed = |task: Value| {
            let mut ticket = ticket.clone();
            ticket["tasks"][place] = task;
            ticket
        };
        let intent = placed(chain.out().marked(json!({})));
        let (desk, work, mut ticket) = (self.same(), work.clone(), ticket.clone());
        let order = Box::pin(async move {
            let begun = desk.start_one(&work, call).await;
            match begun.map_err(|fault| chain.unsent(fault)).map_err(paid)? {
                Begun::Task(task) => ticket["tasks"][place] = chain.marked(task),
                Begun::Done(_) => return Err(Fault::ours("a part without a task")),
            }
            Ok(ticket)
        });
        Progress::Step(Step { intent, order })
    }

    fn same(&self) -> Self {
        Self {
            vendor: Arc::clone(&self.vendor),
        }
    }

    /// The result of everything that was brought.
    async fn made(&self, work: &Work, all: Vec<Brought>, finish: Finish) -> Result<Made, Fault> {
        let mut downloads = Downloads::new(self.vendor.http());
        let mut bytes: Vec<Bytes> = Vec::new();
        let mut whole = Brought::default();
        for one in all {
            for found in one.files {
                bytes.push(match found {
                    Found::File(bytes) => bytes,
                    Found::Address(address) => downloads.file(&address).await?,
                });
            }
            whole.cost = sum(whole.cost, one.cost);
            whole.seed = whole.seed.or(one.seed);
            whole.revised_prompt = whole.revised_prompt.or(one.revised_prompt);
            whole.prompts.extend(one.prompts);
            whole.notes = joined(whole.notes, one.notes);
        }
        let made = match work.brief.task {
            Task::Animate | Task::Extend(_) => filmed(work, bytes, whole.notes).await?,
            Task::Describe => Made {
                made: whole.prompts.len() as u32,
                prompts: whole.prompts,
                ..Made::default()
            },
            Task::Vectorize => drawn(work, bytes)?,
            _ => {
                let finish = Finish {
                    seed: finish.seed.or(whole.seed),
                    tell_seed: work.brief.tells_seed,
                    revised_prompt: whole.revised_prompt,
                    notes: whole.notes,
                    ..finish
                };
                finished(work, bytes, finish).await?
            }
        };
        Ok(Made {
            cost: whole.cost,
            ..made
        })
    }

    async fn stop(&self, task: &Value) {
        let Some(call) = self.vendor.stop(task) else {
            return;
        };
        match self.vendor.http().ask(call).await {
            Ok(answer) if answer.is_good() => {}
            Ok(answer) => {
                tracing::info!(detail = %answer.start(), "the vendor did not stop a task");
            }
            Err(fault) => tracing::info!(detail = %fault.detail, "the vendor was not told to stop"),
        }
    }

    /// Looks for every start of a piece of work. A part of them may be all that was sent, or all that the vendor has entered
    /// so far, so that it is believed only when it is `late`. Then it is treated as what a failed start leaves behind: fewer
    /// are made than were asked for, unless a part is worth nothing.
    async fn search(&self, work: &Work, late: bool) -> Result<Option<Started>, Fault> {
        let starts = starts(work);
        let mut tasks = Vec::new();
        for place in 0..starts {
            let Some(call) = self.vendor.lost(work, place) else {
                return Ok(None);
            };
            match ask(self.vendor.http(), call).await? {
                Ok(heard) => tasks.extend(self.vendor.found(heard)?),
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
        Ok(Some(Started::Ticket(json!({"tasks": tasks, "size": size}))))
    }

    async fn feel(&self) -> Result<Option<Cost>, Fault> {
        let answer = self.vendor.http().ask(self.vendor.probe()).await?;
        if answer.is_good() || self.vendor.is_well(&answer) {
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
fn drawn(work: &Work, all: Vec<Bytes>) -> Result<Made, Fault> {
    let files = all
        .into_iter()
        .map(|bytes| files::file(work, Role::Main, bytes));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    if files.is_empty() {
        return Err(Fault::useless("no drawing"));
    }
    Ok(Made {
        made: files.len() as u32,
        files,
        ..Made::default()
    })
}

/// The notes of several tasks: lists one after the other, anything else as the first has it.
fn joined(mut notes: Value, more: Value) -> Value {
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

impl<S: Speech> Backend for Desk<S> {
    fn serves(&self, operation: &str) -> bool {
        self.vendor.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        self.vendor.lost_submit()
    }

    /// One start goes after the other, and none after one that failed: what is not there when the first can no longer arrive
    /// was never ordered. Whoever waited for all of them one by one would find a part when its job is over.
    fn submit_limit(&self, _: &Work) -> Duration {
        self.vendor.patience()
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn regard(&self, operation: &str, brief: &Brief) -> Vec<Regarded> {
        match self.vendor.skills(operation, brief) {
            Ok(skills) => skills.regard(operation, brief),
            Err(fault) => vec![refused(fault)],
        }
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reserved> {
        None
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        Box::pin(self.begin(work))
    }

    fn poll<'a>(&'a self, work: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(self.look(work, ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> Later<'a, ()> {
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
    ) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(self.search(work, late))
    }

    fn probe(&self) -> Later<'_, Result<Option<Cost>, Fault>> {
        Box::pin(self.feel())
    }

    fn hears<'a>(&'a self, post: &'a Post) -> Later<'a, bool> {
        self.vendor.hears(post)
    }
}
