//! Reading jobs: by query or body, in either spelling, and only one's own.

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Gateway, send};

#[tokio::test]
async fn a_fetch_reads_query_and_body_and_the_body_wins() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let id = gateway.swap(&caller.key).await;
    let path = "/facegen/v1/fetch";
    for name in ["jobId", "job_id"] {
        let answer = gateway
            .get(&caller.key, &format!("{path}?{name}={id}"))
            .await;
        assert_eq!(answer.json["jobId"], id, "{}", answer.json);
        let answer = gateway.post(&caller.key, path, json!({ name: id })).await;
        assert_eq!(answer.json["jobId"], id, "{}", answer.json);
    }
    let answer = gateway
        .post(
            &caller.key,
            &format!("{path}?jobId=other"),
            json!({ "jobId": id }),
        )
        .await;
    assert_eq!(answer.json["jobId"], id, "{}", answer.json);
    gateway
        .get(&caller.key, path)
        .await
        .assert_refused(400, "missing_parameter");
    gateway
        .post(&caller.key, path, json!({ "jobId": { "$gt": "" } }))
        .await
        .assert_refused(400, "invalid_parameter");
}

#[tokio::test]
async fn a_foreign_job_looks_exactly_like_a_missing_one() {
    let gateway = Gateway::spawn().await;
    let (owner, stranger) = (gateway.account(100).await, gateway.account(100).await);
    let id = gateway.swap(&owner.key).await;
    let missing = "SWAP-FACE-000000000000000000";
    let paths = [
        "/facegen/v1/fetch?jobId={}",
        "/jobs/v1/{}",
        "/jobs/v1/{}/events",
        "/artgen/v1/fetch?jobId={}",
    ];
    for path in paths {
        let foreign = gateway.get(&stranger.key, &path.replace("{}", &id)).await;
        let nowhere = gateway
            .get(&stranger.key, &path.replace("{}", missing))
            .await;
        foreign.assert_refused(400, "job_not_found");
        assert_eq!(foreign.bytes, nowhere.bytes, "{path}");
        let names = |answer: &crate::gateway::Answer| {
            answer
                .headers
                .keys()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&foreign), names(&nowhere), "{path}");
    }
    let cancel = gateway
        .post(&stranger.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
        .await;
    cancel.assert_refused(400, "job_not_found");
    // The owner's job of one family is no job of another family either.
    gateway
        .get(&owner.key, &format!("/artgen/v1/fetch?jobId={id}"))
        .await
        .assert_refused(400, "job_not_found");
}

#[tokio::test]
async fn every_job_has_one_uniform_view() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let id = gateway.swap(&caller.key).await;
    let job = gateway
        .get(&caller.key, &format!("/jobs/v1/{id}"))
        .await
        .json["data"]
        .clone();
    assert_eq!(
        (&job["jobId"], &job["family"], &job["operation"]),
        (&json!(id), &json!("facegen"), &json!("facegen.swap"))
    );
    let names = [
        "status",
        "progress",
        "message",
        "quota",
        "held",
        "createdAt",
        "startedAt",
        "finishedAt",
        "deadline",
        "parentJobId",
        "hookUrl",
        "hookTimes",
        "files",
        "request",
        "result",
    ];
    for name in names {
        assert!(job.get(name).is_some(), "{name} is missing in {job}");
    }
    assert_eq!(job["request"]["targetImage"], "https://example.com/a.png");
    let list = gateway
        .get(&caller.key, "/jobs/v1?family=facegen&limit=5")
        .await
        .json;
    assert_eq!(
        (&list["total"], &list["page"], &list["limit"]),
        (&json!(1), &json!(1), &json!(5))
    );
    assert_eq!(list["data"][0]["jobId"], id);
    let none = gateway
        .get(&caller.key, "/jobs/v1?family=artgen")
        .await
        .json;
    assert_eq!(none["data"], json!([]));
    gateway
        .get(&caller.key, "/jobs/v1?family=cheese")
        .await
        .assert_refused(400, "invalid_parameter");
    gateway
        .get(&caller.key, "/jobs/v1?status=cheese")
        .await
        .assert_refused(400, "invalid_parameter");
}

#[tokio::test]
async fn the_account_record_and_the_history_answer_get_and_post() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    for method in [Method::GET, Method::POST] {
        let request = gateway
            .request(method.clone(), "/artgen/v1/info")
            .header("SVC-API-KEY", &caller.key);
        let info = send(request).await;
        assert_eq!(
            (info.json["status"].clone(), info.json["message"].clone()),
            (json!("SUCCESS"), json!("success"))
        );
        let data = &info.json["data"];
        assert_eq!(
            (
                &data["balance"],
                &data["freeze_balance"],
                &data["max_queue"]
            ),
            (&json!(100), &json!(0), &json!(10))
        );
        for name in ["created_at", "email_verified_at"] {
            assert_eq!(
                data[name].as_str().map(str::len),
                Some("YYYY-MM-DD HH:MM:SS".len()),
                "{name}"
            );
        }
        let request = gateway
            .request(method, "/artgen/v1/fetch-list?limit=3")
            .header("SVC-API-KEY", &caller.key);
        let list = send(request.body(json!({ "page": "2", "status": "Failed" }).to_string())).await;
        assert_eq!(
            (&list.json["page"], &list.json["limit"], &list.json["data"]),
            (&json!(2), &json!(3), &json!([]))
        );
    }
    for wrong in [
        json!({ "limit": 101 }),
        json!({ "page": 0 }),
        json!({ "status": "x" }),
        json!({ "order": "x" }),
    ] {
        let answer = gateway
            .post(&caller.key, "/artgen/v1/fetch-list", wrong.clone())
            .await;
        answer.assert_refused(400, "invalid_parameter");
        let named = wrong
            .as_object()
            .and_then(|wrong| wrong.keys().next().cloned());
        assert_eq!(answer.json["param"], Value::from(named));
    }
}

#[tokio::test]
async fn prompts_are_checked_without_charge() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let good = gateway
        .post(
            &caller.key,
            "/artgen/v1/promptCheck",
            json!({ "prompt": "a calm lake" }),
        )
        .await;
    assert_eq!(good.json["data"], "Prompt verification successful.");
    let bad = gateway
        .post(
            &caller.key,
            "/artgen/v1/promptCheck",
            json!({ "prompt": "a NUDE lake" }),
        )
        .await;
    bad.assert_refused(400, "banned_prompt");
    assert_eq!(bad.json["message"], "banned prompt words: [nude]");
    gateway
        .post(
            &caller.key,
            "/artgen/v1/promptCheck",
            json!({ "prompt": " " }),
        )
        .await
        .assert_refused(400, "missing_parameter");
    let status = gateway.get(&caller.key, "/artgen/status").await;
    for mode in ["relax", "fast", "turbo"] {
        assert!(
            status.json["data"][mode]["averageExecute"].is_number(),
            "{}",
            status.json
        );
    }
    assert_eq!(gateway.balance(&caller.key).await, (1.0, 0.0));
}
