//! Every operation through the `relay` back end to a real service, from its example to its files, paid for once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{Gauge, Later, ReadFile, Work};
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, Outbound};
use atelier_backends::vendor::{Secret, Setup, vendor};
use atelier_backends::{Backend, Class, Fault, Made, Progress, Started};
use atelier_contract::body::parse_object;
use atelier_contract::family::Submit;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Context;
use atelier_contract::{File, Job, JobId, JobState, Output, Quota, Role};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::families::{Outside, operations, parent_of};
use crate::gateway::{Account, Gateway};

/// A worker account at a service.
fn worker(base_url: &str, key: &str) -> Arc<dyn Backend> {
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let outbound = Outbound::new(policy, Limits::default()).expect("a client");
    let setup = Setup {
        http: outbound.vendor(base_url, true).expect("an address"),
        credential: Secret::new(key),
        settings: json!({ "poll_ms": 100 }),
    };
    let relay = vendor("relay").expect("a vendor");
    (relay.build)(setup).expect("a worker account")
}

/// A house before a remote service.
struct House {
    remote: Gateway,
    account: Account,
    relay: Arc<dyn Backend>,
    outside: Outside,
    /// The last finished job of each operation.
    finished: HashMap<&'static str, Job>,
    jobs: u32,
}

impl House {
    async fn open() -> Self {
        let remote = Gateway::spawn().await;
        let account = remote.account(2000).await;
        Self {
            relay: worker(&remote.base_url, &account.key),
            remote,
            account,
            outside: Outside::start(),
            finished: HashMap::new(),
            jobs: 0,
        }
    }

    /// The work a body comes to, prepared as the runner does it.
    async fn work(&mut self, submit: &Submit, body: &Value, parent: Option<&Job>) -> (Work, Job) {
        let fields = parse_object(body.to_string().as_bytes()).expect("an object");
        let request = (submit.parse)(fields).unwrap_or_else(|refusal| panic!("{refusal}"));
        let order = request.order(Context { parent, cited: &[] });
        let order = order.unwrap_or_else(|refusal| panic!("{}: {refusal}", submit.name));
        self.jobs += 1;
        let mut job = job(self.jobs, submit.name, order.stored(request.as_ref()));
        job.speed = order.speed;
        let brief = order.brief;
        let mut sources = Vec::new();
        for source in &brief.sources {
            sources.push(input(&source.image).await);
        }
        let mask = match &brief.mask {
            Some(mask) => Some(input(&mask.image).await),
            None => None,
        };
        let read: ReadFile = Arc::new(|key: String| -> Later<'static, Result<Bytes, Fault>> {
            Box::pin(async move { Err(Fault::ours(format!("nobody reads {key}"))) })
        });
        let work = Work {
            job_id: job.id.clone(),
            attempt_id: format!("{}-1", job.id),
            operation: submit.name.to_owned(),
            request: job.request.clone(),
            sources,
            mask,
            video: None,
            parent: parent.cloned().map(Arc::new),
            cited: Vec::new(),
            read,
            progress: Gauge::default(),
            cancelled: CancellationToken::new(),
            hook_url: None,
            brief,
        };
        (work, job)
    }

    /// Runs one operation, and checks what it made and what the remote took for it.
    async fn run(&mut self, submit: &'static Submit, body: Value) -> Made {
        let parent = parent_of(submit.name);
        let parent = self.finished.get(parent).cloned();
        let mut body = body;
        let mut there = body.clone();
        if let Some(parent) = &parent {
            body["jobId"] = json!(parent.id);
            let output = parent.output().expect("a finished parent");
            there["jobId"] = output.notes["jobId"].clone();
        }
        let question = json!({ "operation": submit.name, "request": there });
        let key = &self.account.key;
        let quote = self.remote.post(key, "/account/v1/quote", question).await;
        let quoted = quote.json["data"]["quota"].as_f64().expect("a quote");
        let (before, _) = self.remote.balance(key).await;

        let (work, job) = self.work(submit, &body, parent.as_ref()).await;
        let made = finish(&*self.relay, &work).await;
        let made = made.unwrap_or_else(|fault| panic!("{}: {fault:?}", submit.name));
        let (after, held) = self.remote.balance(&self.account.key).await;
        assert!(
            (before - after - quoted).abs() < 0.0005,
            "{}: {before} - {after} is not {quoted}",
            submit.name
        );
        assert!(held.abs() < 0.0005, "{}: {held} is still held", submit.name);
        assert_eq!(made.made, work.brief.count, "{}", submit.name);
        let files = made.files.iter().filter(|file| file.role == Role::Main);
        let expected = match submit.name {
            "artgen.seed" | "artgen.describe" => 0,
            _ if work.brief.grid => 1,
            _ => work.brief.count as usize,
        };
        assert_eq!(files.count(), expected, "{}", submit.name);
        self.finished.insert(submit.name, settled(job, &made));
        made
    }
}

async fn input(image: &ImageData) -> Bytes {
    match image {
        ImageData::Inline(inline) => {
            Bytes::copy_from_slice(inline.bytes.as_deref().expect("inline bytes"))
        }
        ImageData::Url(url) => {
            let answer = crate::gateway::client().get(url.as_str()).send().await;
            answer.expect("an answer").bytes().await.expect("a picture")
        }
    }
}

