//! Members: what each may do, what they may spend, and what goes with them.

use reqwest::Method;
use serde_json::{Value, json};

use super::browser::Studio;
use crate::gateway::Gateway;

const IMAGINE: &str = "/artgen/v1/imagine";

fn prompt() -> Value {
    json!({ "prompt": "a lake [[stall]]" })
}

/// The promise: a member's limit holds for what they do in the console and with all their keys together, and usage says who it was.
#[tokio::test]
async fn a_members_limit_holds_for_console_and_keys_together() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 100).await;
    let (mut ada, id) = studio.join(&gateway, "ada@example.com", "member").await;
    let limits = json!({ "limits": [{ "window": "day", "quota": 10 }] });
    let path = format!("/account/v1/members/{id}");
    let limited = studio
        .owner
        .call(&gateway, Method::PATCH, &path, Some(limits))
        .await;
    assert_eq!(limited.status, 200, "{}", limited.json);
    let issued = ada
        .post(&gateway, "/account/v1/keys", json!({ "name": "laptop" }))
        .await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let key = issued.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let submitted = ada.post(&gateway, IMAGINE, prompt()).await;
    assert_eq!(submitted.status, 200, "{}", submitted.json);
    let by_key = gateway.post(&key, IMAGINE, prompt()).await;
    assert_eq!(by_key.status, 200, "{}", by_key.json);
    for over in [
        ada.post(&gateway, IMAGINE, prompt()).await,
        gateway.post(&key, IMAGINE, prompt()).await,
    ] {
        over.assert_refused(400, "key_limit");
        assert_eq!(over.json["limit"]["spent"], 8, "{}", over.json);
    }
    // The others spend what the account has.
    let own = studio.owner.post(&gateway, IMAGINE, prompt()).await;
    assert_eq!(own.status, 200, "{}", own.json);
    let shown = studio.owner.get(&gateway, &path).await;
    assert_eq!(shown.json["data"]["limits"][0]["spent"], 8);
    let job = submitted.json["data"]["jobId"]
        .as_str()
        .expect("a job")
        .to_owned();
    let seen = ada.get(&gateway, &format!("/jobs/v1?memberId={id}")).await;
    assert_eq!(
        seen.json["data"].as_array().map(Vec::len),
        Some(2),
        "{}",
        seen.json
    );
    let rows = seen.json["data"].as_array().expect("jobs");
    let of_session = rows
        .iter()
        .find(|row| row["jobId"] == job.as_str())
        .expect("the job");
    assert!(of_session["keyId"].is_null(), "{of_session}");
    assert_eq!(of_session["memberId"], id.as_str());
    let cancel = format!("/jobs/v1/{job}/cancel");
    let cancelled = ada.call(&gateway, Method::POST, &cancel, None).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
    let shown = studio.owner.get(&gateway, &path).await;
    assert_eq!(
        shown.json["data"]["limits"][0]["spent"], 4,
        "what was released is free"
    );
    let free = json!({ "limits": null });
    let freed = studio
        .owner
        .call(&gateway, Method::PATCH, &path, Some(free))
        .await;
    assert_eq!(freed.json["data"]["limits"], json!([]), "{}", freed.json);
}

