//! What becomes of one attempt at a vendor: it is paid for once, cancelled where it is, and never by somebody else.

use std::time::Duration;

use atelier_contract::JobState;
use atelier_contract::metrics::HistogramVec;
use atelier_contract::metrics::table::STORE_FILE_DURATION;
use serde_json::json;

use crate::rig::Rig;
use crate::stage::Stage;
use crate::vendors::cast;

/// Between two tries to store what was paid for.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often files were stored, or could not be.
fn stored(rig: &Rig) -> u64 {
    let series = rig.engine.meters().series();
    let of_files = |one: &&&HistogramVec| one.metric().name == STORE_FILE_DURATION.name;
    let files = series.iter().find(of_files).expect("its series");
    files.at("", "").read().0.iter().sum()
}

#[tokio::test]
async fn a_paid_result_waits_for_the_asset_store_and_is_not_made_again() {
    let (stage, rig) = (
        Stage::named("unreachable assets"),
        Rig::with_vendors().await,
    );
    cast(&rig, "unreachable assets", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    rig.break_asset_store();
    let id = rig.imagine(&caller, "at-once").await.expect("accepted");
    rig.rest().await;
    // More often than there are short pauses. What waits between two tries does so in no time.
    for tries in 1..=7 {
        for _ in 0..3_000 {
            if stored(&rig) >= tries {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(stored(&rig) >= tries, "no {tries}. try");
        tokio::time::pause();
        tokio::time::advance(LONGEST_PAUSE).await;
        tokio::time::resume();
    }
    let runner = rig.engine.runner();
    runner.progress_step().await.expect("written down");
    assert_eq!(rig.state(&caller, &id).await, JobState::Running);
    rig.mend_asset_store();
    for _ in 0..1_500 {
        if rig.state(&caller, &id).await.is_final() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(stage.taken("at-once"), 1, "paid for once");
    rig.check_books().await;
}

#[tokio::test]
async fn a_cancel_during_a_submit_reaches_the_vendor_whatever_a_lost_submit_means() {
    for lost in ["unknown", "look_up", "repeat"] {
        let name = format!("early cancel {lost}");
        let (stage, rig) = (Stage::named(&name), Rig::with_vendors().await);
        cast(&rig, &name, lost, &["one"]).await;
        let caller = rig.account(100).await;
        let id = rig.imagine(&caller, "slow").await.expect("accepted");
        while stage.books().arrived.is_empty() {
            rig.engine.runner().run_step().await.expect("a step");
            rig.until_quiet().await;
        }
        rig.engine
            .jobs()
            .cancel(&caller.account_id, &id)
            .await
            .expect("cancelled");
        for _ in 0..15_000 {
            if !stage.books().cancelled.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(stage.books().cancelled, [json!({ "task": 1 })], "{lost}");
        assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
        rig.check_books().await;
    }
}

#[tokio::test]
async fn a_lost_submit_whose_answer_was_the_result_is_delivered_once() {
    let (stage, rig) = (Stage::named("found"), Rig::with_vendors().await);
    cast(&rig, "found", "look_up", &["one"]).await;
    let caller = rig.account(100).await;
    let prompt = "cut-after at once after all";
    let id = rig.imagine(&caller, prompt).await.expect("accepted");
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(stage.taken(prompt), 1);
    assert_eq!(rig.purse(&caller).await, ("96".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_cancel_reaches_the_vendor_with_the_ticket_of_its_own_attempt() {
    let (stage, rig) = (Stage::named("cancel"), Rig::with_vendors().await);
    cast(&rig, "cancel", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let other = rig.imagine(&caller, "limbo other").await.expect("accepted");
    rig.rest().await;
    let id = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    rig.rest().await;
    assert_eq!(stage.books().cancelled, [json!({ "task": 2 })]);
    assert_eq!(rig.state(&caller, &other).await, JobState::Running);
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &other)
        .await
        .expect("cancelled");
    rig.rest().await;
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_node_that_lost_its_lease_does_not_cancel_what_another_node_polls() {
    let (stage, rig) = (Stage::named("lease"), Rig::with_vendors().await);
    cast(&rig, "lease", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    rig.clock.advance(31_000);
    let second = rig.second_node();
    second.runner().workers().load().await.expect("loaded");
    second.runner().sweep_step().await.expect("swept");
    rig.engine.renew_step().await.expect("renewed");
    rig.rest().await;
    assert!(stage.books().cancelled.is_empty());
    assert_eq!(rig.state(&caller, &id).await, JobState::Running);
    second
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    second.runner().poll_step();
    rig.until_quiet().await;
    for _ in 0..15_000 {
        if stage.books().cancelled.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(stage.books().cancelled.len(), 1);
    rig.check_books().await;
}

#[tokio::test]
async fn a_cancel_while_a_part_is_ordered_reaches_the_vendor_with_the_ticket_of_that_part() {
    let (stage, rig) = (Stage::named("parts"), Rig::with_vendors().await);
    cast(&rig, "parts", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "parts-slow").await.expect("accepted");
    // The first part has a name before the second one arrives.
    while stage.books().arrived.len() < 2 {
        rig.clock.advance(100);
        rig.engine.runner().poll_step();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &id).await;
    cancelled.expect("cancelled");
    for _ in 0..3_000 {
        if !stage.books().cancelled.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        stage.books().cancelled,
        [json!({ "task": 2, "done": 1 })],
        "the part that was on its way"
    );
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));
    rig.check_books().await;
}
