//! Every metric, in the order in which `/metrics` gives them.

use super::metric::{BucketScale, Metric, MetricKind};

/// Microseconds of what a caller waits for.
const REQUESTS: BucketScale = seconds(&[
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000, 60_000_000,
]);
/// Microseconds of what takes a vendor its time.
const WORK: BucketScale = seconds(&[
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    900_000_000,
]);
/// Microseconds of what a disk takes its time for.
const COMMITS: BucketScale = seconds(&[
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
]);
/// Microseconds of how late something is that may be tried for days.
const LATENESS: BucketScale = seconds(&[
    10_000,
    50_000,
    100_000,
    500_000,
    1_000_000,
    5_000_000,
    30_000_000,
    120_000_000,
    600_000_000,
    3_600_000_000,
    86_400_000_000,
]);
/// Changes in one commit.
const CHANGES: BucketScale = BucketScale {
    bounds: &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    per_unit: 1,
};

const fn seconds(bounds: &'static [u64]) -> BucketScale {
    BucketScale {
        bounds,
        per_unit: 1_000_000,
    }
}

macro_rules! metrics {
    ($($id:ident = $kind:expr, $name:literal [$($label:literal),*] $about:literal;)*) => {
        $(
            #[doc = $about]
            pub static $id: Metric = Metric {
                name: $name,
                kind: $kind,
                labels: &[$($label),*],
                about: $about,
            };
        )*

        /// Every metric, in the order of `/metrics`.
        pub static METRICS: &[&Metric] = &[$(&$id),*];
    };
}

