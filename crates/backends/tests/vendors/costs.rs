//! What vendors say that they took, also for what failed, and what an operator says in their place.

use std::sync::atomic::{AtomicU32, Ordering};

use atelier_backends::{Cost, PollOutcome};
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, png, polled, status, ticket,
};
use crate::story::clip;
use crate::studio::Studio;

fn told(cost: Option<Cost>) -> Option<(i64, &'static str)> {
    cost.map(|cost| (cost.micros, cost.currency))
}

/// What a clip took, by the document that its task ends with.
async fn clip_cost(settings: Value, started: Value, ended: fn(&str) -> Value) -> Option<Cost> {
    let stand = Stand::new(move |seen| match seen.line.split(' ').next() {
        Some("POST") => answer(&started),
        _ if seen.line == "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        _ => answer(&ended(&seen.here("/film.mp4"))),
    });
    let worker = stand.worker("roletask", settings);
    let body = json!({"prompt": "a wave", "video_length": "10"});
    let (work, _) = Studio::new().work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    polled(&worker, &work, &paper).await.expect("a clip").cost
}

#[tokio::test]
async fn makers_say_what_a_clip_took() {
    let kling = clip_cost(
        json!({"dialect": "kling"}),
        json!({"code": 0, "data": {"id": "t-1"}}),
        |url| {
            json!({"code": 0, "data": [{"id": "t-1", "status": "succeeded", "final_unit_deduction": "2.5",
            "outputs": [{"type": "video", "url": url}]}]})
        },
    );
    assert_eq!(told(kling.await), Some((2_500_000, "units")));
    let kling = clip_cost(
        json!({"dialect": "kling"}),
        json!({"code": 0, "data": {"id": "t-1"}}),
        |url| {
            json!({"code": 0, "data": [{"id": "t-1", "status": "succeeded", "billing": [
                {"charge_type": "cash", "amount": "0.4", "currency": "USD"},
                {"charge_type": "cash", "amount": "0.25", "currency": "USD"}],
            "outputs": [{"type": "video", "url": url}]}]})
        },
    );
    assert_eq!(told(kling.await), Some((650_000, "USD")));
    let kling = clip_cost(
        json!({"dialect": "kling"}),
        json!({"code": 0, "data": {"id": "t-1"}}),
        |url| {
            json!({"code": 0, "data": [{"id": "t-1", "status": "succeeded",
            "billing": [{"charge_type": "unit", "amount": "3.5"}],
            "outputs": [{"type": "video", "url": url}]}]})
        },
    );
    assert_eq!(told(kling.await), Some((3_500_000, "units")));
    let older = clip_cost(
        json!({"dialect": "kling_v1"}),
        json!({"code": 0, "data": {"task_id": "t-1"}}),
        |url| {
            json!({"code": 0, "data": {"task_id": "t-1", "task_status": "succeed",
            "final_unit_deduction": "1.5", "task_result": {"videos": [{"id": "v", "url": url}]}}})
        },
    );
    assert_eq!(told(older.await), Some((1_500_000, "units")));
    let minimax = clip_cost(
        json!({"dialect": "minimax"}),
        json!({"task_id": "t-1"}),
        |url| json!({"task": {"id": "t-1", "status": "succeeded", "content": {"url": url}, "usage": {"total_seconds": 10}}}),
    );
    assert_eq!(told(minimax.await), Some((10_000_000, "seconds")));
    let dashscope = clip_cost(
        json!({"dialect": "dashscope"}),
        json!({"output": {"task_id": "t-1"}}),
        |url| json!({"output": {"task_status": "SUCCEEDED", "video_url": url}, "usage": {"duration": 10, "SR": 720}}),
    );
    assert_eq!(told(dashscope.await), Some((10_000_000, "seconds")));
}

#[tokio::test]
async fn what_is_reported_in_seconds_becomes_dollars_by_the_operators_price() {
    let settings =
        json!({"dialect": "minimax", "costs": {"clipgen": {"unit": "reported", "usd": 0.08}}});
    let cost = clip_cost(
        settings,
        json!({"task_id": "t-1"}),
        |url| json!({"task": {"id": "t-1", "status": "succeeded", "content": {"url": url}, "usage": {"total_seconds": 10}}}),
    );
    assert_eq!(told(cost.await), Some((800_000, "USD")));
}

