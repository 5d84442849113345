//! Every field of every operation: absent, of the wrong type, just inside and just outside what it allows.

use atelier_contract::family::SubmitEndpoint;
use atelier_contract::{Code, Refusal};
use serde_json::{Value, json};

use crate::conform::Schemas;
use crate::good_requests::{GoodRequest, example, good_requests, submits};
use crate::sample::order;

/// Fields of which one is enough: removing it names the pair, and the other one is then not looked at.
const PAIRS: [(&str, &str, &str); 2] = [
    ("artgen.describe", "base64", "url"),
    ("vidgen.no_watermark", "jobId", "url"),
];

fn with(good: &GoodRequest, field: &str, value: &Value) -> Value {
    let mut body = good.body.clone();
    body[field] = value.clone();
    body
}

fn outcome(submit: &SubmitEndpoint, good: &GoodRequest, body: &Value) -> Result<(), Refusal> {
    order(submit.name, body, good.parent.as_ref()).map(|_| ())
}

/// Accepted from at least one of the good requests.
fn accepted(submit: &SubmitEndpoint, field: &str, value: &Value) {
    let mut refusals = Vec::new();
    for good in good_requests(submit.name) {
        match outcome(submit, &good, &with(&good, field, value)) {
            Ok(()) => return,
            Err(refusal) => refusals.push(refusal.message),
        }
    }
    let shown: String = value.to_string().chars().take(80).collect();
    panic!(
        "{}: {field} = {shown} is never accepted: {refusals:#?}",
        submit.name
    );
}

/// Refused from every good request that looks at the field, by its name.
fn refused(submit: &SubmitEndpoint, field: &str, value: &Value) {
    let shown: String = value.to_string().chars().take(80).collect();
    for good in good_requests(submit.name) {
        let hidden = PAIRS.iter().any(|(name, first, second)| {
            *name == submit.name && *second == field && !good.body[*first].is_null()
        });
        if hidden {
            continue;
        }
        match outcome(submit, &good, &with(&good, field, value)) {
            Ok(()) => panic!("{}: {field} = {shown} is accepted", submit.name),
            Err(refusal) => {
                let named = refusal.field.as_deref().unwrap_or_default();
                assert!(
                    named.starts_with(field),
                    "{}: {field} = {shown}: {refusal}",
                    submit.name
                );
                assert!(refusal.message.starts_with(named), "{refusal}");
            }
        }
    }
}

/// Calls a check with every property of every operation.
fn each_property(check: impl Fn(&SubmitEndpoint, &str, &Value)) {
    for submit in submits() {
        for (field, schema) in Schemas::of(submit.schema).properties() {
            check(submit, &field, &schema);
        }
    }
}

fn is_type(schema: &Value, name: &str) -> bool {
    let kind = &schema["type"];
    *kind == name
        || kind
            .as_array()
            .is_some_and(|kinds| kinds.contains(&name.into()))
}

#[test]
fn a_required_field_is_missed_by_name_and_an_optional_one_is_not() {
    for submit in submits() {
        let schemas = Schemas::of(submit.schema);
        let good = good_requests(submit.name).remove(0);
        for (field, _) in schemas.properties() {
            for absent in [None, Some(Value::Null), Some(json!(""))] {
                let mut body = good.body.clone();
                match absent {
                    None => drop(body.as_object_mut().expect("fields").remove(&field)),
                    Some(value) => body[&field] = value,
                }
                let outcome = outcome(submit, &good, &body);
                let pair = PAIRS.iter().find(|(name, ..)| *name == submit.name);
                let missed = match pair {
                    Some((_, first, second))
                        if body[*first].is_null() && body[*second].is_null() =>
                    {
                        Some((*first).to_owned())
                    }
                    _ => schemas.requires(&field).then(|| field.clone()),
                };
                match (outcome, missed) {
                    (Ok(()), None) => {}
                    (Err(refusal), Some(missed)) => {
                        assert_eq!(refusal.code, Code::MissingParameter, "{refusal}");
                        assert_eq!(refusal.field, Some(missed), "{refusal}");
                    }
                    (Err(refusal), None) => {
                        assert_eq!(body[&field], "", "{}: {refusal}", submit.name);
                    }
                    (Ok(()), Some(missed)) => panic!("{}: {missed} is not missed", submit.name),
                }
            }
        }
    }
}

#[test]
fn the_wrong_type_is_refused_by_name() {
    each_property(|submit, field, _| {
        refused(submit, field, &json!({ "some": "object" }));
    });
}

