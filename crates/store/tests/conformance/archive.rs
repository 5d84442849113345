//! The archive: old jobs and ledger rows go, and everything that is left still adds up.

use atelier_store::{
    ArchiveCut, ArchiveFile, Credit, CreditKind, CreditOutcome, Error, Guard, JobFilter, JobPage,
    Outcome, Settlement,
};

use crate::rig::{NOW, Rig, quota, sql};

each_db!(
    what_is_old_goes_and_sums_stay_right,
    a_job_at_work_at_the_cut_stays_with_its_account,
    what_is_owed_to_a_caller_stays,
    two_archivers_remove_nothing_twice,
    a_credit_is_not_given_twice_after_its_row_went,
    old_attempts_go,
    words_removed_while_they_are_archived_are_not_moved,
    a_copy_is_of_one_moment_and_whole,
);

const DAY: i64 = 86_400_000;

fn file(name: &str, before_ms: i64) -> ArchiveFile {
    ArchiveFile {
        name: name.into(),
        hash: format!("hash of {name}"),
        before_ms,
        jobs: 0,
        entries: 0,
        time_ms: NOW,
    }
}

/// A job that was accepted and ended some time before now.
async fn done(rig: &Rig, account: &str, began_ms: i64, ended_ms: i64) -> String {
    let mut accept = rig.accept(account, 2);
    accept.job.created_ms = began_ms;
    let id = accept.job.id.clone();
    rig.take(accept).await;
    end(rig, &id, ended_ms).await;
    id
}

async fn end(rig: &Rig, id: &str, ended_ms: i64) {
    let settlement = Settlement {
        now_ms: ended_ms,
        ..rig.success(id, Guard::Unfinished, 1)
    };
    assert!(matches!(settlement.outcome, Outcome::Succeeded { .. }));
    rig.settle(settlement).await;
}

/// Archives everything from before a time; the lines that were handed out.
async fn archive(rig: &Rig, before_ms: i64) -> Vec<String> {
    let (mut account, mut all, mut files) = (String::new(), Vec::new(), 0);
    while let Some(cut) = rig
        .store
        .archive()
        .cut(&account, before_ms)
        .await
        .expect("a cut")
    {
        if !cut.more {
            account.clone_from(&cut.account_id);
        }
        if cut.to == cut.from {
            continue;
        }
        let mut after = cut.from;
        while after < cut.to {
            let (lines, end) = rig.store.archive().lines(&cut, after).await.expect("lines");
            all.extend(lines);
            after = end;
        }
        files += 1;
        let file = file(&format!("{before_ms}-{files}"), before_ms);
        rig.store
            .archive()
            .remove(vec![cut], file)
            .await
            .expect("moved");
    }
    all
}

async fn what_is_old_goes_and_sums_stay_right(rig: Rig) {
    let account = rig.account(5_000, 2_000).await;
    let other = rig.account(10, 10).await;
    // The accounts were made now; what they did is older.
    age(&rig).await;
    let many = (0..600).map(|_| done(&rig, &account, NOW - 5 * DAY, NOW - 5 * DAY + 1_000));
    futures_util::future::join_all(many).await;
    let young = done(&rig, &account, NOW - DAY, NOW - DAY + 1_000).await;
    let waiting = rig.waiting(&account, 3).await;
    let purse = rig.purse(&account).await;
    let usage = rig
        .store
        .statistics()
        .usage(&account, NOW - 9 * DAY, NOW + DAY)
        .await;
    let usage = usage.expect("usage");

    let lines = archive(&rig, NOW - 2 * DAY).await;
    let count = |table: &str| {
        let word = format!("\"table\":\"{table}\"");
        let spaced = word.replace("\":\"", "\": \"");
        let is = |line: &&String| line.contains(&word) || line.contains(&spaced);
        lines.iter().filter(is).count()
    };
    assert_eq!((count("job"), count("ledger")), (600, 1_202));
    assert_eq!(rig.purse(&account).await, purse);
    assert_eq!(rig.purse(&other).await.0, quota(10));
    let now = rig
        .store
        .statistics()
        .usage(&account, NOW - 9 * DAY, NOW + DAY)
        .await;
    assert_eq!(now.expect("usage"), usage, "what was used stays used");

    let filter = JobFilter {
        account_id: Some(account.clone()),
        limit: 10,
        ..JobFilter::default()
    };
    let JobPage {
        rows: jobs, total, ..
    } = rig.store.jobs().list(filter).await.expect("a page");
    let names: Vec<&String> = jobs.iter().map(|job| &job.id).collect();
    assert_eq!((names, total), (vec![&waiting, &young], 2));
    let (rows, total) = rig
        .store
        .ledger()
        .list(Some(&account), 0, 2)
        .await
        .expect("a page");
    assert_eq!((rows.len(), total), (2, 3));
    let (rows, _) = rig
        .store
        .ledger()
        .list(Some(&account), 2, 2)
        .await
        .expect("a page");
    assert_eq!(rows.len(), 1, "the last page ends where the archive begins");
    let (rows, total) = rig.store.ledger().list(None, 0, 10).await.expect("a page");
    assert_eq!((rows.len() as i64, total), (3, 3));

    let again = archive(&rig, NOW - 2 * DAY).await;
    assert_eq!(again, Vec::<String>::new(), "there is nothing more");
    let files = rig.store.archive().files("", 100).await.expect("files");
    assert!(files.len() > 1, "{files:?}");
    end(&rig, &waiting, NOW).await;
    restore_guard(&rig).await;
}

