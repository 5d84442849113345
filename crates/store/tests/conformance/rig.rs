//! What every case starts with: a fresh database, a few makers of rows, and an audit at the end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_contract::{FaultKind, Quota, Speed};
use atelier_store::{
    AcceptOutcome, Acceptance, Attempt, AttemptStart, Attribution, Guard, JobRow, Lease,
    LeaseRequest, NewAccount, NewJob, Options, Outcome, SettleOutcome, Settlement, StartLimits,
    Store, work_kind,
};
use sqlx::{AssertSqlSafe, Connection};

/// Runs the named cases on each database.
macro_rules! each_db {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $case() { $crate::rig::on_sqlite(super::$case); })+
        }
        mod postgres {
            $(
                #[test]
                #[ignore = "needs PostgreSQL"]
                fn $case() {
                    $crate::rig::on_postgres(super::$case);
                }
            )+
        }
    };
}

/// A time for tests; nothing depends on its value.
pub(crate) const NOW: i64 = 1_790_000_000_000;

static COUNT: AtomicU64 = AtomicU64::new(0);

fn count() -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// A fresh store.
#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) store: Store,
    pub(crate) url: String,
}

/// An amount of whole quota.
pub(crate) const fn quota(whole: i64) -> Quota {
    Quota::from_thousandths(whole * 1000)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Few connections, so that many cases can run side by side.
pub(crate) fn options() -> Options {
    Options {
        readers: 3,
        ..Options::default()
    }
}

async fn run<F: Future<Output = ()>>(url: String, case: impl FnOnce(Rig) -> F) {
    let store = Store::open(&url, options()).await.expect("the store opens");
    let rig = Rig { store, url };
    case(rig.clone()).await;
    let found = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert_eq!(found, Vec::<String>::new(), "the ledger is clean");
    rig.store.close().await;
}

/// A directory that goes with the case.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("atelier-store-{}-{}", std::process::id(), count());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.0.join("atelier.db").display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

pub(crate) fn on_sqlite<F: Future<Output = ()>>(case: impl FnOnce(Rig) -> F) {
    let folder = Folder::new();
    runtime().block_on(run(folder.url(), case));
}

/// Starts a task that the case waits for itself.
#[expect(
    clippy::disallowed_methods,
    reason = "a case awaits every task it starts"
)]
pub(crate) fn spawn<F>(task: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(task)
}

/// The server for tests.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration file"
)]
fn server() -> String {
    std::env::var("ATELIER_TEST_POSTGRES").expect("ATELIER_TEST_POSTGRES names a server")
}

/// What a fresh database is a copy of: one that has been migrated takes half the time.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration file"
)]
fn template() -> String {
    std::env::var("ATELIER_TEST_TEMPLATE").unwrap_or("template1".into())
}

pub(crate) fn on_postgres<F: Future<Output = ()>>(case: impl FnOnce(Rig) -> F) {
    let (server, template) = (server(), template());
    let name = format!("case_{}_{}", std::process::id(), count());
    let (base, _) = server.rsplit_once('/').expect("a URL with a database");
    let url = format!("{base}/{name}");
    runtime().block_on(async {
        sql(
            &server,
            &format!("CREATE DATABASE {name} TEMPLATE {template}"),
        )
        .await
        .expect("a fresh database");
        run(url, case).await;
        sql(&server, &format!("DROP DATABASE {name} WITH (FORCE)"))
            .await
            .expect("it goes");
    });
}

/// Runs a statement past the store, on a connection of its own; how many rows it changed.
pub(crate) async fn sql(url: &str, text: &str) -> sqlx::Result<u64> {
    let text = AssertSqlSafe(text.to_owned());
    if let Some(path) = url.strip_prefix("sqlite:") {
        let mut conn = sqlx::SqliteConnection::connect(&format!("sqlite://{path}")).await?;
        return Ok(sqlx::raw_sql(text)
            .execute(&mut conn)
            .await?
            .rows_affected());
    }
    let mut conn = sqlx::PgConnection::connect(url).await?;
    Ok(sqlx::raw_sql(text)
        .execute(&mut conn)
        .await?
        .rows_affected())
}

/// The one number that a question asked past the store is answered with.
pub(crate) async fn number(url: &str, text: &str) -> i64 {
    let text = AssertSqlSafe(text.to_owned());
    let asked = if let Some(path) = url.strip_prefix("sqlite:") {
        let conn = sqlx::SqliteConnection::connect(&format!("sqlite://{path}")).await;
        let mut conn = conn.expect("a connection");
        sqlx::query_scalar(text).fetch_one(&mut conn).await
    } else {
        let mut conn = sqlx::PgConnection::connect(url)
            .await
            .expect("a connection");
        sqlx::query_scalar(text).fetch_one(&mut conn).await
    };
    asked.expect("a number")
}

