//! Keys of asset addresses: the newest signs, replaced ones open their addresses until those expire.

use atelier_contract::Code;
use atelier_engine::{Caller, Engine, KeyHolder, KeyRequest};

use crate::rig::Rig;

const DAY_MS: i64 = 24 * 3_600_000;

/// The key and the signed query of a fresh picture.
async fn picture(rig: &Rig, caller: &Caller) -> (String, String) {
    let id = rig.imagine(caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let job = rig.job(caller, &id).await;
    let url = &job.output.as_ref().expect("a result").files[0].origin_url;
    let (path, query) = url.split_once('?').expect("a signed address");
    let key = path.split_once("/assets/").expect("an asset").1;
    (key.to_owned(), query.to_owned())
}

async fn opens(engine: &Engine, (key, query): &(String, String)) -> Result<(), Code> {
    let asset = engine.assets().asset(key, query).await;
    asset.map(|_| ()).map_err(|refusal| refusal.code)
}

#[tokio::test]
async fn keys_rotate_by_number_and_old_addresses_live_on() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let first = picture(&rig, &caller).await;
    assert!(first.1.contains("k=1&"), "{}", first.1);
    assert_eq!(
        rig.engine
            .assets()
            .rotate_address_key("root")
            .await
            .expect("rotated"),
        "2"
    );
    let second = picture(&rig, &caller).await;
    assert!(second.1.contains("k=2&"), "{}", second.1);
    for address in [&first, &second] {
        assert_eq!(opens(&rig.engine, address).await, Ok(()));
    }
    // Another node has not heard of the new key yet, and finds out when it meets it.
    let other = rig.second_node();
    for address in [&first, &second] {
        assert_eq!(opens(&other, address).await, Ok(()));
    }
    let invented = (second.0.clone(), second.1.replace("k=2", "k=3"));
    assert_eq!(opens(&other, &invented).await, Err(Code::Forbidden));

    // After the longest life of an address nothing signed with the first key can be good; it is no longer a key.
    rig.clock.advance(30 * DAY_MS);
    rig.engine.assets().load_address_keys().await.expect("read");
    assert_eq!(opens(&rig.engine, &first).await, Err(Code::Expired));
    rig.clock.advance(2 * DAY_MS);
    rig.engine.assets().load_address_keys().await.expect("read");
    assert_eq!(opens(&rig.engine, &first).await, Err(Code::Forbidden));
    assert_eq!(opens(&rig.engine, &second).await, Err(Code::Expired));
}

#[tokio::test]
async fn keys_survive_a_restart_and_two_rotations_at_once_make_one() {
    let mut rig = Rig::new().await;
    let caller = rig.account(100).await;
    let other = rig.second_node();
    let (one, two) = tokio::join!(
        rig.engine.assets().rotate_address_key("root"),
        other.assets().rotate_address_key("root")
    );
    let (one, two) = (one.expect("rotated"), two.expect("rotated"));
    // On a busy machine one of them may be over before the other looks: then there are two.
    assert!(one == two || one.as_str().min(&two) == "2", "{one} {two}");
    let newest = format!("k={}&", one.max(two));
    let address = picture(&rig, &caller).await;
    rig.restart().await;
    rig.engine.assets().load_address_keys().await.expect("read");
    assert_eq!(opens(&rig.engine, &address).await, Ok(()));
    let again = picture(&rig, &caller).await;
    assert!(again.1.contains(&newest), "{}", again.1);
}

/// The promise: what expires goes by the time that is shown, so that a clock which was ahead and is put right refuses nothing of
/// what is made from then on.
#[tokio::test]
async fn a_clock_that_was_ahead_and_is_put_right_expires_nothing_that_is_made_then() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let issue = async |wish: KeyRequest| {
        let keys = rig.engine.admin().keys();
        let by = KeyHolder::Operator("root");
        let issued = keys.issue(&caller.account_id, wish, by).await;
        issued.expect("a key").1
    };
    let works = async |key: &str| {
        let callers = rig.engine.admin().callers();
        callers.authenticate(key).await.is_ok()
    };
    rig.clock.advance(40 * DAY_MS);
    assert!(works(&issue(KeyRequest::named("ahead")).await).await);
    rig.clock.advance(-40 * DAY_MS);
    let wish = KeyRequest {
        expires_ms: Some(rig.clock.now_ms() + 60_000),
        ..KeyRequest::named("a minute")
    };
    assert!(works(&issue(wish).await).await);
    let address = picture(&rig, &caller).await;
    assert_eq!(opens(&rig.engine, &address).await, Ok(()));
}