fn job(number: u32, name: &str, request: atelier_contract::body::Fields) -> Job {
    Job {
        id: JobId::new(format!("019a0000-0000-7000-8000-{number:012}")),
        operation: name.to_owned(),
        state: JobState::Running,
        progress: 0,
        message: None,
        request,
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
    }
}

fn settled(mut job: Job, made: &Made) -> Job {
    let file = |file: &atelier_backends::MadeFile| File {
        role: file.role,
        media_type: file.media_type.to_owned(),
        width: file.width,
        height: file.height,
        ..File::default()
    };
    job.output = Some(Output {
        files: made.files.iter().map(file).collect(),
        prompts: made.prompts.clone(),
        seed: made.seed.clone(),
        revised_prompt: made.revised_prompt.clone(),
        alias: made.alias.clone(),
        made: made.made,
        notes: made.notes.clone(),
    });
    job.state = JobState::Succeeded;
    job
}

async fn finish(relay: &dyn Backend, work: &Work) -> Result<Made, Fault> {
    let ticket = match relay.start(work.clone()).await? {
        Started::Done(made) => return Ok(made),
        Started::Ticket(ticket) => ticket,
    };
    loop {
        match relay.poll(work, &ticket).await? {
            Progress::Running(pause) => tokio::time::sleep(pause).await,
            Progress::Done(made) => return Ok(made),
            Progress::Failed(fault) => return Err(fault),
        }
    }
}

#[tokio::test]
async fn every_example_is_made_by_a_remote_service_and_costs_its_quote_there() {
    let mut house = House::open().await;
    let (_, imagine) = atelier_contract::operation("artgen.imagine").expect("in the table");
    house
        .run(imagine, json!({ "prompt": "a small boat --ar 1:1" }))
        .await;
    let square = house.finished["artgen.imagine"].clone();
    house.finished.insert("square", square);
    for (_, submit) in operations() {
        let body = house.outside.example(submit);
        let made = house.run(submit, body).await;
        let count = |role: Role| made.files.iter().filter(|file| file.role == role).count();
        match submit.name {
            "artgen.imagine" => assert_eq!(count(Role::Small), 4),
            "artgen.describe" => assert_eq!(made.prompts.len(), 4),
            "artgen.seed" => assert!(made.seed.is_some()),
            "design.vectorize" => assert_eq!(made.files[0].media_type, "image/svg+xml"),
            "vidgen.characters" => assert!(made.alias.is_some()),
            "imgmodel.generations" => assert!(made.revised_prompt.is_some()),
            name if name.starts_with("motion.") => {
                assert_eq!((count(Role::FirstFrame), count(Role::LastFrame)), (1, 1));
            }
            _ => {}
        }
        if submit.name == "motion.generations" {
            let video = made.files[0].bytes.to_vec();
            house.outside.host("/clip.mp4", video);
        }
    }
}

#[tokio::test]
async fn a_real_refusal_keeps_its_meaning_and_a_repeated_submit_is_paid_for_once() {
    let mut house = House::open().await;
    let (_, imagine) = atelier_contract::operation("artgen.imagine").expect("in the table");
    let poor = house.remote.account(0).await;
    for (prompt, key, class) in [
        ("a boat", poor.key.as_str(), Class::Quota),
        ("a boat", "no-such-key", Class::Dead),
        ("gore", house.account.key.clone().as_str(), Class::Reject),
        (
            "a boat [[reject]]",
            house.account.key.clone().as_str(),
            Class::Reject,
        ),
        (
            "a boat [[fail: cold oven]]",
            house.account.key.clone().as_str(),
            Class::Retry,
        ),
    ] {
        let relay = worker(&house.remote.base_url, key);
        let (work, _) = house
            .work(imagine, &json!({ "prompt": prompt }), None)
            .await;
        let fault = finish(&*relay, &work).await.expect_err("a refusal");
        assert_eq!(fault.class, class, "{prompt}: {fault:?}");
    }
    worker(&house.remote.base_url, &house.account.key)
        .probe()
        .await
        .expect("well");

    let (before, _) = house.remote.balance(&house.account.key).await;
    let body = json!({ "prompt": "a boat [[stall]]" });
    let (work, _) = house.work(imagine, &body, None).await;
    let mut tickets = Vec::new();
    match house.relay.start(work.clone()).await {
        Ok(Started::Ticket(ticket)) => tickets.push(ticket),
        _ => panic!("not accepted"),
    }
    let again = house.relay.look_up(&work).await.expect("an answer");
    tickets.extend(again);
    assert_eq!(
        tickets[0], tickets[1],
        "a repeated submit is the first again"
    );
    let (_, held) = house.remote.balance(&house.account.key).await;
    assert!((held - 4.0).abs() < 0.0005, "{held} is held for one job");
    house.relay.cancel(&tickets[0]).await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        match house.relay.poll(&work, &tickets[0]).await {
            Ok(Progress::Failed(fault)) => {
                assert_eq!(fault.class, Class::Gone, "{fault:?}");
                break;
            }
            Ok(Progress::Running(pause)) => tokio::time::sleep(pause).await,
            _ => panic!("it was cancelled"),
        }
        assert!(tokio::time::Instant::now() < deadline, "it goes on");
    }
    let after = house.remote.balance(&house.account.key).await;
    assert_eq!(after, (before, 0.0), "a cancelled job costs nothing");
}
