//! How long results stay: each class of operation its own time, to the second, in the address and in the asset store.

use atelier_contract::family::ResultLifetime;
use atelier_contract::{Code, FAMILIES, FileRole};
use serde_json::{Value, json};

use crate::defaults::defaults;
use crate::rig::{Rig, START_MS};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What is promised for the results of an operation.
fn promised_ms(operation: &str) -> i64 {
    let (family, _) = operation.split_once('.').expect("family.operation");
    match (family, operation) {
        (_, "imgmodel.legacy" | "imgmodel.chat") => DAY_MS,
        ("imgmodel", _) => HOUR_MS,
        ("vidgen" | "vidgen_partner" | "clipgen" | "motion", _)
        | (_, "artgen.video.submit" | "artgen.video.extend") => 3 * DAY_MS,
        _ => DAY_MS,
    }
}

#[test]
fn every_operation_is_of_the_class_it_is_promised() {
    let retention = defaults().retention;
    let mut seen = 0;
    for (family, submit) in FAMILIES
        .iter()
        .flat_map(|family| family.submits.iter().map(move |submit| (family, submit)))
    {
        let keep = submit.keep.unwrap_or(family.keep);
        let kept_ms = retention.lifetime_ms(keep);
        assert_eq!(kept_ms, promised_ms(submit.name), "{}", submit.name);
        seen += 1;
    }
    assert_eq!(seen, 31, "every endpoint that makes something");
    assert_eq!(retention.lifetime_ms(ResultLifetime::Month), 31 * DAY_MS);
}

struct KeptFile {
    key: String,
    query: String,
    until_ms: i64,
    what: String,
}

/// Has one of each kind made at the same moment.
async fn one_of_each(rig: &Rig) -> Vec<KeptFile> {
    let caller = rig.account(10_000).await;
    let mut kept = Vec::new();
    for operation in [
        "artgen.imagine",
        "imgmodel.generations",
        "imgmodel.legacy",
        "design.generations",
        "animegen.text_to_image",
        "vidgen.generations",
        "vidgen_partner.generations",
        "clipgen.generations",
    ] {
        let (_, submit) = atelier_contract::operation(operation).expect("in the table");
        let mut body: Value = serde_json::from_str(submit.example).expect("JSON");
        if operation == "artgen.imagine" {
            body = json!({ "prompt": "grid of foxes", "timeout": 300 });
        }
        let submitted = rig.call(&caller, operation, body, false).await;
        let id = submitted.unwrap_or_else(|refusal| panic!("{operation}: {}", refusal.message));
        rig.settle_down().await;
        let job = rig.job(&caller, &id).await;
        let made_ms = job.finished_ms.expect("final");
        let output = job
            .output
            .unwrap_or_else(|| panic!("{operation}: {:?}", job.message));
        for file in output.files {
            let (_, query) = file.origin_url.split_once('?').expect("signed");
            let life_ms = match file.role {
                FileRole::Small => 31 * DAY_MS,
                _ => promised_ms(operation),
            };
            // Stored a moment before it is final.
            assert!(
                (made_ms + life_ms - file.expires_ms).abs() < 1_000,
                "{operation}"
            );
            kept.push(KeptFile {
                query: query.to_owned(),
                until_ms: file.expires_ms,
                what: format!("{operation} {:?}", file.role),
                key: file.key,
            });
        }
    }
    kept
}

#[tokio::test]
async fn results_stay_as_long_as_promised_and_not_longer() {
    let rig = Rig::new().await;
    let kept = one_of_each(&rig).await;
    assert_eq!(kept.len(), 12);
    let mut moments: Vec<i64> = [HOUR_MS, DAY_MS, 3 * DAY_MS, 31 * DAY_MS]
        .into_iter()
        .flat_map(|life_ms| [START_MS + life_ms - 1_000, START_MS + life_ms + 60_000])
        .collect();
    moments.sort_unstable();
    for moment in moments {
        rig.clock.advance(moment - rig.clock.now_ms());
        while rig.engine.assets().expire_step().await.expect("deleted") {}
        for file in &kept {
            let opened = rig.engine.assets().asset(&file.key, &file.query).await;
            let code = opened.err().map(|refusal| refusal.code);
            let there = rig.files.size(&file.key).await.expect("a look").is_some();
            let hours = (moment - START_MS) / HOUR_MS;
            if moment < file.until_ms {
                assert_eq!((code, there), (None, true), "{} at {hours} h", file.what);
            } else {
                let gone = (Some(Code::Expired), false);
                assert_eq!((code, there), gone, "{} at {hours} h", file.what);
            }
        }
    }
    assert_eq!(rig.stored().await, Vec::<String>::new());
}
