//! midjourney-proxy, in both of its dialects: pictures, follow-ups by the parent's buttons, descriptions, seeds, videos
//! and face swaps. A task is found again by its `state`, which carries the attempt's id.

mod buttons;
mod errors;
mod notes;
mod result;
mod settings;
mod submit;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::{Brief, Direction, Task};
use atelier_fairness::reservation::Reservation;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{
    Acceptance, Backend, BoxFuture, Class, Cost, Fault, LostSubmit, PollOutcome, StartOutcome,
    Work, WorkOutput,
};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::{VendorHttp, VendorRequest, segment};
use crate::support::FieldSupport;
use crate::task_vendor::Capabilities;
use crate::vendor::{Setup, Vendor, schema_of};
use crate::worker::Worker;
use errors::{OwnReasons, SubmitOutcome};
use settings::{MidjourneySettings, ProxyDialect};

/// The vendor's line in the table.
pub(super) const VENDOR: Vendor = Vendor {
    name: "midjourney-proxy",
    about: "midjourney-proxy in both dialects; grids of four, their follow-ups, videos, face swap.",
    needs_credential: false,
    address: "",
    settings: schema_of::<MidjourneySettings>,
    ready: "",
    build: |setup| {
        let proxy = Midjourney::new(setup)?;
        Ok(Worker::new(&proxy.http.clone(), proxy))
    },
};

/// How long a submit may take, its pictures included.
const SUBMIT: Duration = Duration::from_mins(2);
/// The proxy asks for a seed elsewhere before it answers.
const SEED: Duration = Duration::from_mins(2);
/// The list of all tasks may be long.
const MOST_LIST: u64 = 128 * 1024 * 1024;

/// What both dialects do, four at a time.
const SERVED: &[Task] = &[
    Task::Draw,
    Task::Upsample(0),
    Task::Vary(None, false),
    Task::Enlarge(2, false),
    Task::ZoomOut(20),
    Task::Pan(Direction::Left),
    Task::Square,
    Task::Reroll,
    Task::Blend,
    Task::Describe,
];
/// What the newer dialect does beside them.
const SERVED_BY_ACTION: &[Task] = &[Task::Seed, Task::Repaint, Task::Animate, Task::Extend(0)];

/// What is read of a task in the list of all: the rest may be very much.
#[derive(Deserialize)]
struct ListedTask {
    id: Option<String>,
    state: Option<String>,
    #[serde(rename = "submitTime")]
    submit_ms: Option<i64>,
}

/// The newer program lists no more of its tasks, the newest first.
const LISTED: usize = 100;
/// How far the clocks of the proxy and of this service may be apart.
const CLOCKS_APART_MS: i64 = 5 * 60 * 1000;

/// Whether a list of tasks shows everything that was submitted since the job was made.
fn is_complete(tasks: &[ListedTask], work: &Work) -> bool {
    if tasks.len() < LISTED {
        return true;
    }
    let oldest = tasks.iter().filter_map(|task| task.submit_ms).min();
    match (oldest, work.job_id.made_ms()) {
        (Some(oldest), Some(made)) => oldest < made - CLOCKS_APART_MS,
        _ => false,
    }
}

/// One way into a proxy.
struct Midjourney {
    http: VendorHttp,
    settings: MidjourneySettings,
    reasons: OwnReasons,
    poll_interval: Duration,
}

impl Midjourney {
    fn new(setup: Setup) -> Result<Self, FieldError> {
        let settings = MidjourneySettings::read(setup.settings)?;
        let reasons = settings.own_reasons()?;
        let mut http = setup.http;
        if !setup.credential.is_empty() {
            http = http.with_header("mj-api-secret", "credential", setup.credential.reveal())?;
        }
        let poll_interval = Duration::from_millis(settings.poll_ms.unwrap_or(2000).max(10));
        Ok(Self {
            http,
            settings,
            reasons,
            poll_interval,
        })
    }

