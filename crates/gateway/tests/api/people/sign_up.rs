//! Sign-up: who may, in each of the four modes, and what a new account is given.

use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, letter, letters};
use crate::gateway::{Gateway, Options};

async fn in_mode(mode: &str) -> Gateway {
    Options::default()
        .set("PEOPLE_SIGNUP", mode)
        .set("PEOPLE_DOMAINS", "example.com")
        .set("PEOPLE_WELCOME_QUOTA", "5")
        .spawn()
        .await
}

/// Whether somebody with an address gets in by asking for a link. Somebody who is invited into an account comes after them, so that
/// their letter shows that nothing else is still on its way.
async fn gets_in(gateway: &Gateway, email: &str) -> bool {
    let mut browser = Browser::default();
    let asked = browser.ask(gateway, email).await;
    assert_eq!(asked.json["data"]["sent"], true, "{}", asked.json);
    let probe = format!("probe-{}@example.net", gateway.printed().len());
    let account = gateway.account(1).await;
    let invitation = json!({ "email": probe, "role": "viewer" });
    gateway
        .post(&account.key, "/account/v1/invitations", invitation)
        .await;
    letter(gateway, &probe, 0).await;
    let mut own = Browser::default();
    own.ask(gateway, &probe).await;
    letter(gateway, &probe, 1).await;
    let Some(word) = letters(gateway, email).pop() else {
        return false;
    };
    let opened = browser.follow(gateway, &word).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    let who = browser.who(gateway).await;
    assert_eq!(who["person"]["role"], "owner", "{who}");
    assert_eq!(who["account"]["balance"], 5, "{who}");
    true
}

/// The promise: each mode lets in whom it says, and nobody learns more than that.
#[tokio::test]
async fn each_mode_lets_in_whom_it_says() {
    for (mode, own, other) in [
        ("closed", false, false),
        ("invited", false, false),
        ("domains", true, false),
        ("open", true, true),
    ] {
        let gateway = in_mode(mode).await;
        assert_eq!(gets_in(&gateway, "ada@example.com").await, own, "{mode}");
        assert_eq!(gets_in(&gateway, "eve@example.org").await, other, "{mode}");
        let path = "/admin/v1/invitations";
        let wish = json!({ "email": "zoe@example.org" });
        let invited = gateway.operate(Method::POST, path, Some(wish)).await;
        if mode == "closed" {
            invited.assert_refused(409, "conflict");
            continue;
        }
        assert_eq!(invited.status, 200, "{mode}: {}", invited.json);
        let word = letter(&gateway, "zoe@example.org", 0).await;
        let mut zoe = Browser::default();
        let opened = zoe.follow(&gateway, &word).await;
        assert_eq!(opened.status, 200, "{mode}: {}", opened.json);
        let who = zoe.who(&gateway).await;
        assert_eq!(who["person"]["role"], "owner", "{who}");
        let listed = gateway.operate(Method::GET, path, None).await;
        assert_eq!(listed.json["data"], json!([]), "it is used up");
        let ways = zoe.get(&gateway, "/auth/v1/ways").await;
        let shown = ["domains", "open"].contains(&mode);
        assert_eq!(ways.json["data"]["signup"], shown, "{}", ways.json);
    }
}

/// The promise: no way to write an address is worth the welcome twice, nor is deleting oneself and coming again.
#[tokio::test]
async fn the_welcome_of_an_address_cannot_be_farmed() {
    let gateway = in_mode("open").await;
    let mut balances = Vec::new();
    for email in [
        "f.arm.er@gmail.com",
        "farmer+1@gmail.com",
        "FARMER@googlemail.com",
    ] {
        let mut browser = Browser::default();
        let asked = browser.ask(&gateway, email).await;
        assert_eq!(asked.status, 200, "{}", asked.json);
        let sent_to = email
            .split_once('@')
            .map(|(name, host)| format!("{name}@{host}"));
        let word = letter(&gateway, &sent_to.expect("an address"), 0).await;
        browser.follow(&gateway, &word).await;
        let who = browser.who(&gateway).await;
        balances.push(who["account"]["balance"].as_i64());
    }
    assert_eq!(balances, [Some(5), Some(0), Some(0)]);
    let mut ada = Browser::sign_in(&gateway, "ada@example.com").await;
    let who = ada.who(&gateway).await;
    assert_eq!(who["account"]["balance"], 5);
    let ledger = ada.get(&gateway, "/account/v1/ledger").await;
    let row = &ledger.json["data"][0];
    assert_eq!(
        (&row["kind"], &row["reason"]),
        (&json!("grant"), &json!("welcome")),
        "{row}"
    );
    let id = who["person"]["id"].as_str().expect("an id");
    let account = who["person"]["accountId"].as_str().expect("an id");
    for path in [
        format!("/admin/v1/accounts/{account}"),
        format!("/admin/v1/people/{id}"),
    ] {
        let gone = gateway.operate(Method::DELETE, &path, None).await;
        assert_eq!(gone.status, 200, "{}", gone.json);
    }
    let mut again = Browser::sign_in(&gateway, "ada@example.com").await;
    let who = again.who(&gateway).await;
    assert_eq!(who["account"]["balance"], 0, "{who}");
    let audited = gateway.command(&["local", "audit"]);
    assert!(!audited.to_lowercase().contains("broken"), "{audited}");
}
