//! The border between the house and whoever makes the media: work in, made files or a fault out.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::{Job, JobId, Role};
use bytes::Bytes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A boxed future, so that back ends can live in one list.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reads a file of the vault by its key.
pub type ReadFile = Arc<dyn Fn(String) -> Later<'static, Result<Bytes, Fault>> + Send + Sync>;

/// One attempt at one job.
#[derive(Clone)]
pub struct Work {
    /// The job.
    pub job_id: JobId,
    /// The attempt; vendors that take a client token get this one.
    pub attempt_id: String,
    /// The operation, `family.operation`.
    pub operation: String,
    /// The exact request with its defaults, for adapters of a single family.
    pub request: Fields,
    /// The neutral summary.
    pub brief: Brief,
    /// The bytes of `brief.sources`, in order.
    pub sources: Vec<Bytes>,
    /// The bytes of `brief.mask`.
    pub mask: Option<Bytes>,
    /// The bytes of `brief.video`.
    pub video: Option<Bytes>,
    /// The job it follows.
    pub parent: Option<Arc<Job>>,
    /// Earlier results it mentions.
    pub cited: Vec<Arc<Job>>,
    /// Reads files of the parent.
    pub read: ReadFile,
    /// Where to say how far it is.
    pub progress: Gauge,
    /// Set when nobody wants the result any more.
    pub cancelled: CancellationToken,
}

/// How far a piece of work is, in percent; readable from anywhere, never going down.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU8>);

impl Gauge {
    /// Says how far it is; 100 is reserved for the finished job.
    pub fn set(&self, percent: u8) {
        self.0.fetch_max(percent.min(99), Ordering::Relaxed);
    }

    /// How far it is.
    pub fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file that was made.
#[derive(Clone, Debug)]
pub struct MadeFile {
    /// What it is for.
    pub role: Role,
    /// Its media type.
    pub media_type: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The file itself.
    pub bytes: Bytes,
}

/// Everything a back end made for one job.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The files, results first.
    pub files: Vec<MadeFile>,
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
}

/// What came of a start.
pub enum Started {
    /// The vendor works on it; the ticket finds it again, also after a restart.
    Ticket(Value),
    /// It is done already.
    Done(Made),
}

/// What came of a poll.
pub enum Progress {
    /// Not yet; ask again after a while.
    Running(Duration),
    /// It is done.
    Done(Made),
}

/// What to do about a submit whose answer was never seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostSubmit {
    /// Submitting again is harmless.
    Repeat,
    /// It may have been accepted and paid for, so it is not submitted again.
    Unknown,
}

/// Who has to answer for a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The request's content was refused: no other back end would take it either.
    Caller,
    /// The worker account: out of credit, banned, over its limit.
    Worker,
    /// The vendor: down, slow, talking nonsense.
    Vendor,
    /// A mistake of this program.
    Us,
}

/// Why work failed. The message is for the caller; the detail only for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Who has to answer for it.
    pub whose: Whose,
    /// The word in brackets of the job's message, such as `Image denied`.
    pub kind: &'static str,
    /// For the caller.
    pub message: String,
    /// The field to blame, when one is.
    pub field: Option<String>,
    /// Whether trying again may help.
    pub retry: bool,
    /// For the log.
    pub detail: String,
}

impl Fault {
    /// The content was refused by review.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Whose::Caller, "Image denied", message)
    }

    /// An address did not lead to a usable image.
    pub fn bad_link(field: &str, message: impl Into<String>) -> Self {
        let field = Some(field.to_owned());
        Self {
            field,
            ..Self::new(Whose::Caller, "Invalid link", message)
        }
    }

    /// The inputs cannot be worked with.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(Whose::Caller, "Invalid parameter", message)
    }

    /// A mistake of this program; the caller reads a constant sentence.
    pub fn ours(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self {
            detail,
            ..Self::new(Whose::Us, "Internal error", "the work could not be done")
        }
    }

    /// A fault without detail that is not worth another try.
    pub fn new(whose: Whose, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            whose,
            kind,
            message: message.into(),
            field: None,
            retry: false,
            detail: String::new(),
        }
    }

    /// The job's message: `[Kind] explanation`.
    pub fn job_message(&self) -> String {
        match &self.field {
            Some(field) => format!("[{}] {field}: {}", self.kind, self.message),
            None => format!("[{}] {}", self.kind, self.message),
        }
    }
}

/// Whoever makes the media.
pub trait Backend: Send + Sync {
    /// Its name in configuration, attempts and metrics.
    fn name(&self) -> &str;
    /// Whether it can do an operation.
    fn serves(&self, operation: &str) -> bool;
    /// How many jobs it works on at once.
    fn slots(&self) -> usize;
    /// What to do about a submit whose answer was never seen.
    fn lost_submit(&self) -> LostSubmit;
    /// Begins the work; may also finish it.
    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>>;
    /// Asks how far a ticket is.
    fn poll<'a>(&'a self, work: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>>;
    /// Asks to stop; nobody waits for the outcome.
    fn cancel<'a>(&'a self, ticket: &'a Value) -> Later<'a, ()>;
}
