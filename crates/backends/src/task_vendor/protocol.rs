//! What one vendor of tasks says and understands, and what passes between it and `TaskBackend`.

use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use serde_json::{Value, json};

use super::base::TaskBase;
use super::capabilities::Capabilities;
use super::reply::{AnswerForm, TaskReply};
use crate::backend::{Cost, Fault, LostSubmit, Work};
use crate::hooks::WebhookRequest;
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::images::FinishOptions;
use crate::vendor_errors::{self, ErrorRule, VendorError};

/// Identifiers are longer than this only by mistake.
const MOST_ID: usize = 512;

/// What one vendor says and understands.
pub(crate) trait TaskVendor: Send + Sync + 'static {
    /// The connection and the waiting times.
    fn base(&self) -> &TaskBase;
    /// What has to be there before any call, such as a token that passes.
    fn prepare(&self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }
    /// Whether it can do an operation.
    fn serves(&self, operation: &str) -> bool;
    /// What its model can do for a request; what calls are built by.
    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault>;
    /// How the answer to a start is read.
    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::PLAIN
    }
    /// How the answer to a question about a task is read.
    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::PLAIN
    }
    /// Whether the answer to a start is the result, and may be let go when nobody wants it any more.
    fn makes_in_call(&self, work: &Work) -> bool {
        matches!(self.start_form(work), AnswerForm::Document(blobs) if !blobs.is_empty())
    }
    /// How many starts a piece of work takes: one for each result, unless one call makes several.
    fn starts(&self, work: &Work) -> u32 {
        work.brief.count.clamp(1, 16)
    }
    /// What to send for a piece of work; what the vendor cannot do is said here, before anything is sent.
    fn plan<'a>(
        &'a self,
        work: &'a Work,
    ) -> impl Future<Output = Result<TaskPlan<'a>, Fault>> + Send;
    /// What a good answer to a start says.
    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault>;
    /// The call to make in place of a start that was refused, where the refusal says that it may be taken in another form.
    /// A fault says that this could not be found out.
    fn instead(
        &self,
        _: VendorRequest,
        _: &VendorResponse,
    ) -> impl Future<Output = Result<Option<VendorRequest>, Fault>> + Send {
        std::future::ready(Ok(None))
    }
    /// The question about a task.
    fn poll_request(&self, task: &Value) -> VendorRequest;
    /// What a good answer to it says.
    fn task_status(&self, work: &Work, task: &Value, reply: TaskReply)
    -> Result<TaskStatus, Fault>;
    /// The vendor's own codes, looked at before the status of an answer.
    fn error_rules(&self) -> &[ErrorRule] {
        &[]
    }
    /// What a document says about a failure, where it is one.
    fn read_error(&self, body: &Value) -> Option<VendorError> {
        VendorError::read(body)
    }
    /// What any other answer says.
    fn fault(&self, answer: &VendorResponse) -> Fault {
        let said = answer.json().ok().and_then(|body| self.read_error(&body));
        vendor_errors::fault_by(self.error_rules(), answer, said)
    }
    /// What an answer to a question that is not good says about the task, where it says that it has ended.
    fn ended(&self, _: &Value, _: &VendorResponse) -> Option<Fault> {
        None
    }
    /// The call that stops a task, where there is one.
    fn stop(&self, _: &Value) -> Option<VendorRequest> {
        None
    }
    /// What to do about a start whose answer was never seen.
    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Unknown
    }
    /// The question that finds a task again whose start was lost: the call for the start at a place.
    fn lost(&self, _: &Work, _: u32) -> Option<VendorRequest> {
        None
    }
    /// The task in the answer to it; `None` when the vendor never had it.
    fn found(&self, _: &Work, _: TaskReply) -> Result<Option<Value>, Fault> {
        Ok(None)
    }
    /// The task that the only start of a piece of work comes to, for a vendor that can be told its name: one whose answer was
    /// lost is found again by starting it once more.
    fn named_task(&self, _: &Work) -> Option<Value> {
        None
    }
    /// The key in the asset store of what the vendor posts about a task, for one that says nothing to those who ask.
    fn posted_at(&self, _: &Value) -> Option<String> {
        None
    }
    /// Whether it posts what has to be kept.
    fn keeps_posts(&self) -> bool {
        false
    }
    /// Under which key a post about an attempt is kept.
    fn kept_post(&self, _attempt_id: &str, _: &WebhookRequest) -> Option<String> {
        None
    }
    /// The call that adds so many seconds to a video, known by the notes of what was brought, for vendors that make long
    /// ones in several passes.
    fn next_pass(&self, _: &Work, _: &Value, _: u32) -> Result<VendorRequest, Fault> {
        Err(Fault::ours("a video that goes on where none does"))
    }
    /// What costs are counted in.
    fn currency(&self) -> &'static str {
        "USD"
    }
    /// A call that tells whether the vendor is well and takes the credential.
    fn probe(&self) -> VendorRequest;
    /// What a good answer to the probe means that is a refusal all the same.
    fn probe_refusal(&self, _: &VendorResponse) -> Option<Fault> {
        None
    }
    /// Whether an answer to the probe that is not good is good enough.
    fn is_healthy(&self, _: &VendorResponse) -> bool {
        false
    }
    /// What a good answer to the probe says is left of the worker account's money.
    fn balance(&self, _: &VendorResponse) -> Option<Cost> {
        None
    }
    /// Whether what was posted to the hook of an attempt is the vendor's, where it signs what it posts; elsewhere the
    /// address of the hook is the proof.
    fn verify_webhook(&self, _: &WebhookRequest) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }
    /// What else is looked at when the vendor is well, such as whether it has the models.
    fn inspect(&self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }
}

