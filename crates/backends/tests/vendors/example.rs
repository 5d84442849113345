//! The back end of the guide, as it stands there, against a server that speaks as the guide says.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_backends::backend::{Acceptance, LostSubmit};
use serde_json::json;

use crate::postcards::VENDOR;
use crate::stand::{Reply, Stand, bytes, json as answer, png, polled, status, ticket, worker_of};
use crate::studio::Studio;

/// The promise: what the guide shows is a back end that works.
#[tokio::test]
async fn the_back_end_of_the_guide_makes_a_picture() {
    let polls = AtomicUsize::new(0);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /v1/cards" => answer(&json!({ "id": "c1" })),
        "GET /v1/cards/c1" if polls.fetch_add(1, Ordering::SeqCst) == 0 => {
            answer(&json!({ "state": "drawing" }))
        }
        "GET /v1/cards/c1" => {
            let picture = seen.here("/card.png");
            answer(&json!({ "state": "done", "url": picture }))
        }
        "GET /card.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        _ => Reply::Cut,
    });
    let worker = worker_of(&VENDOR, &stand.url("/v1"));
    assert!(worker.serves("design.generations") && !worker.serves("facegen.swap"));
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let body = json!({ "prompt": "a harbour", "size": "1365x1024" });
    let work = Studio::new().work("design.generations", &body, None).0;
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!(made.files.len(), 1);
    let size = (made.files[0].width, made.files[0].height);
    assert_eq!(size, (1365, 1024), "cut from what the vendor draws");
    let sent = &stand.asked("POST")[0];
    assert!(
        sent.head.contains("authorization: Bearer "),
        "{}",
        sent.head
    );
    assert_eq!(sent.json()["prompt"], "a harbour");
}

/// The promise: a vendor that says yes and gives no name may have the work.
#[tokio::test]
async fn an_answer_without_an_id_may_have_taken_the_work() {
    let stand = Stand::always(answer(&json!({ "thanks": true })));
    let worker = worker_of(&VENDOR, &stand.url("/v1"));
    let body = json!({ "prompt": "a harbour" });
    let work = Studio::new().work("design.generations", &body, None).0;
    let fault = ticket(&worker, work).await.expect_err("no ticket");
    assert_eq!(fault.taken, Acceptance::Perhaps);
}

#[tokio::test]
async fn its_faults_say_what_the_pool_needs_to_know() {
    for (code, class) in [(401, Class::Dead), (402, Class::Quota), (429, Class::Rate)] {
        let stand = Stand::always(status(code, &json!({ "error": "no" })));
        let worker = worker_of(&VENDOR, &stand.url("/v1"));
        let body = json!({ "prompt": "a harbour" });
        let work = Studio::new().work("design.generations", &body, None).0;
        let fault = ticket(&worker, work).await.expect_err("refused");
        assert_eq!(fault.class, class, "{code}");
    }
}
