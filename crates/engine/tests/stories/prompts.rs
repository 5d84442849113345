//! Words and pictures that the operator does not want: rules by family, a pause for who insists, and a second opinion.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use atelier_contract::Code;
use atelier_contract::families::artgen::FAMILY;
use atelier_engine::{BulkCall, Caller};
use serde_json::json;
use tokio::time::Instant;

use crate::rig::Rig;
use crate::stopwatch::Stopwatch;

const DAY_MS: i64 = 24 * 3_600_000;

#[tokio::test]
async fn thirty_refused_prompts_pause_a_family_until_the_next_day() {
    let rig = Rig::new().await;
    let (caller, other) = (rig.account(100).await, rig.account(100).await);
    for _ in 0..30 {
        let found = rig.engine.intake().banned_word(&FAMILY, "gore");
        assert_eq!(found.as_deref(), Some("gore"));
        let refused = rig.imagine(&caller, "so much gore").await;
        assert_eq!(refused.expect_err("banned").code, Code::BannedPrompt);
    }
    // Every node knows, also one that has not counted.
    let node = rig.second_node();
    let paused = Rig::imagine_at(&node, &caller, "a fox").await;
    assert_eq!(paused.expect_err("paused").code, Code::FamilyPaused);
    let paused = rig.imagine(&caller, "a fox").await.expect_err("paused");
    assert_eq!(paused.code, Code::FamilyPaused);
    assert_eq!(paused.code.status(), 400);
    // Neither another family nor another account.
    let video = json!({ "prompt": "a fox", "model": "video-2" });
    let elsewhere = rig.call(&caller, "vidgen.generations", video, false).await;
    elsewhere.expect("accepted");
    rig.imagine(&other, "a fox").await.expect("accepted");
    rig.clock.advance(DAY_MS);
    rig.imagine(&caller, "a fox").await.expect("a new day");
}

/// A moderation endpoint that flags foxes; its base address.
fn moderator() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/v1", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = vec![0; 64 * 1024];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            assert!(request.starts_with("POST /v1/moderations"), "{request}");
            assert!(request.contains("Bearer secret"), "{request}");
            let flagged = request.contains("fox");
            let body = json!({ "results": [{ "flagged": flagged,
                "categories": { "foxes": flagged, "bears": false } }] })
            .to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(body.as_bytes());
        }
    });
    url
}

#[tokio::test]
async fn a_review_refuses_what_it_flags_and_its_absence_means_what_the_settings_say() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let node = rig.reviewed_node(&moderator());
    let flagged = Rig::imagine_at(&node, &caller, "a fox").await;
    let flagged = flagged.expect_err("flagged");
    assert_eq!(flagged.code, Code::BannedPrompt);
    assert!(flagged.message.contains("foxes"), "{}", flagged.message);
    assert!(!flagged.message.contains("bears"), "{}", flagged.message);
    let good = Rig::imagine_at(&node, &caller, "a bear").await;
    good.expect("accepted");
    // Nobody listens on port 9.
    let open = rig.reviewed_node("http://127.0.0.1:9/open");
    let accepted = Rig::imagine_at(&open, &caller, "a fox").await;
    accepted.expect("fail-open");
    let closed = rig.reviewed_node("http://127.0.0.1:9/closed");
    let refused = Rig::imagine_at(&closed, &caller, "a fox").await;
    assert_eq!(refused.expect_err("fail-closed").code, Code::Overloaded);
}

/// So many requests for a bear, under one key.
fn bears(caller: &Caller, count: usize) -> BulkCall {
    let body = json!({ "prompt": "a bear", "timeout": 300 });
    let fields = body.as_object().expect("an object").clone();
    BulkCall {
        caller: caller.clone(),
        requests: vec![("artgen.imagine".to_owned(), fields); count],
        idempotency: Some(("bears".into(), count.to_string())),
        within_rate: usize::MAX,
        custody: false,
        begun: Instant::now(),
    }
}

/// The promise: what passes in a moment is told of the whole batch, and nothing of it is remembered.
#[tokio::test]
async fn a_batch_that_cannot_be_reviewed_is_refused_as_a_whole_and_may_be_repeated() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let purse = rig.purse(&caller).await;
    let closed = rig.reviewed_node("http://127.0.0.1:9/closed");
    let refused = closed.intake().submit_bulk(bears(&caller, 2)).await;
    assert_eq!(refused.expect_err("away").code, Code::Overloaded);
    assert_eq!(rig.purse(&caller).await, purse);
    let node = rig.reviewed_node(&moderator());
    let told = node.intake().submit_bulk(bears(&caller, 2)).await;
    let told = told.expect("told").answers;
    assert!(told.iter().all(|one| one.answer.is_ok()), "{told:?}");
}

/// The promise: a batch is answered within the time of a single call, however long the review takes over each of its requests.
#[tokio::test]
async fn a_review_that_is_silent_holds_no_batch_up_for_long() {
    const ANSWERED: Duration = Duration::from_secs(15);
    let rig = Rig::new().await;
    let (few, many) = (rig.account(1_000).await, rig.account(1_000).await);
    let purse = rig.purse(&many).await;
    // It takes connections, and nobody reads what comes.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/open", silent.local_addr().expect("bound"));
    let node = rig.reviewed_node(&url);
    let begun = Stopwatch::start();
    let (told, refused) = tokio::join!(
        node.intake().submit_bulk(bears(&few, 16)),
        node.intake().submit_bulk(bears(&many, 300)),
    );
    let took = begun.elapsed();
    assert!(took < ANSWERED, "{took:?}");
    let told = told.expect("fail-open").answers;
    assert!(told.iter().all(|one| one.answer.is_ok()), "{told:?}");
    let refused = refused.expect_err("too many for the time");
    assert_eq!(refused.code, Code::Overloaded);
    assert_eq!(rig.purse(&many).await, purse, "none was accepted");
}
