//! Receipts from outside: what the service signs is checked without it, and what was changed or is missing is found.

use reqwest::Method;
use serde_json::{Value, json};

use super::Person;
use crate::gateway::{Account, Gateway, Options, send};

async fn gateway() -> Gateway {
    Options::default()
        .set("RECEIPTS_ENABLED", "true")
        .spawn()
        .await
}

/// Makes an image; the job that made it.
async fn image(gateway: &Gateway, caller: &Account, prompt: &str) -> String {
    let body = json!({ "prompt": prompt, "model": "image-1", "quality": "low" });
    let made = gateway
        .post(&caller.key, "/v1/images/generations", body)
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let listed = gateway.get(&caller.key, "/jobs/v1?limit=1").await;
    let id = listed.json["data"][0]["jobId"].as_str();
    id.expect("a job").to_owned()
}

async fn receipt(gateway: &Gateway, caller: &Account, job: &str) -> Value {
    let path = format!("/account/v1/receipts/{job}");
    let found = gateway.get(&caller.key, &path).await;
    assert_eq!(found.status, 200, "{}", found.json);
    found.json["data"].clone()
}

async fn keys(gateway: &Gateway) -> Value {
    let path = "/.well-known/atelier-receipts";
    send(gateway.request(Method::GET, path)).await.json
}

fn signed(receipts: &[&Value]) -> String {
    let lines = receipts.iter().filter_map(|one| one["signed"].as_str());
    lines.collect::<Vec<_>>().join("\n")
}

/// Makes three images; their jobs and receipts.
async fn chain(gateway: &Gateway, caller: &Account) -> (Vec<String>, [Value; 3]) {
    let mut jobs = Vec::new();
    for prompt in ["a fox", "an owl", "a hare"] {
        jobs.push(image(gateway, caller, prompt).await);
    }
    let first = receipt(gateway, caller, &jobs[0]).await;
    let second = receipt(gateway, caller, &jobs[1]).await;
    let third = receipt(gateway, caller, &jobs[2]).await;
    (jobs, [first, second, third])
}

/// The file that a job made, as its caller downloads it.
async fn download(gateway: &Gateway, caller: &Account, job: &str) -> Vec<u8> {
    let path = format!("/jobs/v1/{job}");
    let shown = gateway.get(&caller.key, &path).await;
    let url = shown.json["data"]["files"][0]["url"].as_str();
    let file = crate::gateway::client().get(url.expect("a URL"));
    let file = file.send().await.expect("an answer");
    file.bytes().await.expect("a file").to_vec()
}

fn write(person: &Person, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(person.home.path().join(name), bytes).expect("written");
}

fn with_keys(words: &[&'static str]) -> Vec<&'static str> {
    let fixed = ["verify", "receipt", "--keys", "keys.json"];
    [&fixed[..], words].concat()
}

#[tokio::test]
async fn receipts_are_checked_without_the_service() {
    let gateway = gateway().await;
    let (caller, other) = (gateway.account(20).await, gateway.account(20).await);
    assert_eq!(keys(&gateway).await, json!({ "keys": [] }));
    let (jobs, [first, second, third]) = chain(&gateway, &caller).await;
    assert_eq!(
        (&first["number"], &first["previous"], &first["quota"]),
        (&json!(1), &Value::Null, &json!(1)),
        "{first}"
    );
    assert_eq!(second["previous"], first["hash"]);
    let foreign = format!("/account/v1/receipts/{}", jobs[0]);
    let foreign = gateway.get(&other.key, &foreign).await;
    foreign.assert_refused(404, "not_found");
    let listed = gateway.get(&caller.key, "/account/v1/receipts").await;
    assert_eq!(listed.json["total"], 3, "{}", listed.json);
    assert_eq!(listed.json["data"][0]["job"], json!(jobs[2]));

    let person = Person::new();
    write(&person, "all.jws", signed(&[&third, &first, &second]));
    write(&person, "gap.jws", signed(&[&first, &third]));
    write(&person, "one.jws", signed(&[&second]));
    write(&person, "keys.json", keys(&gateway).await.to_string());
    let changed = signed(&[&first]).replacen("eyJ2IjoxLC", "eyJ2IjoxLD", 1);
    write(&person, "changed.jws", changed);
    let bytes = download(&gateway, &caller, &jobs[1]).await;
    write(&person, "owl.png", &bytes);
    write(&person, "other.png", &bytes[1..]);

    let named = with_keys(&["all.jws", "--file", "owl.png"]);
    let said = person.good(&named).await;
    assert!(said.contains("3 receipts, an unbroken chain"), "{said}");
    for (wrong, why) in [
        (&["gap.jws"][..], "are missing"),
        (&["changed.jws"], "wrong signature"),
        (&["one.jws", "--file", "other.png"], "no receipt names"),
        (&["one.jws", "changed.jws"], "changed.jws:1"),
    ] {
        let ran = person.run(&with_keys(wrong), "").await;
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{wrong:?}: {said}");
        assert!(said.contains(why), "{wrong:?}: {said}");
    }
    // The keys by their URL, and of the service that one is signed in to.
    let url = format!("{}/.well-known/atelier-receipts", gateway.base_url);
    let by_url = ["verify", "receipt", "all.jws", "--keys", &url];
    person.good(&by_url).await;
    person.sign_in(&gateway.base_url, &caller.key).await;
    person.good(&["verify", "receipt", "one.jws"]).await;
}

/// The promise: what an old key has signed can be checked for ever.
#[tokio::test]
async fn a_new_key_signs_receipts_and_the_old_one_stays() {
    let gateway = gateway().await;
    let caller = gateway.account(20).await;
    let (jobs, [first, second, _]) = chain(&gateway, &caller).await;
    let person = Person::new();
    write(&person, "keys.json", keys(&gateway).await.to_string());
    let path = "/admin/v1/receipt-keys";
    let rotated = gateway.operate(Method::POST, path, None).await;
    let again = receipt(&gateway, &caller, &jobs[0]).await;
    assert_eq!(again["kid"], rotated.json["data"]["kid"]);
    assert_ne!(again["signed"], first["signed"]);
    assert_eq!(again["hash"], first["hash"]);
    write(&person, "again.jws", signed(&[&again, &second]));
    let ran = person.run(&with_keys(&["again.jws"]), "").await;
    assert_eq!(ran.status.code(), Some(1), "the copy has not the new key");
    person.sign_in(&gateway.base_url, &caller.key).await;
    person.good(&["verify", "receipt", "again.jws"]).await;
    let both = keys(&gateway).await;
    assert_eq!(both["keys"].as_array().map(Vec::len), Some(2), "{both}");
    gateway.command(&["audit", "--live"]);
}

#[tokio::test]
async fn a_service_without_receipts_makes_none() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(20).await;
    let job = image(&gateway, &caller, "a fox").await;
    let path = format!("/account/v1/receipts/{job}");
    let none = gateway.get(&caller.key, &path).await;
    none.assert_refused(404, "not_found");
    let listed = gateway.get(&caller.key, "/account/v1/receipts").await;
    assert_eq!(listed.json["total"], 0, "{}", listed.json);
}
