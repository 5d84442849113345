//! How many jobs a second the store accepts and settles, and how much room they take.
//!
//! `cargo run --release -p atelier-store --example throughput -- URL SUBMITTERS SECONDS BATCH_MOST`

#![expect(clippy::print_stdout, reason = "an example that prints figures")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atelier_contract::{Quota, Speed};
use atelier_store::{
    AcceptOutcome, Acceptance, Attempt, AttemptStart, Attribution, Guard, Lease, NewAccount,
    NewJob, Options, Outcome, Settlement, StartLimits, Store,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

const NOW: i64 = 1_790_000_000_000;
const ACCOUNTS: u64 = 100;
const REQUEST: &str = r#"{"prompt":"a lighthouse on a cliff at dusk, oil painting, dramatic clouds --ar 16:9 --seed 4711","mode":"fast","timeout":300,"getUImages":true,"hookUrl":null,"isPrivate":false}"#;
const OUTPUT: &str = r#"{"files":[{"key":"2026/09/0199-aaaa-bbbb-cccc/0.png","role":"main","media_type":"image/png","width":2048,"height":2048,"bytes":812345,"expires_ms":1790086400000}],"made":1}"#;

fn unique(counter: &AtomicU64, kind: u64) -> String {
    let number = counter.fetch_add(1, Ordering::Relaxed);
    format!("0199{number:012x}-{kind:04x}-7000-8000-{number:012x}")
}

fn accept(ids: &AtomicU64, account_id: &str) -> Acceptance {
    Acceptance {
        job: NewJob {
            id: unique(ids, 1),
            account_id: account_id.into(),
            operation: "artgen.imagine".into(),
            queue: "artgen".into(),
            speed: Speed::Fast,
            request: REQUEST.into(),
            price: Quota::from_thousandths(4_000),
            parent_id: None,
            lane: String::new(),
            follows: None,
            hook_url: None,
            created_ms: NOW,
            ahead_ms: 0,
            turn_delay_ms: 10_000,
            turn_step_ms: 5_000,
            deadline_ms: NOW + 300_000,
            batched: false,
            model: None,
            model_revision: None,
            price_lines: None,
            attribution: Attribution::default(),
        },
        ledger_id: unique(ids, 2),
        idempotency: None,
        max_storage: i64::MAX,
        working: false,
        lease: Some(Lease {
            owner: "node".into(),
            until_ms: NOW + 30_000,
        }),
        attempt: None,
    }
}

fn settlement(ids: &AtomicU64, job_id: String) -> Settlement {
    Settlement {
        job_id,
        guard: Guard::Fence(1),
        outcome: Outcome::Succeeded {
            output: OUTPUT.into(),
            alias: None,
            quota: Quota::from_thousandths(4_000),
            assets: Vec::new(),
            hashes: None,
        },
        cost: None,
        model: String::new(),
        ledger_id: unique(ids, 3),
        began_ms: None,
        now_ms: NOW + 4_000,
        ahead_ms: 0,
    }
}

async fn prepare(store: &Store, ids: &AtomicU64) -> Vec<String> {
    let mut accounts = Vec::new();
    for _ in 0..ACCOUNTS {
        let id = unique(ids, 4);
        let new = NewAccount {
            email: format!("{id}@example.com"),
            id,
            email_verified_ms: None,
            balance: Quota::MOST,
            max_queue: i64::MAX,
            ledger_id: unique(ids, 5),
            now_ms: NOW,
        };
        accounts.push(
            store
                .accounts()
                .create(new, None, None)
                .await
                .expect("an account")
                .id
                .to_string(),
        );
    }
    accounts
}

/// Accepts until the time is up; the jobs and how long each took.
async fn submit(
    store: Store,
    ids: Arc<AtomicU64>,
    account: String,
    end: Instant,
) -> Vec<(String, Duration)> {
    let mut done = Vec::new();
    while Instant::now() < end {
        let accept = accept(&ids, &account);
        let (id, start) = (accept.job.id.clone(), Instant::now());
        match store.jobs().accept(accept).await.expect("an answer") {
            AcceptOutcome::New { .. } => done.push((id, start.elapsed())),
            other => panic!("{other:?}"),
        }
    }
    done
}

/// The rest of a job's life: attempt, ticket, end.
async fn finish(store: Store, ids: Arc<AtomicU64>, jobs: Vec<String>) {
    for job_id in jobs {
        let attempt = Attempt {
            id: unique(&ids, 6),
            job_id: job_id.clone(),
            fence: 1,
            worker: "embedded".into(),
            limits: StartLimits::default(),
            now_ms: NOW,
        };
        let attempt_id = attempt.id.clone();
        let began = store.attempts().begin(attempt).await.expect("an answer");
        assert_eq!(began, AttemptStart::Yes);
        let ticket = "{\"ticket\":\"abc\"}";
        store
            .attempts()
            .record_ticket(&job_id, 1, &attempt_id, ticket, NOW)
            .await
            .expect("an answer");
        store
            .jobs()
            .settle(settlement(&ids, job_id))
            .await
            .expect("an answer");
    }
}

/// What the command line says.
struct Wish {
    url: String,
    submitters: usize,
    seconds: u64,
    batch_most: usize,
}

fn wish() -> Option<Wish> {
    let mut words = std::env::args().skip(1);
    Some(Wish {
        url: words.next()?,
        submitters: words.next()?.parse().ok()?,
        seconds: words.next()?.parse().ok()?,
        batch_most: words.next()?.parse().ok()?,
    })
}

/// Submits from many tasks at once and prints the figures; the jobs.
async fn submit_all(store: &Store, ids: &Arc<AtomicU64>, wish: &Wish) -> Vec<String> {
    let accounts = prepare(store, ids).await;
    let start = Instant::now();
    let end = start + Duration::from_secs(wish.seconds);
    let mut tasks = JoinSet::new();
    for number in 0..wish.submitters {
        let account = accounts[number % accounts.len()].clone();
        tasks.spawn(submit(store.clone(), Arc::clone(ids), account, end));
    }
    let jobs: Vec<(String, Duration)> = tasks.join_all().await.into_iter().flatten().collect();
    let elapsed = start.elapsed().as_secs_f64();
    let mut times: Vec<Duration> = jobs.iter().map(|(_, time)| *time).collect();
    times.sort();
    let at = |part: usize| times[(times.len() * part / 1000).min(times.len() - 1)];
    println!(
        "accept: {:.0}/s, {} jobs, p50 {:.1?}, p99 {:.1?}, max {:.1?}",
        times.len() as f64 / elapsed,
        times.len(),
        at(500),
        at(990),
        at(1000)
    );
    jobs.into_iter().map(|(id, _)| id).collect()
}

/// Takes some of the jobs through the rest of their lives and prints the rate.
async fn finish_some(store: &Store, ids: &Arc<AtomicU64>, wish: &Wish, jobs: &[String]) {
    let most = if wish.batch_most == 1 { 2_000 } else { 20_000 };
    let jobs = &jobs[..jobs.len().min(most)];
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for share in jobs.chunks(jobs.len().div_ceil(wish.submitters).max(1)) {
        tasks.spawn(finish(store.clone(), Arc::clone(ids), share.to_vec()));
    }
    tasks.join_all().await;
    let rate = jobs.len() as f64 / start.elapsed().as_secs_f64();
    println!(
        "attempt + ticket + settle: {rate:.0} jobs/s, {} jobs",
        jobs.len()
    );
}

async fn run() {
    let Some(wish) = wish() else {
        println!("throughput URL SUBMITTERS SECONDS BATCH_MOST");
        return;
    };
    let options = Options {
        batch_most: wish.batch_most,
        ..Options::default()
    };
    let store = Store::open(&wish.url, options)
        .await
        .expect("the store opens");
    let ids = Arc::new(AtomicU64::new(u64::from(std::process::id()) << 24));
    let jobs = submit_all(&store, &ids, &wish).await;
    finish_some(&store, &ids, &wish, &jobs).await;
    let found = store.invariants().check_books().await.expect("an audit");
    println!(
        "books: {}",
        if found.is_empty() {
            "clean".to_owned()
        } else {
            found.join("; ")
        }
    );
    store.close().await;
}

fn main() {
    tokio::runtime::Runtime::new()
        .expect("a runtime")
        .block_on(run());
}
