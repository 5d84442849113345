//! The archive: what is moved is in a file that is as its row says, whoever else archives at that time.

use atelier_contract::month::Month;
use atelier_engine::archive::{ArchiveError, FileState, archive, state_of};
use atelier_engine::{StatementIssuer, close_before};
use atelier_store::{Options, Store};

use crate::rig::Rig;

const DAY_MS: i64 = 24 * 3_600_000;

/// The promise: two that archive into one folder do not remove each other's files, which are all there is of their rows.
#[tokio::test]
async fn a_second_archiving_into_a_folder_is_refused_and_the_files_of_the_first_are_whole() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    for _ in 0..3 {
        rig.imagine(&caller, "a fox").await.expect("accepted");
    }
    rig.settle_down().await;
    rig.clock.advance(40 * DAY_MS);
    // As the command opens it, beside the service.
    let url = format!("sqlite:{}", rig.folder.join("atelier.db").display());
    let options = Options {
        references: false,
        ..Options::default()
    };
    let store = Store::open(&url, options).await.expect("a store");
    let (folder, now_ms) = (rig.folder.join("archive"), rig.clock.now_ms());
    let before_ms = Month::at(now_ms).from_ms();
    let issuer = StatementIssuer::default();
    let made = close_before(&store, &issuer, before_ms, now_ms).await;
    assert_eq!(made.expect("statements"), 1);
    let once = || archive(&store, &folder, before_ms, now_ms);
    let (moved, refused) = match tokio::join!(once(), once()) {
        (Ok(moved), Err(refused)) | (Err(refused), Ok(moved)) => (moved, refused),
        both => panic!("one is refused: {both:?}"),
    };
    assert!(matches!(refused, ArchiveError::InUse(_)), "{refused:?}");
    assert_eq!(moved.jobs, 3, "{moved:?}");
    let files = store.archive().files("", 100).await.expect("rows");
    assert_eq!(files.len() as u64, moved.files);
    for file in files {
        let state = state_of(&folder, &file.name, &file.hash).expect("read");
        assert_eq!(state, FileState::Whole, "{}", file.name);
    }
    let again = once().await.expect("the folder is free again");
    assert_eq!(again.jobs, 0);
    store.close().await;
}
