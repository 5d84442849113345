//! What every vendor of this suite promises, whatever its format.

use std::sync::{Arc, Mutex};

use atelier_backends::backend::{Acceptance, Backend, Class};
use atelier_backends::{StartOutcome, VENDORS};
use serde_json::{Value, json};

use crate::formats::FORMATS;
use crate::local::{Local, request};
use crate::stand::{Reply, Stand, page, polled, status, worker};
use crate::studio::Studio;

/// A vendor with good settings, and a request it serves.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) settings: Value,
    pub(crate) operation: &'static str,
    pub(crate) body: Value,
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "openai",
            settings: json!({"image_model": "m", "timeout_seconds": 2}),
            operation: "imgmodel.chat",
            body: json!({"prompt": "draw a cat"}),
        },
        Case {
            name: "openai",
            settings: json!({"video_model": "m", "timeout_seconds": 2}),
            operation: "vidgen_partner.generations",
            body: json!({"prompt": "a cat walks"}),
        },
        Case {
            name: "sdwebui",
            settings: json!({"timeout_seconds": 2}),
            operation: "imgmodel.chat",
            body: json!({"prompt": "draw a cat"}),
        },
        Case {
            name: "comfyui",
            settings: json!({"workflows": {"imgmodel.chat": {
                "1": {"class_type": "SaveImage", "inputs": {"text": "{{prompt}}"}},
            }}}),
            operation: "imgmodel.chat",
            body: json!({"prompt": "draw a cat"}),
        },
        Case {
            name: "google",
            settings: json!({"timeout_seconds": 2}),
            operation: "imgmodel.chat",
            body: json!({"prompt": "draw a cat"}),
        },
        Case {
            name: "google",
            settings: json!({"timeout_seconds": 2}),
            operation: "clipgen.generations",
            body: json!({"prompt": "a cat walks"}),
        },
    ]
    .into_iter()
    .chain(
        [
            "ark",
            "minimax",
            "minimax_v1",
            "dashscope",
            "kling",
            "kling_v1",
        ]
        .map(|dialect| Case {
            name: "roletask",
            settings: json!({"dialect": dialect, "timeout_seconds": 2}),
            operation: "clipgen.generations",
            body: json!({"prompt": "a cat walks"}),
        }),
    )
    .collect()
}

/// The vendors that serve nearly everything.
pub(crate) fn proxies() -> Vec<Case> {
    vec![
        Case {
            name: "midjourney-proxy",
            settings: json!({"poll_ms": 100}),
            operation: "artgen.imagine",
            body: json!({"prompt": "a cat"}),
        },
        Case {
            name: "relay",
            settings: json!({"poll_ms": 100}),
            operation: "artgen.imagine",
            body: json!({"prompt": "a cat"}),
        },
    ]
}

async fn start(
    case: &Case,
    worker: &Arc<dyn Backend>,
) -> Result<StartOutcome, atelier_backends::Fault> {
    let (work, _) = Studio::new().work(case.operation, &case.body, None);
    worker.start(work).await
}

#[tokio::test]
async fn a_vendor_that_is_not_there_may_pass_and_has_taken_nothing() {
    for case in cases() {
        let worker =
            worker(case.name, "http://127.0.0.1:9", case.settings.clone()).expect("good settings");
        let fault = start(&case, &worker).await.expect_err("a fault");
        assert!(fault.class.may_pass(), "{}: {fault:?}", case.name);
        assert_eq!(fault.taken, Acceptance::No, "{}", case.name);
        assert!(worker.probe().await.is_err(), "{}", case.name);
    }
}

#[tokio::test]
async fn a_line_cut_after_the_start_may_have_been_taken_and_is_not_repeated() {
    for case in cases() {
        let stand = Stand::new(|seen| {
            if seen.line.starts_with("POST") {
                Reply::Cut
            } else {
                status(200, &json!({}))
            }
        });
        let worker = stand.worker(case.name, case.settings.clone());
        let fault = start(&case, &worker).await.expect_err("a fault");
        assert_eq!(
            (fault.class, fault.taken),
            (Class::Retry, Acceptance::Perhaps),
            "{}",
            case.name
        );
        assert_eq!(stand.asked("POST").len(), 1, "{}", case.name);
    }
}