    /// The start of every path; the newer dialect has one for each speed mode.
    fn prefix(&self, work: &Work) -> &'static str {
        let mode = work.request.get("mode").and_then(Value::as_str);
        match (self.settings.dialect, mode) {
            (ProxyDialect::Action, Some("relax")) => "mj-relax/mj",
            (ProxyDialect::Action, Some("fast")) => "mj-fast/mj",
            (ProxyDialect::Action, Some("turbo")) => "mj-turbo/mj",
            _ => "mj",
        }
    }

    fn has_list(&self) -> bool {
        let usual = self.settings.dialect == ProxyDialect::Action;
        self.settings.task_list.unwrap_or(usual)
    }

    async fn submit(&self, work: Work) -> Result<StartOutcome, Fault> {
        if work.brief.task == Task::Seed {
            let seed = work.unless_cancelled(self.seed(&work)).await;
            return seed.map(StartOutcome::Done);
        }
        let call = submit::call(&work, &self.settings)?;
        let path = format!("{}/{}", self.prefix(&work), call.route);
        let call = VendorRequest::post_json(path, &call.body).within(SUBMIT);
        let answer = self.http.submit(call).await?;
        let submitted = errors::submitted(&answer, &self.reasons);
        match submitted.map_err(|fault| errors::with_word(fault, &answer, &work))? {
            SubmitOutcome::Window(id, prompt) if self.settings.dialect == ProxyDialect::Action => {
                self.open(&work, &id, prompt.as_deref()).await
            }
            // The older dialect answers so when the same picture is there already.
            SubmitOutcome::Task(id) | SubmitOutcome::Window(id, _) => {
                Ok(StartOutcome::Ticket(json!({ "task": id })))
            }
        }
    }

    /// Confirms the window of an action. The task exists already: when the answer is lost, polling tells whether the
    /// window is still open.
    async fn open(
        &self,
        work: &Work,
        id: &str,
        prompt: Option<&str>,
    ) -> Result<StartOutcome, Fault> {
        match self.confirm(work, id, prompt).await {
            Ok(id) => Ok(StartOutcome::Ticket(json!({ "task": id }))),
            Err(fault) if fault.taken == Acceptance::Perhaps => Ok(StartOutcome::Ticket(
                json!({ "task": id, "window": prompt }),
            )),
            Err(fault) => Err(fault),
        }
    }

    async fn confirm(&self, work: &Work, id: &str, prompt: Option<&str>) -> Result<String, Fault> {
        let path = format!("{}/submit/modal", self.prefix(work));
        let body = submit::window(work, id, prompt);
        let call = VendorRequest::post_json(path, &body).within(SUBMIT);
        let answer = self.http.submit(call).await?;
        match errors::submitted(&answer, &self.reasons)? {
            SubmitOutcome::Task(id) | SubmitOutcome::Window(id, _) => Ok(id),
        }
    }

    async fn seed(&self, work: &Work) -> Result<WorkOutput, Fault> {
        let (_, notes) = submit::parent(work)?;
        let seed = match notes.seed {
            Some(seed) => seed,
            None => self.asked_seed(&notes.task).await?,
        };
        Ok(WorkOutput {
            seed: Some(seed),
            made: 1,
            ..WorkOutput::default()
        })
    }

    async fn asked_seed(&self, task: &str) -> Result<String, Fault> {
        let call = VendorRequest::get(format!("mj/task/{}/image-seed", segment(task))).within(SEED);
        let answer = self.http.ask(call).await?;
        let body = errors::judged(&answer, &self.reasons)?;
        match &body["result"] {
            Value::String(seed) if !seed.is_empty() => Ok(seed.clone()),
            Value::Number(seed) => Ok(seed.to_string()),
            _ => Err(Fault::vendor(Class::Retry, answer.start())),
        }
    }

    async fn poll_task(&self, work: &Work, ticket: &Value) -> Result<PollOutcome, Fault> {
        let id = ticket["task"].as_str().unwrap_or_default();
        let call = VendorRequest::get(format!("mj/task/{}/fetch", segment(id)));
        let answer = self.http.ask(call).await?;
        if !answer.is_good() {
            errors::judged(&answer, &self.reasons)?;
        }
        let task = if answer.bytes.is_empty() {
            Value::Null
        } else {
            answer.json()?
        };
        if task.is_null() {
            let detail = format!("the proxy does not know task {id}");
            return Ok(PollOutcome::Failed(Fault::vendor(Class::Gone, detail)));
        }
        match task["status"].as_str().unwrap_or_default() {
            "SUCCESS" => result::made(&self.http, work, id, &task)
                .await
                .map(PollOutcome::Done),
            "FAILURE" | "CANCEL" => Ok(PollOutcome::Failed(errors::failed(&task, &self.reasons))),
            "MODAL" if ticket.get("window").is_some() => self.reopen(work, id, ticket).await,
            _ => {
                let progress = task["progress"].as_str().unwrap_or_default();
                if let Ok(percent) = progress.trim_end_matches('%').parse() {
                    work.progress.set(percent);
                }
                Ok(PollOutcome::Running(self.poll_interval))
            }
        }
    }

    /// The window is still open, so nothing was begun. It is confirmed again, unless that takes the mask, which only
    /// a new attempt has.
    async fn reopen(&self, work: &Work, id: &str, ticket: &Value) -> Result<PollOutcome, Fault> {
        if work.brief.mask.is_some() {
            let detail = "the window for the mask was never confirmed";
            return Ok(PollOutcome::Failed(Fault::vendor(Class::Retry, detail)));
        }
        self.confirm(work, id, ticket["window"].as_str()).await?;
        Ok(PollOutcome::Running(self.poll_interval))
    }

    async fn find(&self, work: &Work) -> Result<Option<Value>, Fault> {
        let call = VendorRequest::get("mj/task/list").at_most(MOST_LIST);
        let answer = self.http.ask(call).await?;
        let unclear = || Fault::vendor(Class::Retry, answer.start());
        if !answer.is_good() {
            errors::judged(&answer, &self.reasons)?;
            return Err(unclear());
        }
        let tasks: Vec<ListedTask> =
            serde_json::from_slice(&answer.bytes).map_err(|_| unclear())?;
        let ours = |task: &&ListedTask| task.state.as_deref() == Some(&work.attempt_id);
        let Some(task) = tasks.iter().find(ours) else {
            if is_complete(&tasks, work) {
                return Ok(None);
            }
            // It may be there and paid for, where the list does not reach.
            return Err(Fault::vendor(Class::Gone, "the proxy lists too few tasks"));
        };
        let id = task.id.as_deref().ok_or_else(unclear)?;
        // Whether a window was still to be confirmed is seen when the task is polled.
        Ok(Some(json!({ "task": id, "window": null })))
    }
}

