//! What only a server can do to a store: cut its connection at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_store::{
    AcceptOutcome, AuditRow, Credit, CreditKind, Error, Lease, ProgressNote, Store,
};
use tokio::time::Instant;

use crate::fill::Fill;
use crate::rig::{NOW, Rig, number, on_postgres, options, quota, spawn, sql};
use crate::stopwatch::Stopwatch;

macro_rules! only_there {
    ($($case:ident),* $(,)?) => {
        mod postgres {
            $(
                #[test]
                #[ignore = "needs PostgreSQL"]
                fn $case() {
                    super::on_postgres(super::$case);
                }
            )*
        }
    };
}
only_there!(
    a_node_waits_for_its_turn_at_migrations,
    a_node_starts_although_old_marks_cannot_be_cleared_away,
    leases_are_renewed_by_name_whatever_the_server_has_counted,
    what_waits_is_found_by_its_turn_whatever_the_server_has_counted,
    a_job_is_found_by_its_name_though_there_were_few_when_it_was_planned,
    a_cut_connection_never_makes_an_answer_wrong,
    a_ticket_is_written_down_while_its_job_ends_elsewhere,
    nodes_never_wait_for_each_other_in_a_circle,
);

/// The promise: a node that starts while another one changes the schema waits for its turn, however long that takes.
async fn a_node_waits_for_its_turn_at_migrations(rig: Rig) {
    let busy = {
        let url = rig.url.clone();
        let hold = "SELECT pg_advisory_lock(7208355); SELECT pg_sleep(7)";
        spawn(async move { sql(&url, hold).await.expect("another node's turn") })
    };
    let held =
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7208355 AND granted";
    while number(&rig.url, held).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let start = Instant::now();
    let second = Store::open(&rig.url, options()).await;
    second.expect("it starts in the end").close().await;
    assert!(start.elapsed() > Duration::from_secs(4), "it waited");
    busy.await.expect("it ends");
}

/// The promise: nodes that take jobs, end them and grant quota at once, for the same accounts and with an operator's acts, never wait for
/// each other in a circle. The server would end one of them after a second, and its whole batch would be written again one by one.
async fn nodes_never_wait_for_each_other_in_a_circle(rig: Rig) {
    const NODES: usize = 3;
    const CALLERS: usize = 8;
    const ROUNDS: usize = 20;
    let mut accounts = Vec::new();
    for _ in 0..6 {
        accounts.push(rig.account(1_000, 1_000_000).await);
    }
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        nodes.push(Store::open(&rig.url, options()).await.expect("a node"));
    }
    let mut callers = Vec::new();
    for caller in 0..NODES * CALLERS {
        let rig = Rig {
            store: nodes[caller % NODES].clone(),
            url: rig.url.clone(),
        };
        let accounts = accounts.clone();
        callers.push(spawn(async move {
            for round in 0..ROUNDS {
                let account = &accounts[(caller * 5 + round * 7) % accounts.len()];
                if caller % 4 == 0 {
                    granted(&rig, account).await;
                } else {
                    rig.waiting(account, 1).await;
                }
            }
        }));
    }
    for caller in callers {
        caller.await.expect("it ends");
    }
    // What the server counts it tells a moment later, commits as well as circles.
    let commits = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    while number(&rig.url, commits).await < (NODES * CALLERS / 4 * ROUNDS) as i64 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let circles = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(number(&rig.url, circles).await, 0);
    for node in nodes {
        node.close().await;
    }
}

/// An operator's grant, with the act.
async fn granted(rig: &Rig, account: &str) {
    let id = rig.id("credit");
    let act = AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "credit".into(),
        target: account.to_owned(),
        detail: String::new(),
        account_id: None,
    };
    let credit = Credit {
        id,
        account_id: account.to_owned(),
        amount: quota(1),
        kind: CreditKind::Grant,
        reason: "a gift".into(),
        idempotency_key: None,
        end: None,
        now_ms: NOW,
    };
    let posted = rig.store.ledger().credit(credit, Some(act)).await;
    posted.expect("granted");
}

/// The promise: housekeeping that the server gives up, as it does when it is overwhelmed, keeps no node from starting.
async fn a_node_starts_although_old_marks_cannot_be_cleared_away(rig: Rig) {
    let give_up = "INSERT INTO written (writer, batch, time_ms) VALUES ('old', 1, 0); \
         CREATE FUNCTION give_up() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'canceling statement' USING ERRCODE = '57014'; END $$; \
         CREATE TRIGGER give_up BEFORE DELETE ON written FOR EACH ROW EXECUTE FUNCTION give_up()";
    sql(&rig.url, give_up).await.expect("set up");
    let second = Store::open(&rig.url, options()).await.expect("it starts");
    second.settings().put("a", "1").await.expect("it writes");
    second.close().await;
}

