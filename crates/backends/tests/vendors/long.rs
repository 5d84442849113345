//! Videos longer than one pass, at the vendors that extend their own: each pass is ordered once, in the vendor's format,
//! and what becomes of a pass decides about the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::backend::{Acceptance, Backend, NextPass};
use atelier_backends::{Class, Fault, PollOutcome, Work};
use atelier_media::{Picture, encode_video, video_info};
use serde_json::{Value, json};

use crate::stand::{RecordedRequest, Reply, Stand, bytes, json as answer, polled, status, ticket};
use crate::studio::Studio;

/// Says what becomes of the pass of a number; `None` for a good one.
type Ends = fn(usize) -> Option<Reply>;

/// A clip of 34 seconds.
fn film() -> Vec<u8> {
    let frames = (0..68_u8).map(|index| Picture::filled(64, 36, [index * 3, 90, 9, 255]));
    encode_video(&mut { frames }, 2).expect("a clip")
}

/// A server of xAI's: passes are r1, r2 and so on; each is pending once.
fn xai(ends: Ends) -> Stand {
    let (orders, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Stand::new(move |seen| {
        if seen.line.starts_with("POST /v1/videos/") {
            let number = orders.fetch_add(1, Ordering::SeqCst) + 1;
            return answer(&json!({"request_id": format!("r{number}")}));
        }
        let number = seen.line.rsplit('r').next().and_then(|id| id.parse().ok());
        let number: usize = number.unwrap_or_default();
        let times = asked.fetch_add(1, Ordering::SeqCst);
        if times.is_multiple_of(2) {
            return status(202, &json!({"status": "pending", "progress": 50}));
        }
        ends(number).unwrap_or_else(|| {
            answer(
                &json!({"status": "done", "usage": {"cost_in_usd_ticks": 1_000_000_000},
                "video": {"url": seen.here(&format!("/part{number}.mp4")), "duration": 10}}),
            )
        })
    })
}

fn work(studio: &Studio, seconds: &str) -> Work {
    let body = json!({"prompt": "a wave", "video_length": seconds});
    studio.work("clipgen.generations", &body, None).0
}

/// The next order, once the pass before is done.
async fn step(worker: &Arc<dyn Backend>, work: &Work, ticket: &Value) -> Result<NextPass, Fault> {
    for _ in 0..5 {
        match worker.poll(work, ticket).await? {
            PollOutcome::Running(_) => {}
            PollOutcome::Step(step) => return Ok(step),
            PollOutcome::Failed(fault) => return Err(fault),
            PollOutcome::Done(_) => panic!("done too early"),
        }
    }
    panic!("no pass ends");
}

#[tokio::test]
async fn a_video_of_thirty_seconds_is_made_in_three_passes_each_of_them_ordered_once() {
    let (stand, studio) = (xai(|_| None), Studio::new());
    let worker = stand.worker("xai", Value::Null);
    let work = work(&studio, "30");
    let mut paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let next = step(&worker, &work, &paper).await.expect("an order");
        assert_ne!(next.intent, paper);
        let before = stand.asked("POST").len();
        paper = next.order.await.expect("a ticket");
        assert_eq!(stand.asked("POST").len(), before + 1);
        seen.push(work.progress.get());
    }
    assert_eq!(seen, [33, 66], "each pass is a third");
    let sent: Vec<_> = stand
        .asked("POST")
        .iter()
        .map(RecordedRequest::json)
        .collect();
    assert_eq!(sent[0]["duration"], 15);
    assert_eq!(
        sent[1],
        json!({"model": "grok-imagine-video", "prompt": "a wave", "duration": 10, "video": {"url": stand.url("/part1.mp4")}})
    );
    assert_eq!(sent[2]["duration"], 5);
    assert_eq!(sent[2]["video"]["url"], stand.url("/part2.mp4"));
    assert_eq!(stand.asked("POST /v1/videos/extensions").len(), 2);
}

