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
    HTTP_ANSWERS = MetricKind::Counter, "atelier_http_answers_total" ["class"] "Responses, by the first digit of their status.";
    HTTP_DURATION = MetricKind::Histogram(REQUESTS), "atelier_http_request_duration_seconds" ["route", "family"] "Time from request head to response head: submits and fetches by family, everything else as `page`.";
    HTTP_IN_FLIGHT = MetricKind::Gauge, "atelier_http_requests_in_flight" [] "Requests in progress.";

    JOBS_WAITING = MetricKind::Gauge, "atelier_jobs_waiting" [] "Waiting jobs, on all nodes.";
    JOBS_RUNNING = MetricKind::Gauge, "atelier_jobs_running" [] "Running jobs, on all nodes.";
    JOBS_IN_HAND = MetricKind::Gauge, "atelier_jobs_in_hand" [] "Jobs leased by this node.";
    JOBS_AT_VENDORS = MetricKind::Gauge, "atelier_jobs_at_vendors" [] "Jobs of this node at vendors.";
    JOB_DURATION = MetricKind::Histogram(WORK), "atelier_job_duration_seconds" ["family", "outcome"] "Time from accept to end, for jobs that this node settled.";
    MODEL_JOBS = MetricKind::Counter, "atelier_model_jobs_total" ["model", "outcome"] "Jobs of the operator's models that this node settled; beyond 1,024 models as `other`.";
    JOB_WAIT = MetricKind::Histogram(WORK), "atelier_job_wait_seconds" ["family"] "Time from accept to the start of an attempt.";
    QUEUE_OLDEST = MetricKind::Gauge, "atelier_queue_oldest_seconds" [] "Age of the oldest waiting job; 0 if none waits.";
    HELD = MetricKind::Gauge, "atelier_held_quota" [] "Quota reserved for unfinished jobs.";
    HOLD_OLDEST = MetricKind::Gauge, "atelier_hold_oldest_seconds" [] "Age of the oldest open hold; 0 if there is none.";

    VENDOR_JOB_DURATION = MetricKind::Histogram(WORK), "atelier_vendor_job_duration_seconds" ["vendor"] "Time from the start of an attempt to the finished files.";
    VENDOR_CALL_DURATION = MetricKind::Histogram(WORK), "atelier_vendor_call_duration_seconds" ["vendor", "call"] "Response time of a vendor to a submit or a poll; for synchronous APIs the whole work.";
    VENDOR_FAULTS = MetricKind::Counter, "atelier_vendor_faults_total" ["vendor", "class"] "Failed submits and polls, by class of fault.";
    VENDOR_COST = MetricKind::Counter, "atelier_vendor_cost_total" ["vendor", "currency"] "Costs that vendors reported for attempts of this node.";

    WORKER_BUSY = MetricKind::Gauge, "atelier_worker_busy" ["worker"] "Jobs at a worker account of the operator.";
    WORKER_SLOTS = MetricKind::Gauge, "atelier_worker_slots" ["worker"] "Slots of the worker account.";
    WORKER_USABLE = MetricKind::Gauge, "atelier_worker_usable" ["worker"] "1 if the worker account can be given a job, otherwise 0.";
    WORKER_AVERAGE = MetricKind::Gauge, "atelier_worker_average_seconds" ["worker"] "Average duration of the worker account's recent jobs.";

    STORE_UP = MetricKind::Gauge, "atelier_store_up" [] "1 if the database responded to this scrape, otherwise 0; metrics read from it are then missing.";
    COMMIT_DURATION = MetricKind::Histogram(COMMITS), "atelier_commit_duration_seconds" [] "Duration of a commit, from its first statement to the responses.";
    COMMIT_CHANGES = MetricKind::Histogram(CHANGES), "atelier_commit_batch_changes" [] "Changes in one commit.";
    COMMIT_WAITING = MetricKind::Gauge, "atelier_commit_waiting_changes" [] "Changes waiting for a commit.";

    CALLBACKS_DUE = MetricKind::Gauge, "atelier_callbacks_due" [] "Undelivered callbacks, on all nodes.";
    CALLBACK_OLDEST = MetricKind::Gauge, "atelier_callback_oldest_seconds" [] "Age of the oldest undelivered callback; 0 if there is none.";
    CALLBACK_FAILING = MetricKind::Gauge, "atelier_callback_failing_receivers" [] "Hosts with failed, still undelivered callbacks.";
    CALLBACK_LAG = MetricKind::Histogram(LATENESS), "atelier_callback_lag_seconds" [] "Time from the end of a job to the delivery of its callback.";
    CALLBACK_DURATION = MetricKind::Histogram(REQUESTS), "atelier_callback_duration_seconds" [] "Duration of one try of a callback.";
    CALLBACK_TRIES = MetricKind::Counter, "atelier_callback_tries_total" ["outcome"] "Tries of callbacks: delivered, again (retried later), given_up.";

    PAYMENT_EVENTS = MetricKind::Counter, "atelier_payment_events_total" ["provider", "outcome"] "Events of payment providers: applied, known (before), mismatch (kept for an operator), unmatched (waits for its payment), refused (not signed).";

    STORED = MetricKind::Gauge, "atelier_stored_bytes" [] "Stored results and inputs of all accounts.";
    STORE_FILE_DURATION = MetricKind::Histogram(REQUESTS), "atelier_file_store_duration_seconds" [] "Duration of storing one result file.";
    CREDENTIALS = MetricKind::Counter, "atelier_credentials_total" ["outcome"] "Result files by Content Credentials: signed, plain (the type cannot carry them), failed (delivered unsigned). Not counted if signing is off.";
    DISK_FREE = MetricKind::Gauge, "atelier_disk_free_bytes" [] "Free space on the disk of the data folder; missing if files are in a bucket.";
    DISK_SIZE = MetricKind::Gauge, "atelier_disk_size_bytes" [] "Size of the disk of the data folder; missing if files are in a bucket.";

    SHARE_WHOLE = MetricKind::Gauge, "atelier_share_whole" ["of"] "Capacity of a shared resource of this node.";
    SHARE_TAKEN = MetricKind::Gauge, "atelier_share_taken" ["of"] "Used part of the shared resource.";
    SHARE_WAITING = MetricKind::Gauge, "atelier_share_waiting" ["of"] "Requests waiting for the shared resource.";
    SHARE_LARGEST = MetricKind::Gauge, "atelier_share_largest" ["of"] "Part of the shared resource that its largest holder uses.";

    BROKEN_INVARIANTS = MetricKind::Gauge, "atelier_broken_invariants" ["invariant"] "Accounts that violate an invariant of the ledger; normally 0.";
    LEDGER_DRIFT = MetricKind::Gauge, "atelier_ledger_drift_accounts" [] "Accounts whose balance or reserved quota is not the sum of their ledger rows; normally 0.";
    AUDITED = MetricKind::Counter, "atelier_audited_accounts_total" [] "Accounts checked for ledger drift.";

    SPANS = MetricKind::Counter, "atelier_spans_total" ["outcome"] "Trace spans: sent to the collector, or dropped.";

    BUILD = MetricKind::Gauge, "atelier_build_info" ["version"] "1, labelled with the version of the program.";
    UP = MetricKind::Gauge, "atelier_up_seconds" [] "Time since this process started.";
    CLOCK_AHEAD = MetricKind::Gauge, "atelier_clock_ahead_seconds" [] "Clock skew: how far this machine's clock, or the database's if that is further off, is ahead of the service's own time.";
    MEMORY = MetricKind::Gauge, "process_resident_memory_bytes" [] "Resident memory of the process.";
    OPEN_FILES = MetricKind::Gauge, "process_open_fds" [] "Open files and sockets of the process.";
}
