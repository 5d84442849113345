//! Codes, broken lines and the reasons of failed tasks.

use atelier_backends::backend::Acceptance;
use atelier_backends::{Class, Fault, PollOutcome};
use serde_json::{Value, json};

use crate::NAME;
use crate::server::{Remote, Reply};
use crate::work::{refused, work};

async fn fault_of(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Fault {
    let proxy = Remote::start(move |_| reply());
    let (work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    refused(&*proxy.worker(NAME, Value::Null), &work).await
}

#[tokio::test]
async fn each_code_has_its_class() {
    for (status, code, description, class) in [
        (200, 23, "queue is full", Class::Rate),
        (200, 24, "banned", Class::Reject),
        (404, 3, "task not found", Class::Gone),
        (200, 4, "prompt cannot be empty", Class::BadRequest),
        (200, 4, "无可用的账号实例", Class::Retry),
        (200, 4, "No available account", Class::Retry),
        (200, 9, "系统异常", Class::Retry),
        // One of the proxy's own accounts, not the credential that was used.
        (200, 9, "账号已被禁用", Class::Retry),
        (200, 9, "请求失败，禁用账号", Class::Retry),
        (200, 9, "提交失败，队列已满，请稍后重试", Class::Rate),
        (200, 9, "视频功能未启用", Class::Unable),
        // Nobody is free, which is no news about the request.
        (200, 3, "无可用的账号实例", Class::Retry),
        (200, 3, "关联任务不存在或已失效", Class::Gone),
        (200, 4, "队列数已达上限", Class::Rate),
        (200, 4, "并发数已达上限", Class::Rate),
        (200, 4, "今日绘图次数已达上限", Class::Quota),
        (200, 4, "总绘图次数已达上限", Class::Quota),
        (200, 4, "服务暂不可用，请联系管理员", Class::Retry),
        (200, 4, "实例不存在或不可用", Class::Retry),
        (200, 4, "提交Imagine任务异常", Class::Retry),
        (200, 4, "上传图片到discord失败", Class::Retry),
        (200, 4, "服务不支持", Class::Unable),
        (200, 4, "禁止上传", Class::Unable),
        (
            200,
            4,
            "当前账号不支持 remix，请开启 remix 功能",
            Class::Unable,
        ),
        (200, 4, "something new", Class::Retry),
        // The request itself.
        (200, 4, "base64格式错误", Class::BadRequest),
        (200, 4, "dimensions参数错误", Class::BadRequest),
        (200, 4, "人脸图片大小超过最大限制", Class::BadRequest),
        (200, 4, "prompt不能为空", Class::BadRequest),
        (401, 0, "", Class::Dead),
        (403, 0, "", Class::Dead),
        (429, 0, "", Class::Rate),
    ] {
        let fault = fault_of(move || {
            Reply::Json(status, json!({ "code": code, "description": description }))
        })
        .await;
        assert_eq!(
            (fault.class, fault.taken),
            (class, Acceptance::No),
            "{code} {description}"
        );
    }
}

/// What the caller wrote may be said again; anything else is the proxy's.
#[tokio::test]
async fn a_banned_word_is_named_where_the_caller_wrote_it() {
    let fault = fault_of(|| {
        Reply::Json(
            200,
            json!({ "code": 24, "properties": { "bannedWord": "gore" } }),
        )
    })
    .await;
    assert_eq!(
        fault.job_message(),
        "[Banned prompt detected] the back end does not allow a word of the prompt"
    );
    let fault = fault_of(|| {
        Reply::Json(
            200,
            json!({ "code": 24, "properties": { "bannedWord": "Fox" } }),
        )
    })
    .await;
    assert_eq!(
        fault.job_message(),
        "[Banned prompt detected] the back end does not allow the word `Fox`",
        "what the caller wrote may be said again"
    );
}

#[tokio::test]
async fn an_answer_that_is_neither_yes_nor_no_may_have_been_a_yes() {
    for reply in [
        || Reply::Cut,
        || Reply::Half,
        || Reply::Raw(502, "", b"<html>".to_vec()),
        || Reply::Raw(200, "", b"<html>".to_vec()),
        || Reply::Json(200, json!({ "code": 1, "result": null })),
        || Reply::Json(200, json!({ "code": 77 })),
    ] as [fn() -> Reply; 6]
    {
        let fault = fault_of(reply).await;
        assert_eq!(
            (fault.class, fault.taken),
            (Class::Retry, Acceptance::Perhaps),
            "{fault:?}"
        );
    }
}

/// Errors of the newer program's own filter have a `message` and code -1.
#[tokio::test]
async fn a_message_beside_code_minus_one_is_read() {
    for (status, message, class) in [
        (200, "队列数已达上限", Class::Rate),
        (200, "今日绘图次数已达上限", Class::Quota),
        (200, "用户已被禁用", Class::Dead),
        (200, "账号已被临时封锁，请勿使用违规词作图", Class::Rate),
        (200, "State参数过长，最大255字符", Class::BadRequest),
        (200, "操作失败", Class::Retry),
    ] {
        let body = json!({ "success": false, "code": -1, "message": message });
        let fault = fault_of(move || Reply::Json(status, body.clone())).await;
        assert_eq!(
            (fault.class, fault.taken),
            (class, Acceptance::No),
            "{message}"
        );
    }
    let broken = json!({ "success": false, "code": -1, "message": "操作失败" });
    let fault = fault_of(move || Reply::Json(500, broken.clone())).await;
    assert_eq!(
        (fault.class, fault.taken),
        (Class::Retry, Acceptance::Perhaps)
    );
}

/// The proxy forbids in plain words, and it means the credential.
#[tokio::test]
async fn words_that_forbid_are_about_the_credential() {
    for more in ["content-type: text/plain; charset=utf-8\r\n", ""] {
        let words = "账号不可用".as_bytes().to_vec();
        let fault = fault_of(move || Reply::Raw(403, more, words.clone())).await;
        assert_eq!((fault.class, fault.taken), (Class::Dead, Acceptance::No));
    }
}

/// Whoever stands before the proxy does not know the account.
#[tokio::test]
async fn a_page_that_forbids_says_nothing_about_the_account() {
    let fault = fault_of(|| Reply::Raw(403, "", b"<html>forbidden</html>".to_vec())).await;
    assert_eq!((fault.class, fault.taken), (Class::Retry, Acceptance::No));
    let asked = polled(
        || Reply::Raw(403, "", b"<html>forbidden</html>".to_vec()),
        Value::Null,
    );
    let fault = asked.await.err().expect("a failed question");
    assert_eq!(fault.class, Class::Retry);
}

async fn polled(
    reply: impl Fn() -> Reply + Send + Sync + 'static,
    settings: Value,
) -> Result<PollOutcome, Fault> {
    let proxy = Remote::start(move |_| reply());
    let (work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    let worker = proxy.worker(NAME, settings);
    worker.poll(&work, &json!({ "task": "17" })).await
}

#[tokio::test]
async fn a_task_the_proxy_does_not_know_is_gone_and_a_failed_question_is_asked_again() {
    for reply in [
        || Reply::Raw(204, "", Vec::new()),
        || Reply::Raw(200, "", Vec::new()),
        || Reply::Json(200, Value::Null),
        || Reply::Json(404, json!({ "code": 3 })),
    ] as [fn() -> Reply; 4]
    {
        match polled(reply, Value::Null).await {
            Ok(PollOutcome::Failed(fault)) => assert_eq!(fault.class, Class::Gone),
            _ => panic!("it is gone"),
        }
    }
    for (reply, class) in [
        (|| Reply::Cut, Class::Retry),
        (|| Reply::Raw(404, "", b"<html>".to_vec()), Class::Retry),
        (|| Reply::Raw(500, "", Vec::new()), Class::Retry),
        (|| Reply::Raw(200, "", b"<html>".to_vec()), Class::Retry),
        (|| Reply::Raw(401, "", Vec::new()), Class::Dead),
        (|| Reply::Raw(429, "", Vec::new()), Class::Rate),
    ] as [(fn() -> Reply, Class); 6]
    {
        match polled(reply, Value::Null).await {
            Err(fault) => assert_eq!(fault.class, class),
            Ok(_) => panic!("not an answer"),
        }
    }
}

#[tokio::test]
async fn reasons_of_failed_tasks_are_read_by_a_table_that_operators_can_lead() {
    let own = json!({ "fail_reasons": { "Solar Flare": "quota" } });
    for (status, reason, class) in [
        ("FAILURE", "Banned prompt detected", Class::Reject),
        ("FAILURE", "[Invalid parameter] --q 9", Class::BadRequest),
        ("FAILURE", "Invalid link", Class::BadRequest),
        (
            "FAILURE",
            "Our AI moderators feel it is not right",
            Class::Reject,
        ),
        ("FAILURE", "Action needed to continue", Class::Reject),
        ("FAILURE", "Blocked", Class::Reject),
        ("FAILURE", "可能包含敏感词", Class::Reject),
        ("FAILURE", "Your account has been blocked", Class::Retry),
        ("FAILURE", "Request failed, account disabled", Class::Retry),
        ("FAILURE", "请求失败，禁用账号", Class::Retry),
        ("FAILURE", "Subscription required", Class::Quota),
        ("FAILURE", "You have run out of fast hours", Class::Quota),
        ("FAILURE", "Queue full", Class::Rate),
        ("FAILURE", "任务超时", Class::Retry),
        ("FAILURE", "something new", Class::Retry),
        ("FAILURE", "", Class::Retry),
        ("FAILURE", "a solar flare was seen", Class::Quota),
        ("FAILURE", "取消任务", Class::Gone),
        ("CANCEL", "", Class::Gone),
    ] {
        let task = json!({ "status": status, "failReason": reason, "progress": "" });
        match polled(move || Reply::Json(200, task.clone()), own.clone()).await {
            Ok(PollOutcome::Failed(fault)) => assert_eq!(fault.class, class, "{reason}"),
            _ => panic!("{reason} is an end"),
        }
    }
}