/// The promise: a member has keys of their own and sees no other, nobody is more than their role, and no key of a member widens it.
#[tokio::test]
async fn a_role_is_all_that_a_member_may() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 100).await;
    let (mut ada, ada_id) = studio.join(&gateway, "ada@example.com", "member").await;
    let (mut vera, _) = studio.join(&gateway, "vera@example.com", "viewer").await;
    let keys = "/account/v1/keys";
    let listed = studio.owner.get(&gateway, keys).await;
    let first = listed.json["data"][0]["id"]
        .as_str()
        .expect("the first key")
        .to_owned();
    let issued = ada.post(&gateway, keys, json!({ "name": "laptop" })).await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let own = issued.json["data"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let listed = ada.get(&gateway, keys).await;
    let row = &listed.json["data"][0];
    assert_eq!(listed.json["data"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&row["id"], &row["memberId"]),
        (&json!(own), &json!(ada_id))
    );
    assert_eq!(row["scopes"], json!(["submit", "read", "keys"]));
    let wide = ada
        .post(&gateway, keys, json!({ "scopes": ["account"] }))
        .await;
    wide.assert_refused(403, "forbidden");
    for (method, path, body) in [
        (Method::DELETE, format!("{keys}/{first}"), None),
        (
            Method::PATCH,
            format!("{keys}/{first}"),
            Some(json!({ "note": "mine" })),
        ),
        (
            Method::POST,
            format!("{keys}/{first}/rotate"),
            Some(json!({})),
        ),
        (Method::GET, "/account/v1/members".into(), None),
        (Method::GET, "/account/v1/callbacks/secret".into(), None),
        (Method::GET, "/account/v1/acts".into(), None),
        (
            Method::PATCH,
            format!("/account/v1/members/{ada_id}"),
            Some(json!({ "role": "owner" })),
        ),
    ] {
        let refused = ada.call(&gateway, method.clone(), &path, body).await;
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.json);
    }
    for (method, path, body) in [
        (Method::POST, IMAGINE, prompt()),
        (Method::POST, keys, json!({})),
        (Method::GET, keys, Value::Null),
    ] {
        let refused = vera.call(&gateway, method.clone(), path, Some(body)).await;
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.json);
    }
    let seen = vera.get(&gateway, "/jobs/v1").await;
    assert_eq!(seen.status, 200, "{}", seen.json);
    // A key of an owner does all that keys do, and says nothing about members: that would widen what is above it.
    let issued = studio
        .owner
        .post(&gateway, keys, json!({ "name": "server" }))
        .await;
    let key = issued.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let seen = gateway.get(&key, "/account/v1/members").await;
    assert_eq!(seen.status, 200, "{}", seen.json);
    let refused = gateway
        .post(
            &key,
            "/account/v1/invitations",
            json!({ "email": "eve@example.com" }),
        )
        .await;
    refused.assert_refused(403, "forbidden");
    // Owners issue keys for members, which may do what the member may.
    let wish = json!({ "name": "camera", "memberId": ada_id });
    let issued = studio.owner.post(&gateway, keys, wish).await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let listed = ada.get(&gateway, keys).await;
    assert_eq!(listed.json["data"].as_array().map(Vec::len), Some(2));
    // A role that is taken away is gone from keys and sessions at once.
    let path = format!("/account/v1/members/{ada_id}");
    let demoted = json!({ "role": "viewer" });
    let demoted = studio
        .owner
        .call(&gateway, Method::PATCH, &path, Some(demoted))
        .await;
    assert_eq!(demoted.status, 200, "{}", demoted.json);
    let refused = ada.post(&gateway, IMAGINE, prompt()).await;
    refused.assert_refused(403, "forbidden");
    let camera = issued.json["data"]["api_key"].as_str().expect("a key");
    let refused = gateway.post(camera, IMAGINE, prompt()).await;
    refused.assert_refused(403, "forbidden");
}