#[test]
fn numbers_are_accepted_inside_their_bounds_and_refused_outside() {
    each_property(|submit, field, schema| {
        let step: f64 = if is_type(schema, "integer") {
            1.0
        } else {
            0.001
        };
        let step = schema["multipleOf"]
            .as_f64()
            .map_or(step, |multiple| step.max(multiple));
        let number = |value: f64| {
            if is_type(schema, "integer") {
                json!(value as i64)
            } else {
                json!(value)
            }
        };
        for (bound, outward) in [("minimum", -step), ("maximum", step)] {
            let Some(bound) = schema[bound].as_f64() else {
                continue;
            };
            accepted(submit, field, &number(bound));
            accepted(submit, field, &json!(number(bound).to_string()));
            refused(submit, field, &number(bound + outward));
            refused(submit, field, &json!(true));
        }
        if schema["multipleOf"]
            .as_f64()
            .is_some_and(|multiple| multiple > 1.0)
        {
            refused(
                submit,
                field,
                &number(schema["minimum"].as_f64().unwrap_or(0.0) + 1.0),
            );
        }
    });
}

#[test]
fn each_word_of_an_enum_is_accepted_and_no_other() {
    each_property(|submit, field, schema| {
        let Some(words) = schema["enum"].as_array() else {
            return;
        };
        for word in words.iter().filter(|word| !word.is_null()) {
            accepted(submit, field, word);
            if word.is_number() {
                accepted(submit, field, &json!(word.to_string()));
            }
            if let Some(text) = word.as_str().filter(|text| text.to_uppercase() != *text) {
                refused(submit, field, &json!(text.to_uppercase()));
            }
        }
        refused(submit, field, &json!("no such word"));
        refused(submit, field, &json!(987));
    });
}

#[test]
fn switches_take_true_and_false_also_as_text() {
    each_property(|submit, field, schema| {
        if !is_type(schema, "boolean") {
            return;
        }
        for good in [json!(true), json!(false), json!("true"), json!("false")] {
            accepted(submit, field, &good);
        }
        for bad in [json!(1), json!("yes"), json!([])] {
            refused(submit, field, &bad);
        }
    });
}

#[test]
fn text_is_accepted_up_to_its_length_and_not_beyond() {
    each_property(|submit, field, schema| {
        let Some(most) = schema["maxLength"].as_u64().map(|most| most as usize) else {
            return;
        };
        let text = |length: usize| {
            let start = if schema["format"] == "uri" {
                "https://example.com/"
            } else {
                ""
            };
            json!(format!("{start}{}", "é".repeat(length - start.len())))
        };
        accepted(submit, field, &text(most));
        refused(submit, field, &text(most + 1));
        if schema["x-widget"] == "prompt" {
            let blank = json!(" \n\u{200b}");
            refused(submit, field, &blank);
        }
    });
}

#[test]
fn an_address_must_be_http() {
    each_property(|submit, field, schema| {
        if schema["format"] == "uri" {
            for bad in [
                "ftp://example.com/a",
                "example.com/a",
                "https://user@example.com/a",
            ] {
                refused(submit, field, &json!(bad));
            }
            refused(submit, field, &json!(true));
        }
    });
}

#[test]
fn lists_are_accepted_up_to_their_length_and_not_beyond() {
    each_property(|submit, field, schema| {
        let (Some(least), Some(most)) = (schema["minItems"].as_u64(), schema["maxItems"].as_u64())
        else {
            return;
        };
        let item = match field {
            "imgBase64Array" | "image" | "mask" => {
                example("artgen.blend")["imgBase64Array"][0].clone()
            }
            "character_prompts" => json!({ "prompt": "a girl" }),
            "vibe_transfer" | "character_reference" => {
                json!({ "image": "https://example.com/a.png" })
            }
            _ => json!("https://example.com/a.png"),
        };
        let list = |length: u64| json!(vec![item.clone(); length as usize]);
        accepted(submit, field, &list(most));
        accepted(submit, field, &list(least));
        refused(submit, field, &list(most + 1));
        if least > 0 {
            refused(submit, field, &list(least - 1));
        }
    });
}

#[test]
fn either_spelling_of_the_callback_address_is_taken_by_every_operation() {
    for submit in submits().filter(|submit| submit.most_bytes > 0) {
        let good = good_requests(submit.name).remove(0);
        for spelling in ["hookUrl", "hook_url"] {
            let body = with(&good, spelling, &json!("https://example.com/hook"));
            let (order, _) = order(submit.name, &body, good.parent.as_ref()).expect(submit.name);
            assert!(order.hook.is_some(), "{} {spelling}", submit.name);
            let body = with(&good, spelling, &json!(false));
            outcome(submit, &good, &body).expect("false means none");
        }
    }
}

#[test]
fn an_unknown_field_is_ignored() {
    for submit in submits() {
        let good = good_requests(submit.name).remove(0);
        let body = with(&good, "somethingElse", &json!({ "deep": [1] }));
        outcome(submit, &good, &body).expect(submit.name);
    }
}
