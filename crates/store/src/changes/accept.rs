//! Accepting a job: quota held, job queued, answer remembered, in one commit.

use atelier_contract::{LimitWindow, Quota, Speed};

use crate::attribution::Attribution;
use crate::changes::attempt::Attempt;

/// A job to be accepted.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub id: String,
    pub account_id: String,
    /// Its family and its own name, as in `artgen.imagine`.
    pub operation: String,
    /// The queue whose limit it counts against.
    pub queue: String,
    /// How fast it was asked for.
    pub speed: Speed,
    /// The request as JSON.
    pub request: String,
    /// What to hold for it.
    pub price: Quota,
    /// The job it follows.
    pub parent_id: Option<String>,
    /// Where it may run; empty for any back end of the operator's.
    pub lane: String,
    /// The worker account that made the job it follows.
    pub follows: Option<String>,
    /// Where the result is posted to.
    pub hook_url: Option<String>,
    pub created_ms: i64,
    /// How far that is ahead of the service's own time, in which its turn comes and its deadline is.
    pub ahead_ms: i64,
    /// How much later than that its turn comes.
    pub turn_delay_ms: i64,
    /// How much later its turn comes for every unfinished job its account already has in the queue.
    pub turn_step_ms: i64,
    /// When it is failed if it has not finished.
    pub deadline_ms: i64,
    /// Whether it was submitted together with others.
    pub batched: bool,
    /// The model of the catalogue that it names.
    pub model: Option<String>,
    /// The revision of that model; it must be stored.
    pub model_revision: Option<u32>,
    /// The lines of its price as JSON, where they are known.
    pub price_lines: Option<String>,
    /// Who spends on it.
    pub attribution: Attribution,
}

impl NewJob {
    /// How many bytes of it are its caller's words.
    pub(crate) fn words(&self) -> usize {
        self.request.len() + self.attribution.bytes()
    }
}

/// The caller's promise that repeats mean the same call.
#[derive(Clone, Debug)]
pub struct Idempotency {
    pub key: String,
    /// Digest of operation and body.
    pub fingerprint: String,
    /// Keys remembered before this time are void and are replaced.
    pub keep_after_ms: i64,
}

/// Who runs a job, and until when unless renewed.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The node that holds it.
    pub owner: String,
    pub until_ms: i64,
}

/// Everything one acceptance writes.
#[derive(Clone, Debug)]
pub struct Acceptance {
    pub job: NewJob,
    /// Identifier of the hold's ledger row.
    pub ledger_id: String,
    /// The caller's key, if any.
    pub idempotency: Option<Idempotency>,
    /// Bytes of files that may be kept for the account, unless its row says otherwise.
    pub max_storage: i64,
    /// A job born leased has fence 1.
    pub lease: Option<Lease>,
    /// Whether somebody works on it as soon as it is accepted; of a job born leased.
    pub working: bool,
    /// The intent to ask a back end at once, of a job born leased; written if its worker may have more.
    pub attempt: Option<Attempt>,
}

/// A limit of a key that a job would go beyond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLimitReached {
    /// The key whose limit it is: the one that the job came by, or one above it.
    pub key_id: String,
    /// When the window began.
    pub from_ms: i64,
    /// The window it counts in.
    pub window: LimitWindow,
    /// How much may be spent in it.
    pub quota: Quota,
    /// How much is spent or held in it.
    pub spent: Quota,
    /// When the next window begins.
    pub until_ms: i64,
}

/// What became of an [`Acceptance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    New {
        /// The fence of the lease it was born with, else 0.
        fence: i64,
        /// Whether its first attempt was written down as well.
        begun: bool,
    },
    /// The same call was accepted before; nothing changed.
    Replayed {
        /// The job of the first call.
        job_id: String,
    },
    /// The key was used before with another body.
    Mismatch,
    /// The balance is below the price.
    QuotaShort { balance: Quota },
    /// The account owes quota that was taken back of it.
    Debt { debt: Quota },
    /// A limit of its key, or of one above that, does not allow it.
    KeyLimit(KeyLimitReached),
    /// The account, or its key, has as many unfinished jobs in this queue as it may.
    QueueFull {
        /// How many it may have.
        max_queue: i64,
    },
    /// As many bytes of files are kept for the account as may be.
    StorageFull {
        /// How many may be.
        max_storage: i64,
    },
    /// There is no such account.
    NoAccount,
    /// A period of the account's plan is over: the next one is to begin before anything is spent.
    PlanDue,
}