/// What a picture took at a server of OpenAI's format.
async fn picture_cost(settings: Value, usage: Value) -> Option<Cost> {
    let stand = Stand::new(move |_| {
        let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
        answer(&json!({"data": [{"b64_json": picture}], "usage": usage}))
    });
    let worker = stand.worker("openai", settings);
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw a cat"}), None);
    made(&worker, work).await.expect("a picture").cost
}

#[tokio::test]
async fn tokens_of_pictures_are_told_and_priced() {
    let usage = json!({"input_tokens": 50, "output_tokens": 4_000, "total_tokens": 4_050,
        "input_tokens_details": {"text_tokens": 50, "image_tokens": 0}});
    let plain = picture_cost(json!({"image_model": "m"}), usage.clone());
    assert_eq!(told(plain.await), Some((4_050_000_000, "tokens")));
    let prices = json!({"text_in": 5, "image_in": 8, "out": 30});
    let priced = json!({"image_model": "m", "token_prices": prices});
    assert_eq!(
        told(picture_cost(priced, usage).await),
        Some((120_250, "USD"))
    );
    let silent = picture_cost(json!({"image_model": "m"}), Value::Null);
    assert_eq!(told(silent.await), None);
}

#[tokio::test]
async fn an_operator_says_what_a_silent_vendor_takes() {
    let settings =
        json!({"image_model": "m", "costs": {"imgmodel_chat": {"unit": "item", "usd": 0.04}}});
    let cost = picture_cost(settings, Value::Null).await;
    assert_eq!(told(cost), Some((40_000, "USD")));
    let other = json!({"image_model": "m", "costs": {"design": {"unit": "item", "usd": 0.04}}});
    assert_eq!(told(picture_cost(other, Value::Null).await), None);
}

#[tokio::test]
async fn what_failed_or_was_cancelled_at_runway_is_paid_where_it_says_so() {
    for (ended, paid) in [
        (
            json!({"status": "FAILED", "failureCode": "SAFETY.OUTPUT", "cost": {"credits": 37.5}}),
            Some((375_000, "USD")),
        ),
        (
            json!({"status": "CANCELLED", "cost": {"credits": 12}}),
            Some((120_000, "USD")),
        ),
        (
            json!({"status": "FAILED", "failureCode": "INTERNAL", "cost": {"credits": 0}}),
            None,
        ),
        (json!({"status": "CANCELLED"}), None),
    ] {
        let stand = Stand::new(move |_| answer(&ended));
        let worker = stand.worker("runway", Value::Null);
        let body = json!({"prompt": "a wave", "video_length": "10"});
        let (work, _) = Studio::new().work("clipgen.generations", &body, None);
        let paper = json!({"tasks": [{"id": "t1"}]});
        let Ok(PollOutcome::Failed(fault)) = worker.poll(&work, &paper).await else {
            panic!("it has ended");
        };
        assert_eq!(told(fault.cost), paid);
    }
}

#[tokio::test]
async fn what_a_lost_clip_of_several_took_is_counted_with_the_others() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /v1/tasks/t0" => {
            answer(&json!({"status": "FAILED", "failureCode": "SAFETY", "cost": {"credits": 20}}))
        }
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        line if line.starts_with("GET /v1/tasks/") => answer(
            &json!({"status": "SUCCEEDED", "output": [seen.here("/film.mp4")], "cost": {"credits": 40}}),
        ),
        _ => Reply::Cut,
    });
    let worker = stand.worker("runway", Value::Null);
    let body = json!({"prompt": "a wave", "video_length": "10"});
    let (work, _) = Studio::new().work("clipgen.generations", &body, None);
    let paper = json!({"tasks": [{"id": "t0"}, {"id": "t1"}]});
    let made = polled(&worker, &work, &paper).await.expect("one of two");
    assert_eq!(
        (made.files.len(), told(made.cost)),
        (1, Some((600_000, "USD")))
    );
}

