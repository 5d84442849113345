//! What a probe compares, and what settings may name.

use serde_json::{Value, json};

use crate::stand::{Stand, json as answer, status, ticket, worker};
use crate::studio::Studio;

/// What a server that lists these models says about one that asks for `painter`.
async fn probed(dialect: &str, listed: Value) -> Result<(), String> {
    let stand = Stand::always(answer(&json!({"object": "list", "data": listed})));
    let settings = json!({"dialect": dialect, "image_model": "painter"});
    let probed = stand.worker("openai", settings).probe().await;
    probed.map(|_| ()).map_err(|fault| fault.detail)
}

#[tokio::test]
async fn a_model_that_the_server_does_not_list_is_found_by_the_probe() {
    let missing = probed(
        "openai",
        json!([{"id": "gpt-image-2.6-flare"}, {"id": "filmer"}]),
    );
    let missing = missing.await.expect_err("it is not there");
    assert!(
        missing.contains("painter") && missing.contains("filmer"),
        "{missing}"
    );
    for (dialect, listed) in [
        ("openai", json!([{"id": "painter"}])),
        ("openai", json!([{"id": "paint*"}])),
        ("openai", json!([])),
        ("sdcpp", json!([{"id": "sd-cpp-local"}])),
    ] {
        assert_eq!(probed(dialect, listed).await, Ok(()), "{dialect}");
    }
    let without_list = Stand::always(status(404, &json!({})));
    let worker = without_list.worker("openai", json!({"image_model": "painter"}));
    worker.probe().await.expect("that it answers is enough");
}

#[tokio::test]
async fn runway_takes_a_model_by_the_operators_own_rules() {
    let stand = Stand::always(answer(&json!({"id": "t1"})));
    let rule = json!({"ratios": ["1920:1080"], "between": [5, 40], "takes": ["seed"]});
    let settings = json!({"video_model": "gen9", "rules": {"gen9": {"text_to_video": rule}}});
    let worker = stand.worker("runway", settings);
    let body = json!({"prompt": "a wave", "video_length": "30"});
    let (work, _) = Studio::new().work("clipgen.generations", &body, None);
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.seen()[0].json();
    assert_eq!(
        (&sent["model"], &sent["ratio"], &sent["duration"]),
        (&json!("gen9"), &json!("1920:1080"), &json!(30))
    );
    assert!(sent.get("audio").is_none(), "it takes none");
}

#[tokio::test]
async fn names_of_operations_are_taken_in_both_spellings() {
    let stand = Stand::always(answer(&json!({"id": "v", "status": "queued"})));
    let models = json!({"vidgen-partner.generations": "filmer", "imgmodel.chat": "painter"});
    let worker = stand.worker("openai", json!({"models": models}));
    assert!(worker.serves("vidgen_partner.generations") && worker.serves("imgmodel.chat"));
}

#[test]
fn a_wrong_name_lists_the_right_ones() {
    let error = |vendor: &str, settings: Value| {
        let built = worker(vendor, "http://127.0.0.1:9", settings).err();
        built.expect("refused").to_string()
    };
    let wrong = error("openai", json!({"models": {"vidgen.generation": "m"}}));
    assert!(wrong.contains("vidgen.generations"), "{wrong}");
    let wrong = error(
        "fal",
        json!({"models": {"vidgn.generations": {"model": "a", "input": {"a": 1}}}}),
    );
    assert!(wrong.contains("vidgen_partner"), "{wrong}");
    let wrong = error(
        "openai",
        json!({"image_model": "m", "costs": {"imgmodle": {"unit": "item", "usd": 1}}}),
    );
    assert!(wrong.contains("imgmodel"), "{wrong}");
}
