//! Jobs to test with: a body goes the way a call goes, and a job is stored and finished the way the engine does it.

use std::sync::LazyLock;

use atelier_contract::body::parse_object;
use atelier_contract::job::Output;
use atelier_contract::operation::{Order, ReferencedJobs};
use atelier_contract::{File, FileRole, Job, JobId, JobState, Quota, Refusal, Tariff, operation};
use serde_json::Value;

/// The prices the service ships with.
pub(crate) fn tariff() -> &'static Tariff {
    static TARIFF: LazyLock<Tariff> = LazyLock::new(|| {
        Tariff::parse(include_str!("../../../../config/tariff.toml")).expect("the shipped tariff")
    });
    &TARIFF
}

/// What a body comes to, and the request as it is stored.
pub(crate) fn order_in(
    name: &str,
    body: &Value,
    context: ReferencedJobs<'_>,
) -> Result<(Order, Job), Refusal> {
    let (_, submit) = operation(name).expect(name);
    let request = (submit.parse)(parse_object(body.to_string().as_bytes())?)?;
    let order = request.order(context)?;
    let job = Job {
        id: JobId::new("019a0000-0000-7000-8000-0000000000aa"),
        operation: name.to_owned(),
        state: JobState::Waiting,
        progress: 0,
        message: None,
        fault: None,
        request: order.stored(request.as_ref()),
        output: None,
        speed: order.speed,
        price: tariff().total(&order.price).expect("a price"),
        quota: Quota::ZERO,
        price_lines: Vec::new(),
        spender: atelier_contract::Spender::default(),
        parent: request.parent(),
        hook_url: order.hook.as_ref().map(|hook| hook.as_str().to_owned()),
        hook_times: 0,
        created_ms: 1_794_700_800_000,
        started_ms: None,
        finished_ms: None,
        deadline_ms: 1_794_701_100_000,
        updated_ms: 1_794_700_800_000,
        revision: 1,
    };
    Ok((order, job))
}

/// What a body that follows a job comes to.
pub(crate) fn order(
    name: &str,
    body: &Value,
    parent: Option<&Job>,
) -> Result<(Order, Job), Refusal> {
    let cited = &[];
    order_in(name, body, ReferencedJobs { parent, cited })
}

/// The quota a body would hold.
pub(crate) fn price(name: &str, body: &Value, parent: Option<&Job>) -> String {
    let (order, _) = order(name, body, parent).expect("accepted");
    tariff().total(&order.price).expect("a price").to_string()
}

/// Why a body is refused: the field and the message.
pub(crate) fn refusal(name: &str, body: &Value, parent: Option<&Job>) -> Refusal {
    match order(name, body, parent) {
        Ok(_) => panic!("{name} accepted {body}"),
        Err(refusal) => refusal,
    }
}

/// Accepted without any earlier job.
#[track_caller]
pub(crate) fn accepted(name: &str, body: &Value) {
    if let Err(refusal) = order(name, body, None) {
        panic!("{name} refused {body}: {refusal}");
    }
}

/// Refused by the name of a field, with words the message must hold.
#[track_caller]
pub(crate) fn refused(name: &str, body: &Value, field: &str, words: &str) {
    let refusal = refusal(name, body, None);
    assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
    assert!(refusal.message.contains(words), "{refusal}");
}

/// A file of a result.
pub(crate) fn file(
    role: FileRole,
    media_type: &str,
    (width, height): (u32, u32),
    number: usize,
) -> File {
    File {
        key: format!("file-{number}"),
        role,
        media_type: media_type.to_owned(),
        width,
        height,
        bytes: 1000,
        seconds: None,
        expires_ms: 1_794_787_260_000,
        origin_url: format!("https://origin.example/{number}"),
        cdn_url: format!("https://cdn.example/{number}"),
    }
}

/// The job, finished with files.
pub(crate) fn finish(mut job: Job, files: Vec<File>) -> Job {
    job.state = JobState::Succeeded;
    job.progress = 100;
    job.quota = job.price;
    job.started_ms = Some(1_794_700_801_000);
    job.finished_ms = Some(1_794_700_860_000);
    job.updated_ms = 1_794_700_860_000;
    job.output = Some(Output {
        made: files.len() as u32,
        files,
        ..Output::default()
    });
    job
}

/// An accepted body, finished with pictures of the size that was ordered.
pub(crate) fn drawn(name: &str, body: &Value, parent: Option<&Job>) -> Job {
    let (order, job) = order(name, body, parent).expect("accepted");
    let (width, height) = (order.brief.width, order.brief.height);
    let whole = if order.brief.grid {
        (width * 2, height * 2)
    } else {
        (width, height)
    };
    let mut files = vec![file(FileRole::Main, "image/png", whole, 0)];
    if order.brief.small_images {
        files.extend((1..=4).map(|n| file(FileRole::Small, "image/png", (width, height), n)));
    }
    finish(job, files)
}

/// The body of a fetch.
pub(crate) fn shown(job: &Job) -> Value {
    let (family, _) = operation(&job.operation).expect("an operation");
    (family.render)(family, job)
}
