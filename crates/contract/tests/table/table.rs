//! The table as a whole: examples, names, paths, prices, and requests that survive being stored.

use std::collections::HashSet;

use atelier_contract::FAMILIES;
use atelier_contract::families::prompt_fields;
use atelier_contract::operation::ReferencedJobs;

use crate::conform::Schemas;
use crate::good_requests::{good_requests, submits};
use crate::sample::{order, tariff};

#[test]
fn every_example_is_accepted_and_priced() {
    for submit in submits() {
        let good = good_requests(submit.name).remove(0);
        let (order, _) = order(submit.name, &good.body, good.parent.as_ref())
            .unwrap_or_else(|refusal| panic!("{}: {refusal}", submit.name));
        tariff().total(&order.price).expect(submit.name);
    }
}

#[test]
fn an_operation_orders_only_the_kinds_of_work_it_says_it_makes() {
    for submit in submits() {
        let mut ordered = 0;
        for good in good_requests(submit.name) {
            let Ok((order, _)) = order(submit.name, &good.body, good.parent.as_ref()) else {
                continue;
            };
            let brief = &order.brief;
            let is_made = submit.makes.iter().any(|task| task.is_like(brief.task));
            assert!(is_made, "{}: {:?}", submit.name, brief.task);
            assert!(!brief.grid || submit.in_fours, "{}", submit.name);
            ordered += 1;
        }
        assert!(ordered > 0, "{}", submit.name);
    }
}

#[test]
fn the_main_prompt_is_stored_in_a_field_that_its_family_names() {
    let mut seen = HashSet::new();
    for family in FAMILIES {
        for submit in family.submits {
            for good in good_requests(submit.name) {
                let fields = good.body.as_object().expect("fields").clone();
                let Ok(request) = (submit.parse)(fields) else {
                    continue;
                };
                let prompts = request.prompts();
                let Some((field, text)) = prompts.first() else {
                    continue;
                };
                assert!(
                    family.prompt_fields.contains(&field.as_str()),
                    "{}: {field}",
                    submit.name
                );
                assert_eq!(request.to_fields()[field], *text, "{}", submit.name);
                seen.insert(field.clone());
            }
        }
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
    let plain = |name: &&str| {
        name.chars()
            .all(|letter| letter.is_ascii_alphabetic() || letter == '_')
    };
    assert!(
        prompt_fields().iter().all(plain),
        "they are written into statements"
    );
}

#[test]
fn a_usual_duration_is_inside_the_time_limit() {
    for family in FAMILIES {
        for submit in family.submits {
            for speed in ["relax", "fast", "turbo"] {
                let fields = serde_json::json!({ "mode": speed, "useMode": speed });
                let seconds = (submit.usual_s)(fields.as_object().expect("fields"));
                assert!((1..family.timeout_s).contains(&seconds), "{}", submit.name);
            }
        }
    }
}

#[test]
fn a_callback_address_is_refused_under_the_name_its_operation_documents() {
    let mut seen = HashSet::new();
    for submit in submits() {
        let good = good_requests(submit.name).remove(0);
        let properties = Schemas::of(submit.schema).properties();
        let documented = properties
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| matches!(*name, "hookUrl" | "hook_url"))
            .unwrap_or_else(|| panic!("{} has no callback", submit.name));
        let mut body = good.body.clone();
        body[documented] = "https://example.com/hook".into();
        let (order, _) = order(submit.name, &body, good.parent.as_ref()).expect(submit.name);
        assert!(order.hook.is_some(), "{}", submit.name);
        assert_eq!(order.hook_field, documented, "{}", submit.name);
        seen.insert(order.hook_field);
    }
    assert_eq!(seen.len(), 2, "both spellings are documented somewhere");
}

#[test]
fn every_example_file_belongs_to_an_operation() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let names: HashSet<String> = submits()
        .map(|submit| format!("{}.json", submit.name))
        .collect();
    let files: HashSet<String> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(files, names);
}

