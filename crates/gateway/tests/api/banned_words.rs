//! Banned words over the wire: in every disguise, in the families that have them, and what a moderation endpoint is told.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::gateway::{Gateway, Options};
use crate::outside::{Outside, answer, read};

/// The promise: a word is the same word in every way to write it, and a longer word is another one.
#[tokio::test]
async fn banned_words_are_found_in_every_disguise() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    for prompt in [
        "a n\u{200b}ude statue",
        "a nu\u{ad}de statue",
        "a \u{2060}nud\u{fe0f}e statue",
        "a ｎｕｄｅ statue",
        "a 𝓷𝓾𝓭𝓮 statue",
        "a nude_statue",
        "a _nude_ statue",
        "a stone＿ＮＵＤＥ",
        "a nu\u{e0041}de statue",
    ] {
        let body = json!({ "prompt": prompt });
        let path = "/artgen/v1/promptCheck";
        let checked = gateway.post(&caller.key, path, body.clone()).await;
        checked.assert_refused(400, "banned_prompt");
        assert_eq!(checked.json["message"], "banned prompt words: [nude]");
        let asked = gateway.post(&caller.key, "/artgen/v1/imagine", body).await;
        asked.assert_refused(400, "banned_prompt");
    }
    for prompt in [
        "denuded hills",
        "nudes_of_ants",
        "a statue --no nude",
        "ein Café",
    ] {
        let body = json!({ "prompt": prompt });
        let checked = gateway.post(&caller.key, "/artgen/v1/promptCheck", body);
        assert_eq!(checked.await.status, 200, "{prompt}");
    }
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
}

/// The promise: the list is for the families in which the interface has it, and for those that the operator names.
#[tokio::test]
async fn banned_words_are_for_artgen_unless_more_families_are_named() {
    let words = "[[stall]] a nude statue";
    let asked = async |gateway: &Gateway, path: &str| {
        let caller = gateway.account(100).await;
        let body = json!({ "prompt": words, "userPrompt": words, "imageUrl": "https://example.com/a.png" });
        let answer = gateway.post(&caller.key, path, body).await;
        let code = answer.json["code"].as_str().unwrap_or("accepted");
        (path.to_owned(), code.to_owned())
    };
    let usual = Gateway::spawn().await;
    let named = Options::default().set("PROMPTS_FAMILIES", "clipgen, imgmodel_chat");
    let named = named.spawn().await;
    for (path, here, there) in [
        ("/artgen/v1/imagine", "banned_prompt", "banned_prompt"),
        ("/artgen/video/submit", "banned_prompt", "banned_prompt"),
        ("/clipgen/generations", "accepted", "banned_prompt"),
        (
            "/imgmodel/chat-image/generations",
            "accepted",
            "banned_prompt",
        ),
        ("/motion/v1/generations", "accepted", "accepted"),
        ("/vidgen-partner/generations", "accepted", "accepted"),
    ] {
        assert_eq!(
            asked(&usual, path).await,
            (path.to_owned(), here.to_owned())
        );
        assert_eq!(
            asked(&named, path).await,
            (path.to_owned(), there.to_owned())
        );
    }
}

/// The promise: how strictly a caller wants to be reviewed is told to whoever reviews.
#[tokio::test]
async fn a_wish_for_little_moderation_is_passed_on() {
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = heads.clone();
    let moderator = Outside::start(move |mut stream| {
        let Some(request) = read(&mut stream) else {
            return;
        };
        let head = request.head.to_ascii_lowercase();
        kept.lock().expect("no panic under the lock").push(head);
        let flagged = r#"{"results":[{"flagged":true,"categories":{"tests":true}}]}"#;
        answer(&mut stream, "200 OK", "", flagged.as_bytes());
    });
    let options = Options::default().set("PROMPTS_MODERATION_URL", &moderator.url("/v1"));
    let gateway = options.spawn().await;
    let caller = gateway.account(100).await;
    for wish in [json!("low"), json!("auto"), json!(null)] {
        let body = json!({ "model": "image-1", "prompt": "a fox", "moderation": wish });
        let asked = gateway.post(&caller.key, "/v1/images/generations", body);
        asked.await.assert_refused(400, "banned_prompt");
    }
    let heads = heads.lock().expect("no panic under the lock").clone();
    let told: Vec<bool> = heads
        .iter()
        .map(|head| head.contains("x-moderation: low\r\n"))
        .collect();
    assert_eq!(told, [true, false, false], "{heads:?}");
}