#[tokio::test]
async fn nothing_of_a_vendor_s_page_or_key_reaches_the_caller() {
    for case in cases() {
        for reply in [
            page(200),
            page(500),
            page(403),
            status(401, &json!({"detail": "bad key sk-very-secret"})),
        ] {
            let stand = Stand::always(reply);
            let worker = stand.worker(case.name, case.settings.clone());
            let fault = start(&case, &worker).await.expect_err("a fault");
            let message = fault.job_message();
            assert!(
                !message.contains("html") && !message.contains("secret"),
                "{}: {message}",
                case.name
            );
            assert!(fault.detail.chars().count() < 800, "{}", case.name);
        }
    }
}

#[tokio::test]
async fn a_vendor_that_is_done_and_shows_nothing_has_made_nothing() {
    let words = [
        "succeeded",
        "SUCCEEDED",
        "succeed",
        "SUCCESS",
        "Success",
        "completed",
        "COMPLETED",
        "Ready",
        "done",
    ];
    let mut bodies = vec![json!({"done": true}), json!({"done": true, "response": {}})];
    for word in words {
        bodies.push(json!({"status": word, "state": word, "task_status": word}));
        bodies.push(json!({"output": {"task_status": word}}));
        bodies.push(json!({"code": 0, "data": {"task_status": word, "status": word}}));
    }
    let ticket = json!({"video": "v", "prompts": ["p"], "task": "t", "jobId": "j",
        "tasks": [{"id": "t", "interaction": "i", "status": "s"}]});
    let studio = Studio::new();
    for case in cases().into_iter().chain(proxies()) {
        if case.name == "sdwebui" {
            continue;
        }
        let next: Arc<Mutex<Value>> = Arc::default();
        let said = Arc::clone(&next);
        let stand = Stand::new(move |_| status(200, &said.lock().expect("not poisoned")));
        let worker = stand.worker(case.name, case.settings.clone());
        for body in &bodies {
            *next.lock().expect("not poisoned") = body.clone();
            let (work, _) = studio.work(case.operation, &case.body, None);
            if let Ok(atelier_backends::PollOutcome::Done(made)) = worker.poll(&work, &ticket).await
            {
                assert!(!made.files.is_empty(), "{}: {body}", case.name);
            }
        }
    }
}

