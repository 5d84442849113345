//! A backup holds every file that its database names, or says that it is none.

use std::path::Path;

use atelier_engine::backup::{BackupError, back_up, restore};
use atelier_store::files::Files;
use atelier_store::{Options, Store};

use crate::models::{create, draw, fox};
use crate::rig::Rig;

fn files_in(folder: &Path) -> Files {
    Files::folder(folder.to_owned()).expect("a folder")
}

#[tokio::test]
async fn files_made_after_the_backup_began_and_before_its_database_was_copied_are_with_it() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    // The command reads the time; then the database is copied to a slow disk.
    let began_ms = rig.clock.now_ms();
    rig.clock.advance(30_000);
    create(&rig, &fox(&[])).await;
    let job = draw(&rig, &caller, "fox", "a fox").await;
    rig.settle_down().await;
    let made = rig.stored().await;
    assert_eq!(made.len(), 1);
    let kept = rig.folder.join("kept");
    let contents = back_up(&rig.store, Some(&rig.files), &kept, began_ms).await;
    let contents = contents.expect("a backup");
    assert_eq!(contents.files, 1, "the file that the database names");
    assert!(contents.rows > 0, "it was looked at");
    let fresh = rig.folder.join("fresh");
    let back = files_in(&fresh.join("assets"));
    restore(&kept, &back, &fresh).await.expect("restored");
    let size = back.size(&made[0]).await.expect("a look");
    assert!(size.is_some(), "{} is back", made[0]);
    // The operator's models are with it, and the job is still of the one it was accepted with.
    let url = format!("sqlite:{}", fresh.join("atelier.db").display());
    let store = Store::open(&url, Options::default())
        .await
        .expect("a store");
    let models = store.models().current().await.expect("the models");
    let kept: Vec<_> = models
        .iter()
        .map(|row| (&*row.name, row.revision))
        .collect();
    assert_eq!(kept, [("Fox-1", 1)]);
    let row = store.jobs().find(&caller.account_id, job.as_str()).await;
    let row = row.expect("read").expect("the job");
    assert_eq!(row.model.zip(row.model_revision), Some(("Fox-1".into(), 1)));
    let faults = store.invariants().check_books().await.expect("checked");
    assert!(faults.is_empty(), "{faults:#?}");
    store.close().await;
}

#[tokio::test]
async fn a_copy_without_a_file_that_its_database_names_is_no_backup() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let made = rig.stored().await;
    rig.files.delete(&made[0]).await.expect("lost");
    let kept = rig.folder.join("kept");
    let now_ms = rig.clock.now_ms();
    let failed = back_up(&rig.store, Some(&rig.files), &kept, now_ms).await;
    let Err(BackupError::Unsound { faults, first, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(faults, 1);
    assert!(
        first.starts_with("files.stored: ") && first.contains(&made[0]),
        "{first}"
    );
    assert!(!kept.join("backup.json").exists(), "no list of contents");
    // Without files it is whole.
    let without = rig.folder.join("without");
    let contents = back_up(&rig.store, None, &without, now_ms).await;
    assert_eq!(contents.expect("a backup").files, 0);
}