/// The promise: removing a member revokes their keys and ends their sessions at once, and their jobs finish; an account keeps an owner.
#[tokio::test]
async fn a_member_who_is_removed_is_out_at_once_and_their_jobs_finish() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 100).await;
    let (mut ada, id) = studio.join(&gateway, "ada@example.com", "member").await;
    let issued = ada.post(&gateway, "/account/v1/keys", json!({})).await;
    let key = issued.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let job = json!({ "prompt": "a lake [[delay 2s]]" });
    let job = ada.post(&gateway, IMAGINE, job).await;
    let job = job.json["data"]["jobId"]
        .as_str()
        .expect("a job")
        .to_owned();
    let own = studio.owner.who(&gateway).await;
    let own = own["person"]["id"].as_str().expect("an id").to_owned();
    let listed = studio.owner.get(&gateway, "/account/v1/members").await;
    let rows = listed.json["data"].as_array().expect("members");
    let owner = rows
        .iter()
        .find(|row| row["personId"] == own.as_str())
        .expect("the owner");
    let owner = format!(
        "/account/v1/members/{}",
        owner["id"].as_str().expect("an id")
    );
    let kept = studio
        .owner
        .call(&gateway, Method::DELETE, &owner, None)
        .await;
    kept.assert_refused(409, "conflict");
    let kept = json!({ "role": "viewer" });
    let kept = studio
        .owner
        .call(&gateway, Method::PATCH, &owner, Some(kept))
        .await;
    kept.assert_refused(409, "conflict");
    let path = format!("/account/v1/members/{id}");
    let gone = studio
        .owner
        .call(&gateway, Method::DELETE, &path, None)
        .await;
    assert_eq!(gone.status, 200, "{}", gone.json);
    assert!(ada.who(&gateway).await.is_null());
    ada.get(&gateway, "/jobs/v1")
        .await
        .assert_refused(401, "unauthorized");
    gateway
        .get(&key, "/jobs/v1")
        .await
        .assert_refused(401, "unauthorized");
    let again = studio
        .owner
        .call(&gateway, Method::DELETE, &path, None)
        .await;
    again.assert_refused(404, "not_found");
    let done = async {
        loop {
            let seen = studio.owner.get(&gateway, &format!("/jobs/v1/{job}")).await;
            if seen.json["data"]["status"] == "SUCCESS" {
                return seen;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let done = tokio::time::timeout(std::time::Duration::from_mins(1), done).await;
    assert_eq!(
        done.expect("it finishes").json["data"]["memberId"],
        id.as_str()
    );
    let usage = studio
        .owner
        .get(&gateway, "/account/v1/usage?by=member")
        .await;
    let groups = usage.json["data"]["groups"].as_array().expect("groups");
    let group = groups
        .iter()
        .find(|group| group["id"] == id.as_str())
        .expect("the member");
    assert_eq!(group["name"], "ada@example.com", "{}", usage.json);
    let acts = studio
        .owner
        .get(&gateway, "/account/v1/acts?limit=50")
        .await;
    let acts = acts.json["data"].as_array().expect("acts");
    let actions: Vec<&str> = acts
        .iter()
        .filter_map(|act| act["action"].as_str())
        .collect();
    for action in [
        "invitation.create",
        "member.join",
        "member.remove",
        "session.open",
        "key.issue",
    ] {
        assert!(actions.contains(&action), "{action} of {actions:?}");
    }
}

/// The promise: a person ends their own sessions, one by one or all, an owner those of a member, and nobody somebody else's.
#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_person() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 100).await;
    let (mut ada, id) = studio.join(&gateway, "ada@example.com", "member").await;
    let mut second = super::browser::Browser::sign_in(&gateway, "ada@example.com").await;
    let listed = ada.get(&gateway, "/account/v1/sessions").await;
    let rows = listed.json["data"].as_array().expect("sessions").clone();
    assert_eq!(rows.len(), 2, "{}", listed.json);
    assert!(rows.iter().all(|row| row["means"] == "link"));
    let other = rows
        .iter()
        .find(|row| row["current"] == false)
        .expect("the second");
    let path = format!(
        "/account/v1/sessions/{}",
        other["id"].as_str().expect("an id")
    );
    let refused = studio
        .owner
        .call(&gateway, Method::DELETE, &path, None)
        .await;
    refused.assert_refused(404, "not_found");
    let ended = ada.call(&gateway, Method::DELETE, &path, None).await;
    assert_eq!(ended.status, 200, "{}", ended.json);
    assert!(second.who(&gateway).await.is_null());
    assert!(!ada.who(&gateway).await.is_null());
    let path = format!("/account/v1/members/{id}/sessions");
    let ended = studio
        .owner
        .call(&gateway, Method::DELETE, &path, None)
        .await;
    assert_eq!(ended.json["data"]["ended"], 1, "{}", ended.json);
    assert!(ada.who(&gateway).await.is_null());
    // A key stands for nobody.
    let refused = gateway.get(&studio.key, "/account/v1/sessions").await;
    refused.assert_refused(401, "unauthorized");
}

/// The promise: whoever deletes themselves is nowhere any more, and what they did stays with the account.
#[tokio::test]
async fn a_person_deletes_themselves_and_the_ledger_stays() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, "owner@example.com", 100).await;
    let (mut ada, id) = studio.join(&gateway, "ada@example.com", "member").await;
    let named = json!({ "name": "Ada", "language": "de" });
    let named = ada
        .call(&gateway, Method::PATCH, "/auth/v1/me", Some(named))
        .await;
    assert_eq!(named.json["data"]["name"], "Ada", "{}", named.json);
    let odd = json!({ "name": "Ada <b>" });
    let odd = ada
        .call(&gateway, Method::PATCH, "/auth/v1/me", Some(odd))
        .await;
    odd.assert_refused(400, "invalid_parameter");
    let submitted = ada.post(&gateway, IMAGINE, prompt()).await;
    let job = submitted.json["data"]["jobId"]
        .as_str()
        .expect("a job")
        .to_owned();
    let kept = studio
        .owner
        .call(&gateway, Method::DELETE, "/auth/v1/me", None)
        .await;
    kept.assert_refused(409, "conflict");
    let gone = ada
        .call(&gateway, Method::DELETE, "/auth/v1/me", None)
        .await;
    assert_eq!(gone.status, 200, "{}", gone.json);
    assert!(ada.who(&gateway).await.is_null());
    let people = gateway
        .operate(Method::GET, "/admin/v1/people?q=ada", None)
        .await;
    assert_eq!(people.json["total"], 0, "{}", people.json);
    let seen = studio.owner.get(&gateway, &format!("/jobs/v1/{job}")).await;
    assert_eq!(seen.json["data"]["memberId"], id.as_str(), "{}", seen.json);
    let audit = gateway
        .operate(Method::GET, "/admin/v1/audit?limit=100", None)
        .await;
    assert!(
        !audit.json.to_string().contains("ada@example.com"),
        "{}",
        audit.json
    );
    let acts = studio
        .owner
        .get(&gateway, "/account/v1/acts?limit=100")
        .await;
    assert!(
        !acts.json.to_string().contains("ada@example.com"),
        "{}",
        acts.json
    );
}

