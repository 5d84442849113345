//! Lists that go on: searches look at a bounded number of jobs at a time, pages behind a job are those that come next, and
//! nothing is told twice or left out.

use atelier_contract::JobState;
use atelier_contract::pages::jobs::JobCursor;
use atelier_store::{JobFilter, JobPage};

use crate::fill::Fill;
use crate::rig::{NOW, Rig, sql};

each_db!(
    a_search_looks_at_so_many_jobs_and_the_next_one_goes_on,
    a_search_finds_words_in_the_beginning_of_a_prompt,
    pages_behind_a_job_are_those_that_come_next,
    a_list_since_a_moment_is_the_beginning_of_the_whole,
);

/// What one search looks at.
const LOOKED_AT: i64 = 20_000;
const DAY_MS: i64 = 86_400_000;

/// Jobs that succeeded; those of each name do something else.
async fn filled(rig: &Rig, account: &str, name: &str, jobs: i64, apart_ms: i64) {
    let operation = if name == "seldom" {
        "artgen.upscale"
    } else {
        ""
    };
    let fill = Fill {
        account_id: account,
        name,
        jobs,
        state: 2,
        operation,
        apart_ms,
        ..Fill::default()
    };
    fill.into(&rig.url).await;
}

fn ids(page: &JobPage) -> Vec<String> {
    page.rows.iter().map(|row| row.id.clone()).collect()
}

/// The promise: however much an account has, one search looks at 20,000 jobs; those who go on by what it says see all that
/// fits, each once.
async fn a_search_looks_at_so_many_jobs_and_the_next_one_goes_on(rig: Rig) {
    let account = rig.account(10, 10).await;
    filled(&rig, &account, "many", 43_000, 1_000).await;
    let rare = Fill {
        account_id: &account,
        name: "rare",
        jobs: 30,
        state: 2,
        operation: "artgen.upscale",
        apart_ms: 1_400_001,
        ..Fill::default()
    };
    rare.into(&rig.url).await;
    let all: Vec<String> = (1..=30).map(|i| format!("rare-{i:08}")).collect();
    for whose in [Some(account.clone()), None] {
        let search = async |after: Option<JobCursor>, limit| {
            let filter = JobFilter {
                account_id: whose.clone(),
                operations: vec!["artgen.upscale".into()],
                text: Some("CLIFF at dusk".into()),
                limit,
                after,
                ..JobFilter::default()
            };
            rig.store.jobs().list(filter).await.expect("a page")
        };
        let first = search(None, 100).await;
        assert!(
            first.next.is_some(),
            "{whose:?}: it cannot have looked at all"
        );
        let most = (LOOKED_AT * 1_000 / 1_400_001 + 1) as usize;
        assert!(
            first.rows.len() <= most,
            "{whose:?}: {} found",
            first.rows.len()
        );
        for limit in [4, 100] {
            let (mut after, mut found) = (None, Vec::new());
            loop {
                let page = search(after, limit).await;
                found.extend(ids(&page));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, all, "{whose:?}, {limit} at a time");
        }
    }
}