#[test]
fn names_and_paths_are_unique() {
    let mut seen = HashSet::new();
    for family in FAMILIES {
        assert!(seen.insert(family.name.to_owned()), "{}", family.name);
        for submit in family.submits {
            assert!(seen.insert(submit.name.to_owned()), "{}", submit.name);
            assert!(seen.insert(submit.path.to_owned()), "{}", submit.path);
        }
        for fetch in family.fetches {
            assert!(seen.insert(fetch.path.to_owned()), "{}", fetch.path);
        }
    }
}

#[test]
fn every_family_is_filled_in() {
    for family in FAMILIES {
        assert!(
            !family.title.is_empty() && !family.queue.is_empty(),
            "{}",
            family.name
        );
        assert!(
            family.prefix.starts_with('/') && family.prefix.ends_with('/'),
            "{}",
            family.name
        );
    }
}

#[test]
fn operations_that_can_be_followed_are_told_apart_by_their_names() {
    for family in FAMILIES {
        let stem = match family.name {
            "artgen_video" => "artgen.video",
            "artgen" | "motion" | "vidgen" | "vidgen_partner" => family.name,
            _ => continue,
        };
        let stem_of = |name: &'static str| name.rsplit_once('.').map(|(stem, _)| stem);
        for other in FAMILIES {
            for submit in other.submits {
                let same = stem_of(submit.name) == Some(stem);
                assert_eq!(same, other.name == family.name, "{}", submit.name);
            }
        }
    }
}

#[test]
fn time_limits_are_the_documented_ones() {
    let limits: Vec<_> = FAMILIES
        .iter()
        .map(|family| (family.name, family.timeout_s))
        .collect();
    assert_eq!(
        limits,
        [
            ("artgen", 300),
            ("artgen_video", 1200),
            ("imgmodel", 120),
            ("imgmodel_chat", 600),
            ("design", 120),
            ("vidgen", 1800),
            ("vidgen_partner", 1800),
            ("animegen", 600),
            ("clipgen", 1800),
            ("facegen", 600),
            ("motion", 1800),
        ]
    );
    let (_, submit) = atelier_contract::operation("imgmodel.generations").expect("in the table");
    let limit = submit.timeout_s.expect("a limit by model");
    for (model, seconds) in [("image-1", 300), ("art-2", 120), ("art-3", 120)] {
        let fields = serde_json::json!({ "model": model });
        assert_eq!(
            limit(fields.as_object().expect("fields")),
            seconds,
            "{model}"
        );
    }
}

#[test]
fn a_stored_request_orders_the_same_again() {
    for submit in submits() {
        for good in good_requests(submit.name) {
            let Ok((first, job)) = order(submit.name, &good.body, good.parent.as_ref()) else {
                continue;
            };
            let again = (submit.parse_stored)(job.request.clone()).expect("a stored request");
            let context = ReferencedJobs {
                parent: good.parent.as_ref(),
                cited: &[],
            };
            let second = again.order(context).expect("ordered again");
            assert_eq!(first.price, second.price, "{}", submit.name);
            assert_eq!(first.timeout_s, second.timeout_s, "{}", submit.name);
            assert_eq!(
                first.brief.inputs().count(),
                second.brief.inputs().count(),
                "{}",
                submit.name
            );
            assert_eq!(
                second.stored(again.as_ref()),
                job.request,
                "{}",
                submit.name
            );
        }
    }
}

#[test]
fn described_types_have_names_of_their_own() {
    let mut generator = schemars::SchemaGenerator::default();
    for family in FAMILIES {
        (family.shape)(&mut generator);
        for submit in family.submits {
            (submit.schema)(&mut generator);
            (submit.answer_shape)(&mut generator);
        }
    }
    // A name that is taken already gets a number behind it.
    let names = generator.definitions().keys();
    let taken: Vec<_> = names
        .filter(|name| name.ends_with(char::is_numeric))
        .collect();
    assert!(taken.is_empty(), "{taken:?}");
}
