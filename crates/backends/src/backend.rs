//! The border between the service and whoever makes the media: work in, made files or a fault out.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::{FaultKind, FileRole, Job, JobId};
use atelier_fairness::reservation::Reservation;
use atelier_fairness::threads::TaskFailure;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::hooks::WebhookRequest;
use crate::support::FieldSupport;

/// A boxed future, so that back ends can live in one list.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reads a file of the asset store by its key.
pub type FileReader = Arc<dyn Fn(String) -> BoxFuture<'static, Result<Bytes, Fault>> + Send + Sync>;

/// One attempt at one job.
#[derive(Clone)]
pub struct Work {
    /// The job that this is an attempt of.
    pub job_id: JobId,
    /// The attempt; vendors that take a client token get this one.
    pub attempt_id: String,
    /// Whose turn it is where many share what is inside this process; no vendor reads it.
    pub whose: Arc<str>,
    /// Whether it is long beside other work of the same account: a clip, or one of many that came together.
    pub long: bool,
    /// What was kept inside this process for it to begin at once.
    pub reserved: Reservation,
    /// The operation, `family.operation`.
    pub operation: String,
    /// The exact request with its defaults, for adapters of a single family.
    pub request: Fields,
    /// What is wanted, in terms that belong to no family and no vendor.
    pub brief: Brief,
    /// The bytes of `brief.sources`, in order.
    pub sources: Vec<Bytes>,
    /// The bytes of `brief.hints`, in order, for back ends that look at them.
    pub hints: Vec<Bytes>,
    /// The bytes of `brief.mask`.
    pub mask: Option<Bytes>,
    /// The bytes of `brief.video`.
    pub video: Option<Bytes>,
    /// The job it follows.
    pub parent: Option<Arc<Job>>,
    /// Earlier results it mentions.
    pub cited: Vec<Arc<Job>>,
    /// Reads files of the parent.
    pub read: FileReader,
    /// Where to say how far it is.
    pub progress: ProgressTracker,
    /// Set when nobody wants the result any more.
    pub cancelled: CancellationToken,
    /// Where the vendor may post, with any body, that this attempt is worth a look; polling works without it.
    pub hook_url: Option<String>,
}

/// How far a piece of work is, in percent, when somebody began with it and whether it only waits; readable from anywhere,
/// never going down.
#[derive(Clone, Debug, Default)]
pub struct ProgressTracker(Arc<TrackerState>);

#[derive(Debug, Default)]
struct TrackerState {
    percent: AtomicU8,
    begun: OnceLock<Instant>,
    rests: AtomicBool,
    turned: Notify,
}

impl ProgressTracker {
    /// Says that somebody works on it from now on: a thread paints it, or a vendor has taken it.
    pub fn begin(&self) {
        self.0.begun.get_or_init(Instant::now);
    }

    /// How long ago somebody began to work on it.
    pub fn begun(&self) -> Option<Duration> {
        self.0.begun.get().map(Instant::elapsed)
    }

    /// Says how far it is; 100 is reserved for the finished job. What has come any way at all is worked on.
    pub fn set(&self, percent: u8) {
        if percent > 0 {
            self.begin();
        }
        self.0.percent.fetch_max(percent.min(99), Ordering::Relaxed);
    }

    /// How far it is.
    pub fn get(&self) -> u8 {
        self.0.percent.load(Ordering::Relaxed)
    }

    /// Says whether the work only waits from now on, so that its place may be another's meanwhile.
    pub fn rest(&self, rests: bool) {
        if self.0.rests.swap(rests, Ordering::AcqRel) != rests {
            self.0.turned.notify_one();
        }
    }

    /// Whether the work only waits, as soon as that is another answer than before.
    pub async fn idle_changed(&self, before: bool) -> bool {
        loop {
            let rests = self.0.rests.load(Ordering::Acquire);
            if rests != before {
                return rests;
            }
            self.0.turned.notified().await;
        }
    }
}

