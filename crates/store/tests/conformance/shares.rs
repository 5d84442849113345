//! What one account has of what all share: its own rates and share, the bytes it keeps, the prompts it was refused.

use atelier_store::{AcceptOutcome, AccountLimits, AccountLimitsPatch, AccountPatch, Asset};

use crate::rig::{NOW, Rig};

each_db!(
    an_account_may_have_its_own_part_of_what_all_share,
    what_is_kept_for_an_account_is_counted_and_bounds_what_is_accepted,
    the_same_input_in_the_same_moment_is_told_from_a_new_one,
    refused_prompts_are_counted_by_family_and_day,
    a_day_that_is_over_does_not_begin_again_for_refused_prompts,
);

fn asset(key: &str, account: &str, bytes: i64) -> Asset {
    Asset {
        key: key.into(),
        job_id: String::new(),
        account_id: account.into(),
        media_type: "image/png".into(),
        bytes,
        expires_ms: NOW + 1000,
        created_ms: NOW,
    }
}

async fn an_account_may_have_its_own_part_of_what_all_share(rig: Rig) {
    let (id, other) = (rig.account(1, 1).await, rig.account(1, 1).await);
    let own = async || {
        let all = rig
            .store
            .accounts()
            .allowances()
            .await
            .expect("read")
            .into_iter();
        all.filter(|(whose, _)| *whose == id || *whose == other)
            .collect::<Vec<_>>()
    };
    assert_eq!(own().await, []);
    let change = async |allowance| {
        let patch = AccountPatch {
            allowance,
            ..AccountPatch::default()
        };
        let changed = rig.store.accounts().update(&id, patch, None).await;
        changed.expect("changed").expect("there").allowance
    };
    let wish = AccountLimitsPatch {
        submits_per_second: Some(7),
        max_storage: Some(99),
        ..AccountLimitsPatch::default()
    };
    let expected = AccountLimits {
        submits_per_second: 7,
        max_storage: 99,
        ..AccountLimits::default()
    };
    assert_eq!(change(wish).await, expected);
    assert_eq!(own().await, [(id.clone(), expected)]);
    let wish = AccountLimitsPatch {
        submits_per_second: Some(0),
        ..AccountLimitsPatch::default()
    };
    assert_eq!(
        change(wish).await.max_storage,
        99,
        "what is not named stays"
    );
    assert_eq!(own().await, []);
}

async fn what_is_kept_for_an_account_is_counted_and_bounds_what_is_accepted(rig: Rig) {
    let (id, other) = (rig.account(100, 100).await, rig.account(100, 100).await);
    let stored = async || {
        let account = rig.store.accounts().find(&id).await.expect("a read");
        account.expect("there").stored
    };
    let key = |name: &str| format!("in/{id}/{name}");
    let files = vec![asset(&key("a"), &id, 600), asset(&key("b"), &id, 400)];
    rig.store
        .assets()
        .note_inputs(files.clone())
        .await
        .expect("noted");
    rig.store.assets().note_inputs(files).await.expect("noted");
    let foreign = asset(&format!("in/{other}/c"), &other, 5);
    rig.store
        .assets()
        .note_inputs(vec![foreign])
        .await
        .expect("noted");
    assert_eq!(stored().await, 1000, "the same file counts once");
    let mut accept = rig.accept(&id, 1);
    accept.max_storage = 1000;
    let full = AcceptOutcome::StorageFull { max_storage: 1000 };
    assert_eq!(rig.take(accept.clone()).await, full);
    let foreseen = rig.store.jobs().precheck_refusal(&accept.job, 1000);
    assert_eq!(foreseen.await.expect("asked"), Some(full));
    rig.waiting(&other, 1).await;
    let allowance = AccountLimitsPatch {
        max_storage: Some(1001),
        ..AccountLimitsPatch::default()
    };
    let patch = AccountPatch {
        allowance,
        ..AccountPatch::default()
    };
    rig.store
        .accounts()
        .update(&id, patch, None)
        .await
        .expect("changed");
    let words = accept.job.request.len() as i64;
    rig.take(accept).await;
    assert_eq!(stored().await, 1000 + words, "words count as well");
    // What was deleted counts no more.
    let gone = rig.store.assets().condemn(NOW + 2000, NOW, 100).await;
    let gone = gone.expect("condemned");
    rig.store
        .assets()
        .forget(&gone, NOW + 2000)
        .await
        .expect("forgotten");
    assert_eq!(stored().await, words);
}

/// Two calls send the same picture in the same millisecond: whoever was first can tell that another came, and the other
/// that it was not first.
async fn the_same_input_in_the_same_moment_is_told_from_a_new_one(rig: Rig) {
    let wished = asset("in/moment/a", "moment", 9);
    let note = async || {
        let noted = rig.store.assets().note_inputs(vec![wished.clone()]).await;
        noted.expect("noted").expect("not being deleted").remove(0)
    };
    let (first, second) = (note().await, note().await);
    assert_eq!(first, wished);
    assert_ne!(second, wished);
    let drop = async |row: Asset| {
        rig.store
            .assets()
            .drop_inputs(&[row])
            .await
            .expect("dropped")
    };
    assert_eq!(drop(first).await, 0, "another call needs it");
    assert_eq!(drop(second).await, 1);
}

async fn refused_prompts_are_counted_by_family_and_day(rig: Rig) {
    let id = rig.account(1, 1).await;
    let counted = async |family, day| {
        let found = rig.store.accounts().refused_prompts(&id, family, day).await;
        found.expect("read")
    };
    let count = async |family, day| {
        let counted = rig
            .store
            .accounts()
            .count_refused_prompt(&id, family, day)
            .await;
        counted.expect("counted");
    };
    count("artgen", 7).await;
    count("artgen", 7).await;
    count("motion", 7).await;
    assert_eq!(
        (counted("artgen", 7).await, counted("motion", 7).await),
        (2, 1)
    );
    assert_eq!(counted("artgen", 8).await, 0, "a new day");
    count("artgen", 8).await;
    assert_eq!(counted("artgen", 8).await, 1);
}

/// The promise: a clock that is set back over midnight gives nobody the day before once more; one that was wrong by days keeps
/// nobody waiting for them.
async fn a_day_that_is_over_does_not_begin_again_for_refused_prompts(rig: Rig) {
    let id = rig.account(1, 1).await;
    let counted = async |day| {
        let found = rig
            .store
            .accounts()
            .refused_prompts(&id, "artgen", day)
            .await;
        found.expect("read")
    };
    let count = async |day| {
        let counted = rig
            .store
            .accounts()
            .count_refused_prompt(&id, "artgen", day)
            .await;
        counted.expect("counted");
    };
    for day in [7, 7, 8] {
        count(day).await;
    }
    assert_eq!((counted(8).await, counted(7).await), (1, 1), "set back");
    count(7).await;
    assert_eq!((counted(8).await, counted(7).await), (2, 2), "it goes on");
    assert_eq!(counted(6).await, 0, "by days");
    count(6).await;
    assert_eq!((counted(6).await, counted(7).await), (1, 0));
}