/// A vendor may repeat the key in a refusal, in a page, or as the reason of a failed job.
#[tokio::test]
async fn a_key_that_the_vendor_repeats_is_kept_nowhere() {
    let echo = "the key sk-very-secret (c2stdmVyeS1zZWNyZXQ=) is no good";
    let error = json!({"error": {"code": "x", "message": echo}, "message": echo, "description": echo, "code": 4,
        "status": "failed", "failReason": echo});
    let long = format!("{}sk-very-secret", "x".repeat(292));
    let half = Reply::Whole(500, String::new(), long.into());
    let replies = [200, 400, 401, 403, 429, 500]
        .map(|code| status(code, &error))
        .into_iter()
        .chain([half, Reply::Whole(502, String::new(), echo.into())]);
    for reply in replies {
        for case in cases().into_iter().chain(proxies()) {
            let stand = Stand::always(reply.clone());
            let worker = stand.worker(case.name, case.settings.clone());
            let (work, _) = Studio::new().work(case.operation, &case.body, None);
            let ticket = json!({"video": "v", "prompts": ["p"], "task": "t", "jobId": "j",
                "tasks": [{"id": "t", "interaction": "i", "status": "s"}]});
            let polled = match worker.poll(&work, &ticket).await {
                Ok(atelier_backends::PollOutcome::Failed(fault)) | Err(fault) => Some(fault),
                Ok(_) => None,
            };
            let faults = [
                worker.look_up(&work, true).await.err(),
                worker.probe().await.err(),
                polled,
                worker.start(work).await.err(),
            ];
            for fault in faults.into_iter().flatten() {
                for text in [&fault.detail, &fault.message] {
                    let encoded = case.name == "sdwebui" && text.contains("c2stdmVye");
                    assert!(
                        !text.contains("sk-very") && !encoded,
                        "{}: {text}",
                        case.name
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_key_travels_in_a_head_line_only() {
    for case in cases() {
        let stand = Stand::always(status(500, &json!({})));
        let worker = stand.worker(case.name, case.settings.clone());
        let _ = start(&case, &worker).await;
        let _ = worker.probe().await;
        for seen in stand.seen() {
            assert!(!seen.line.contains("secret"), "{}", seen.line);
            assert!(!String::from_utf8_lossy(&seen.body).contains("secret"));
        }
    }
}

#[tokio::test]
async fn probes_tell_a_dead_key_from_a_server_that_is_down() {
    for case in cases() {
        for (reply, class) in [
            (status(401, &json!({})), Class::Dead),
            (page(503), Class::Retry),
        ] {
            let stand = Stand::always(reply);
            let worker = stand.worker(case.name, case.settings.clone());
            let fault = worker.probe().await.expect_err("a fault");
            assert_eq!(fault.class, class, "{}", case.name);
            assert!(stand.asked("POST").is_empty(), "a probe makes nothing");
        }
    }
}

#[test]
fn settings_with_an_unknown_word_are_refused_by_name() {
    for case in cases() {
        let mut settings = case.settings.clone();
        settings["imge_model"] = json!("x");
        let refused = worker(case.name, "http://127.0.0.1:9", settings);
        let error = refused.err().expect("refused").to_string();
        assert!(error.contains("imge_model"), "{}: {error}", case.name);
    }
}

#[test]
fn no_worker_serves_what_is_not_an_operation_of_it() {
    for case in cases() {
        let worker =
            worker(case.name, "http://127.0.0.1:9", case.settings.clone()).expect("good settings");
        assert!(worker.serves(case.operation), "{}", case.operation);
        for operation in ["artgen.describe", "facegen.swap", "no.such", ""] {
            assert!(!worker.serves(operation), "{}: {operation}", case.name);
        }
    }
}

/// Whoever adds a vendor writes a server for it; the stories of whole services go through these.
#[tokio::test]
async fn every_vendor_has_a_local_server_that_takes_an_order_and_hands_over_a_result() {
    for vendor in VENDORS {
        let formats = FORMATS.iter().filter(|one| one.vendor == vendor.name);
        assert!(formats.count() > 0, "{} has no local server", vendor.name);
    }
    for format in FORMATS {
        let (local, studio) = (Local::speaking(format), Studio::new());
        let worker = local.stand.worker(format.vendor, (format.settings)());
        let picture = studio.host("a.png", &atelier_media::Picture::filled(64, 64, [9; 4]));
        let (work, _) = studio.work(format.operation, &request(format.operation, &picture), None);
        let label = format!("{} {}", format.vendor, format.dialect);
        let started = worker.start(work.clone()).await;
        let made = match started.unwrap_or_else(|fault| panic!("{label}: {fault:?}")) {
            StartOutcome::Done(made) => Ok(made),
            StartOutcome::Ticket(ticket) => polled(&worker, &work, &ticket).await,
        };
        let made = made.unwrap_or_else(|fault| panic!("{label}: {fault:?}"));
        assert!(!made.files.is_empty(), "{label}");
        assert_eq!(local.taken(), 1, "{label}");
    }
}

#[test]
fn names_of_vendors_are_unique() {
    for (index, vendor) in VENDORS.iter().enumerate() {
        assert!(
            VENDORS[..index]
                .iter()
                .all(|other| other.name != vendor.name),
            "{}",
            vendor.name
        );
        assert!(!vendor.about.is_empty());
    }
}
