//! What callers see, in every state: compared with the text in `tests/snapshots` and with the described shape.
//! `ATELIER_TEST_UPDATE=1` writes the text anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use atelier_contract::family::{AnswerMode, FinishedJob, SubmitEndpoint};
use atelier_contract::job::Output;
use atelier_contract::{File, FileRole, Job, JobState, operation};
use serde_json::{Map, Value};

use crate::conform::Schemas;
use crate::good_requests::{good_requests, submits};
use crate::sample::{file, finish, order, shown};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// The accepted example of an operation, with a callback address where it takes one.
fn accepted(submit: &SubmitEndpoint) -> (atelier_contract::operation::Order, Job) {
    let good = good_requests(submit.name).remove(0);
    let mut body = good.body;
    body["hookUrl"] = "https://example.com/hook".into();
    order(submit.name, &body, good.parent.as_ref()).expect(submit.name)
}

/// The same job, finished as a back end would finish it.
fn finished(submit: &SubmitEndpoint) -> Job {
    let (order, job) = accepted(submit);
    let brief = &order.brief;
    let video = submit.name.contains("video") || submit.name.contains("gen.generations");
    let video = video || submit.name.starts_with("motion") || submit.name.starts_with("vidgen");
    let media_type = if video { "video/mp4" } else { "image/png" };
    let size = (brief.width.max(64), brief.height.max(64));
    let count = if brief.grid { 1 } else { brief.count as usize };
    let mut files: Vec<File> = (0..count)
        .map(|n| file(FileRole::Main, media_type, size, n))
        .collect();
    if brief.small_images {
        files.extend((1..=4).map(|n| file(FileRole::Small, media_type, size, n)));
    }
    if submit.name.starts_with("motion") {
        files.push(file(FileRole::FirstFrame, "image/jpeg", size, 8));
        files.push(file(FileRole::LastFrame, "image/jpeg", size, 9));
    }
    let words = matches!(
        submit.name,
        "artgen.describe" | "artgen.shorten" | "artgen.seed"
    );
    let job = finish(job, if words { Vec::new() } else { files });
    let output = job.output.clone().map(|output| match submit.name {
        "artgen.describe" | "artgen.shorten" => Output {
            prompts: ["one", "two", "three", "four"].map(str::to_owned).into(),
            ..output
        },
        "artgen.seed" => Output {
            seed: Some("1234".into()),
            ..output
        },
        "vidgen.characters" => Output {
            alias: Some("fox".into()),
            ..output
        },
        "imgmodel.generations" => Output {
            revised_prompt: Some("a revised prompt".into()),
            ..output
        },
        _ => output,
    });
    Job { output, ..job }
}

/// What a caller sees of an operation, by state.
fn views(submit: &SubmitEndpoint) -> Map<String, Value> {
    let mut views = Map::new();
    let done = finished(submit);
    if let AnswerMode::Answer(render) = submit.answers_with {
        let base64 = vec!["aGVsbG8=".to_owned(); 10];
        views.insert(
            "answer".into(),
            render(&FinishedJob {
                job: &done,
                base64: &base64,
            }),
        );
        return views;
    }
    let (family, _) = operation(submit.name).expect("in the table");
    let (_, waiting) = accepted(submit);
    let running = Job {
        state: JobState::Running,
        progress: 42,
        ..waiting.clone()
    };
    let failed = Job {
        state: JobState::Failed,
        message: Some("Job Timeout".into()),
        ..running.clone()
    };
    views.insert("accepted".into(), family.accepted(&waiting.id));
    views.insert("waiting".into(), shown(&waiting));
    views.insert("running".into(), shown(&running));
    views.insert("succeeded".into(), shown(&done));
    views.insert("failed".into(), shown(&failed));
    views
}

#[test]
fn every_state_of_every_operation_looks_as_written_down() {
    let update = std::env::var_os("ATELIER_TEST_UPDATE").is_some();
    let mut known = BTreeSet::new();
    for submit in submits() {
        let name = format!("{}.json", submit.name);
        let path = folder().join(&name);
        let mut now = serde_json::to_string_pretty(&views(submit)).expect("JSON");
        now.push('\n');
        if update {
            fs::create_dir_all(folder()).expect("a folder");
            fs::write(&path, &now).expect("written");
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            before, now,
            "{name} differs; ATELIER_TEST_UPDATE=1 accepts the change"
        );
        known.insert(name);
    }
    let files = fs::read_dir(folder()).expect("the snapshots");
    let names = files.map(|entry| {
        entry
            .expect("a file")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    assert_eq!(
        names.collect::<BTreeSet<_>>(),
        known,
        "snapshots without an operation"
    );
}

#[test]
fn every_body_has_the_described_shape() {
    for submit in submits() {
        let (family, _) = operation(submit.name).expect("in the table");
        for (state, body) in views(submit) {
            let schemas = match state.as_str() {
                "answer" | "accepted" => Schemas::of(submit.answer_shape),
                _ => Schemas::of(family.shape),
            };
            let faults = schemas.faults(&body);
            assert!(faults.is_empty(), "{} {state}: {faults:#?}", submit.name);
        }
    }
}

#[test]
fn quota_reads_zero_and_results_are_absent_until_success() {
    for submit in submits() {
        for (state, body) in views(submit) {
            if matches!(state.as_str(), "waiting" | "running" | "failed") {
                let text = body.to_string();
                assert!(
                    !text.contains("origin.example") && !text.contains("cdn.example"),
                    "{text}"
                );
                let data = &body["data"];
                let quota = if data.is_object() {
                    &data["quota"]
                } else {
                    &body["quota"]
                };
                assert!(
                    quota.is_null() || *quota == 0 || *quota == "0",
                    "{} {state}",
                    submit.name
                );
            }
        }
    }
}
