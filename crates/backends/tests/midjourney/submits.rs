//! What the proxy is asked for new work.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::work::{picture, png, work};
use crate::{NAME, accepting, sent};

fn uri(bytes: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}

#[tokio::test]
async fn imagine_keeps_its_flags_and_sends_its_pictures_along() {
    let body = json!({
        "prompt": "https://own.example/a.png a fox --ar 3:2 --v 6.1", "mode": "turbo",
        "hookUrl": "https://example.com/hook",
    });
    let filter = json!({ "instanceId": "1118" });
    let asked = sent(
        "artgen.imagine",
        &body,
        None,
        json!({ "accountFilter": filter }),
    )
    .await;
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/mj-turbo/mj/submit/imagine")
    );
    assert_eq!(asked.header("mj-api-secret"), "the-credential");
    assert_eq!(
        asked.json(),
        json!({
            "botType": "MID_JOURNEY",
            "prompt": "a fox --ar 3:2 --v 6.1",
            "base64Array": [uri(&picture())],
            "state": "019a0000-0000-7000-8000-00000000000a-1",
            "accountFilter": filter,
        })
    );
}

#[tokio::test]
async fn the_proxy_is_told_where_to_say_that_a_task_moved() {
    let proxy = accepting();
    let (mut work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    work.hook_url = Some("https://own.example/hooks/1".into());
    let worker = proxy.worker(NAME, Value::Null);
    worker.start(work).await.expect("accepted");
    let asked = proxy.last().json();
    assert_eq!(asked["notifyHook"], "https://own.example/hooks/1");
}

#[tokio::test]
async fn modes_are_path_prefixes_in_the_newer_dialect_only() {
    for (mode, dialect, path) in [
        ("relax", "action", "/mj-relax/mj/submit/imagine"),
        ("fast", "action", "/mj-fast/mj/submit/imagine"),
        ("fast", "change", "/mj/submit/imagine"),
    ] {
        let body = json!({ "prompt": "a fox", "mode": mode });
        let asked = sent("artgen.imagine", &body, None, json!({ "dialect": dialect })).await;
        assert_eq!(asked.path, path);
    }
}

#[tokio::test]
async fn blend_describe_and_face_swap_send_bytes() {
    let (one, two) = (png(8, 8, [1; 4]), png(8, 8, [2; 4]));
    let body = json!({ "imgBase64Array": [uri(&one), uri(&two)], "dimensions": "PORTRAIT" });
    let asked = sent("artgen.blend", &body, None, Value::Null).await;
    assert_eq!(asked.path, "/mj-fast/mj/submit/blend");
    let json = asked.json();
    assert_eq!(json["base64Array"], json!([uri(&one), uri(&two)]));
    assert_eq!(json["dimensions"], "PORTRAIT");

    let body = json!({ "url": "https://own.example/a.png" });
    let asked = sent("artgen.describe", &body, None, Value::Null).await;
    assert_eq!(asked.path, "/mj-fast/mj/submit/describe");
    assert_eq!(asked.json()["base64"], json!(uri(&picture())));

    let body = json!({ "targetImage": "https://a.example/1", "swapImage": "https://a.example/2" });
    let asked = sent("facegen.swap", &body, None, Value::Null).await;
    assert_eq!(asked.path, "/mj/insight-face/swap");
    let json = asked.json();
    assert_eq!(json["sourceBase64"], json!(uri(&picture())));
    assert_eq!(json["targetBase64"], json!(uri(&picture())));
    assert!(json["state"].is_string());
}

#[tokio::test]
async fn a_video_names_its_frames_motion_size_and_count() {
    let body = json!({
        "prompt": "it runs", "imageUrl": "https://a.example/1", "endingUrl": "https://a.example/2",
        "manual": "high", "resolution": "hd", "bs": 2,
    });
    let asked = sent("artgen.video.submit", &body, None, Value::Null).await;
    assert_eq!(asked.path, "/mj-fast/mj/submit/video");
    assert_eq!(
        asked.json(),
        json!({
            "prompt": "it runs", "motion": "high", "image": uri(&picture()),
            "endImage": uri(&picture()), "videoType": "vid_1.1_i2v_720", "batchSize": 2,
            "state": "019a0000-0000-7000-8000-00000000000a-1",
        })
    );
}

#[tokio::test]
async fn each_dialect_serves_what_it_has_routes_for() {
    let proxy = accepting();
    let newer = proxy.worker(NAME, Value::Null);
    let older = proxy.worker(NAME, json!({ "dialect": "change" }));
    for both in [
        "artgen.imagine",
        "artgen.action",
        "artgen.blend",
        "artgen.describe",
    ] {
        assert!(newer.serves(both) && older.serves(both), "{both}");
    }
    for new in [
        "artgen.seed",
        "artgen.inpaint",
        "artgen.video.extend",
        "facegen.swap",
    ] {
        assert!(newer.serves(new) && !older.serves(new), "{new}");
    }
    assert!(!newer.serves("motion.generations"));
}

#[tokio::test]
async fn bad_settings_are_refused_by_name() {
    for (settings, says) in [
        (json!({ "dialekt": "action" }), "dialekt"),
        (
            json!({ "fail_reasons": { "x": "gone fishing" } }),
            "gone fishing",
        ),
    ] {
        let why = crate::server::built(NAME, "http://127.0.0.1:1", settings).err();
        assert!(why.is_some_and(|why| why.to_string().contains(says)));
    }
}