impl Backend for Midjourney {
    fn serves(&self, operation: &str) -> bool {
        let Some((_, submit)) = atelier_contract::operation(operation) else {
            return false;
        };
        let newer = self.settings.dialect == ProxyDialect::Action;
        if submit.in_fours {
            submit.makes_only(SERVED) || (newer && submit.makes_only(SERVED_BY_ACTION))
        } else {
            newer && submit.makes_only(&[Task::SwapFace])
        }
    }

    fn lost_submit(&self) -> LostSubmit {
        if self.has_list() {
            LostSubmit::LookUp
        } else {
            LostSubmit::Unknown
        }
    }

    fn submit_limit(&self, _: &Work) -> Duration {
        SUBMIT
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        Capabilities::all().support(operation, brief)
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(self.submit(work))
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
            let id = segment(ticket["task"].as_str().unwrap_or_default());
            let call = VendorRequest::post_json(format!("mj/task/{id}/cancel"), &json!({}));
            if let Err(fault) = self.http.ask(call).await {
                tracing::info!(detail = %fault.detail, "the proxy could not be told to cancel a task");
            }
        })
    }

    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async move { Ok(self.find(work).await?.map(StartOutcome::Ticket)) })
    }

    /// Asks for a task that cannot be: the answer tells whether the secret is taken.
    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move {
            let answer = self.http.ask(VendorRequest::get("mj/task/0/fetch")).await?;
            if answer.is_good() {
                return Ok(None);
            }
            errors::judged(&answer, &self.reasons).map(|_| None)
        })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
