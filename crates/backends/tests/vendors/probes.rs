//! What a probe compares, and what settings may name.

use atelier_backends::{Class, Fault, unknown_model};
use serde_json::{Value, json};

use crate::stand::{Stand, json as answer, status, ticket, worker};
use crate::studio::Studio;

/// What a server that lists these models says about one that asks for `painter`.
async fn probed(dialect: &str, listed: Value) -> Result<(), String> {
    let probed = probed_by(dialect, listed, json!({})).await;
    probed.map_err(|fault| fault.detail)
}

async fn probed_by(dialect: &str, listed: Value, more: Value) -> Result<(), Fault> {
    let stand = Stand::always(answer(&json!({"object": "list", "data": listed})));
    let mut settings = json!({"dialect": dialect, "image_model": "painter"});
    for (name, value) in more.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
    let probed = stand.worker("openai", settings).probe().await;
    probed.map(|_| ())
}

#[tokio::test]
async fn a_model_that_is_not_listed_is_the_routes_matter_and_not_the_accounts() {
    let listed = json!([{"id": "filmer"}]);
    let fault = probed_by("openai", listed.clone(), json!({})).await;
    let fault = fault.expect_err("it is not there");
    assert_eq!(fault.class, Class::Model);
    let words = format!("{}: ", unknown_model("painter"));
    assert!(fault.detail.starts_with(&words), "{}", fault.detail);
    // A deployment has a name of its own, which no list of models has.
    let azure = probed_by("openai", listed, json!({"key_header": true})).await;
    azure.expect("well");
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

/// The promise: models that routes of the catalogue name are held against the list as well, not the settings' own alone.
#[tokio::test]
async fn models_that_routes_name_are_held_against_the_list() {
    let listed = json!({"data": [{"id": "painter"}, {"id": "film*"}]});
    let stand = Stand::always(answer(&listed));
    let worker = stand.worker("openai", json!({"image_model": "painter"}));
    let find = async |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        worker.find_models(&names).await
    };
    find(&["painter", "filmer"]).await.expect("they are there");
    let fault = find(&["painter", "painter-2"]).await;
    let fault = fault.expect_err("it is not there");
    assert_eq!(fault.class, Class::Model);
    let words = format!("{}: ", unknown_model("painter-2"));
    assert!(fault.detail.starts_with(&words), "{}", fault.detail);
    let azure = stand.worker("openai", json!({"image_model": "x", "key_header": true}));
    let names = ["painter-2".to_owned()];
    azure
        .find_models(&names)
        .await
        .expect("deployments have names of their own");
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
    let twice = json!({"vidgen-partner.generations": "a", "vidgen_partner.generations": "b"});
    let wrong = error("openai", json!({"models": twice}));
    assert!(wrong.contains("named twice"), "{wrong}");
    let wrong = error(
        "runway",
        json!({"models": {"clipgen.generations": {"*": "gen9"}}}),
    );
    assert!(wrong.contains("gen9 is not a model"), "{wrong}");
    let wrong = error(
        "openai",
        json!({"image_model": "m", "costs": {"imgmodle": {"unit": "item", "usd": 1}}}),
    );
    assert!(wrong.contains("imgmodel"), "{wrong}");
}
