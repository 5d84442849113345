//! The `relay` back end against a real service: its refusals keep their meaning, and what is repeated is paid for once.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{BoxFuture, FileReader, ProgressTracker, Work};
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};
use atelier_backends::{Backend, Class, Fault, PollOutcome, StartOutcome, WorkOutput};
use atelier_backends::{Secret, Setup, vendor_named};
use atelier_contract::JobId;
use atelier_contract::body::parse_object;
use atelier_contract::operation::ReferencedJobs;
use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::gateway::Gateway;

/// A worker account at a service.
fn worker(base_url: &str, key: &str) -> Arc<dyn Backend> {
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
    let setup = Setup {
        http: outbound.vendor(base_url, true).expect("an address"),
        credential: Secret::new(key),
        settings: json!({ "poll_ms": 100 }),
    };
    let relay = vendor_named("relay").expect("a vendor");
    relay.connect(setup).expect("a worker account")
}

/// The attempt number so-and-so at drawing four pictures.
fn imagine(number: u32, prompt: &str) -> Work {
    let (_, submit) = atelier_contract::operation("artgen.imagine").expect("in the table");
    let body = json!({ "prompt": prompt });
    let fields = parse_object(body.to_string().as_bytes()).expect("an object");
    let request = (submit.parse)(fields).unwrap_or_else(|refusal| panic!("{refusal}"));
    let order = request.order(ReferencedJobs::default());
    let order = order.unwrap_or_else(|refusal| panic!("{refusal}"));
    let read: FileReader = Arc::new(|key: String| -> BoxFuture<'static, Result<Bytes, Fault>> {
        Box::pin(async move { Err(Fault::ours(format!("nobody reads {key}"))) })
    });
    let id = format!("019a0000-0000-7000-8000-{number:012}");
    Work {
        attempt_id: format!("{id}-1"),
        whose: "somebody".into(),
        long: false,
        reserved: atelier_fairness::reservation::Reservation::default(),
        job_id: JobId::new(id),
        operation: submit.name.to_owned(),
        request: order.stored(request.as_ref()),
        sources: Vec::new(),
        hints: Vec::new(),
        mask: None,
        video: None,
        parent: None,
        cited: Vec::new(),
        read,
        progress: ProgressTracker::default(),
        cancelled: CancellationToken::new(),
        hook_url: None,
        brief: *order.brief,
    }
}

async fn finish(relay: &dyn Backend, work: &Work) -> Result<WorkOutput, Fault> {
    let ticket = match relay.start(work.clone()).await? {
        StartOutcome::Done(made) => return Ok(made),
        StartOutcome::Ticket(ticket) => ticket,
    };
    loop {
        match relay.poll(work, &ticket).await? {
            PollOutcome::Running(pause) => tokio::time::sleep(pause).await,
            PollOutcome::Done(made) => return Ok(made),
            PollOutcome::Failed(fault) => return Err(fault),
            PollOutcome::Step(_) => panic!("it is one part"),
        }
    }
}

#[tokio::test]
async fn a_real_refusal_keeps_its_meaning() {
    let remote = Gateway::spawn().await;
    let (rich, poor) = (remote.account(100).await, remote.account(0).await);
    for (number, (prompt, key, class)) in [
        ("a boat", poor.key.as_str(), Class::Quota),
        ("a boat", "no-such-key", Class::Dead),
        ("gore", &rich.key, Class::Reject),
        ("a boat [[reject]]", &rich.key, Class::Reject),
        ("a boat [[fail: cold oven]]", &rich.key, Class::Retry),
    ]
    .into_iter()
    .enumerate()
    {
        let relay = worker(&remote.base_url, key);
        let work = imagine(number as u32, prompt);
        let fault = finish(&*relay, &work).await.expect_err("a refusal");
        assert_eq!(fault.class, class, "{prompt}: {fault:?}");
    }
    let relay = worker(&remote.base_url, &rich.key);
    relay.probe().await.expect("well");
}

#[tokio::test]
async fn a_repeated_submit_is_paid_for_once_and_a_cancelled_one_not_at_all() {
    let remote = Gateway::spawn().await;
    let account = remote.account(100).await;
    let relay = worker(&remote.base_url, &account.key);
    let work = imagine(1, "a boat [[stall]]");
    let Ok(StartOutcome::Ticket(ticket)) = relay.start(work.clone()).await else {
        panic!("not accepted");
    };
    let again = relay.look_up(&work, true).await.expect("an answer");
    let Some(StartOutcome::Ticket(again)) = again else {
        panic!("{again:?}");
    };
    assert_eq!(again, ticket, "it is the first again");
    let held = remote.balance(&account.key).await;
    assert_eq!(held, (96.0, 4.0), "one job is held for");
    relay.cancel(&ticket).await;
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match relay.poll(&work, &ticket).await {
            Ok(PollOutcome::Failed(fault)) => {
                assert_eq!(fault.class, Class::Gone, "{fault:?}");
                break;
            }
            Ok(PollOutcome::Running(pause)) => tokio::time::sleep(pause).await,
            _ => panic!("it was cancelled"),
        }
        assert!(Instant::now() < deadline, "it goes on");
    }
    assert_eq!(remote.balance(&account.key).await, (100.0, 0.0));
}