/// Makes what accounts were given old; the trigger against that has to be put back.
async fn age(rig: &Rig) {
    sql(&rig.url, "DROP TRIGGER ledger_kept").await.ok();
    sql(&rig.url, "DROP TRIGGER ledger_kept ON ledger")
        .await
        .ok();
    let aged = format!("UPDATE ledger SET time_ms = {}", NOW - 9 * DAY);
    sql(&rig.url, &aged).await.expect("aged");
}

/// Puts the trigger back that the test removed, so that the ledger is clean at the end.
async fn restore_guard(rig: &Rig) {
    let text = if rig.store.is_postgres() {
        "CREATE TRIGGER ledger_kept BEFORE UPDATE ON ledger FOR EACH ROW \
         EXECUTE FUNCTION refuse_change('a ledger row never changes')"
    } else {
        "CREATE TRIGGER ledger_kept BEFORE UPDATE ON ledger \
         BEGIN SELECT RAISE(ABORT, 'a ledger row never changes'); END"
    };
    sql(&rig.url, text).await.expect("guarded");
}

async fn a_job_at_work_at_the_cut_stays_with_its_account(rig: Rig) {
    let account = rig.account(100, 10).await;
    let mut long = rig.accept(&account, 2);
    long.job.created_ms = NOW + DAY;
    let long_id = long.job.id.clone();
    rig.take(long).await;
    done(&rig, &account, NOW + DAY, NOW + DAY + 1).await;
    let before = archive(&rig, NOW + 2 * DAY).await;
    assert!(!before.is_empty());
    let books = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert_eq!(books, Vec::<String>::new(), "its hold is in the archive");
    assert_eq!(rig.purse(&account).await.1, quota(2), "and still held");
    end(&rig, &long_id, NOW + 3 * DAY).await;
    let books = rig
        .store
        .invariants()
        .check_books()
        .await
        .expect("an audit");
    assert_eq!(books, Vec::<String>::new());
    archive(&rig, NOW + 4 * DAY).await;
    let gone = rig
        .store
        .jobs()
        .find_of_any_account(&long_id)
        .await
        .expect("a read");
    assert_eq!(gone, None);
    assert_eq!(rig.purse(&account).await, (quota(98), quota(0)));
}

async fn what_is_owed_to_a_caller_stays(rig: Rig) {
    let account = rig.account(100, 10).await;
    let first = done(&rig, &account, NOW, NOW + 1).await;
    let mut hooked = rig.accept(&account, 2);
    hooked.job.hook_url = Some("https://example.com/".into());
    let owed = hooked.job.id.clone();
    rig.take(hooked).await;
    end(&rig, &owed, NOW + 1).await;
    archive(&rig, NOW + DAY).await;
    let gone = rig
        .store
        .jobs()
        .find_of_any_account(&first)
        .await
        .expect("a read");
    assert_eq!(gone, None);
    assert_eq!(rig.job(&owed).await.id, owed);
}

async fn two_archivers_remove_nothing_twice(rig: Rig) {
    let account = rig.account(100, 10).await;
    done(&rig, &account, NOW, NOW + 1).await;
    let cut = rig.store.archive().cut("", NOW + DAY).await.expect("a cut");
    let cut: ArchiveCut = cut.expect("an account");
    let first = rig
        .store
        .archive()
        .remove(vec![cut.clone()], file("a", NOW + DAY));
    first.await.expect("moved");
    let second = rig
        .store
        .archive()
        .remove(vec![cut], file("b", NOW + DAY))
        .await;
    assert!(matches!(second, Err(Error::Conflict(_))), "{second:?}");
    let files = rig.store.archive().files("", 9).await.expect("files");
    assert_eq!(files.len(), 1, "the second left nothing");
}

