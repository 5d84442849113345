//! Content Credentials are told of what was made and never stand in its way: a file that cannot be signed is delivered as it
//! is, for the same price, and counted.

use std::sync::Arc;

use atelier_contract::JobState;
use atelier_contract::metrics::table::CREDENTIALS;
use atelier_engine::Settings;
use atelier_engine::credentials::{Signatory, own_chain};

use crate::rig::{Rig, settings};

/// A time that is over whenever this runs: signing goes by the machine's clock.
const BEFORE_S: i64 = 1_760_000_000;

/// How many files were counted under an outcome.
fn counted(rig: &Rig, outcome: &str) -> u64 {
    let counters = rig.engine.meters().counters();
    let files = counters
        .iter()
        .find(|all| all.metric().name == CREDENTIALS.name);
    let rows = files.expect("they are counted").rows();
    let mine = rows.filter(|(labels, _)| labels.contains(&outcome));
    mine.map(|(_, count)| count).sum()
}

/// Makes a picture that is cut off after its head, which can be delivered but not signed.
async fn made(rig: &Rig) -> ((String, String), Vec<u8>) {
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{job:?}");
    let key = rig.stored().await.pop().expect("a file");
    let bytes = rig.files.read(&key).await.expect("its bytes");
    (rig.purse(&caller).await, bytes.to_vec())
}

#[tokio::test]
async fn a_file_that_cannot_be_signed_is_delivered_as_it_is_for_the_same_price_and_counted() {
    let plain = Rig::new().await;
    let expected = made(&plain).await;
    assert_eq!(counted(&plain, "failed"), 0, "nobody signs here");

    let mut signing = Rig::new().await;
    let chain = own_chain("Atelier", BEFORE_S).expect("a chain");
    let signatory = Signatory::new(&chain).expect("it can sign");
    let settings = Settings {
        signatory: Some(Arc::new(signatory)),
        ..settings()
    };
    signing.engine = signing.node_with("signing", settings);
    assert_eq!(made(&signing).await, expected);
    assert_eq!(counted(&signing, "failed"), 1);
    assert_eq!(counted(&signing, "signed"), 0);
    signing.check_books().await;
}