/// The promise: a server that counted its rows while no job was running still finds each of twenty thousand by its name, when its
/// lease is renewed and when it has come further. Going through all of them for each took a minute and a half.
async fn leases_are_renewed_by_name_whatever_the_server_has_counted(rig: Rig) {
    let account = rig.account(10, 100_000).await;
    let fill = async |name: &str, jobs, state| {
        let fill = Fill {
            account_id: &account,
            name,
            jobs,
            state,
            apart_ms: 1_000,
            ..Fill::default()
        };
        fill.into(&rig.url).await;
    };
    fill("done", 2_000, 2).await;
    let counted = "ALTER TABLE job SET (autovacuum_enabled = off); ANALYZE job";
    sql(&rig.url, counted).await.expect("it is counted");
    let held = [("held-00000001".to_owned(), 1)];
    let ours = rig
        .store
        .queue()
        .renew_leases("node", &held, NOW + 60_000)
        .await;
    assert!(ours.expect("planned").is_empty());
    let note = |(id, fence): &(String, i64)| ProgressNote {
        job_id: id.clone(),
        fence: *fence,
        progress: 50,
        began_ms: None,
    };
    let notes = held.iter().map(note).collect();
    rig.store
        .attempts()
        .write_progress(notes, NOW)
        .await
        .expect("planned");
    fill("held", 20_000, 1).await;
    let held: Vec<(String, i64)> = (1..=20_000).map(|i| (format!("held-{i:08}"), 1)).collect();
    let start = Stopwatch::start();
    let ours = rig
        .store
        .queue()
        .renew_leases("node", &held, NOW + 90_000)
        .await;
    assert_eq!(ours.expect("ids").len(), 20_000);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(12), "{took:?}");
    let notes = held.iter().take(4_000).map(note).collect();
    let start = Stopwatch::start();
    let written = rig.store.attempts().write_progress(notes, NOW).await;
    written.expect("progress");
    let took = start.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?} for progress");
}

/// The promise: a server that counted its rows while nothing waited does not go through forty thousand jobs that wait for a
/// closed place, each time that anybody asks whether there is work.
async fn what_waits_is_found_by_its_turn_whatever_the_server_has_counted(rig: Rig) {
    let account = rig.account(10, 100_000).await;
    let fill = async |name: &str, jobs, state| {
        let fill = Fill {
            account_id: &account,
            name,
            jobs,
            state,
            lane: "backend:paused",
            apart_ms: 1_000,
            ..Fill::default()
        };
        fill.into(&rig.url).await;
    };
    fill("done", 2_000, 2).await;
    let counted = "ALTER TABLE job SET (autovacuum_enabled = off); ANALYZE job";
    sql(&rig.url, counted).await.expect("it is counted");
    let asked = async |waits: bool| {
        let mut took = Vec::new();
        for _ in 0..10 {
            let start = Stopwatch::start();
            for _ in 0..10 {
                let kinds = rig.store.queue().waiting_kinds().await.expect("a read");
                assert_eq!(!kinds.is_empty(), waits);
                assert!(rig.lease("node", NOW, 10).await.is_empty());
            }
            took.push(start.elapsed());
        }
        fastest(took)
    };
    let before = asked(false).await;
    fill("stuck", 40_000, 0).await;
    let took = asked(true).await;
    let most = before * 4 + Duration::from_millis(100);
    assert!(took < most, "{took:?}, and {before:?} before");
}