/// What to send for a piece of work.
pub(crate) struct TaskPlan<'a> {
    /// How many starts it takes.
    pub(crate) starts: u32,
    /// The call of the start at a place.
    pub(crate) call: Box<dyn Fn(u32) -> VendorRequest + Send + Sync + 'a>,
    /// The seconds that later passes add to each, one after the other.
    pub(crate) passes: Vec<u32>,
    /// How pictures are finished that come with the answer; later ones have its size alone.
    pub(crate) finish: FinishOptions,
}

impl<'a> TaskPlan<'a> {
    /// One start for each result, all alike.
    pub(crate) fn alike(work: &Work, call: VendorRequest, finish: FinishOptions) -> Self {
        Self::each(work, finish, move |_| call.clone())
    }

    /// One start for all results.
    pub(crate) fn once(call: VendorRequest, finish: FinishOptions) -> Self {
        Self {
            starts: 1,
            passes: Vec::new(),
            call: Box::new(move |_| call.clone()),
            finish,
        }
    }

    /// The same, with later passes.
    pub(crate) fn then(self, passes: Vec<u32>) -> Self {
        Self { passes, ..self }
    }

    /// One start for each result.
    pub(crate) fn each(
        work: &Work,
        finish: FinishOptions,
        call: impl Fn(u32) -> VendorRequest + Send + Sync + 'a,
    ) -> Self {
        Self {
            starts: work.brief.count.clamp(1, 16),
            passes: Vec::new(),
            call: Box::new(call),
            finish,
        }
    }
}

/// What a vendor tells about work.
pub(crate) enum TaskStatus {
    /// It has a name now, and is to be asked about; in answer to a question: ask about this at once.
    Task(Value),
    /// Not yet; how far it is, in percent.
    Running(Option<u8>),
    Done(TaskResult),
    /// It ended without a result.
    Failed(Fault),
}

impl TaskStatus {
    /// The task that an answer names by this identifier of its.
    pub(crate) fn task(reply: &TaskReply, number: &Value) -> Result<Self, Fault> {
        match id(number) {
            Some(id) => Ok(Self::Task(json!({"id": id}))),
            None => Err(reply.nonsense()),
        }
    }
}

/// A file of a result.
pub(crate) enum FileSource {
    /// A URL to fetch it from.
    Address(String),
    /// The content, from the answer itself.
    File(Bytes),
}

/// What a task brought.
#[derive(Default)]
pub(crate) struct TaskResult {
    pub(crate) files: Vec<FileSource>,
    pub(crate) seed: Option<u64>,
    pub(crate) revised_prompt: Option<String>,
    pub(crate) prompts: Vec<String>,
    /// What follow-ups need, such as the name of a video that can be extended.
    pub(crate) notes: Value,
    pub(crate) cost: Option<Cost>,
}

impl TaskResult {
    /// Files at these addresses.
    pub(crate) fn at<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        let addresses = addresses.into_iter();
        Self {
            files: addresses
                .map(|address| FileSource::Address(address.to_owned()))
                .collect(),
            ..Self::default()
        }
    }
}

/// A vendor's identifier, if it can be one: any characters, as long as they can be sent.
pub(crate) fn id(value: &Value) -> Option<&str> {
    let id = value.as_str()?;
    let is_step = matches!(id, "." | "..");
    let fits = !id.is_empty() && id.len() <= MOST_ID;
    (fits && !is_step && !id.chars().any(char::is_control)).then_some(id)
}

/// The identifier of a task, as a part of a path.
pub(crate) fn encoded_id(task: &Value) -> String {
    encoded(task["id"].as_str().unwrap_or_default())
}

/// Whether a vendor serves an operation by the tasks that it comes to; nothing that is made four at a time.
pub(crate) fn serves_tasks(operation: &str, is_served: impl Fn(Task) -> bool) -> bool {
    let found = atelier_contract::operation(operation);
    found.is_some_and(|(_, submit)| {
        !submit.in_fours
            && !submit.makes.is_empty()
            && submit.makes.iter().all(|task| is_served(*task))
    })
}