impl Rig {
    /// A name nobody else has.
    #[expect(
        clippy::unused_self,
        reason = "every maker of rows is asked of the rig"
    )]
    pub(crate) fn id(&self, what: &str) -> String {
        format!("{what}-{:08}", count())
    }

    /// Makes an account with whole quota.
    pub(crate) async fn account(&self, balance: i64, max_queue: i64) -> String {
        let id = self.id("account");
        let new = NewAccount {
            email: format!("{id}@example.com"),
            id,
            email_verified_ms: Some(NOW),
            balance: quota(balance),
            max_queue,
            ledger_id: self.id("ledger"),
            now_ms: NOW,
        };
        self.store
            .accounts()
            .create(new, None, None)
            .await
            .expect("an account")
            .id
            .to_string()
    }

    /// A job to be accepted, priced in whole quota, waiting.
    pub(crate) fn accept(&self, account_id: &str, price: i64) -> Acceptance {
        Acceptance {
            job: NewJob {
                id: self.id("job"),
                account_id: account_id.to_owned(),
                operation: "artgen.imagine".into(),
                queue: "artgen".into(),
                speed: Speed::Fast,
                request: r#"{"prompt":"a \"quoted\" fox, — ünï ✓"}"#.into(),
                price: quota(price),
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
            ledger_id: self.id("ledger"),
            idempotency: None,
            max_storage: 1_000_000,
            lease: None,
            working: false,
            attempt: None,
        }
    }

    /// Accepts a waiting job; its id.
    pub(crate) async fn waiting(&self, account_id: &str, price: i64) -> String {
        let accept = self.accept(account_id, price);
        let id = accept.job.id.clone();
        assert_eq!(
            self.take(accept).await,
            AcceptOutcome::New {
                fence: 0,
                begun: false
            }
        );
        id
    }

    /// Accepts a job born leased to `node`; its id.
    pub(crate) async fn running(&self, account_id: &str, price: i64) -> String {
        let mut accept = self.accept(account_id, price);
        accept.lease = Some(Lease {
            owner: "node".into(),
            until_ms: NOW + 30_000,
        });
        accept.working = true;
        let id = accept.job.id.clone();
        assert_eq!(
            self.take(accept).await,
            AcceptOutcome::New {
                fence: 1,
                begun: false
            }
        );
        id
    }

    pub(crate) async fn take(&self, accept: Acceptance) -> AcceptOutcome {
        self.store.jobs().accept(accept).await.expect("an answer")
    }

    pub(crate) fn success(&self, job_id: &str, guard: Guard, spent: i64) -> Settlement {
        Settlement {
            job_id: job_id.to_owned(),
            guard,
            outcome: Outcome::Succeeded {
                output: r#"{"made":1}"#.into(),
                alias: None,
                quota: quota(spent),
                assets: Vec::new(),
                hashes: None,
            },
            cost: None,
            model: String::new(),
            ledger_id: self.id("ledger"),
            began_ms: None,
            now_ms: NOW + 5_000,
            ahead_ms: 0,
        }
    }

    pub(crate) fn failure(&self, job_id: &str, guard: Guard) -> Settlement {
        Settlement {
            outcome: Outcome::Failed {
                fault: FaultKind::TimedOut,
                message: "Job Timeout".into(),
            },
            ..self.success(job_id, guard, 0)
        }
    }

    pub(crate) async fn settle(&self, settlement: Settlement) -> SettleOutcome {
        self.store
            .jobs()
            .settle(settlement)
            .await
            .expect("an answer")
    }

    pub(crate) async fn job(&self, id: &str) -> JobRow {
        self.store
            .jobs()
            .find_of_any_account(id)
            .await
            .expect("a read")
            .expect("a job")
    }

    /// Balance and frozen amount.
    pub(crate) async fn purse(&self, account_id: &str) -> (Quota, Quota) {
        let account = self
            .store
            .accounts()
            .find(account_id)
            .await
            .expect("a read")
            .expect("an account");
        (account.balance, account.frozen)
    }

    /// Leases what waits to a node.
    pub(crate) async fn lease(&self, owner: &str, now_ms: i64, limit: i64) -> Vec<JobRow> {
        let request = LeaseRequest {
            owner: owner.into(),
            until_ms: now_ms + 30_000,
            now_ms,
            ahead_ms: 0,
            kinds: [Speed::Turbo, Speed::Fast, Speed::Relax]
                .map(|speed| work_kind("artgen.imagine", speed, ""))
                .to_vec(),
            narrow: Vec::new(),
            limit,
        };
        self.store
            .queue()
            .lease_next(request)
            .await
            .expect("leases")
    }

    pub(crate) async fn begin(&self, job_id: &str, fence: i64, id: &str) -> bool {
        let attempt = Attempt {
            id: id.into(),
            job_id: job_id.into(),
            fence,
            worker: "embedded".into(),
            limits: StartLimits::default(),
            now_ms: NOW,
        };
        let began = self.store.attempts().begin(attempt).await;
        began.expect("an answer") == AttemptStart::Yes
    }
}
