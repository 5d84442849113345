//! Keys that keys made: never wider than what is above them, whenever that was narrowed, and none takes the secret of one that lasts
//! longer.

use atelier_contract::pages::keys::{KeyLimit, KeyTerms};
use atelier_contract::{Code, LimitWindow, Quota, Refusal, Scopes};
use atelier_engine::records::Key;
use atelier_engine::{Caller, KeyHolder, KeyRequest};

use crate::rig::Rig;

const HOUR_MS: i64 = 3_600_000;

fn scopes(words: &[&str]) -> Scopes {
    Scopes::of_words(words.iter().copied()).expect("scopes")
}

/// A key of these scopes below a caller's, and its caller.
async fn issued(rig: &Rig, above: &Caller, scopes: Scopes) -> (String, String) {
    let wish = KeyRequest {
        scopes,
        ..KeyRequest::named("below")
    };
    let keys = rig.engine.admin().keys();
    let issued = keys.issue_own(above, wish, || Ok::<(), Refusal>(())).await;
    issued.expect("a key")
}

async fn caller(rig: &Rig, secret: &str) -> Caller {
    let callers = rig.engine.admin().callers();
    callers.authenticate(secret).await.expect("it works")
}

/// Changes a key of a caller's account by that caller.
async fn change(
    rig: &Rig,
    by: &Caller,
    key_id: &str,
    edit: impl Fn(&mut KeyRequest) + Send + Sync,
) -> Result<(), Refusal> {
    let edit = |key: &Key| {
        let mut wanted = KeyRequest {
            name: key.name.clone(),
            scopes: Scopes::parse(&key.scopes).expect("scopes"),
            expires_ms: key.expires_ms,
            terms: atelier_engine::stored_terms(key)?,
            note: key.note.clone(),
            member_id: None,
        };
        edit(&mut wanted);
        Ok(wanted)
    };
    let keys = rig.engine.admin().keys();
    let (account, by) = (&by.account_id, KeyHolder::Caller(by));
    let may = || Ok::<(), Refusal>(());
    keys.change(account, key_id, &edit, by, may).await
}

fn field(refused: Result<(), Refusal>) -> (Code, Option<String>) {
    let refusal = refused.expect_err("refused");
    (refusal.code, refusal.field)
}

/// The promise: nobody makes a key wider than the one above it, not even whoever may do more than both.
#[tokio::test]
async fn a_key_is_given_no_scope_that_the_one_above_it_has_not() {
    let rig = Rig::new().await;
    let owner = rig.account(10).await;
    let (_, parent) = issued(&rig, &owner, scopes(&["account", "read"])).await;
    let parent = caller(&rig, &parent).await;
    let (child, secret) = issued(&rig, &parent, scopes(&["read"])).await;
    let wide = change(&rig, &owner, &child, |wish| wish.scopes = Scopes::ALL).await;
    assert_eq!(field(wide), (Code::Forbidden, Some("scopes".into())));
    let both = scopes(&["account", "read"]);
    let wider = change(&rig, &owner, &child, |wish| wish.scopes = both).await;
    wider.expect("as much as the one above it");
    // It gives itself nothing back that was taken from it.
    let stale = caller(&rig, &secret).await;
    let less = change(&rig, &owner, &child, |wish| {
        wish.scopes = scopes(&["account"]);
    })
    .await;
    less.expect("less");
    let back = change(&rig, &stale, &child, |wish| wish.scopes = both).await;
    assert_eq!(field(back), (Code::Forbidden, Some("scopes".into())));
}

