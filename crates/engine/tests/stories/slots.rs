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
    for _ in 0..15_000 {
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