/// A file that was made.
#[derive(Clone, Debug, Default)]
pub struct OutputFile {
    /// What it is for.
    pub role: FileRole,
    /// The media type that is served with it.
    pub media_type: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The content, as it is stored.
    pub bytes: Bytes,
    /// What the vendor delivered, where the file was made of it and one of it says by a manifest of its own how it came to be.
    pub origins: Vec<Bytes>,
}

/// What a vendor says that it took for a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of the currency.
    pub micros: i64,
    /// `USD`, or what the vendor counts in, such as `credits` or `tokens`.
    pub currency: &'static str,
}

impl Cost {
    /// A price as a vendor writes it; `None` for what cannot be one.
    pub fn of(amount: f64, currency: &'static str) -> Option<Self> {
        let micros = (amount * 1e6).round();
        let sensible = micros.is_finite() && (0.0..1e15).contains(&micros);
        sensible.then_some(Self {
            micros: micros as i64,
            currency,
        })
    }
}

/// Everything a back end made for one job.
#[derive(Clone, Debug, Default)]
pub struct WorkOutput {
    /// The files, results first.
    pub files: Vec<OutputFile>,
    /// Prompts found by describe.
    pub prompts: Vec<String>,
    /// The seed, where it is the result.
    pub seed: Option<String>,
    /// The prompt really used, where it was rewritten.
    pub revised_prompt: Option<String>,
    /// A name later requests may cite.
    pub alias: Option<String>,
    /// How many of the asked-for items were made.
    pub made: u32,
    /// What follow-ups on this back end need.
    pub notes: Value,
    /// What the vendor took for it, where it says so.
    pub cost: Option<Cost>,
    /// Fields of the request that had no effect.
    pub ignored: Vec<String>,
    /// The size of a picture that came smaller than it was asked for, and was enlarged.
    pub enlarged_from: Option<(u32, u32)>,
}

/// What came of a start.
#[derive(Debug)]
pub enum StartOutcome {
    /// The vendor works on it; the ticket finds it again, also after a restart.
    Ticket(Value),
    /// It is done already.
    Done(WorkOutput),
}

/// What came of a poll. An `Err` beside it means that the question itself failed: the vendor still has the work, and
/// is asked again.
pub enum PollOutcome {
    /// Not yet; ask again after a while.
    Running(Duration),
    /// It is done, and these are its files.
    Done(WorkOutput),
    /// The vendor says that it ended without a result; one that was perhaps taken has an end that nobody knows.
    Failed(Fault),
    /// A part of it is done, and the next one is to be ordered.
    Step(NextPass),
}

/// The order of a later part of a piece of work, which costs: what is written down comes first.
pub struct NextPass {
    /// The ticket while the order is out. One that is found after a restart says that the order may have been taken.
    pub intent: Value,
    /// Sends the order, when it is first waited for: the ticket that takes the place of the one before. A fault that was
    /// not taken leaves that one as it was.
    pub order: BoxFuture<'static, Result<Value, Fault>>,
}

/// What to do about a submit whose answer was never seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostSubmit {
    /// Submitting again is harmless.
    Repeat,
    /// The vendor can be asked whether it has the work, by the attempt's id.
    LookUp,
    /// It may have been accepted and paid for, so it is not submitted again.
    Unknown,
}

/// What a fault says about the request, the worker account and the vendor; the runner and the pool act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The vendor is down, slow or talks nonsense: it may pass.
    Retry,
    /// The worker account is over its rate: it rests for a while.
    Rate,
    /// The worker account has no money or credits left.
    Quota,
    /// The worker account is banned, disabled, or its credentials are wrong.
    Dead,
    /// The content was refused by review: nobody else is asked.
    Reject,
    /// The request cannot be worked with: nobody else is asked.
    BadRequest,
    /// This vendor cannot do this very thing, and has not begun: another back end may.
    Unable,
    /// It does not know the model it was asked for, or does not offer it to this worker account: another back end may.
    Model,
    /// The result is gone, or the vendor does not know the work any more.
    Gone,
    /// This service could not do its own part, such as reaching its store: it may pass, and no worker is to blame.
    Service,
    /// A mistake of this program.
    Bug,
}