/// The promise: a key that is narrowed narrows all below it at once, and those can still be changed in all else.
#[tokio::test]
async fn what_is_taken_from_a_key_is_taken_from_those_below_it() {
    let rig = Rig::new().await;
    let owner = rig.account(10).await;
    let (parent_id, secret) = issued(&rig, &owner, Scopes::ALL).await;
    let parent = caller(&rig, &secret).await;
    let (child, secret) = issued(&rig, &parent, Scopes::ALL).await;
    assert_eq!(caller(&rig, &secret).await.scopes, Scopes::ALL);
    let limit = |quota: i64| KeyTerms {
        limits: vec![KeyLimit {
            window: LimitWindow::Day,
            quota: Quota::from_thousandths(quota * 1000),
        }],
        max_queue: Some(quota),
        ..KeyTerms::default()
    };
    let limited = change(&rig, &owner, &child, |wish| wish.terms = limit(9)).await;
    limited.expect("a limit");
    let narrowed = change(&rig, &owner, &parent_id, |wish| {
        wish.scopes = scopes(&["read"]);
        wish.terms = limit(3);
    });
    narrowed.await.expect("narrower");
    assert_eq!(caller(&rig, &secret).await.scopes, scopes(&["read"]));
    // What stays as it was is not judged again.
    let renamed = change(&rig, &owner, &child, |wish| wish.name = "mine".to_owned()).await;
    renamed.expect("only its name");
    let wider = change(&rig, &owner, &child, |wish| wish.terms = limit(8)).await;
    let (code, wrong) = field(wider);
    assert_eq!(
        (code, wrong.as_deref()),
        (Code::Forbidden, Some("limits[0].quota"))
    );
    rig.check_books().await;
}

/// The promise: with the secret of another key nobody outlives the end of their own.
#[tokio::test]
async fn a_key_that_ends_takes_no_secret_of_one_that_does_not() {
    let rig = Rig::new().await;
    let owner = rig.account(10).await;
    let keys = rig.engine.admin().keys();
    let wish = KeyRequest {
        expires_ms: Some(rig.clock.now_ms() + HOUR_MS),
        ..KeyRequest::named("an hour")
    };
    let by = KeyHolder::Operator("root");
    let (ends_id, secret) = keys
        .issue(&owner.account_id, wish, by)
        .await
        .expect("a key");
    let ends = caller(&rig, &secret).await;
    let rotate = async |by: &Caller, key_id: &str| {
        let may = || Ok::<(), Refusal>(());
        let by = KeyHolder::Caller(by);
        keys.rotate(&owner.account_id, key_id, 0, by, may).await
    };
    let taken = rotate(&ends, &owner.key_id).await.expect_err("refused");
    assert_eq!(taken.code, Code::Forbidden);
    rotate(&ends, &ends_id).await.expect("its own");
    rotate(&owner, &ends_id).await.expect("by one that lasts");
}

/// The promise: whoever changes a key and is refused has used up nothing, and a key below others sees no others.
#[tokio::test]
async fn what_is_refused_is_not_counted_and_what_is_others_is_not_seen() {
    let rig = Rig::new().await;
    let owner = rig.account(10).await;
    let (parent_id, secret) = issued(&rig, &owner, Scopes::ALL).await;
    let parent = caller(&rig, &secret).await;
    let (child_id, secret) = issued(&rig, &parent, Scopes::ALL).await;
    let child = caller(&rig, &secret).await;
    let keys = rig.engine.admin().keys();
    let asked = std::sync::atomic::AtomicU32::new(0);
    let may = || {
        asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok::<(), Refusal>(())
    };
    let by = KeyHolder::Caller(&child);
    let refused = keys.rotate(&owner.account_id, &parent_id, 0, by, may).await;
    assert_eq!(refused.expect_err("not its own").code, Code::Forbidden);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 0);
    keys.rotate(&owner.account_id, &child_id, 0, by, may)
        .await
        .expect("its own");
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    let seen = async |caller: &Caller| {
        let listed = keys.list_own(caller).await.expect("a list");
        listed.into_iter().map(|key| key.id).collect::<Vec<_>>()
    };
    assert_eq!(seen(&owner).await.len(), 3);
    assert_eq!(seen(&parent).await, [parent_id, child_id.clone()]);
    assert_eq!(seen(&child).await, [child_id]);
}
