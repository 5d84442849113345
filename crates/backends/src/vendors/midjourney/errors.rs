//! What the proxy's codes and the reasons of failed tasks mean.

use atelier_contract::FaultKind;
use serde_json::Value;

use crate::backend::{Class, Fault, Work};
use crate::http::VendorResponse;
use crate::vendor_errors::{fault_of_kind, pause_asked, shortened, unexpected};

/// What reasons say, in lower case; the first that is found decides. They come from the proxy and from the vendor behind
/// it and change, so operators can put their own before these. What is said of an account is said of one of the proxy's
/// own, unless it is a user: the proxy goes on with the others.
const REASONS: [(&str, Class, FaultKind); 58] = [
    ("用户已被禁用", Class::Dead, FaultKind::Internal),
    ("用户 token", Class::Dead, FaultKind::Internal),
    ("用户无权限", Class::Dead, FaultKind::Internal),
    ("临时封锁", Class::Rate, FaultKind::Internal),
    ("无可用", Class::Retry, FaultKind::Internal),
    ("no available", Class::Retry, FaultKind::Internal),
    ("no instance", Class::Retry, FaultKind::Internal),
    ("not available", Class::Retry, FaultKind::Internal),
    ("不可用", Class::Retry, FaultKind::Internal),
    ("未找到账号", Class::Retry, FaultKind::Internal),
    ("绘图次数已达上限", Class::Quota, FaultKind::Internal),
    ("已达上限", Class::Rate, FaultKind::Internal),
    ("队列已满", Class::Rate, FaultKind::Internal),
    ("banned prompt", Class::Reject, FaultKind::Banned),
    ("banned word", Class::Reject, FaultKind::Banned),
    ("敏感", Class::Reject, FaultKind::Banned),
    ("account disabled", Class::Retry, FaultKind::Internal),
    ("account blocked", Class::Retry, FaultKind::Internal),
    ("account has been", Class::Retry, FaultKind::Internal),
    ("account is", Class::Retry, FaultKind::Internal),
    ("不支持", Class::Unable, FaultKind::Internal),
    ("未启用", Class::Unable, FaultKind::Internal),
    ("未开启", Class::Unable, FaultKind::Internal),
    ("禁止上传", Class::Unable, FaultKind::Internal),
    ("禁止操作", Class::Unable, FaultKind::Internal),
    ("disabled upload", Class::Unable, FaultKind::Internal),
    ("账号", Class::Retry, FaultKind::Internal),
    ("subscription", Class::Quota, FaultKind::Internal),
    ("fast hours", Class::Quota, FaultKind::Internal),
    ("credits exhausted", Class::Quota, FaultKind::Internal),
    ("queue full", Class::Rate, FaultKind::Internal),
    ("job queued", Class::Rate, FaultKind::Internal),
    ("too many", Class::Rate, FaultKind::Internal),
    ("moderat", Class::Reject, FaultKind::Denied),
    ("pending mod message", Class::Reject, FaultKind::Denied),
    ("action needed", Class::Reject, FaultKind::Denied),
    ("image denied", Class::Reject, FaultKind::Denied),
    ("nsfw", Class::Reject, FaultKind::Denied),
    ("blocked", Class::Reject, FaultKind::Denied),
    ("invalid link", Class::BadRequest, FaultKind::BadLink),
    ("链接格式错误", Class::BadRequest, FaultKind::BadLink),
    (
        "invalid parameter",
        Class::BadRequest,
        FaultKind::BadParameter,
    ),
    ("empty prompt", Class::BadRequest, FaultKind::BadParameter),
    (
        "cannot be empty",
        Class::BadRequest,
        FaultKind::BadParameter,
    ),
    (
        "must not be empty",
        Class::BadRequest,
        FaultKind::BadParameter,
    ),
    ("参数", Class::BadRequest, FaultKind::BadParameter),
    ("不能为空", Class::BadRequest, FaultKind::BadParameter),
    ("不能相同", Class::BadRequest, FaultKind::BadParameter),
    ("格式错误", Class::BadRequest, FaultKind::BadParameter),
    ("类型错误", Class::BadRequest, FaultKind::BadParameter),
    ("状态错误", Class::BadRequest, FaultKind::BadParameter),
    ("超过最大限制", Class::BadRequest, FaultKind::BadParameter),
    ("无效的", Class::BadRequest, FaultKind::BadParameter),
    ("校验错误", Class::BadRequest, FaultKind::BadParameter),
    ("取消", Class::Gone, FaultKind::Internal),
    ("cancel", Class::Gone, FaultKind::Internal),
    ("timeout", Class::Retry, FaultKind::Internal),
    ("超时", Class::Retry, FaultKind::Internal),
];

/// What is said of work or settings that are not there.
const MISSING: [&str; 6] = [
    "不存在",
    "失效",
    "未找到",
    "not found",
    "not exist",
    "expired",
];

/// The longest sentence with which the proxy itself forbids.
const MOST_WORDS: usize = 400;