impl Class {
    /// Every class, for tables and metrics.
    pub const ALL: [Self; 11] = [
        Self::Retry,
        Self::Rate,
        Self::Quota,
        Self::Dead,
        Self::Reject,
        Self::BadRequest,
        Self::Unable,
        Self::Model,
        Self::Gone,
        Self::Service,
        Self::Bug,
    ];

    /// Whether the same job may well succeed later or elsewhere.
    pub const fn may_pass(self) -> bool {
        matches!(
            self,
            Self::Retry | Self::Rate | Self::Quota | Self::Dead | Self::Service
        )
    }

    /// Who is to blame.
    pub const fn blamed(self) -> &'static str {
        match self {
            Self::Reject | Self::BadRequest => "caller",
            Self::Model => "model",
            Self::Rate | Self::Quota | Self::Dead => "account",
            Self::Retry | Self::Unable | Self::Gone => "vendor",
            Self::Service | Self::Bug => "service",
        }
    }

    /// The word in logs, attempts and the operator's view.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Rate => "rate",
            Self::Quota => "quota",
            Self::Dead => "dead",
            Self::Reject => "reject",
            Self::BadRequest => "bad_request",
            Self::Unable => "unable",
            Self::Model => "model",
            Self::Gone => "gone",
            Self::Service => "house",
            Self::Bug => "bug",
        }
    }
}

/// Whether the vendor may have taken the work when a start failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// Certainly not: nothing was sent, or the vendor refused it.
    #[default]
    No,
    /// The request went out and no answer came back.
    Perhaps,
}

/// Why work failed. The message is for the caller; the detail only for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What it says about request, worker and vendor.
    pub class: Class,
    /// What it is to the caller.
    pub kind: FaultKind,
    /// A reason that the caller may read.
    pub message: String,
    /// The field to blame, when one is.
    pub field: Option<String>,
    /// How long the vendor asked to be left alone.
    pub after: Option<Duration>,
    /// Whether the vendor may have taken the work all the same.
    pub taken: Acceptance,
    /// What the vendor took for parts of the work all the same.
    pub cost: Option<Cost>,
    /// A reason for operators; no caller reads it.
    pub detail: String,
}

/// How the detail of a fault begins that is about a model: whoever looks at its routes finds the evidence by it.
pub fn unknown_model(model: &str) -> String {
    format!("the vendor does not know the model {model}")
}

impl From<TaskFailure> for Fault {
    fn from(failure: TaskFailure) -> Self {
        Self::ours(failure.to_string())
    }
}

impl Fault {
    /// The content was refused by review.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Class::Reject, FaultKind::Denied, message)
    }

    /// An address did not lead to a usable image.
    pub fn bad_link(field: &str, message: impl Into<String>) -> Self {
        let field = Some(field.to_owned());
        Self {
            field,
            ..Self::new(Class::BadRequest, FaultKind::BadLink, message)
        }
    }

    /// The inputs cannot be worked with.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(Class::BadRequest, FaultKind::BadParameter, message)
    }

    /// A mistake of this program; the caller reads a constant sentence.
    pub fn ours(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self {
            detail,
            ..Self::new(
                Class::Bug,
                FaultKind::Internal,
                "the work could not be done",
            )
        }
    }

    /// This service could not do its part for now; the caller reads a constant sentence.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self {
            class: Class::Service,
            ..Self::ours(detail)
        }
    }

    /// Something about the vendor or its worker account; the caller reads a constant sentence for each class.
    pub fn vendor(class: Class, detail: impl Into<String>) -> Self {
        let message = match class {
            Class::Rate | Class::Quota | Class::Dead => "no back end could take the work",
            Class::Model => "the back end does not know the model",
            Class::Gone => "the result was no longer there when it was fetched",
            _ => "the back end failed",
        };
        let detail = detail.into();
        Self {
            detail,
            ..Self::new(class, FaultKind::Internal, message)
        }
    }

    /// What the vendor delivered cannot be used. It would deliver the same again, and the worker account did its part.
    pub fn useless(detail: impl Into<String>) -> Self {
        Self {
            message: "the result of the back end cannot be used".to_owned(),
            ..Self::vendor(Class::Gone, detail)
        }
    }

    /// The vendor does not know the model: another back end may, and the operator has to look at the route.
    pub fn unknown_model(detail: impl Into<String>) -> Self {
        Self::vendor(Class::Model, detail)
    }

    /// The same with what was taken before it came to this, unless more is known.
    #[must_use]
    pub fn paid(self, cost: Option<Cost>) -> Self {
        Self {
            cost: self.cost.or(cost),
            ..self
        }
    }

    /// A fault without detail.
    pub fn new(class: Class, kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            class,
            kind,
            message: message.into(),
            field: None,
            after: None,
            taken: Acceptance::No,
            cost: None,
            detail: String::new(),
        }
    }

    /// The job's message: `[Kind] explanation`.
    pub fn job_message(&self) -> String {
        match &self.field {
            Some(field) => self.kind.message(&format!("{field}: {}", self.message)),
            None => self.kind.message(&self.message),
        }
    }
}

