//! Work as the runner prepares it, from a caller's body.

use std::sync::Arc;

use atelier_backends::backend::{BoxFuture, FileReader, ProgressTracker, Work};
use atelier_backends::{Backend, Fault, OutputFile, PollOutcome, StartOutcome, WorkOutput};
use atelier_contract::body::parse_object;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::ReferencedJobs;
use atelier_contract::{File, Job, JobId, JobState, Notes, Output, Quota, operation};
use atelier_media::{Encoding, Picture, encode};
use bytes::Bytes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The picture behind every address.
pub(crate) fn picture() -> Vec<u8> {
    encode(
        &Picture::filled(16, 16, [200, 60, 20, 255]),
        Encoding::Png,
        None,
    )
}

/// A picture of a size.
pub(crate) fn png(width: u32, height: u32, colour: [u8; 4]) -> Vec<u8> {
    encode(&Picture::filled(width, height, colour), Encoding::Png, None)
}

/// The attempt a body comes to, and its job.
pub(crate) fn work(name: &str, body: &Value, parent: Option<&Job>, cited: &[Job]) -> (Work, Job) {
    let (_, submit) = operation(name).expect(name);
    let fields = parse_object(body.to_string().as_bytes()).expect("an object");
    let request = (submit.parse)(fields).unwrap_or_else(|refusal| panic!("{refusal}"));
    let order = request.order(ReferencedJobs { parent, cited });
    let order = order.unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut job = job(name, &order.stored(request.as_ref()));
    job.speed = order.speed;
    let brief = order.brief;
    let input = |image: &ImageData| match image {
        ImageData::Url(_) => Bytes::from(picture()),
        ImageData::Inline(inline) => {
            Bytes::copy_from_slice(inline.bytes.as_deref().expect("inline bytes"))
        }
    };
    let read: FileReader = Arc::new(|key: String| -> BoxFuture<'static, Result<Bytes, Fault>> {
        Box::pin(async move { Err(Fault::unusable(format!("no file {key}"))) })
    });
    let work = Work {
        job_id: job.id.clone(),
        attempt_id: format!("{}-1", job.id),
        whose: "somebody".into(),
        long: false,
        reserved: atelier_fairness::reservation::Reservation::default(),
        operation: name.to_owned(),
        request: job.request.clone(),
        sources: brief.sources.iter().map(|one| input(&one.image)).collect(),
        hints: Vec::new(),
        mask: brief.mask.as_ref().map(|mask| input(&mask.image)),
        video: brief.video.as_ref().map(|_| Bytes::from_static(b"video")),
        parent: parent.cloned().map(Arc::new),
        cited: cited.iter().cloned().map(Arc::new).collect(),
        read,
        progress: ProgressTracker::default(),
        cancelled: CancellationToken::new(),
        hook_url: None,
        brief: *brief,
    };
    (work, job)
}

fn job(name: &str, request: &atelier_contract::body::Fields) -> Job {
    Job {
        id: JobId::new("019a0000-0000-7000-8000-00000000000a"),
        operation: name.to_owned(),
        state: JobState::Running,
        progress: 0,
        message: None,
        fault: None,
        request: request.clone(),
        output: None,
        speed: atelier_contract::Speed::Fast,
        price: Quota::ZERO,
        quota: Quota::ZERO,
        parent: None,
        hook_url: None,
        hook_times: 0,
        created_ms: 0,
        started_ms: None,
        finished_ms: None,
        deadline_ms: 0,
        updated_ms: 0,
        revision: 1,
        price_lines: Vec::new(),
        spender: atelier_contract::Spender::default(),
    }
}

/// The job with what was made for it, as the store would give it back.
pub(crate) fn settled(mut job: Job, made: &WorkOutput) -> Job {
    let file = |file: &OutputFile| File {
        role: file.role,
        media_type: file.media_type.to_owned(),
        width: file.width,
        height: file.height,
        ..File::default()
    };
    let output = Output {
        files: made.files.iter().map(file).collect(),
        prompts: made.prompts.clone(),
        seed: made.seed.clone(),
        revised_prompt: made.revised_prompt.clone(),
        alias: made.alias.clone(),
        made: made.made,
        ignored: made.ignored.clone(),
        notes: Notes::of(&made.notes),
    };
    let text = serde_json::to_string(&output).expect("an output");
    job.output = Some(serde_json::from_str(&text).expect("an output"));
    job.state = JobState::Succeeded;
    job
}

/// Starts work and polls it to its end.
pub(crate) async fn finish(backend: &dyn Backend, work: &Work) -> Result<WorkOutput, Fault> {
    let ticket = match backend.start(work.clone()).await? {
        StartOutcome::Done(made) => return Ok(made),
        StartOutcome::Ticket(ticket) => ticket,
    };
    // A ticket is kept as text.
    let ticket: Value = serde_json::from_str(&ticket.to_string()).expect("a ticket");
    loop {
        match backend.poll(work, &ticket).await? {
            PollOutcome::Running(pause) => tokio::time::sleep(pause).await,
            PollOutcome::Done(made) => return Ok(made),
            PollOutcome::Failed(fault) => return Err(fault),
            PollOutcome::Step(_) => panic!("it is one part"),
        }
    }
}

/// The fault of a start that must fail.
pub(crate) async fn refused(backend: &dyn Backend, work: &Work) -> Fault {
    match backend.start(work.clone()).await {
        Err(fault) => fault,
        Ok(_) => panic!("it was accepted"),
    }
}
