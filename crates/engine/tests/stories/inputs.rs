//! Input pictures: whoever works on them learns nothing about where and when they were taken.

use atelier_contract::{Code, JobState};
use base64::Engine as _;
use serde_json::json;

use crate::rig::Rig;

const SECRET: &[u8] = b"Comment\0at home";

/// A small picture with a comment.
fn picture() -> Vec<u8> {
    let chunk = |kind: &[u8], content: &[u8]| {
        let length = (content.len() as u32).to_be_bytes();
        [&length, kind, content, b"crc."].concat()
    };
    let header = chunk(b"IHDR", b"\0\0\0\x40\0\0\0\x40\x08\x06\0\0\0");
    let end = chunk(b"IEND", b"");
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        header,
        chunk(b"tEXt", SECRET),
        end,
    ]
    .concat()
}

#[tokio::test]
async fn metadata_of_an_input_goes_no_further_than_the_vault() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let body = json!({ "imgBase64Array": [encoded, encoded] });
    let id = rig
        .call(&caller, "artgen.blend", body, false)
        .await
        .expect("accepted");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    let sources = rig.backend.sources.lock().expect("no panic under the lock");
    assert_eq!(sources.len(), 2);
    for source in sources.iter() {
        let hidden = !source.windows(SECRET.len()).any(|part| part == SECRET);
        assert!(hidden && source.starts_with(b"\x89PNG"), "{source:?}");
    }
}

#[tokio::test]
async fn an_image_sent_again_while_its_expired_copy_is_deleted_is_not_lost() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let send = async || {
        let body = json!({ "imgBase64Array": [encoded, encoded] });
        rig.call(&caller, "artgen.blend", body, false).await
    };
    send().await.expect("accepted");
    rig.settle_down().await;
    let stored = rig.stored().await;
    let key = stored.iter().find(|key| key.starts_with("in/"));
    let key = key.expect("an input").clone();

    // Another node has condemned the file and is about to delete it.
    rig.clock.advance(32 * 24 * 3_600_000);
    let now_ms = rig.clock.now_ms();
    let condemned = rig.store.condemn_assets(now_ms, 0, 10).await;
    assert!(condemned.expect("condemned").contains(&key));
    let refused = send().await.expect_err("not accepted now");
    assert_eq!(refused.code, Code::Overloaded);
    rig.files.delete(&key).await.expect("deleted");
    let gone = [key.clone()];
    rig.store
        .forget_assets(&gone, now_ms)
        .await
        .expect("forgotten");

    let id = send().await.expect("accepted again");
    assert!(rig.stored().await.contains(&key));
    rig.engine.expire_step().await.expect("deleted");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
}
