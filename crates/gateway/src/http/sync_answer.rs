//! Answers a synchronous call: waits for its job and renders the result, in the response or as events. The job does not care
//! whether anybody waits.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::family::{FinishedJob, StreamEvent, SubmitEndpoint};
use atelier_contract::models::{render_answer, render_events};
use atelier_contract::{AccountId, Code, Job, Refusal};
use atelier_engine::Submission;
use atelier_fairness::share::FairPermit;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::timeout;

use super::admission::Admission;
use super::answer;
use super::answer_memory::AnswerMemory;
use super::denial::Denial;
use super::late_answer::{self, Filler};
use super::payload::Payload;
use super::reply::{self, RefusalShape, Reply};
use super::request::HandlerResult;
use crate::app::App;

/// A job that is out of time is failed within this many seconds; then there is an answer.
const SLACK_S: u64 = 10;
/// White space before JSON means nothing.
const SPACE: Bytes = Bytes::from_static(b" ");
/// A silent stream says this often that it is alive.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": still here\n\n");

/// A call whose job was accepted, and how its result is shown.
pub(crate) struct SyncWait {
    pub(crate) app: Arc<App>,
    pub(crate) account_id: AccountId,
    pub(crate) submitted: Submission,
    pub(crate) entry: &'static SubmitEndpoint,
    /// How refusals look.
    pub(crate) shape: RefusalShape,
    /// Whether the answer carries the bytes of the files.
    pub(crate) wants_bytes: fn(&Job) -> bool,
    pub(crate) render: fn(&FinishedJob<'_>) -> Value,
    pub(crate) patience_s: u32,
}

impl SyncWait {
    /// The job once it has finished.
    async fn job(&self) -> Result<Job, Refusal> {
        let patience = Duration::from_secs(u64::from(self.patience_s) + SLACK_S);
        let (jobs, id) = (self.app.engine.jobs(), &self.submitted.job_id);
        match &self.submitted.changes {
            Some(changes) => {
                jobs.finished_since(&self.account_id, id, changes, patience)
                    .await
            }
            None => jobs.finished(&self.account_id, id, patience).await,
        }
    }

    /// Waits and answers with the result. Where that takes long, an answer begins before it is known how it ends, so that
    /// proxies that give up on a silent service stay; a failure is then told in its body.
    pub(crate) async fn answer(self, admission: &Arc<Admission>) -> HandlerResult {
        let every = Duration::from_secs(self.app.config.answers.keep_alive_s);
        if every.is_zero() {
            return self.result().await;
        }
        let (app, shape) = (Arc::clone(&self.app), self.shape);
        let mut made: BoxFuture<'static, HandlerResult> = Box::pin(self.result());
        if let Ok(answer) = timeout(every, &mut made).await {
            return answer;
        }
        let late = LateReply {
            app,
            shape,
            holder: Arc::clone(admission.holder()),
        };
        // As anybody who waits, it has the place that it came with until its answer is made.
        let place = admission.take_slot();
        let bytes = async move {
            let made = AssertUnwindSafe(made).catch_unwind().await;
            let reply = match made.unwrap_or_else(|_| Err(broken().into())) {
                Ok(reply) => reply,
                Err(denial) => reply::denied(late.shape, &denial),
            };
            let bytes = late.counted(reply).await;
            drop(place);
            bytes.unwrap_or_else(|denial| bytes_of(reply::denied(late.shape, &denial)))
        };
        let filler = Filler {
            bytes: SPACE,
            every,
            at_once: true,
        };
        Ok(reply::late_json(late_answer::flow(filler, Box::pin(bytes))))
    }

    async fn result(self) -> HandlerResult {
        let job = self.job().await?;
        let value = answer::finished(&self.app, self.wants_bytes, &job, |done| {
            render_answer(self.render, done)
        })
        .await?;
        Ok(reply::json_of(&value))
    }

    /// Answers with events: comments until the result is there, then the result, or why there is none.
    pub(super) async fn stream(
        self,
        admission: &Arc<Admission>,
        place: FairPermit,
    ) -> HandlerResult {
        let (jobs, id) = (self.app.engine.jobs(), self.submitted.job_id.clone());
        if self.submitted.replayed {
            // What repeats an earlier call is not read again, and that one may have been for a model without a stream.
            let job = jobs.job(&self.account_id, &id).await?;
            self.entry.check_streamed(&job)?;
        }
        let late = LateReply {
            app: Arc::clone(&self.app),
            shape: self.shape,
            holder: Arc::clone(admission.holder()),
        };
        let made = async move {
            let told = AssertUnwindSafe(self.events()).catch_unwind().await;
            let text: String = match told.unwrap_or_else(|_| Err(broken())) {
                Ok(events) => events.iter().map(event).collect(),
                Err(refusal) => failure(late.shape, &refusal),
            };
            let bytes = late.counted(reply::json_bytes(text.into())).await;
            drop(place);
            bytes.unwrap_or_else(|denial| failure(late.shape, &denial.refusal).into())
        };
        let filler = Filler {
            bytes: COMMENT,
            every: COMMENT_EVERY,
            at_once: false,
        };
        let mut reply = reply::events(late_answer::flow(filler, Box::pin(made)));
        answer::name_job(&mut reply, id.as_str());
        Ok(reply)
    }

    async fn events(self) -> Result<Vec<StreamEvent>, Refusal> {
        let job = self.job().await?;
        let events = |done: &FinishedJob<'_>| render_events(self.entry.events, done);
        answer::finished(&self.app, self.wants_bytes, &job, events).await
    }
}

fn broken() -> Refusal {
    Refusal::new(Code::Internal, "something went wrong here")
}

fn event(event: &StreamEvent) -> String {
    format!("event: {}\ndata: {}\n\n", event.name, event.data)
}

/// Why there is no result, in the form that the vendor's own client libraries throw.
fn failure(shape: RefusalShape, refusal: &Refusal) -> String {
    let mut body = reply::denied_body(shape, refusal);
    body.insert("type".into(), "error".into());
    event(&StreamEvent {
        name: "error",
        data: Value::Object(body),
    })
}

/// The bytes of an answer of which the beginning is sent, counted until they are taken as those of every other answer are.
pub(crate) async fn counted(app: &App, holder: &Arc<str>, bytes: Bytes) -> Result<Bytes, Denial> {
    let reply = reply::json_bytes(bytes);
    let reply = if AnswerMemory::counts(&reply, true) {
        app.answer_memory.count(reply, holder).await?
    } else {
        reply
    };
    Ok(bytes_of(reply))
}

/// An answer of which the beginning is sent.
struct LateReply {
    app: Arc<App>,
    shape: RefusalShape,
    /// In whose name its bytes are counted.
    holder: Arc<str>,
}

impl LateReply {
    /// The bytes of what was made, counted until they are taken as those of every other answer are.
    async fn counted(&self, reply: Reply) -> Result<Bytes, Denial> {
        counted(&self.app, &self.holder, bytes_of(reply)).await
    }
}

/// The body of an answer that was made whole.
fn bytes_of(reply: Reply) -> Bytes {
    match reply.into_body() {
        Payload::Whole(bytes) | Payload::Static(bytes) | Payload::Counted(bytes) => bytes,
        Payload::Stream(..) | Payload::Tracked(..) => Bytes::new(),
    }
}