/// The promise: a fetch does not go through all jobs of its account because there were hardly any when it was planned.
async fn a_job_is_found_by_its_name_though_there_were_few_when_it_was_planned(rig: Rig) {
    let account = rig.account(10, 100_000).await;
    sql(&rig.url, "ALTER TABLE job SET (autovacuum_enabled = off)")
        .await
        .expect("nothing is counted");
    let found = async |id: &str| {
        let found = rig.store.jobs().find(&account, id).await;
        found.expect("a read").is_some()
    };
    for _ in 0..20 {
        assert!(!found("many-00000001").await);
    }
    let fill = Fill {
        account_id: &account,
        name: "many",
        jobs: 40_000,
        state: 2,
        apart_ms: 1_000,
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    let names: Vec<String> = (1..=500).map(|i| format!("many-{i:08}")).collect();
    let (mut by_name, mut took) = (Vec::new(), Vec::new());
    for some in names.chunks(50) {
        let start = Stopwatch::start();
        for name in some {
            let found = rig.store.jobs().find_of_any_account(name).await;
            assert!(found.expect("a read").is_some());
        }
        by_name.push(start.elapsed());
        let start = Stopwatch::start();
        for name in some {
            assert!(found(name).await);
        }
        took.push(start.elapsed());
    }
    let (by_name, took) = (fastest(by_name), fastest(took));
    let most = by_name * 4 + Duration::from_millis(30);
    assert!(took < most, "{took:?}, by name alone {by_name:?}");
}

/// What the machine does beside it only adds to some of them.
fn fastest(took: Vec<Duration>) -> Duration {
    took.into_iter().min().expect("some")
}

async fn a_cut_connection_never_makes_an_answer_wrong(rig: Rig) {
    let account = rig.account(1_000_000, 1_000_000).await;
    let over = Arc::new(AtomicBool::new(false));
    let cutter = {
        let (over, url) = (Arc::clone(&over), rig.url.clone());
        spawn(async move {
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid() \
                 AND (query LIKE 'COMMIT%' OR random() < 0.3)";
            while !over.load(Ordering::Relaxed) {
                sql(&url, cut).await.ok();
                tokio::time::sleep(Duration::from_millis(15)).await;
            }
        })
    };
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let (rig, account) = (rig.clone(), account.clone());
            spawn(async move {
                let (mut made, mut refused) = (Vec::new(), Vec::new());
                for _ in 0..40 {
                    let accept = rig.accept(&account, 1);
                    let id = accept.job.id.clone();
                    match rig.store.jobs().accept(accept).await {
                        Ok(AcceptOutcome::New { .. }) => made.push(id),
                        Err(Error::Busy) => refused.push(id),
                        other => panic!("{other:?}"),
                    }
                }
                (made, refused)
            })
        })
        .collect();
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for task in tasks {
        let (yes, no) = task.await.expect("it ends");
        made.extend(yes);
        refused.extend(no);
    }
    over.store(true, Ordering::Relaxed);
    cutter.await.expect("it ends");
    // What was cut off may still be under way at the server.
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND pid <> pg_backend_pid() AND state <> 'idle'";
    while number(&rig.url, busy).await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(made.len() > 100, "only {} were accepted", made.len());
    let jobs = rig.store.jobs();
    for id in &made {
        let found = jobs.find_of_any_account(id).await.expect("a read");
        assert!(found.is_some(), "accepted: {id}");
    }
    for id in &refused {
        let found = jobs.find_of_any_account(id).await.expect("a read");
        assert!(found.is_none(), "refused: {id}");
    }
    let spent = made.len() as i64;
    assert_eq!(
        rig.purse(&account).await,
        (quota(1_000_000 - spent), quota(spent))
    );
}

/// Another node has locked a job, to end it and then its attempt, while the ticket of that attempt is written down: the ticket holds
/// nothing yet that the other one wants, so that they do not wait for each other.
async fn a_ticket_is_written_down_while_its_job_ends_elsewhere(rig: Rig) {
    let account = rig.account(10, 10).await;
    let mut accept = rig.accept(&account, 1);
    // Leased, and nobody has begun with it: the ticket will say so.
    accept.lease = Some(Lease {
        owner: "node".into(),
        until_ms: NOW + 30_000,
    });
    let job = accept.job.id.clone();
    let accepted = rig.take(accept).await;
    assert!(matches!(accepted, AcceptOutcome::New { fence: 1, .. }));
    let attempt = rig.id("attempt");
    assert!(rig.begin(&job, 1, &attempt).await);
    let ends = format!(
        "BEGIN; SELECT id FROM job WHERE id = '{job}' FOR UPDATE; SELECT pg_sleep(2); \
         SET LOCAL lock_timeout = '5s'; UPDATE attempt SET why = why WHERE job_id = '{job}'; COMMIT"
    );
    let url = rig.url.clone();
    let other = spawn(async move { sql(&url, &ends).await });
    let is_free = format!("SELECT id FROM job WHERE id = '{job}' FOR UPDATE NOWAIT");
    while sql(&rig.url, &is_free).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let written = rig
        .store
        .attempts()
        .record_ticket(&job, 1, &attempt, "{}", NOW)
        .await;
    let ended = other.await.expect("it ends");
    ended.expect("nobody had the attempt without its job");
    assert!(written.expect("an answer"), "the lease still stands");
    assert!(rig.job(&job).await.started_ms.is_some(), "it has begun");
}
