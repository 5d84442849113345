//! Pages of lists of jobs: page numbers lead where they would if all jobs before were counted.

use atelier_contract::JobState;
use atelier_store::{Guard, JobFilter, JobPage};

use crate::fill::Fill;
use crate::rig::{NOW, Rig};

each_db!(
    a_page_far_down_is_the_same_as_counted,
    a_page_far_down_holds_what_is_asked_for_and_nothing_else,
    a_page_in_the_middle_is_right_whatever_was_remembered_of_its_day,
);

/// The promise: page numbers lead where they would if all jobs before were counted, unfinished ones among them.
async fn a_page_far_down_is_the_same_as_counted(rig: Rig) {
    // In a few days, and in months.
    for (done_ms, open_ms) in [(600_000, 7_000_000), (18_000_000, 60_000_000)] {
        pages_are_as_counted(&rig, done_ms, open_ms).await;
    }
}

async fn pages_are_as_counted(rig: &Rig, done_ms: i64, open_ms: i64) {
    let account = rig.account(10, 10_000).await;
    for (name, state, apart_ms) in [("done", 2, done_ms), ("open", 0, open_ms)] {
        let fill = Fill {
            account_id: &account,
            name: &format!("{name}-{done_ms}"),
            jobs: 400 / (4 - i64::from(state == 2) * 3),
            state,
            lane: "",
            apart_ms,
            ..Fill::default()
        };
        fill.into(&rig.url).await;
    }
    let list = async |offset, limit, ascending| {
        let filter = JobFilter {
            account_id: Some(account.clone()),
            operations: vec!["artgen.imagine".into()],
            ascending,
            offset,
            limit,
            ..JobFilter::default()
        };
        let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("a page");
        assert_eq!(total, 500);
        let ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
        ids
    };
    for ascending in [false, true] {
        let all = list(0, 1_000, ascending).await;
        assert_eq!(all.len(), 500);
        for (offset, limit) in [
            (0, 10),
            (137, 10),
            (250, 100),
            (495, 10),
            (499, 1),
            (500, 10),
        ] {
            let page = list(offset as i64, limit as i64, ascending).await;
            let end = (offset + limit).min(500);
            assert_eq!(page, all[offset..end], "{offset}, {ascending}");
        }
    }
}

/// The promise: jobs before a page are skipped without a look at each only where all of them are asked for.
async fn a_page_far_down_holds_what_is_asked_for_and_nothing_else(rig: Rig) {
    let account = rig.account(10, 10_000).await;
    let fill = async |name: &str, operation: &str, jobs, apart_ms| {
        let fill = Fill {
            account_id: &account,
            name,
            operation,
            jobs,
            state: 2,
            apart_ms,
            ..Fill::default()
        };
        fill.into(&rig.url).await;
    };
    fill("alike", "artgen.imagine", 900, 10_000).await;
    let list = async |operation: &str, offset, limit| {
        let filter = JobFilter {
            account_id: Some(account.clone()),
            operations: vec![operation.into()],
            state: Some(JobState::Succeeded),
            offset,
            limit,
            ..JobFilter::default()
        };
        let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("a page");
        let ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
        (ids, total)
    };
    let far_down = async |operation: &str, jobs: i64| {
        let (all, total) = list(operation, 0, 1_000).await;
        assert_eq!((all.len() as i64, total), (jobs, jobs));
        for offset in [0, 230, jobs / 2, jobs - 240, jobs - 5] {
            let (page, _) = list(operation, offset, 10).await;
            let (first, end) = (offset as usize, (offset as usize + 10).min(all.len()));
            assert_eq!(page, all[first..end], "{operation} from {offset}");
        }
    };
    far_down("artgen.imagine", 900).await;
    fill("unlike", "artgen.blend", 90, 99_000).await;
    far_down("artgen.imagine", 900).await;
    let (blends, total) = list("artgen.blend", 0, 1_000).await;
    assert_eq!((blends.len(), total), (90, 90));
}

/// The promise: what is remembered of a day or of all earlier days is right or is not used. One job is removed and another one
/// of the same day ends, so that there are as many as before, and not the same.
async fn a_page_in_the_middle_is_right_whatever_was_remembered_of_its_day(rig: Rig) {
    const DAY_MS: i64 = 86_400_000;
    const DAYS: i64 = 36;
    let account = rig.account(10, 10_000).await;
    let fill = async |name: &str, jobs, state, apart_ms| {
        let fill = Fill {
            account_id: &account,
            name,
            jobs,
            state,
            apart_ms,
            ..Fill::default()
        };
        fill.into(&rig.url).await;
    };
    let jobs = DAYS * 600;
    fill("done", jobs, 2, DAY_MS / 600).await;
    let days_ago = [1, 20, 34];
    for days in days_ago {
        // Before noon of that day.
        let name = format!("late-{days}");
        fill(&name, 1, 0, days * DAY_MS + 1).await;
    }
    let list = async |offset, limit, ascending| {
        let filter = JobFilter {
            account_id: Some(account.clone()),
            operations: vec!["artgen.imagine".into()],
            state: Some(JobState::Succeeded),
            ascending,
            offset,
            limit,
            ..JobFilter::default()
        };
        let JobPage { rows, total, .. } = rig.store.jobs().list(filter).await.expect("a page");
        assert_eq!(total, jobs);
        rows.into_iter().map(|row| row.id).collect::<Vec<String>>()
    };
    let right = async |when: &str| {
        // Nothing is remembered of a list from its beginning.
        let mut all = list(0, jobs, true).await;
        all.reverse();
        for days in days_ago {
            // Between the two, of which one goes and one comes, and beyond.
            for offset in [20, 100, 300, 555, 900].map(|more| days * 600 + more) {
                let page = list(offset, 20, false).await;
                let from = offset as usize;
                let end = all.len().min(from + 20);
                assert_eq!(page, all[from.min(end)..end], "{when}, from {offset}");
            }
        }
    };
    right("first").await;
    right("when it is remembered").await;
    for days in days_ago {
        let gone = format!("done-{:08}", days * 600 + 220);
        let deleted = rig.store.jobs().delete(&account, &gone, &[], NOW).await;
        assert!(deleted.expect("answered"), "{gone}");
        let late = format!("late-{days}-00000001");
        rig.settle(rig.success(&late, Guard::Unfinished, 0)).await;
    }
    right("when others are there").await;
    right("when that is remembered").await;
}
