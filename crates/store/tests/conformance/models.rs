//! Models of the catalogue: revisions are only added, two changes at once never both stand, and jobs keep what they were accepted with.

use atelier_store::{
    AuditRow, BulkEntry, Error, Guard, JobFilter, JobRow, MODEL_EDITION, NewBulk, NewBulkItem,
    RevisionChange, RevisionDraft, RevisionOutcome, RevisionRow, SettleOutcome, Store,
};

use crate::rig::{NOW, Rig, number, options, sql};

each_db!(
    revisions_of_a_model_are_only_added,
    a_model_that_is_not_as_expected_is_left_alone,
    changes_of_models_are_written_together_or_not_at_all,
    a_change_and_its_act_are_one_commit,
    of_two_changes_at_once_one_stands,
    a_stored_revision_cannot_be_changed,
    older_programs_and_models_keep_apart,
    jobs_keep_model_revision_and_price_lines,
    many_jobs_at_once_keep_theirs,
    the_archive_holds_what_jobs_keep,
);

fn draft(name: &str, definition: &str, expected_revision: Option<u32>) -> RevisionDraft {
    RevisionDraft {
        name: name.into(),
        definition: definition.into(),
        removed: false,
        expected_revision,
    }
}

/// A change of models as they are now.
async fn change(rig: &Rig, drafts: Vec<RevisionDraft>) -> RevisionChange {
    RevisionChange {
        drafts,
        seen_edition: edition(rig).await,
        seen_beside: None,
        edition: rig.id("edition"),
        changed_ms: NOW,
        alive_since_ms: NOW - 60_000,
    }
}

async fn edition(rig: &Rig) -> Option<String> {
    let read = rig.store.settings().get(MODEL_EDITION).await;
    read.expect("a read")
}

async fn append(rig: &Rig, drafts: Vec<RevisionDraft>) -> RevisionOutcome {
    let change = change(rig, drafts).await;
    let outcome = rig.store.models().append(change, None).await;
    outcome.expect("an answer")
}

/// Writes a revision of a model.
pub(crate) async fn written(rig: &Rig, name: &str, expected: Option<u32>) {
    let outcome = append(rig, vec![draft(name, "{}", expected)]).await;
    let next = expected.map_or(1, |before| before + 1);
    assert_eq!(outcome, RevisionOutcome::Written(vec![next]));
}

async fn current(rig: &Rig) -> Vec<RevisionRow> {
    rig.store.models().current().await.expect("a read")
}

fn act(rig: &Rig) -> AuditRow {
    AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "models.create".into(),
        target: "Fox-1".into(),
        detail: String::new(),
        account_id: None,
    }
}

async fn acts(rig: &Rig) -> i64 {
    let rows = rig.store.admin().audit_rows(0, 100).await;
    rows.expect("a read").1
}