#[tokio::test]
async fn the_whole_of_a_long_video_is_fetched_once_cut_to_its_length_and_costs_what_all_passes_cost()
 {
    let asked = AtomicUsize::new(0);
    let orders = AtomicUsize::new(0);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /v1/interactions" => {
            let number = orders.fetch_add(1, Ordering::SeqCst) + 1;
            answer(&json!({"id": format!("v{number}"), "status": "queued"}))
        }
        "GET /film.mp4" => bytes("video/mp4", film()),
        _ if asked.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) => {
            answer(&json!({"status": "in_progress"}))
        }
        _ => answer(
            &json!({"status": "completed", "usage": {"total_tokens": 100}, "steps": [
            {"type": "model_output", "content": [{"type": "video", "uri": seen.here("/film.mp4")}]}]}),
        ),
    });
    let (worker, studio) = (stand.worker("google", Value::Null), Studio::new());
    let work = work(&studio, "30");
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    let info = video_info(&made.files[0].bytes).expect("a clip");
    assert!((info.duration - 30.0).abs() < 0.2, "{} s", info.duration);
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((300_000_000, "tokens"))
    );
    assert_eq!(stand.asked("GET /film.mp4").len(), 1);
    let sent: Vec<_> = stand
        .asked("POST")
        .iter()
        .map(RecordedRequest::json)
        .collect();
    let lengths: Vec<_> = sent
        .iter()
        .map(|one| &one["response_format"]["duration"])
        .collect();
    assert_eq!(lengths, ["15s", "10s", "5s"]);
    assert_eq!(
        sent[2],
        json!({
            "model": "gemini-omni-1.2-flash", "background": true, "store": true, "previous_interaction_id": "v2",
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "a wave\nA single continuous shot."}]}],
            "response_format": {"type": "video", "delivery": "uri", "resolution": "720p", "duration": "5s"},
            "generation_config": {"video_config": {"task": "extend"}},
        })
    );
}

#[tokio::test]
async fn an_order_that_was_out_when_the_process_ended_has_an_unknown_end_and_what_was_paid_is_told()
{
    let (stand, studio) = (xai(|_| None), Studio::new());
    let worker = stand.worker("xai", Value::Null);
    let work = work(&studio, "25");
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let next = step(&worker, &work, &paper).await.expect("an order");
    let orders = stand.asked("POST").len();
    let lost = step(&worker, &work, &next.intent).await.err();
    let lost = lost.expect("a fault");
    assert_eq!(lost.taken, Acceptance::Perhaps);
    assert_eq!(lost.cost.map(|cost| cost.micros), Some(100_000));
    worker.cancel(&next.intent).await;
    assert_eq!(stand.asked("POST").len(), orders, "nothing is sent again");
    // What was never sent is ordered once more from the part before.
    let next = step(&worker, &work, &paper).await.expect("an order");
    next.order.await.expect("a ticket");
    assert_eq!(stand.asked("POST").len(), orders + 1);
}

#[tokio::test]
async fn a_review_in_a_later_pass_ends_the_job_and_what_was_paid_is_told() {
    let (stand, studio) = (
        xai(|number| {
            let video = json!({"url": "http://x/", "respect_moderation": false});
            (number == 2).then(|| answer(&json!({"status": "done", "video": video})))
        }),
        Studio::new(),
    );
    let worker = stand.worker("xai", Value::Null);
    let work = work(&studio, "30");
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let fault = polled(&worker, &work, &paper).await.expect_err("a fault");
    assert_eq!((fault.class, fault.taken), (Class::Reject, Acceptance::No));
    assert_eq!(fault.cost.map(|cost| cost.micros), Some(100_000));
    assert_eq!(stand.asked("POST").len(), 2);
}

#[tokio::test]
async fn a_pass_that_the_vendor_failed_at_is_ordered_again_and_those_before_it_are_not() {
    let (stand, studio) = (
        xai(|number| {
            let error = json!({"code": "internal_error", "message": "It failed"});
            (number >= 2).then(|| answer(&json!({"status": "failed", "error": error})))
        }),
        Studio::new(),
    );
    let worker = stand.worker("xai", Value::Null);
    let work = work(&studio, "25");
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let fault = polled(&worker, &work, &paper).await.expect_err("a fault");
    assert_eq!(fault.class, Class::Gone, "nobody begins anew");
    assert_eq!(fault.cost.map(|cost| cost.micros), Some(100_000));
    assert_eq!(stand.asked("POST /v1/videos/generations").len(), 1);
    let later = stand.asked("POST /v1/videos/extensions");
    assert_eq!(later.len(), 3);
    assert!(later.iter().all(|one| one.json() == later[0].json()));
}

#[tokio::test]
async fn without_a_model_for_extensions_what_is_longer_than_one_pass_is_refused() {
    let (stand, studio) = (xai(|_| None), Studio::new());
    let worker = stand.worker("xai", json!({"extension_model": ""}));
    let refused = worker.start(work(&studio, "20")).await;
    let fault = refused.expect_err("too long");
    assert_eq!(fault.class, Class::Unable, "{fault:?}");
    assert!(
        fault.message.ends_with("allowed: 1 to 15"),
        "{}",
        fault.message
    );
    assert!(stand.seen().is_empty());
}