#[tokio::test]
async fn what_cannot_be_delivered_was_paid_for_all_the_same() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "GET /broken.mp4" => bytes("video/mp4", b"no clip at all".to_vec()),
        line => {
            let file = if line.ends_with("/t0") {
                "/broken.mp4"
            } else {
                "/film.mp4"
            };
            answer(
                &json!({"status": "SUCCEEDED", "output": [seen.here(file)], "cost": {"credits": 40}}),
            )
        }
    });
    let worker = stand.worker("runway", json!({"oversized": "refuse"}));
    let mut body = json!({"prompt": "a wave", "video_length": "10"});
    // No clip is so small; the one of the second task is larger than this.
    body["aspect_ratio"] = json!("16:9");
    let (mut work, _) = Studio::new().work("clipgen.generations", &body, None);
    (work.brief.width, work.brief.height) = (64, 36);
    for task in ["t0", "t1"] {
        let paper = json!({"tasks": [{"id": task}]});
        let Ok(PollOutcome::Failed(fault)) = worker.poll(&work, &paper).await else {
            panic!("{task} is of no use");
        };
        assert_eq!(told(fault.cost), Some((400_000, "USD")), "{task}");
    }
}

#[tokio::test]
async fn pictures_of_a_grid_that_stays_a_part_were_paid_for() {
    let usage = json!({"total_tokens": 1_000});
    let asked = AtomicU32::new(0);
    let stand = Stand::new(move |_| {
        if asked.fetch_add(1, Ordering::Relaxed) == 1 {
            return status(
                400,
                &json!({"error": {"code": "moderation_blocked", "message": "no"}}),
            );
        }
        let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
        answer(&json!({"data": [{"b64_json": picture}], "usage": usage}))
    });
    let settings = json!({"image_model": "m", "grids": true, "images_per_call": 1});
    let worker = stand.worker("openai", settings);
    let (work, _) = Studio::new().work("artgen.imagine", &json!({"prompt": "four cats"}), None);
    let fault = made(&worker, work).await.expect_err("one of four");
    assert_eq!(told(fault.cost), Some((1_000_000_000, "tokens")));
}

#[tokio::test]
async fn replicate_is_paid_for_the_time_of_what_brought_nothing() {
    for (ended, paid) in [
        (
            json!({"status": "failed", "error": "NSFW content detected", "metrics": {"predict_time": 2.5}}),
            Some((2_500_000, "seconds")),
        ),
        (
            json!({"status": "canceled", "metrics": {"predict_time": 1}}),
            Some((1_000_000, "seconds")),
        ),
        (
            json!({"status": "succeeded", "output": null, "metrics": {"predict_time": 4}}),
            Some((4_000_000, "seconds")),
        ),
        (
            json!({"status": "canceled", "metrics": {"predict_time": 0}}),
            None,
        ),
        (json!({"status": "failed", "error": "it broke"}), None),
    ] {
        let stand = Stand::new(move |_| answer(&ended));
        let worker = stand.worker("replicate", Value::Null);
        let body = json!({"prompt": "a wave", "video_length": "10"});
        let (work, _) = Studio::new().work("clipgen.generations", &body, None);
        let paper = json!({"tasks": [{"id": "t1"}]});
        let Ok(PollOutcome::Failed(fault)) = worker.poll(&work, &paper).await else {
            panic!("it has ended");
        };
        assert_eq!(told(fault.cost), paid);
    }
}

#[tokio::test]
async fn seconds_are_paid_for_as_they_are_ordered() {
    let stand = Stand::new(|seen| match &*seen.line {
        line if line.starts_with("POST ") => answer(&json!({"id": "v1", "status": "queued"})),
        line if line.ends_with("/content") => bytes("video/mp4", clip(1280, 720)),
        _ => answer(&json!({"id": "v1", "status": "completed", "progress": 100})),
    });
    // Four, eight or twelve seconds are sold.
    let settings =
        json!({"video_model": "m", "costs": {"clipgen": {"unit": "second", "usd": 0.1}}});
    let worker = stand.worker("openai", settings);
    let body = json!({"prompt": "a wave", "video_length": "10"});
    let (work, _) = Studio::new().work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a clip");
    assert_eq!(told(made.cost), Some((1_200_000, "USD")));
}
