//! What the engine shows to the gateway: plain values without a trace of how they are stored.

use atelier_contract::Job;
use atelier_contract::pages::jobs::JobCursor;

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobsFilter {
    /// Only these operations; all when empty.
    pub operations: Vec<String>,
    /// Only this state.
    pub state: Option<atelier_contract::JobState>,
    /// Only unfinished ones.
    pub open: bool,
    /// Only those whose prompt has these words in its beginning; or the one whose identifier this is.
    pub text: Option<String>,
    /// Only those that follow this job.
    pub parent_id: Option<String>,
    /// Only those accepted at this moment or later.
    pub since_ms: Option<i64>,
    /// Oldest first.
    pub ascending: bool,
    /// Page, from 1.
    pub page: i64,
    /// Jobs on a page.
    pub limit: i64,
    /// Only those behind this place of the list.
    pub after: Option<JobCursor>,
}

/// A page of jobs.
#[derive(Clone, Debug)]
pub struct JobsPage<T = Job> {
    /// The jobs.
    pub jobs: Vec<T>,
    /// How many match; of a search, how many it has found.
    pub total: i64,
    /// Where the list goes on; of a search, where the next one does.
    pub next: Option<JobCursor>,
}