async fn a_credit_is_not_given_twice_after_its_row_went(rig: Rig) {
    let account = rig.account(0, 10).await;
    let credit = |id: String| Credit {
        id,
        account_id: account.clone(),
        amount: quota(5),
        kind: CreditKind::Grant,
        reason: "paid".into(),
        idempotency_key: Some("order 1".into()),
        end: None,
        now_ms: NOW,
    };
    let given = rig
        .store
        .ledger()
        .credit(credit(rig.id("ledger")), None)
        .await;
    assert!(matches!(given, Ok(CreditOutcome::Done(_))), "{given:?}");
    archive(&rig, NOW + DAY).await;
    let (_, total) = rig
        .store
        .ledger()
        .list(Some(&account), 0, 9)
        .await
        .expect("a page");
    assert_eq!(total, 0);
    let again = rig
        .store
        .ledger()
        .credit(credit(rig.id("ledger")), None)
        .await;
    assert!(matches!(again, Ok(CreditOutcome::Repeated(_))), "{again:?}");
    assert_eq!(rig.purse(&account).await.0, quota(5));
}

async fn old_attempts_go(rig: Rig) {
    let account = rig.account(100, 10).await;
    let job = rig.running(&account, 2).await;
    assert!(rig.begin(&job, 1, "try").await);
    assert_eq!(
        rig.store
            .archive()
            .old_attempts(NOW + DAY, 9)
            .await
            .expect("a list"),
        []
    );
    rig.settle(rig.success(&job, Guard::Fence(1), 1)).await;
    let old = rig
        .store
        .archive()
        .old_attempts(NOW + DAY, 9)
        .await
        .expect("a list");
    assert_eq!(old.len(), 1);
    assert!(old[0].1.contains("\"worker\""), "{old:?}");
    let ids = old.into_iter().map(|(id, _)| id).collect();
    let moved = rig
        .store
        .archive()
        .remove_attempts(ids, file("a", NOW + DAY));
    moved.await.expect("moved");
    assert_eq!(
        rig.store
            .archive()
            .old_attempts(NOW + DAY, 9)
            .await
            .expect("a list"),
        []
    );
}

/// The promise: a copy can be made while others write, and stands for itself.
async fn a_copy_is_of_one_moment_and_whole(rig: Rig) {
    let account = rig.account(1_000, 100).await;
    let name = format!("atelier-copy-{}-{}.db", std::process::id(), account);
    let path = std::env::temp_dir().join(name);
    if rig.store.is_postgres() {
        let refused = rig.store.backup_to(&path).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        return;
    }
    let busy = {
        let (rig, account) = (rig.clone(), account.clone());
        crate::rig::spawn(async move {
            for _ in 0..20 {
                done(&rig, &account, NOW, NOW + 1).await;
            }
        })
    };
    rig.store.backup_to(&path).await.expect("copied");
    busy.await.expect("nobody waited for the copy");
    let url = format!("sqlite:{}", path.display());
    let copy = atelier_store::Store::open(&url, crate::rig::options()).await;
    let copy = copy.expect("it opens");
    let found = copy.invariants().check_books().await.expect("an audit");
    assert_eq!(found, Vec::<String>::new());
    assert!(
        copy.accounts()
            .find(&account)
            .await
            .expect("a read")
            .is_some()
    );
    copy.close().await;
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
}

/// What a caller has had removed after it was read is not in what is kept: the rows stay, to be read again.
async fn words_removed_while_they_are_archived_are_not_moved(rig: Rig) {
    let account = rig.account(100, 100).await;
    age(&rig).await;
    let job = done(&rig, &account, NOW - 5 * DAY, NOW - 5 * DAY + 1_000).await;
    let cut = rig
        .store
        .archive()
        .cut("", NOW - 2 * DAY)
        .await
        .expect("a cut");
    let cut = cut.expect("an account");
    let (lines, _) = rig
        .store
        .archive()
        .lines(&cut, cut.from)
        .await
        .expect("lines");
    assert!(lines.iter().any(|line| line.contains(&job)), "{lines:?}");
    let deleted = rig.store.jobs().delete(&account, &job, &[], NOW).await;
    assert!(deleted.expect("answered"));
    let moved = rig
        .store
        .archive()
        .remove(vec![cut], file("early", NOW))
        .await;
    assert!(matches!(moved, Err(Error::Conflict(_))), "{moved:?}");
    assert!(!rig.store.archive().has_file("early").await.expect("a look"));
    // What is left of it goes the next time.
    let lines = archive(&rig, NOW - 2 * DAY).await;
    assert!(lines.iter().any(|line| line.contains(&job)), "{lines:?}");
    restore_guard(&rig).await;
}
