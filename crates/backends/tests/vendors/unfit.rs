//! Results that were delivered and are of no use: they end the work, nobody is asked for them again and again, and the
//! worker account did its part.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::{Class, Fault, PollOutcome};
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, base64, bytes, json as answer, made, page, png, polled, status};
use crate::studio::Studio;

/// A server that has upscaled, and answers to the question for the file as it is told.
fn upscaled(view: impl Fn() -> Reply + Send + Sync + 'static) -> Stand {
    Stand::new(move |seen| {
        if seen.line.starts_with("GET /view") {
            return view();
        }
        let outputs = json!({"9": {"images": [{"filename": "x"}]}});
        answer(&json!({"p-1": {"outputs": outputs, "status": {"status_str": "success"}}}))
    })
}

fn workflows() -> Value {
    json!({"workflows": {"design.crisp_upscale": {
        "1": {"class_type": "SaveImage", "inputs": {"image": "{{image}}"}},
    }}})
}

async fn upscale(stand: &Stand) -> Result<atelier_backends::WorkOutput, Fault> {
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(100, 60, [1, 2, 3, 255]));
    let (work, _) = studio.work("design.crisp_upscale", &json!({"image": image}), None);
    let worker = stand.worker_under("comfyui", "", workflows());
    polled(&worker, &work, &json!({"prompts": ["p-1"]})).await
}

/// A PNG that claims a size and has no pixels.
fn claims(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[tokio::test]
async fn an_upscale_larger_than_results_are_is_delivered_smaller() {
    let stand = upscaled(|| bytes("image/png", png(5600, 4200, [9, 9, 99, 255])));
    let made = upscale(&stand).await.expect("a picture");
    let (width, height) = (made.files[0].width, made.files[0].height);
    assert!(width * height <= 4096 * 4096 && width * height > 4000 * 4000);
    assert!((f64::from(width) / f64::from(height) - 4.0 / 3.0).abs() < 0.01);
}

#[tokio::test]
async fn a_picture_that_claims_too_much_or_is_damaged_ends_the_work_at_once() {
    for file in [claims(60_000, 60_000), claims(64, 64)] {
        let stand = upscaled(move || bytes("image/png", file.clone()));
        let fault = upscale(&stand).await.expect_err("of no use");
        assert_eq!(fault.class, Class::Gone, "{fault:?}");
        assert!(fault.detail.contains("picture of the vendor"), "{fault:?}");
        assert_eq!(stand.asked("/view").len(), 1, "fetched once");
    }
}

#[tokio::test]
async fn a_page_in_place_of_a_result_is_looked_at_again_and_not_for_ever() {
    for reply in [page(200), page(404)] {
        let stand = upscaled(move || reply.clone());
        let fault = upscale(&stand).await.expect_err("of no use");
        assert_eq!(fault.class, Class::Gone, "{fault:?}");
        assert_eq!(stand.asked("/view").len(), 3);
    }
    let turn = AtomicUsize::new(0);
    let stand = upscaled(move || match turn.fetch_add(1, Ordering::SeqCst) {
        0 => page(404),
        1 => page(200),
        _ => bytes("image/png", png(400, 240, [9, 9, 99, 255])),
    });
    let made = upscale(&stand).await.expect("the third time it is there");
    assert_eq!((made.files[0].width, made.files[0].height), (400, 240));
}

/// Half a file is the line's fault: the vendor still has the whole.
#[tokio::test]
async fn a_file_that_was_cut_off_is_asked_for_again() {
    let stand = upscaled(|| Reply::Truncated(png(40, 24, [9; 4])));
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(100, 60, [1, 2, 3, 255]));
    let (work, _) = studio.work("design.crisp_upscale", &json!({"image": image}), None);
    let worker = stand.worker_under("comfyui", "", workflows());
    let asked = worker.poll(&work, &json!({"prompts": ["p-1"]})).await;
    let fault = asked.err().expect("a failed question");
    assert_eq!(fault.class, Class::Retry);
}

#[tokio::test]
async fn a_clip_of_another_kind_ends_the_work() {
    let stand = Stand::new(|seen| {
        if seen.line.ends_with("/content") {
            return bytes("video/mp4", png(40, 24, [9; 4]));
        }
        answer(&json!({"id": "v", "status": "completed"}))
    });
    let worker = stand.worker("openai", json!({"video_model": "m"}));
    let (work, _) = Studio::new().work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
    match worker.poll(&work, &json!({"video": "v"})).await {
        Ok(PollOutcome::Failed(fault)) => assert_eq!(fault.class, Class::Gone, "{fault:?}"),
        _ => panic!("it has ended"),
    }
    assert_eq!(stand.asked("/content").len(), 1);
}

/// Four times the sides of a large picture would be more than anybody takes back.
#[tokio::test]
async fn an_upscale_is_ordered_no_larger_than_it_can_be_read() {
    let stand = Stand::new(|seen| {
        let side = |name: &str| seen.json()[name].as_u64().unwrap_or(0) as u32;
        let (width, height) = (side("upscaling_resize_w"), side("upscaling_resize_h"));
        if width == 0 {
            return status(404, &json!({"detail": "Not Found"}));
        }
        answer(&json!({"image": base64(png(width, height, [7, 7, 7, 255]))}))
    });
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(1600, 1200, [1, 2, 3, 255]));
    let (work, _) = studio.work("design.crisp_upscale", &json!({"image": image}), None);
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert!(file.width > 4600 && file.width * file.height <= 4096 * 4096);
}

#[tokio::test]
async fn no_more_results_are_fetched_than_were_asked_for() {
    let stand = Stand::new(|seen| {
        if seen.line.starts_with("GET /many") {
            return bytes("image/png", png(64, 64, [9, 9, 9, 255]));
        }
        let all: Vec<_> = (0..50)
            .map(|n| json!({"url": format!("/many/{n}")}))
            .collect();
        answer(&json!({"data": all}))
    });
    let worker = stand.worker("openai", json!({"image_model": "m"}));
    let body = json!({"prompt": "x", "model": "image-1", "n": 2});
    let (work, _) = Studio::new().work("imgmodel.generations", &body, None);
    let made = made(&worker, work).await.expect("two pictures");
    assert_eq!((made.made, stand.asked("/many").len()), (2, 2));

    let stand = Stand::new(|seen| {
        if seen.line.starts_with("GET /view") {
            return bytes("image/png", png(64, 64, [9, 9, 9, 255]));
        }
        let all: Vec<_> = (0..30)
            .map(|n| json!({"filename": n.to_string()}))
            .collect();
        let outputs = json!({"9": {"images": all}});
        answer(&json!({"p-1": {"outputs": outputs, "status": {"status_str": "success"}}}))
    });
    upscale(&stand).await.expect("one picture");
    assert_eq!(stand.asked("/view").len(), 1);
}