metrics! {
    HTTP_ANSWERS = MetricKind::Counter, "atelier_http_answers_total" ["class"] "Answers, by the first digit of their status.";
    HTTP_DURATION = MetricKind::Histogram(REQUESTS), "atelier_http_request_duration_seconds" ["route", "family"] "Time from the head of a request to the head of its answer: submits and fetches of a family, everything else as `page`.";
    HTTP_IN_FLIGHT = MetricKind::Gauge, "atelier_http_requests_in_flight" [] "Requests that are being answered.";

    JOBS_WAITING = MetricKind::Gauge, "atelier_jobs_waiting" [] "Jobs that wait, on all nodes.";
    JOBS_RUNNING = MetricKind::Gauge, "atelier_jobs_running" [] "Jobs that run, on all nodes.";
    JOBS_IN_HAND = MetricKind::Gauge, "atelier_jobs_in_hand" [] "Jobs that this node works on.";
    JOBS_AT_VENDORS = MetricKind::Gauge, "atelier_jobs_at_vendors" [] "Jobs of this node that a vendor works on.";
    JOB_DURATION = MetricKind::Histogram(WORK), "atelier_job_duration_seconds" ["family", "outcome"] "Time from acceptance to the end, of jobs that this node ended.";
    MODEL_JOBS = MetricKind::Counter, "atelier_model_jobs_total" ["model", "outcome"] "Jobs of the operator's models that this node ended; past 1,024 models the others count as `other`.";
    JOB_WAIT = MetricKind::Histogram(WORK), "atelier_job_wait_seconds" ["family"] "Time from acceptance to the start of an attempt.";
    QUEUE_OLDEST = MetricKind::Gauge, "atelier_queue_oldest_seconds" [] "Age of the job that waits longest; 0 when none waits.";
    HELD = MetricKind::Gauge, "atelier_held_quota" [] "Quota that unfinished jobs hold.";
    HOLD_OLDEST = MetricKind::Gauge, "atelier_hold_oldest_seconds" [] "Age of the oldest hold that is neither captured nor released; 0 when there is none.";

    VENDOR_JOB_DURATION = MetricKind::Histogram(WORK), "atelier_vendor_job_duration_seconds" ["vendor"] "Time from the start of an attempt to the finished files.";
    VENDOR_CALL_DURATION = MetricKind::Histogram(WORK), "atelier_vendor_call_duration_seconds" ["vendor", "call"] "Time that a vendor took to answer a start or a question; for what answers with the result, all of the work.";
    VENDOR_FAULTS = MetricKind::Counter, "atelier_vendor_faults_total" ["vendor", "class"] "Starts and questions that failed, by what the fault says.";
    VENDOR_COST = MetricKind::Counter, "atelier_vendor_cost_total" ["vendor", "currency"] "What vendors say that they took for attempts of this node.";

    WORKER_BUSY = MetricKind::Gauge, "atelier_worker_busy" ["worker"] "Jobs in hand of a worker account of the operator's.";
    WORKER_SLOTS = MetricKind::Gauge, "atelier_worker_slots" ["worker"] "Jobs that it may have in hand.";
    WORKER_USABLE = MetricKind::Gauge, "atelier_worker_usable" ["worker"] "1 while it may be given a job, else 0.";
    WORKER_AVERAGE = MetricKind::Gauge, "atelier_worker_average_seconds" ["worker"] "Time that its jobs took of late, on average.";

    STORE_UP = MetricKind::Gauge, "atelier_store_up" [] "1 when the database answered this scrape, else 0; then what is read from it is left out.";
    COMMIT_DURATION = MetricKind::Histogram(COMMITS), "atelier_commit_duration_seconds" [] "Time that a commit took, from its first statement to the answers.";
    COMMIT_CHANGES = MetricKind::Histogram(CHANGES), "atelier_commit_batch_changes" [] "Changes in one commit.";
    COMMIT_WAITING = MetricKind::Gauge, "atelier_commit_waiting_changes" [] "Changes that wait to be committed.";

    CALLBACKS_DUE = MetricKind::Gauge, "atelier_callbacks_due" [] "Callbacks that are owed, on all nodes.";
    CALLBACK_OLDEST = MetricKind::Gauge, "atelier_callback_oldest_seconds" [] "Age of the callback that has been owed longest; 0 when none is.";
    CALLBACK_FAILING = MetricKind::Gauge, "atelier_callback_failing_receivers" [] "Hosts at which owed callbacks have failed.";
    CALLBACK_LAG = MetricKind::Histogram(LATENESS), "atelier_callback_lag_seconds" [] "Time from the end of a job to the delivery of its callback.";
    CALLBACK_DURATION = MetricKind::Histogram(REQUESTS), "atelier_callback_duration_seconds" [] "Time that one try of a callback took.";
    CALLBACK_TRIES = MetricKind::Counter, "atelier_callback_tries_total" ["outcome"] "Tries of callbacks: delivered, again (later), given_up.";

    PAYMENT_EVENTS = MetricKind::Counter, "atelier_payment_events_total" ["provider", "outcome"] "Events of payment providers: applied, known (before), mismatch (kept for an operator), unmatched (waits for its payment), refused (not signed).";

    STORED = MetricKind::Gauge, "atelier_stored_bytes" [] "Results and inputs that are kept, for all accounts.";
    STORE_FILE_DURATION = MetricKind::Histogram(REQUESTS), "atelier_file_store_duration_seconds" [] "Time that storing one result file took.";
    CREDENTIALS = MetricKind::Counter, "atelier_credentials_total" ["outcome"] "Result files by their Content Credentials: signed, plain (no place for them in this type), failed (delivered without). Nothing is counted while nobody signs.";
    REHEARSED = MetricKind::Counter, "atelier_rehearsal_copies_total" ["outcome"] "Copies of requests for back ends that are rehearsed: alike, different, missed (not made). Nothing is counted while nobody rehearses.";
    DISK_FREE = MetricKind::Gauge, "atelier_disk_free_bytes" [] "Room on the disk of the data folder; left out when files are in a bucket.";
    DISK_SIZE = MetricKind::Gauge, "atelier_disk_size_bytes" [] "Size of the disk of the data folder; left out when files are in a bucket.";

    SHARE_WHOLE = MetricKind::Gauge, "atelier_share_whole" ["of"] "All there is of what accounts share on this node.";
    SHARE_TAKEN = MetricKind::Gauge, "atelier_share_taken" ["of"] "What is taken of it.";
    SHARE_WAITING = MetricKind::Gauge, "atelier_share_waiting" ["of"] "How many wait for some of it.";
    SHARE_LARGEST = MetricKind::Gauge, "atelier_share_largest" ["of"] "What the largest holder has of it.";

    BROKEN_INVARIANTS = MetricKind::Gauge, "atelier_broken_invariants" ["invariant"] "Accounts that break an invariant of the ledger; 0 while all is well.";
    LEDGER_DRIFT = MetricKind::Gauge, "atelier_ledger_drift_accounts" [] "Accounts whose balance or held quota is not the sum of their rows of the ledger; 0 while all is well.";
    AUDITED = MetricKind::Counter, "atelier_audited_accounts_total" [] "Accounts that were looked at for this.";

    SPANS = MetricKind::Counter, "atelier_spans_total" ["outcome"] "Spans of traces: sent to the collector, or dropped.";

    BUILD = MetricKind::Gauge, "atelier_build_info" ["version"] "1, with the version of the program.";
    UP = MetricKind::Gauge, "atelier_up_seconds" [] "Time since this process started.";
    CLOCK_AHEAD = MetricKind::Gauge, "atelier_clock_ahead_seconds" [] "Clock skew: how far this machine's wall clock, or the database's if that is further off, is ahead of the service's own time.";
    MEMORY = MetricKind::Gauge, "process_resident_memory_bytes" [] "Memory that the process has.";
    OPEN_FILES = MetricKind::Gauge, "process_open_fds" [] "Files and sockets that the process has open.";
}
