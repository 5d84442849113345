//! Reads a job of one family. This is the call that polling clients make all day, so it stays short: a cached caller,
//! a cached body.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::Family;
use atelier_contract::{JobId, Refusal};
use serde_json::Value;

use super::body::UnreadBody;
use super::request::{HandlerResult, IncomingRequest};
use super::{body, reply};
use crate::app::App;

const SPELLINGS: [&str; 2] = ["jobId", "job_id"];

/// Shows a job of the caller's, in the family's shape.
pub(super) async fn show(
    app: &Arc<App>,
    received: IncomingRequest,
    body: UnreadBody,
    family: &'static Family,
) -> HandlerResult {
    let account_id = received.account()?;
    let head = &received.head;
    let documented = family
        .fetches
        .first()
        .map_or(SPELLINGS[0], |fetch| fetch.param);
    let id = if !body.is_end_stream() {
        let fields = Box::pin(body::query_and_fields(app, head, body));
        job_id(&fields.await?, documented)?
    } else if let Some(id) = plain_id(head.uri.query(), documented) {
        id
    } else {
        job_id(&body::query(head)?, documented)?
    };
    let shown = app
        .engine
        .jobs()
        .fetch_body(account_id, family, &id)
        .await?;
    Ok(reply::json_bytes(shown))
}

/// The job asked for by a query that has nothing else in it and means what it spells, as nearly every one does.
fn plain_id(query: Option<&str>, documented: &str) -> Option<JobId> {
    let (name, id) = query?.split_once('=')?;
    let plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let known = name == documented || SPELLINGS.contains(&name);
    (plain && known && !id.is_empty()).then(|| JobId::new(id))
}

/// The job asked for, in either spelling; the documented one wins.
fn job_id(fields: &Fields, documented: &str) -> Result<JobId, Refusal> {
    let given = [documented].into_iter().chain(SPELLINGS);
    for name in given {
        match fields.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => return Ok(JobId::new(text.as_str())),
            Some(Value::Number(number)) => return Ok(JobId::new(number.to_string())),
            Some(_) => return Err(Refusal::invalid(name, "must be text")),
        }
    }
    Err(Refusal::missing(documented))
}

#[cfg(test)]
mod tests {
    use atelier_contract::body::parse_object;

    use super::*;

    #[test]
    fn a_plain_query_is_read_as_any_other_and_anything_else_is_left_to_the_usual_way() {
        let read = |query: &str| plain_id(Some(query), "job_id");
        assert_eq!(read("job_id=0190-ab_7"), Some(JobId::new("0190-ab_7")));
        assert_eq!(read("jobId=a"), Some(JobId::new("a")));
        for other in [
            "",
            "jobId",
            "jobId=",
            "id=a",
            "jobId=a&x=1",
            "jobId=%61",
            "jobId=a+b",
            "jobId=a=b",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(plain_id(None, "job_id"), None);
    }

    #[test]
    fn both_spellings_are_read_and_a_missing_one_is_named_as_documented() {
        let read =
            |body: &str| job_id(&parse_object(body.as_bytes()).expect("an object"), "job_id");
        assert_eq!(read(r#"{"jobId":"a"}"#), Ok(JobId::new("a")));
        assert_eq!(read(r#"{"jobId":"a","job_id":"b"}"#), Ok(JobId::new("b")));
        assert_eq!(read(r#"{"jobId":7}"#), Ok(JobId::new("7")));
        assert_eq!(read(r#"{"jobId":""}"#), Err(Refusal::missing("job_id")));
        assert!(read(r#"{"jobId":{"$gt":""}}"#).is_err());
    }
}
