//! A place is for work; what only waits for the disk has none.

use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use sqlx::{Connection as _, SqliteConnection};

use crate::rig::Rig;

/// Holds the database, so that no change is committed until this is dropped.
async fn held(rig: &Rig) -> SqliteConnection {
    let url = format!("sqlite:{}", rig.folder.join("atelier.db").display());
    let mut held = SqliteConnection::connect(&url).await.expect("opened");
    let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut held).await;
    begun.expect("held");
    held
}

/// Waits until no slot is busy, without a step: a lease would wait for the database like everything else.
async fn until_free(rig: &Rig) {
    for _ in 0..1_000 {
        if rig.busy().await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("no slot became free");
}

#[tokio::test]
async fn a_place_is_given_back_when_the_work_is_done_and_not_when_the_disk_is() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "held owl").await.expect("accepted");
    rig.until_busy(1).await;
    let held = held(&rig).await;
    rig.backend.release.notify_one();
    until_free(&rig).await;
    assert_eq!(
        rig.state(&caller, &id).await,
        JobState::Running,
        "nothing can be committed yet"
    );
    drop(held);
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(rig.backend.starts().len(), 1);
    rig.check_books().await;
}

#[tokio::test]
async fn an_acceptance_that_waits_for_the_disk_holds_no_place_and_nobody_works_without_one() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let caller = rig.account(10).await;
    let found = rig.engine.floor().run_step().await.expect("a look");
    assert_eq!(found, 0, "nobody waits");
    let held = held(&rig).await;
    let meanwhile = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(rig.busy().await, 0, "nothing is accepted yet");
        drop(held);
    };
    let (owl, fox, ()) = tokio::join!(
        rig.imagine(&caller, "held owl"),
        rig.imagine(&caller, "held fox"),
        meanwhile
    );
    let (owl, fox) = (owl.expect("accepted"), fox.expect("accepted"));
    rig.until_busy(1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(rig.backend.starts().len(), 1, "there is one place");
    let mut states = [
        rig.state(&caller, &owl).await,
        rig.state(&caller, &fox).await,
    ];
    states.sort_by_key(|state| state.number());
    assert_eq!(states, [JobState::Waiting, JobState::Running]);
    rig.backend.release.notify_one();
    until_free(&rig).await;
    rig.clock.advance(1_000);
    rig.engine.floor().run_step().await.expect("a step");
    rig.until_busy(1).await;
    rig.backend.release.notify_one();
    rig.settle_down().await;
    for id in [owl, fox] {
        assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    }
    assert_eq!(rig.backend.starts().len(), 2);
    rig.check_books().await;
}
