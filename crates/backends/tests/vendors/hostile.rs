//! Servers that flood, babble or break off, on submit and on poll, as bytes over HTTP: each costs bounded time and
//! memory, is never taken for an answer, and a submit counts as perhaps taken.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::PollOutcome;
use atelier_backends::backend::{Acceptance, Backend, Class};
use serde_json::{Value, json};

use crate::every::{Case, cases, proxies};
use crate::stand::{Reply, Stand, base64, made, page, png};
use crate::stopwatch::Stopwatch;
use crate::studio::Studio;

/// No server takes longer, whatever it sends.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest answer that is read as words, and some air.
const MOST_KIB: u64 = 100 * 1024;

fn replies() -> Vec<(&'static str, Reply)> {
    let noise: Vec<u8> = (0..50_000_u32).map(|n| (n * 197 + n / 7) as u8).collect();
    let whole = |body: &[u8]| Reply::Whole(200, String::new(), body.to_vec());
    let deep = "[".repeat(100_000);
    vec![
        ("an endless answer", Reply::Endless),
        ("a page", page(200)),
        (
            "half an answer",
            Reply::Truncated(br#"{"id":"v","#.to_vec()),
        ),
        ("half a document", whole(br#"{"id":"v","status":"compl"#)),
        ("nothing", whole(b" ")),
        ("noise", whole(&noise)),
        ("a deep document", whole(deep.as_bytes())),
        ("another document", whole(b"[1,2,3]")),
        ("a text", whole(br#""hello""#)),
        (
            "another protocol",
            Reply::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        ),
        ("noise in place of a head", Reply::Raw(noise.clone())),
        (
            "an endless head",
            Reply::Raw(b"HTTP/1.1 200 OK\r\nx: ".repeat(9000)),
        ),
    ]
}

fn worker(case: &Case, reply: &Reply) -> (Stand, Arc<dyn Backend>) {
    let stand = Stand::always(reply.clone());
    let worker = stand.worker(case.name, case.settings.clone());
    (stand, worker)
}

fn all() -> impl Iterator<Item = Case> {
    cases().into_iter().chain(proxies())
}

#[tokio::test]
async fn what_is_no_answer_to_a_submit_may_have_been_taken_and_is_not_repeated() {
    for (what, reply) in replies() {
        for case in all() {
            let (stand, worker) = worker(&case, &reply);
            let (work, _) = Studio::new().work(case.operation, &case.body, None);
            let began = Stopwatch::start();
            let fault = worker.start(work).await.expect_err("no answer");
            let name = case.name;
            assert!(began.elapsed() < PATIENCE, "{name}: {what}");
            assert_eq!(
                (fault.class, fault.taken),
                (Class::Retry, Acceptance::Perhaps),
                "{name}: {what}: {fault:?}"
            );
            // How far it is may be asked beside it, on a slow day.
            let asked = stand.asked("POST").into_iter();
            let submits = asked.filter(|seen| !seen.line.contains("progress"));
            assert_eq!(submits.count(), 1, "{name}: {what}");
        }
    }
    assert!(peak_kib() < MOST_KIB, "{} KiB", peak_kib());
}

#[tokio::test]
async fn what_is_no_answer_to_a_poll_is_asked_again() {
    let ticket = json!({"video": "v", "prompts": ["p"], "task": "t", "jobId": "j",
        "tasks": [{"id": "t", "interaction": "i", "status": "s"}]});
    for (what, reply) in replies() {
        for case in all() {
            // Tickets of pictures that are answered in the call do not exist.
            if case.name == "sdwebui" {
                continue;
            }
            let (_stand, worker) = worker(&case, &reply);
            let (work, _) = Studio::new().work(case.operation, &case.body, None);
            let began = Stopwatch::start();
            let polled = worker.poll(&work, &ticket).await;
            let name = case.name;
            assert!(began.elapsed() < PATIENCE, "{name}: {what}");
            match polled {
                Err(fault) => assert_eq!(fault.class, Class::Retry, "{name}: {what}"),
                Ok(PollOutcome::Running(_)) => assert!(is_document(&reply), "{name}: {what}"),
                Ok(PollOutcome::Failed(fault)) => panic!("{name}: {what}: {fault:?}"),
                Ok(PollOutcome::Done(_) | PollOutcome::Step(_)) => panic!("{name}: {what}"),
            }
        }
    }
    assert!(peak_kib() < MOST_KIB, "{} KiB", peak_kib());
}

/// Tickets, names and prompts are stored: a vendor cannot fill the store with them.
#[tokio::test]
async fn a_vendor_has_no_more_words_kept_than_it_needs() {
    let long = "x".repeat(1_000_000);
    let studio = Studio::new();
    let reply = json!({"code": 1, "result": long, "status": "SUCCESS", "data": {"jobId": long}, "id": long,
        "prompt_id": long});
    for case in all() {
        let stand = Stand::always(crate::stand::json(&reply));
        let worker = stand.worker(case.name, case.settings.clone());
        let (work, _) = studio.work(case.operation, &case.body, None);
        let fault = worker.start(work).await.expect_err(case.name);
        let lost = (fault.class, fault.taken);
        assert_eq!(lost, (Class::Retry, Acceptance::Perhaps), "{}", case.name);
    }
    let picture = base64(png(64, 64, [9, 9, 9, 255]));
    let reply = json!({"data": [{"b64_json": picture, "revised_prompt": long}]});
    let stand = Stand::always(crate::stand::json(&reply));
    let worker = stand.worker("openai", json!({"image_model": "m"}));
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let made = made(&worker, work).await.expect("a picture");
    assert_eq!(made.revised_prompt.map(|text| text.len()), Some(32_000));
}

/// A document without a state that is known means: not yet.
fn is_document(reply: &Reply) -> bool {
    match reply {
        Reply::Whole(_, _, body) => serde_json::from_slice::<Value>(body).is_ok(),
        _ => false,
    }
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.expect("a peak").chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().expect("a number")
}
