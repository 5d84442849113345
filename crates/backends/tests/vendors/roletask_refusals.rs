//! The makers of role-tagged tasks: every failure that a maker names, and settings that are refused.

use atelier_backends::Class;
use serde_json::json;

use crate::stand::{Reply, json as answer, page, status, worker};
use crate::story::Story;

fn story(dialect: &str) -> Story {
    Story {
        vendor: "roletask",
        settings: json!({"dialect": dialect}),
        operation: "clipgen.generations",
        body: json!({"prompt": "x", "video_length": "10"}),
    }
}

#[tokio::test]
async fn every_refusal_of_ark_has_its_class() {
    let error = |code: &str| json!({"error": {"code": code, "message": "It failed.", "type": "x", "param": ""}});
    story("ark")
        .refusals(vec![
            (
                status(
                    400,
                    &error("InputTextSensitiveContentDetected.PolicyViolation"),
                ),
                Class::Reject,
            ),
            (
                status(
                    400,
                    &error("InputImageSensitiveContentDetected.PrivacyInformation"),
                ),
                Class::Reject,
            ),
            (status(401, &error("AuthenticationError")), Class::Dead),
            (status(403, &error("AccountOverdueError")), Class::Quota),
            (status(403, &error("AccessDenied")), Class::Model),
            (status(404, &error("ModelNotOpen")), Class::Model),
            (status(429, &error("QuotaExceeded")), Class::Quota),
            (
                status(429, &error("RateLimitExceeded.EndpointRPMExceeded")),
                Class::Rate,
            ),
            (
                status(429, &error("ModelAccountRpmRateLimitExceeded")),
                Class::Rate,
            ),
            (status(429, &error("ServerOverloaded")), Class::Rate),
            (
                status(400, &error("InvalidParameter.TaskTypeConstraint")),
                Class::BadRequest,
            ),
            (status(400, &error("MissingParameter")), Class::BadRequest),
            (status(500, &error("InternalServiceError")), Class::Retry),
        ])
        .await;
    let failed = |code: &str| {
        answer(
            &json!({"id": "cgt-1", "status": "failed", "error": {"code": code, "message": "no"}}),
        )
    };
    let ended = |state: &str| answer(&json!({"id": "cgt-1", "status": state}));
    let endings = vec![
        (
            failed("OutputVideoSensitiveContentDetected"),
            Class::Reject,
            true,
        ),
        (failed("InternalServiceError"), Class::Retry, true),
        (ended("cancelled"), Class::Gone, true),
        (ended("expired"), Class::Gone, true),
        (status(404, &error("ResourceNotFound")), Class::Gone, true),
        (status(429, &error("RateLimitExceeded")), Class::Rate, false),
        (page(404), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story("ark")
        .endings(&json!({"tasks": [{"id": "cgt-1"}]}), endings)
        .await;
}

#[tokio::test]
async fn every_refusal_of_minimax_has_its_class() {
    let error = |kind: &str, code: u16| json!({"type": "error", "error": {"type": kind, "message": format!("It failed ({code})"), "http_code": "x"}, "request_id": "r"});
    story("minimax")
        .refusals(vec![
            (
                status(400, &error("bad_request_error", 2013)),
                Class::BadRequest,
            ),
            (status(401, &error("authorized_error", 1004)), Class::Dead),
            (
                status(402, &error("insufficient_balance_error", 1008)),
                Class::Quota,
            ),
            (
                status(422, &error("unprocessable_entity_error", 1026)),
                Class::Reject,
            ),
            (status(429, &error("rate_limit_error", 1002)), Class::Rate),
            (status(500, &error("api_error", 1000)), Class::Retry),
        ])
        .await;
    let old = |code: i64| answer(&json!({"base_resp": {"status_code": code, "status_msg": "no"}}));
    let pictures = Story {
        operation: "imgmodel.chat",
        body: json!({"prompt": "draw"}),
        ..story("minimax")
    };
    pictures
        .refusals(vec![
            (old(1002), Class::Rate),
            (old(1004), Class::Dead),
            (old(1008), Class::Quota),
            (old(1026), Class::Reject),
            (old(2013), Class::BadRequest),
        ])
        .await;
    let ended = |state: &str| {
        answer(
            &json!({"task": {"id": "t", "status": state, "error": {"code": "1027", "message": "no"}}}),
        )
    };
    let endings = vec![
        (ended("failed"), Class::Reject, true),
        (ended("cancelled"), Class::Gone, true),
        (ended("expired"), Class::Gone, true),
        (
            status(
                400,
                &json!({"error": {"type": "bad_request_error", "message": "record not found"}}),
            ),
            Class::Gone,
            true,
        ),
        (page(502), Class::Retry, false),
    ];
    story("minimax")
        .endings(&json!({"tasks": [{"id": "t"}]}), endings)
        .await;
}

#[tokio::test]
async fn every_refusal_of_dashscope_has_its_class() {
    let error = |code: &str| json!({"code": code, "message": "It failed.", "request_id": "r"});
    story("dashscope")
        .refusals(vec![
            (status(401, &error("InvalidApiKey")), Class::Dead),
            (status(400, &error("Arrearage")), Class::Quota),
            (
                status(403, &error("AllocationQuota.FreeTierOnly")),
                Class::Quota,
            ),
            (status(429, &error("Throttling.RateQuota")), Class::Rate),
            (status(400, &error("DataInspectionFailed")), Class::Reject),
            (answer(&error("DataInspectionFailed")), Class::Reject),
            (
                status(400, &error("InvalidParameter.Duration")),
                Class::BadRequest,
            ),
            (status(500, &error("InternalError.Timeout")), Class::Retry),
        ])
        .await;
    let ended = |state: &str, code: &str| {
        answer(
            &json!({"output": {"task_id": "t", "task_status": state, "code": code, "message": "no"}}),
        )
    };
    let endings = vec![
        (ended("FAILED", "DataInspectionFailed"), Class::Reject, true),
        (ended("FAILED", "InternalError"), Class::Retry, true),
        (ended("CANCELED", ""), Class::Gone, true),
        (ended("UNKNOWN", ""), Class::Gone, true),
        (status(429, &error("Throttling")), Class::Rate, false),
    ];
    story("dashscope")
        .endings(&json!({"tasks": [{"id": "t"}]}), endings)
        .await;
}

#[tokio::test]
async fn every_refusal_of_kling_has_its_class() {
    let error = |code: u16| json!({"code": code, "message": "It failed.", "request_id": "r"});
    let cases = [
        (401, 1000, Class::Dead),
        (401, 1001, Class::Dead),
        (401, 1002, Class::Dead),
        (401, 1003, Class::Retry),
        (401, 1004, Class::Retry),
        (429, 1100, Class::Dead),
        (429, 1101, Class::Quota),
        (429, 1102, Class::Quota),
        (403, 1103, Class::Dead),
        (400, 1200, Class::BadRequest),
        (400, 1201, Class::BadRequest),
        (404, 1202, Class::BadRequest),
        (404, 1203, Class::Model),
        (400, 1300, Class::Reject),
        (400, 1301, Class::Reject),
        (429, 1302, Class::Rate),
        (429, 1303, Class::Rate),
        (403, 1304, Class::Dead),
        (500, 5000, Class::Retry),
        (503, 5001, Class::Retry),
        (200, 1303, Class::Rate),
    ];
    let cases = cases.map(|(state, code, class)| (status(state, &error(code)), class));
    story("kling").refusals(cases.into()).await;
    let failed = answer(
        &json!({"code": 0, "data": [{"id": "t", "status": "failed", "message": "Failure to pass the risk control system"}]}),
    );
    let endings = vec![
        (failed, Class::Reject, true),
        (answer(&json!({"code": 0, "data": []})), Class::Gone, true),
        (status(429, &error(1302)), Class::Rate, false),
        (page(200), Class::Retry, false),
    ];
    story("kling")
        .endings(&json!({"tasks": [{"id": "t"}]}), endings)
        .await;
}

#[test]
fn settings_of_another_maker_or_operation_are_refused_by_name() {
    for (settings, word) in [
        (json!({"dialect": "sora"}), "sora"),
        (
            json!({"models": {"artgen.describe": "x"}}),
            "artgen.describe",
        ),
        (
            json!({"dialect": "kling", "models": {"imgmodel.chat": "x"}}),
            "imgmodel.chat",
        ),
    ] {
        let error = worker("roletask", "http://127.0.0.1:9", settings)
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains(word), "{error}");
    }
}