/// Whoever makes the media: one worker account at one vendor, or the embedded engine. No method has a default: whoever
/// stands around another back end would forget to pass it on.
pub trait Backend: Send + Sync {
    /// Whether it can do an operation.
    fn serves(&self, operation: &str) -> bool;
    /// What to do about a submit whose answer was never seen.
    fn lost_submit(&self) -> LostSubmit;
    /// How long after its intent a submit may still be on its way, everything that goes before it included: for so long a
    /// vendor that denies having the work may merely not have it yet.
    fn submit_limit(&self, work: &Work) -> Duration;
    /// The same after a submit that failed here, counted from then: how long the last of its calls may still be on its way.
    fn last_call_limit(&self, work: &Work) -> Duration {
        self.submit_limit(work)
    }
    /// Whether it looks at the pictures of `brief.hints` itself; others find their addresses in the words.
    fn takes_hints(&self) -> bool;
    /// What becomes of the wishes of a request here, as far as that is known before anybody is asked.
    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport>;
    /// How many seconds of a video are ordered for a request: some vendors only make certain lengths, and the next longer one
    /// is what they are paid for.
    fn ordered_seconds(&self, _operation: &str, brief: &Brief) -> u32 {
        brief.seconds
    }
    /// Keeps what a piece of somebody's work needs to begin at once, if it needs nothing but its words; `None` when it would
    /// have to wait, or when a vendor says when it begins.
    fn reserve(&self, whose: &Arc<str>, brief: &Brief, long: bool) -> Option<Reservation>;
    /// Begins the work; may also finish it. Whoever finishes it says in its gauge when somebody begins with it.
    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>>;
    /// Asks how far a ticket is. The work comes without the bytes of its inputs.
    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>>;
    /// Asks to stop; nobody waits for the outcome.
    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()>;

    /// Looks for work whose submit was lost, by its attempt id: what a start would have said, or `None` when the vendor
    /// does not have it. The work comes with its inputs. What is there only in part may still become whole; when it is `late`,
    /// nothing of it is on its way any more, and a part is taken as it is, or taken back where it is worth nothing.
    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        late: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>>;

    /// Asks the vendor whether it is well and takes the credentials; nothing is made and nothing is paid. What is left of the
    /// worker account's money, where the vendor says so.
    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>>;

    /// Whether a vendor that is well has models that the operator's catalogue asks it for, where it says which it has.
    fn find_models<'a>(&'a self, _names: &'a [String]) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }

    /// Whether what was posted to the hook of an attempt is the vendor's, where it signs what it posts.
    fn verify_webhook<'a>(&'a self, post: &'a WebhookRequest) -> BoxFuture<'a, bool>;

    /// Whether posts are all that the vendor says about work that it has taken, so that they are kept.
    fn keeps_posts(&self) -> bool {
        false
    }

    /// The key in the asset store under which a post about an attempt is kept until it is asked for; `None` for one that says
    /// nothing.
    fn kept_post(&self, _attempt_id: &str, _post: &WebhookRequest) -> Option<String> {
        None
    }
}