/// An operator's own reasons, looked at before the table.
pub(super) type OwnReasons = Vec<(String, Class)>;

/// What came of a submit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SubmitOutcome {
    /// The proxy works on this task.
    Task(String),
    /// The proxy waits for a window to be confirmed; the prompt it would use.
    Window(String, Option<String>),
}

/// Reads the answer to a submit.
pub(super) fn submitted(answer: &VendorResponse, own: &OwnReasons) -> Result<SubmitOutcome, Fault> {
    let body = judged(answer, own)?;
    let result = match &body["result"] {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    };
    match result {
        Some(id) if body["code"] == 21 => {
            let prompt = body["properties"]["finalPrompt"].as_str();
            Ok(SubmitOutcome::Window(id, prompt.map(str::to_owned)))
        }
        Some(id) => Ok(SubmitOutcome::Task(id)),
        None => Err(unexpected(answer)),
    }
}

/// The body of an answer whose code is good.
pub(super) fn judged(answer: &VendorResponse, own: &OwnReasons) -> Result<Value, Fault> {
    let body = serde_json::from_slice::<Value>(&answer.bytes).ok();
    let is_page = body.is_none() && !is_words(answer);
    let body = body.unwrap_or_default();
    let code = body["code"].as_i64();
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let says = text("description").or_else(|| text("message"));
    let says = says.unwrap_or_default();
    let vendor = |class| Fault::vendor(class, "");
    let fault = match (answer.status, code) {
        // A page that forbids comes from whoever stands before the proxy, who does not know the account.
        (403, _) if is_page => vendor(Class::Retry),
        (401 | 403, _) => vendor(Class::Dead),
        (429, _) | (_, Some(23)) => vendor(Class::Rate),
        (_, Some(1 | 21 | 22)) => return Ok(body),
        (_, Some(24)) => fault_of_kind(Class::Reject, FaultKind::Banned),
        (_, Some(3)) => match classified(says, own) {
            Some(fault) if fault.class != Class::BadRequest => fault,
            _ if is_missing(says) => vendor(Class::Gone),
            _ => vendor(Class::Retry),
        },
        // Something broke in it, after who knows which step.
        (500.., Some(-1)) => unexpected(answer),
        // Most that is called a validation error is about the proxy and its accounts.
        (_, Some(4 | -1)) => classified(says, own).unwrap_or_else(|| vendor(Class::Retry)),
        (_, Some(9)) => match classified(says, own) {
            Some(fault) if fault.class != Class::BadRequest => fault,
            _ => vendor(Class::Retry),
        },
        _ => unexpected(answer),
    };
    Err(Fault {
        after: pause_asked(answer),
        detail: answer.start(),
        ..fault
    })
}

/// A refusal for a word of the prompt, with that word where the caller wrote it.
pub(super) fn with_word(fault: Fault, answer: &VendorResponse, work: &Work) -> Fault {
    if fault.kind != FaultKind::Banned {
        return fault;
    }
    let body = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
    let word = body["properties"]["bannedWord"]
        .as_str()
        .unwrap_or_default();
    let prompt = work.brief.prompt.to_lowercase();
    if word.is_empty() || !prompt.contains(&word.to_lowercase()) {
        return fault;
    }
    let message = format!("the back end does not allow the word `{word}`");
    Fault { message, ..fault }
}

fn is_missing(says: &str) -> bool {
    let lower = says.to_lowercase();
    says.is_empty() || MISSING.iter().any(|word| lower.contains(word))
}

/// Whether the proxy itself speaks, in a plain sentence without a page around it.
fn is_words(answer: &VendorResponse) -> bool {
    let text = answer.bytes.trim_ascii();
    let kind = answer.headers.get(http::header::CONTENT_TYPE);
    let is_plain = kind.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    is_plain && !text.is_empty() && text.len() <= MOST_WORDS && !text.starts_with(b"<")
}

/// Why a task failed.
pub(super) fn failed(task: &Value, own: &OwnReasons) -> Fault {
    let reason = task["failReason"].as_str().unwrap_or_default();
    let detail = format!(
        "{}: {}",
        task["status"].as_str().unwrap_or_default(),
        shortened(reason)
    );
    let fault = classified(reason, own).unwrap_or_else(|| {
        let class = if task["status"] == "CANCEL" {
            Class::Gone
        } else {
            Class::Retry
        };
        Fault::vendor(class, "")
    });
    Fault { detail, ..fault }
}

fn classified(reason: &str, own: &OwnReasons) -> Option<Fault> {
    let lower = reason.to_lowercase();
    let has = |phrase: &str| lower.contains(phrase);
    if let Some((_, class)) = own.iter().find(|(phrase, _)| has(phrase)) {
        let kind = match class {
            Class::Reject => FaultKind::Denied,
            Class::BadRequest => FaultKind::BadParameter,
            _ => FaultKind::Internal,
        };
        return Some(fault_of_kind(*class, kind));
    }
    let &(_, class, kind) = REASONS.iter().find(|(phrase, ..)| has(phrase))?;
    Some(fault_of_kind(class, kind))
}