/// The promise: an operator may be a person, who signs in like everybody, and is out when their role is.
#[tokio::test]
async fn an_operator_may_be_a_person() {
    let gateway = Gateway::spawn().await;
    let operators = "/admin/v1/operators";
    let wish = json!({ "name": "ada", "role": "viewer", "email": "ada@example.com" });
    let made = gateway
        .operate(Method::POST, operators, Some(wish.clone()))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    assert!(made.json["data"]["token"].is_null(), "{}", made.json);
    let mut ada = super::browser::Browser::sign_in(&gateway, "ada@example.com").await;
    let who = ada.who(&gateway).await;
    assert_eq!(who["operator"], json!({ "name": "ada", "role": "viewer" }));
    assert!(who["account"].is_null(), "{who}");
    let seen = ada.get(&gateway, "/admin/v1/stats").await;
    assert_eq!(seen.status, 200, "{}", seen.json);
    let account = json!({ "email": "someone@example.com" });
    let refused = ada
        .post(&gateway, "/admin/v1/accounts", account.clone())
        .await;
    refused.assert_refused(403, "forbidden");
    let wish = json!({ "name": "ada-2", "role": "operator", "email": "ada@example.com" });
    let made = gateway.operate(Method::POST, operators, Some(wish)).await;
    let id = made.json["data"]["id"].as_str().expect("an id").to_owned();
    assert!(
        ada.who(&gateway).await.is_null(),
        "the earlier role is over"
    );
    let mut ada = super::browser::Browser::sign_in(&gateway, "ada@example.com").await;
    let made = ada.post(&gateway, "/admin/v1/accounts", account).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    assert_eq!(audit.json["data"][0]["actor"], "ada-2", "{}", audit.json);
    let revoked = gateway
        .operate(Method::DELETE, &format!("{operators}/{id}"), None)
        .await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    ada.get(&gateway, "/admin/v1/stats")
        .await
        .assert_refused(401, "unauthorized");
}
