//! Invitations: accepted by the address that was invited, declined, taken back, and never into somebody else's account.

use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, Studio, letter, letters};
use crate::gateway::Gateway;

/// The promise: whoever is invited decides, is what they were invited as, and may be in many accounts, of which the session names one.
#[tokio::test]
async fn one_person_is_in_many_accounts_and_the_session_names_one() {
    let gateway = Gateway::spawn().await;
    let mut first = Studio::of(&gateway, "first@example.com", 10).await;
    let mut second = Studio::of(&gateway, "second@example.com", 20).await;
    let (mut ada, _) = first.join(&gateway, "ada@example.com", "viewer").await;
    assert_eq!(
        ada.who(&gateway).await["person"]["accountId"],
        first.account.as_str()
    );
    let before = letters(&gateway, "ada@example.com").len();
    let invitation = json!({ "email": "Ada@example.com", "role": "member" });
    let path = "/account/v1/invitations";
    let invited = second.owner.post(&gateway, path, invitation).await;
    assert_eq!(invited.status, 200, "{}", invited.json);
    // The link of somebody who is a person already signs nobody in.
    let word = letter(&gateway, "Ada@example.com", before.min(0)).await;
    let refused = Browser::default().follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    let me = ada.get(&gateway, "/auth/v1/me").await;
    let pending = &me.json["data"]["invitations"][0];
    assert_eq!(pending["role"], "member", "{}", me.json);
    let id = pending["id"].as_str().expect("an id").to_owned();
    let accept = format!("/auth/v1/invitations/{id}");
    // Nobody else can accept or decline it.
    for method in [Method::POST, Method::DELETE] {
        let refused = first.owner.call(&gateway, method, &accept, None).await;
        refused.assert_refused(404, "not_found");
    }
    let accepted = ada.call(&gateway, Method::POST, &accept, None).await;
    assert_eq!(accepted.status, 200, "{}", accepted.json);
    assert_eq!(
        accepted.json["data"]["person"]["accountId"],
        second.account.as_str()
    );
    assert_eq!(accepted.json["data"]["person"]["role"], "member");
    let me = ada.get(&gateway, "/auth/v1/me").await;
    let accounts = me.json["data"]["accounts"].as_array().expect("accounts");
    assert_eq!(accounts.len(), 2);
    let balance = ada.get(&gateway, "/artgen/v1/info").await;
    assert_eq!(balance.json["data"]["balance"], 20);
    let back = json!({ "id": first.account });
    let switched = ada.post(&gateway, "/auth/v1/account", back).await;
    assert_eq!(switched.status, 200, "{}", switched.json);
    let balance = ada.get(&gateway, "/artgen/v1/info").await;
    assert_eq!(balance.json["data"]["balance"], 10);
    let foreign = gateway.account(1).await;
    let refused = ada
        .post(&gateway, "/auth/v1/account", json!({ "id": foreign.id }))
        .await;
    refused.assert_refused(404, "not_found");
    // Leaving one leaves the other.
    let left = format!("/auth/v1/accounts/{}", second.account);
    let left = ada.call(&gateway, Method::DELETE, &left, None).await;
    assert_eq!(left.status, 200, "{}", left.json);
    let me = ada.get(&gateway, "/auth/v1/me").await;
    assert_eq!(
        me.json["data"]["accounts"].as_array().map(Vec::len),
        Some(1)
    );
}

/// The promise: nobody becomes a member by having the address of an account: its holder invites.
#[tokio::test]
async fn nobody_becomes_a_member_by_having_the_same_address() {
    let gateway = crate::gateway::Options::default()
        .set("PEOPLE_SIGNUP", "open")
        .spawn()
        .await;
    let made = json!({ "email": "studio@example.com", "balance": 5 });
    let made = gateway
        .operate(Method::POST, "/admin/v1/accounts", Some(made))
        .await;
    let key = made.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let mut person = Browser::sign_in(&gateway, "studio@example.com").await;
    let who = person.who(&gateway).await;
    assert!(
        who["account"].is_null() && who["person"]["accountId"].is_null(),
        "{who}"
    );
    let refused = person.get(&gateway, "/account/v1/keys").await;
    refused.assert_refused(401, "unauthorized");
    let invitation = json!({ "email": "studio@example.com", "role": "owner" });
    let invited = gateway
        .post(&key, "/account/v1/invitations", invitation)
        .await;
    assert_eq!(invited.status, 200, "{}", invited.json);
    let me = person.get(&gateway, "/auth/v1/me").await;
    let id = me.json["data"]["invitations"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let path = format!("/auth/v1/invitations/{id}");
    let accepted = person.call(&gateway, Method::POST, &path, None).await;
    assert_eq!(
        accepted.json["data"]["person"]["role"], "owner",
        "{}",
        accepted.json
    );
}

/// The promise: an invitation that is taken back, declined or used is none, and one into an account comes from that account.
#[tokio::test]
async fn an_invitation_is_good_once_and_until_it_is_taken_back() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 10).await;
    let mut other = Studio::of(&gateway, "other@example.com", 10).await;
    let path = "/account/v1/invitations";
    let invitation = json!({ "email": "ada@example.com", "role": "member" });
    let sent = studio.owner.post(&gateway, path, invitation.clone()).await;
    let id = sent.json["data"]["id"].as_str().expect("an id").to_owned();
    let one = format!("{path}/{id}");
    // Whoever invites learns nothing that would let them in as somebody else.
    assert!(!sent.json.to_string().contains("se_"), "{}", sent.json);
    let refused = other.owner.call(&gateway, Method::DELETE, &one, None).await;
    refused.assert_refused(404, "not_found");
    let listed = other.owner.get(&gateway, path).await;
    assert_eq!(listed.json["data"], json!([]));
    let word = letter(&gateway, "ada@example.com", 0).await;
    let gone = studio
        .owner
        .call(&gateway, Method::DELETE, &one, None)
        .await;
    assert_eq!(gone.status, 200, "{}", gone.json);
    let refused = Browser::default().follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    let sent = studio.owner.post(&gateway, path, invitation.clone()).await;
    assert_eq!(sent.status, 200, "{}", sent.json);
    let word = letter(&gateway, "ada@example.com", 1).await;
    let page = Browser::default()
        .get(&gateway, &format!("/auth/v1/link/{word}"))
        .await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(
        text.contains("ada@example.com") && text.contains("<form"),
        "{text}"
    );
    let mut ada = Browser::default();
    let joined = ada.follow(&gateway, &word).await;
    assert_eq!(joined.status, 200, "{}", joined.json);
    let refused = Browser::default().follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    let again = studio.owner.post(&gateway, path, invitation).await;
    again.assert_refused(409, "conflict");
    // A member invites nobody, whoever they name.
    let refused = ada
        .post(&gateway, path, json!({ "email": "eve@example.com" }))
        .await;
    refused.assert_refused(403, "forbidden");
}
