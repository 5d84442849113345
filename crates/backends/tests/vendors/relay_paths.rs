//! Services that have the interface under other names: another header for the key, other beginnings of paths.

use atelier_backends::Class;
use atelier_backends::backend::LostSubmit;
use serde_json::{Value, json};

use crate::hosted::renamed_relay;
use crate::local::{Act, Format, Local};
use crate::stand::{Stand, json as answer, page, polled, status, ticket, worker};
use crate::studio::Studio;

const RENAMED: Format = Format {
    vendor: "relay",
    dialect: "renamed",
    settings: settings_of_ttapi,
    operation: "artgen.imagine",
    act: renamed_relay,
};

fn settings_of_ttapi() -> Value {
    json!({"poll_ms": 100, "key_header": "TT-API-KEY", "paths": {"artgen": "/midjourney/v1/"}})
}

#[tokio::test]
async fn the_key_and_the_paths_are_those_of_the_service() {
    static FORMAT: Format = RENAMED;
    let (local, studio) = (Local::speaking(&FORMAT), Studio::new());
    let worker = local.stand.worker_under("relay", "", settings_of_ttapi());
    assert!(worker.serves("artgen.imagine") && !worker.serves("vidgen.generations"));
    let (work, _) = studio.work(
        "artgen.imagine",
        &json!({"prompt": "a fox --ar 16:9"}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a grid");
    assert_eq!(made.files.len(), 5, "a grid and four images");
    let seen = local.stand.seen();
    assert_eq!(seen[0].line, "POST /midjourney/v1/imagine");
    assert!(seen[0].head.contains("tt-api-key: sk-very-secret"));
    assert!(!seen[0].head.contains("svc-api-key"));
    assert!(seen[1].line.starts_with("GET /midjourney/v1/fetch?jobId="));
    // What only another Atelier has is not called there.
    worker.cancel(&paper).await;
    assert!(local.stand.asked("/jobs/v1/").is_empty());
}

/// Nobody promised that a repeated order is taken once.
#[test]
fn a_lost_order_is_repeated_only_where_that_was_promised() {
    let lost = |settings: Value| {
        let built = worker("relay", "http://127.0.0.1:9", settings);
        built.expect("good settings").lost_submit()
    };
    assert_eq!(lost(json!({})), LostSubmit::LookUp);
    assert_eq!(lost(settings_of_ttapi()), LostSubmit::Unknown);
    let mut promised = settings_of_ttapi();
    promised["repeatable"] = json!(true);
    assert_eq!(lost(promised), LostSubmit::LookUp);
    assert_eq!(lost(json!({"repeatable": false})), LostSubmit::Unknown);
}

#[tokio::test]
async fn the_probe_asks_about_a_job_that_cannot_be() {
    let failed = |message: &str| json!({"status": "FAILED", "message": message, "data": null});
    for (reply, class) in [
        (status(400, &failed("job not found")), None),
        (answer(&failed("jobId does not exist")), None),
        (
            status(401, &failed("Wrong TT-API-KEY or email is not activated.")),
            Some(Class::Dead),
        ),
        (page(503), Some(Class::Retry)),
    ] {
        let stand = Stand::always(reply);
        let probed = stand
            .worker_under("relay", "", settings_of_ttapi())
            .probe()
            .await;
        assert_eq!(probed.err().map(|fault| fault.class), class);
    }
}

#[test]
fn what_is_no_path_and_what_is_no_family_is_refused() {
    for (settings, place) in [
        (json!({"paths": {"artgn": "/a"}}), "paths.artgn"),
        (
            json!({"paths": {"artgen": "https://elsewhere.example"}}),
            "paths.artgen",
        ),
        (
            json!({"paths": {"artgen": "//elsewhere.example"}}),
            "paths.artgen",
        ),
        (json!({"paths": {"artgen": "midjourney"}}), "paths.artgen"),
        (json!({"key_header": "a b"}), "key_header"),
    ] {
        let refused = worker("relay", "http://127.0.0.1:9", settings);
        let error = refused.err().expect(place);
        assert_eq!(error.field, place, "{error}");
    }
}

/// The server of this suite is the one that the stories of whole services go through.
#[test]
fn the_format_is_in_the_table() {
    let found = crate::formats::FORMATS
        .iter()
        .find(|one| one.vendor == "relay" && one.dialect == "renamed");
    assert!(found.is_some_and(|one| matches!((one.act)(&nobody()), Act::Say(_))));
}

fn nobody() -> crate::stand::RecordedRequest {
    crate::stand::RecordedRequest {
        line: "GET /".to_owned(),
        head: "host: a\n".to_owned(),
        body: Vec::new(),
    }
}
