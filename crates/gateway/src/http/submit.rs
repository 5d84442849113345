//! Submits work. What comes back is the table's business: a job id at once, or the result when it is there.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::{AnswersWith, Family, Submit};
use atelier_contract::{Code, Refusal};
use atelier_engine::Call;
use hyper::header::{HeaderMap, HeaderName};

use super::body::Arriving;
use super::received::{Answer, Received};
use super::{answer, body, form, reply};
use crate::app::App;
use crate::config::Role;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LONGEST_KEY: usize = 255;

/// Takes a submit of any family.
pub(super) async fn accept(
    app: &Arc<App>,
    received: Received,
    body: Arriving,
    family: &'static Family,
    entry: &'static Submit,
) -> Answer {
    let caller = received.caller()?.clone();
    let idempotency_key = idempotency_key(&received.head.headers)?;
    let Received {
        head, from, pass, ..
    } = received;
    let (fields, files) = if !entry.files.is_empty() && form::is_form(&head.headers) {
        let form = form::read(app, &head, body, entry).await?;
        (form.fields, form.files)
    } else {
        let fields = body::fields(app, &head, body, entry.most_bytes).await?;
        (fields, Vec::new())
    };
    let patience = patience_s(family, entry, &fields);
    let account_id = caller.account_id.clone();
    let custody = from.role == Role::Custody && family.custody;
    let call = Call {
        caller,
        family,
        submit: entry,
        fields,
        files,
        idempotency_key,
        custody,
    };
    let engine = Arc::clone(&app.engine);
    let submitted = pass
        .spend(async move { engine.intake().submit(call).await })
        .await??;
    match entry.answers_with {
        AnswersWith::Job => Ok(reply::json_of(&family.accepted(&submitted.job_id))),
        AnswersWith::Answer(render) => {
            let wait = answer::Wait {
                entry,
                render,
                patience_s: patience,
            };
            answer::when_finished(app, &account_id, &submitted.job_id, &wait).await
        }
    }
}

/// How long a synchronous call may take, by the table.
fn patience_s(family: &Family, entry: &Submit, fields: &Fields) -> u32 {
    entry.timeout_s.map_or(family.timeout_s, |of| of(fields))
}

/// The caller's own name for this call, if it gave one.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut given = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (key, second) = (given.next(), given.next());
    let Some(key) = key else { return Ok(None) };
    let key = key.as_bytes();
    let usable = (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if !usable || second.is_some() {
        return Err(Refusal::field(
            Code::InvalidParameter,
            "Idempotency-Key",
            "must be one header of 1 to 255 visible ASCII characters",
        ));
    }
    Ok(Some(String::from_utf8_lossy(key).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_is_one_header_of_visible_characters() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(
                    IDEMPOTENCY_KEY,
                    hyper::header::HeaderValue::from_bytes(value.as_bytes()).expect("a header"),
                );
            }
            idempotency_key(&headers)
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["a"]), Ok(Some("a".into())));
        assert!(read(&[&"k".repeat(255)]).is_ok());
        for wrong in [
            &[""][..],
            &["a b"],
            &["😀"],
            &["a", "a"],
            &[&"k".repeat(256)],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
