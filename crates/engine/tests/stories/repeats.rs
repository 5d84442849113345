//! A repeat with the same key is answered first of all, and a call that is refused leaves nothing behind.

use atelier_contract::Code;
use base64::Engine as _;
use serde_json::json;

use crate::inputs::picture;
use crate::rig::Rig;
use crate::stage::Stage;
use crate::vendors::cast;

#[tokio::test]
async fn a_repeat_is_answered_although_nobody_could_take_it_any_more() {
    let (_stage, rig) = (Stage::named("repeat"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "repeat", "unknown", &["one"]).await;
    let caller = rig.account(4).await;
    let body = json!({ "prompt": "plain", "timeout": 300 });
    let first = rig.submit(&caller, body.clone(), Some("key")).await;
    let first = first.expect("accepted");
    rig.until_final(&caller, &first).await;
    let removed = rig
        .engine
        .admin()
        .backends()
        .remove_worker("root", &backend, &workers[0]);
    removed.await.expect("removed");
    let fresh = rig.submit(&caller, body.clone(), None).await;
    assert_eq!(
        fresh.expect_err("nobody left").code,
        Code::NoAvailableAccount
    );
    let again = rig.submit(&caller, body, Some("key")).await;
    assert_eq!(again.expect("the first answer"), first);
}

#[tokio::test]
async fn a_repeat_stores_nothing_again() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let body = json!({ "imgBase64Array": [encoded, encoded] });
    let blend = async |body| {
        let sent = rig.send(&caller, "artgen.blend", body, Some("key"), false);
        sent.await
    };
    let first = blend(body.clone()).await;
    let first = first.expect("accepted");
    rig.settle_down().await;
    let input = rig.stored().await;
    let input = input.iter().find(|key| key.starts_with("in/"));
    let input = input.expect("an input").clone();
    rig.files.delete(&input).await.expect("deleted");
    let again = blend(body).await;
    assert_eq!(again.expect("the first answer"), first);
    assert!(!rig.stored().await.contains(&input));
}

#[tokio::test]
async fn the_same_key_and_body_on_the_custody_host_is_another_call() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let body = json!({ "prompt": "a fox", "timeout": 300 });
    rig.submit(&caller, body.clone(), Some("key"))
        .await
        .expect("accepted");
    let custody = rig.send(&caller, "artgen.imagine", body, Some("key"), true);
    let refused = custody.await.expect_err("not the same call");
    assert_eq!(refused.code, Code::IdempotencyMismatch);
}

#[tokio::test]
async fn a_picture_of_a_call_that_is_refused_is_not_kept() {
    let rig = Rig::new().await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let body = json!({ "base64": encoded });
    let poor = rig.account(0).await;
    let refused = rig.call(&poor, "artgen.describe", body.clone(), false);
    let refused = refused.await;
    let refused = refused.expect_err("no quota");
    assert_eq!(refused.code, Code::InsufficientQuota);
    assert!(rig.stored().await.is_empty(), "{:?}", rig.stored().await);
    // On the custody host without an account of its own.
    let rich = rig.account(100).await;
    let refused = rig.call(&rich, "artgen.describe", body, true).await;
    assert_eq!(refused.expect_err("nobody").code, Code::NoAvailableAccount);
    assert!(rig.stored().await.is_empty(), "{:?}", rig.stored().await);
    // Many at once, with quota for one: what the others had stored goes, the accepted one has its picture.
    let one = rig.account(2).await;
    let calls = (0..20).map(|number| {
        let mut bytes = picture();
        bytes.push(number);
        let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
        let body = json!({ "base64": encoded });
        rig.call(&one, "artgen.describe", body, false)
    });
    let answers = futures_util::future::join_all(calls).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    while rig.engine.assets().expire_step().await.expect("deleted") {}
    let inputs = rig.stored().await;
    let inputs = inputs.iter().filter(|key| key.starts_with("in/"));
    assert_eq!(inputs.count(), 1);
    rig.check_books().await;
}