async fn a_search_finds_words_in_the_beginning_of_a_prompt(rig: Rig) {
    let (account, other) = (rig.account(10, 10).await, rig.account(10, 10).await);
    filled(&rig, &account, "plain", 30, 1_000).await;
    let wordy = format!(
        "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, price, quota, created_ms, \
         finished_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, tries) SELECT v, '{account}', \
         'artgen.video', 'artgen', 3, 1, 0, '{{\"userPrompt\":\"' || w || '\"}}', 0, 0, {NOW}, {NOW}, {NOW}, {NOW}, 1, 0, 0, 0, 0 \
         FROM (SELECT 'late' AS v, '{}' AS w UNION ALL SELECT 'early', '{}') AS words; \
         INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, balance_after, \
         frozen_after, reason, time_ms) SELECT job.id || k, account.id, account.entries + n, job.id, k, 0, 0, 0, \
         account.balance, account.frozen, '', {NOW} FROM account, job, (SELECT 'late' AS j, 'hold' AS k, 1 AS n UNION ALL \
         SELECT 'early', 'hold', 2 UNION ALL SELECT 'late', 'release', 3 UNION ALL SELECT 'early', 'release', 4) AS lines \
         WHERE account.id = '{account}' AND job.id = lines.j; \
         UPDATE account SET entries = entries + 4 WHERE id = '{account}'; \
         INSERT INTO tally VALUES ('{account}', {NOW} / {DAY_MS}, 'artgen.video', 3, 2); \
         INSERT INTO tally_total VALUES ('{account}', 'artgen.video', 3, 2, 0)",
        format_args!("{}badger", "é".repeat(495)),
        format_args!("{}badger", "é".repeat(494)),
    );
    sql(&rig.url, &wordy).await.expect("two jobs");
    let search = async |whose: &str, text: &str, more: JobFilter| {
        let filter = JobFilter {
            account_id: Some(whose.to_owned()),
            text: Some(text.into()),
            limit: 10,
            ..more
        };
        let page = rig.store.jobs().list(filter).await.expect("a page");
        assert_eq!(page.next, None);
        assert_eq!(page.total, page.rows.len() as i64);
        ids(&page)
    };
    let nothing: Vec<String> = Vec::new();
    let any = JobFilter::default;
    assert_eq!(search(&account, "badger", any()).await, ["early"]);
    assert_eq!(search(&account, "badge", any()).await, ["late", "early"]);
    assert_eq!(search(&account, "100%", any()).await, nothing);
    // A name finds its job alone, if everything else fits it as well.
    assert_eq!(
        search(&account, "plain-00000030", any()).await,
        ["plain-00000030"]
    );
    assert_eq!(search(&other, "plain-00000030", any()).await, nothing);
    let failed = JobFilter {
        state: Some(JobState::Failed),
        ..any()
    };
    assert_eq!(
        search(&account, "plain-00000030", failed.clone()).await,
        nothing
    );
    assert_eq!(search(&account, "lighthouse", failed).await, nothing);
    let late = JobFilter {
        created_from_ms: Some(NOW - 3_000),
        ..any()
    };
    let found = search(&account, "lighthouse", late).await;
    assert_eq!(
        found,
        ["plain-00000001", "plain-00000002", "plain-00000003"]
    );
}

/// The promise: whoever goes on behind the last job of a page sees all there are, in order, whatever is asked for.
async fn pages_behind_a_job_are_those_that_come_next(rig: Rig) {
    let account = rig.account(10, 10).await;
    // Several on one day, days without any, and more days than are looked at one by one at the beginning of a list.
    filled(&rig, &account, "often", 120, 500_000).await;
    filled(&rig, &account, "seldom", 60, DAY_MS * 3 / 2).await;
    let kinds = [
        JobFilter::default(),
        JobFilter {
            operations: vec!["artgen.imagine".into()],
            ..JobFilter::default()
        },
        JobFilter {
            state: Some(JobState::Succeeded),
            ..JobFilter::default()
        },
        JobFilter {
            state: Some(JobState::Failed),
            ..JobFilter::default()
        },
        JobFilter {
            created_from_ms: Some(NOW - 20 * DAY_MS + 5),
            ..JobFilter::default()
        },
    ];
    for kind in kinds {
        for ascending in [false, true] {
            let list = async |after: Option<JobCursor>, limit| {
                let filter = JobFilter {
                    account_id: Some(account.clone()),
                    ascending,
                    after,
                    limit,
                    ..kind.clone()
                };
                rig.store.jobs().list(filter).await.expect("a page")
            };
            let all = ids(&list(None, 1_000).await);
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = list(after, 20).await;
                assert_eq!(page.total, all.len() as i64);
                found.extend(ids(&page));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, all, "{ascending}: {kind:?}");
        }
    }
}

async fn a_list_since_a_moment_is_the_beginning_of_the_whole(rig: Rig) {
    let account = rig.account(10, 10).await;
    filled(&rig, &account, "often", 300, 250_000).await;
    filled(&rig, &account, "seldom", 50, DAY_MS).await;
    let list = async |since, offset, limit| {
        let filter = JobFilter {
            account_id: Some(account.clone()),
            created_from_ms: since,
            offset,
            limit,
            ..JobFilter::default()
        };
        rig.store.jobs().list(filter).await.expect("a page")
    };
    let all = list(None, 0, 1_000).await.rows;
    for since in [
        NOW,
        NOW - 250_000,
        NOW - 30_000_001,
        NOW - NOW % DAY_MS,
        NOW - 20 * DAY_MS,
        NOW - 60 * DAY_MS,
        0,
    ] {
        let fitting = all.iter().filter(|row| row.created_ms >= since);
        let fitting: Vec<String> = fitting.map(|row| row.id.clone()).collect();
        let total = fitting.len();
        for offset in [0, total / 2, total.saturating_sub(3), total] {
            let page = list(Some(since), offset as i64, 10).await;
            assert_eq!(page.total as usize, total, "since {since}");
            let end = (offset + 10).min(total);
            assert_eq!(
                ids(&page),
                fitting[offset..end],
                "since {since} from {offset}"
            );
        }
    }
}