async fn revisions_of_a_model_are_only_added(rig: Rig) {
    assert_eq!(current(&rig).await, []);
    let first = append(&rig, vec![draft("Fox-1", r#"{"title":"ä"}"#, None)]).await;
    assert_eq!(first, RevisionOutcome::Written(vec![1]));
    let second = append(&rig, vec![draft("fox-1", "{}", Some(1))]).await;
    assert_eq!(second, RevisionOutcome::Written(vec![2]));
    let gone = RevisionDraft {
        removed: true,
        ..draft("FOX-1", r#"{"last":1}"#, Some(2))
    };
    let gone = append(&rig, vec![gone]).await;
    assert_eq!(gone, RevisionOutcome::Written(vec![3]));
    let row = |name: &str, revision, definition: &str| RevisionRow {
        name: name.into(),
        revision,
        definition: definition.into(),
        removed: revision == 3,
        changed_ms: NOW,
    };
    let removed = row("FOX-1", 3, r#"{"last":1}"#);
    assert_eq!(
        current(&rig).await,
        std::slice::from_ref(&removed),
        "removed, and known"
    );
    let back = append(&rig, vec![draft("Fox-1", "{}", None)]).await;
    assert_eq!(back, RevisionOutcome::Written(vec![4]), "it goes on");
    written(&rig, "a/b:c", None).await;
    let names: Vec<(String, u32)> = current(&rig)
        .await
        .into_iter()
        .map(|row| (row.name, row.revision))
        .collect();
    assert_eq!(names, [("a/b:c".to_owned(), 1), ("Fox-1".to_owned(), 4)]);

    let one = async |name: &str, revision| {
        let found = rig.store.models().revision(name, revision).await;
        found.expect("a read")
    };
    assert_eq!(
        one("fOX-1", 1).await,
        Some(row("Fox-1", 1, r#"{"title":"ä"}"#))
    );
    assert_eq!(one("fox-1", 3).await, Some(removed.clone()));
    assert_eq!(one("fox-1", 5).await, None);
    assert_eq!(one("fox", 1).await, None);
    let history = async |name: &str, limit| {
        let found = rig.store.models().history(name, limit).await;
        found.expect("a read")
    };
    let latest = [row("Fox-1", 4, "{}"), removed, row("fox-1", 2, "{}")];
    assert_eq!(history("FOX-1", 3).await, latest);
    assert_eq!(history("fox-1", 100).await.len(), 4);
    assert_eq!(history("nothing", 100).await, []);
}

async fn a_model_that_is_not_as_expected_is_left_alone(rig: Rig) {
    let conflict = |name: &str, revision| RevisionOutcome::Conflict {
        name: name.into(),
        revision,
    };
    let absent = append(&rig, vec![draft("fox", "{}", Some(1))]).await;
    assert_eq!(absent, conflict("fox", 0), "there is none to be changed");
    written(&rig, "fox", None).await;
    written(&rig, "fox", Some(1)).await;
    let (rows, seen) = (current(&rig).await, edition(&rig).await);
    let taken = append(&rig, vec![draft("FOX", "{}", None)]).await;
    assert_eq!(taken, conflict("FOX", 2), "the name is taken");
    for stale in [0, 1, 3] {
        let refused = append(&rig, vec![draft("fox", "{}", Some(stale))]).await;
        assert_eq!(refused, conflict("fox", 2));
    }
    assert_eq!(current(&rig).await, rows);
    assert_eq!(edition(&rig).await, seen, "nothing to look at");
}

async fn changes_of_models_are_written_together_or_not_at_all(rig: Rig) {
    let both = vec![draft("one", "{}", None), draft("two", "{}", None)];
    let outcome = append(&rig, both).await;
    assert_eq!(outcome, RevisionOutcome::Written(vec![1, 1]));
    let half = vec![draft("one", "{}", Some(1)), draft("two", "{}", Some(7))];
    let outcome = append(&rig, half).await;
    let name = "two".to_owned();
    assert_eq!(outcome, RevisionOutcome::Conflict { name, revision: 1 });
    let twice = vec![draft("three", "{}", None), draft("Three", "{}", None)];
    let twice = change(&rig, twice).await;
    let refused = rig.store.models().append(twice, None).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let rows = current(&rig).await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|row| row.revision == 1), "{rows:?}");
}

async fn a_change_and_its_act_are_one_commit(rig: Rig) {
    let new = change(&rig, vec![draft("Fox-1", "{}", None)]).await;
    let (told, act_of_it) = (new.edition.clone(), act(&rig));
    let outcome = rig.store.models().append(new, Some(act_of_it)).await;
    assert!(matches!(outcome, Ok(RevisionOutcome::Written(_))));
    assert_eq!((acts(&rig).await, edition(&rig).await), (1, Some(told)));

    let taken = change(&rig, vec![draft("Fox-1", "{}", None)]).await;
    let outcome = rig.store.models().append(taken, Some(act(&rig))).await;
    assert!(matches!(outcome, Ok(RevisionOutcome::Conflict { .. })));
    let mut late = change(&rig, vec![draft("other", "{}", None)]).await;
    late.seen_edition = None;
    let outcome = rig.store.models().append(late, Some(act(&rig))).await;
    assert!(matches!(outcome, Ok(RevisionOutcome::Crossed)));
    assert_eq!(acts(&rig).await, 1, "what did not happen leaves no row");
    assert_eq!(current(&rig).await.len(), 1);
}

/// The promise: two operators, at two nodes, who have seen the same models. Their models might have one alias, so one of them is to
/// look again.
async fn of_two_changes_at_once_one_stands(rig: Rig) {
    let other = Store::open(&rig.url, options()).await.expect("a node");
    for round in 0..5 {
        let name = |which: &str| format!("{which}-{round}");
        let one = change(&rig, vec![draft(&name("one"), "{}", None)]).await;
        let two = change(&rig, vec![draft(&name("two"), "{}", None)]).await;
        let both = tokio::join!(
            rig.store.models().append(one, None),
            other.models().append(two, None)
        );
        let both = [both.0.expect("an answer"), both.1.expect("an answer")];
        assert!(
            both.contains(&RevisionOutcome::Written(vec![1])),
            "{both:?}"
        );
        assert!(both.contains(&RevisionOutcome::Crossed), "{both:?}");
        assert_eq!(current(&rig).await.len(), round + 1);
    }
    other.close().await;
}

async fn a_stored_revision_cannot_be_changed(rig: Rig) {
    written(&rig, "fox", None).await;
    for damage in ["UPDATE model SET definition = '[]'", "DELETE FROM model"] {
        let refused = sql(&rig.url, damage).await.expect_err("refused");
        assert!(refused.to_string().contains("never"), "{refused}");
    }
}

/// The promise: while a program that knows no models is at work there is none, and none starts once there is one.
async fn older_programs_and_models_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0043_models'";
    let beat = rig.store.nodes().beat("newer", NOW, NOW, "{}").await;
    beat.expect("noted");
    // As an older program writes it, and as one that has been silent for long has left it.
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail) VALUES ('older', 1, {NOW}, '{{}}'), ('gone', 1, {}, '{{}}')",
        NOW - 60_001
    );
    sql(&rig.url, &older).await.expect("noted");
    let new = change(&rig, vec![draft("fox", "{}", None)]).await;
    let refused = rig.store.models().append(new, Some(act(&rig))).await;
    let refused = refused.expect("an answer");
    if rig.store.is_postgres() {
        assert_eq!(refused, RevisionOutcome::OlderNode("older".into()));
        assert_eq!((acts(&rig).await, edition(&rig).await), (0, None));
        assert_eq!(current(&rig).await, []);
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        written(&rig, "fox", None).await;
    } else {
        let alone = RevisionOutcome::Written(vec![1]);
        assert_eq!(refused, alone, "one process has the database");
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
    let again = Store::open(&rig.url, options()).await;
    again.expect("this one does").close().await;
    // One that is at work all the same holds up nothing any more.
    sql(&rig.url, "UPDATE node SET knows = NULL")
        .await
        .expect("older");
    written(&rig, "fox", Some(1)).await;
}

/// What a job keeps of its model.
fn of(row: &JobRow) -> (Option<String>, Option<u32>, Option<String>) {
    (
        row.model.clone(),
        row.model_revision,
        row.price_lines.clone(),
    )
}

async fn jobs_keep_model_revision_and_price_lines(rig: Rig) {
    written(&rig, "Fox-1", None).await;
    let lines = r#"[{"line":"second","count":8,"word":"\"ü\""}]"#;
    let account = rig.account(100, 10).await;
    let mut accept = rig.accept(&account, 4);
    accept.job.model = Some("Fox-1".into());
    accept.job.model_revision = Some(1);
    accept.job.price_lines = Some(lines.into());
    let id = accept.job.id.clone();
    rig.take(accept).await;
    let plain = rig.waiting(&account, 1).await;
    written(&rig, "Fox-1", Some(1)).await;
    let expected = (Some("Fox-1".to_owned()), Some(1), Some(lines.to_owned()));
    assert_eq!(of(&rig.job(&id).await), expected);
    assert_eq!(of(&rig.job(&plain).await), (None, None, None));
    let leased = rig.lease("node", NOW + 60_000, 10).await;
    let leased = leased.iter().find(|row| row.id == id).expect("leased");
    assert_eq!(of(leased), expected);
    let ended = rig.settle(rig.success(&id, Guard::Unfinished, 4)).await;
    let SettleOutcome::Done(ended) = ended else {
        panic!("it ends: {ended:?}");
    };
    assert_eq!(of(&ended), expected, "as the callback renders it");
    let filter = JobFilter {
        account_id: Some(account.clone()),
        limit: 10,
        ..JobFilter::default()
    };
    let page = rig.store.jobs().list(filter).await.expect("a page");
    let listed = page.rows.iter().find(|row| row.id == id).expect("listed");
    assert_eq!(of(listed), expected);
    // What it was and what it cost stays without its words.
    let deleted = rig.store.jobs().delete(&account, &id, &[], NOW).await;
    assert!(deleted.expect("an answer"));
    assert_eq!(of(&rig.job(&id).await), expected);
}

/// The promise: each of many that are written with one statement has its own.
async fn many_jobs_at_once_keep_theirs(rig: Rig) {
    written(&rig, "fox", None).await;
    let account = rig.account(1_000, 100).await;
    let accepts: Vec<_> = (0..45)
        .map(|index| {
            let mut accept = rig.accept(&account, 1);
            if index % 3 != 0 {
                accept.job.model = Some("fox".into());
                accept.job.model_revision = Some(1);
                accept.job.price_lines = Some(format!("[{index}]"));
            }
            accept
        })
        .collect();
    let ids: Vec<String> = accepts.iter().map(|one| one.job.id.clone()).collect();
    let items = accepts.into_iter().map(|accept| NewBulkItem {
        operation: accept.job.operation.clone(),
        wish: BulkEntry::Accept(Box::new(accept)),
    });
    let bulk = NewBulk {
        id: rig.id("bulk"),
        account_id: account,
        idempotency: None,
        items: items.collect(),
        created_ms: NOW,
    };
    rig.store.jobs().accept_bulk(bulk).await.expect("accepted");
    for (index, id) in ids.iter().enumerate() {
        let row = rig.job(id).await;
        let lines = (index % 3 != 0).then(|| format!("[{index}]"));
        assert_eq!(row.price_lines, lines);
        assert_eq!(row.model.is_some(), lines.is_some());
        assert_eq!(row.model_revision.is_some(), lines.is_some());
    }
}

async fn the_archive_holds_what_jobs_keep(rig: Rig) {
    written(&rig, "Fox-1", None).await;
    let account = rig.account(100, 10).await;
    let mut accept = rig.accept(&account, 4);
    accept.job.model = Some("Fox-1".into());
    accept.job.model_revision = Some(1);
    accept.job.price_lines = Some("[7]".into());
    let id = accept.job.id.clone();
    rig.take(accept).await;
    rig.settle(rig.success(&id, Guard::Unfinished, 4)).await;
    let cut = rig.store.archive().cut("", NOW + 60_000).await;
    let cut = cut.expect("a cut").expect("an account");
    let (lines, _) = rig.store.archive().lines(&cut, 0).await.expect("lines");
    let job = lines.iter().find(|line| line.contains("Fox-1"));
    let job = job.expect("the job's line").replace("\": ", "\":");
    for kept in [
        r#""model":"Fox-1""#,
        r#""model_revision":1"#,
        r#""price_lines":"[7]""#,
    ] {
        assert!(job.contains(kept), "{kept} in {job}");
    }
}
