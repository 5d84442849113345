//! The help of an operation: its fields with their rules, and a line to paste, all from the table.

use std::fmt::Write as _;

use atelier_contract::catalogue::{ApiOperation, Catalogue};
use serde_json::Value;

use crate::client::{field_names, field_of, model_field, resolved};

/// Texts of an example that are longer are pictures.
const LONGEST: usize = 200;

/// What an operation does, on one line.
pub(super) fn about(operation: &ApiOperation) -> String {
    let summary = operation.summary.as_str().unwrap_or_default();
    summary.lines().next().unwrap_or_default().to_owned()
}

/// The fields and an example, for below the options.
pub(super) fn field_rules(
    catalogue: &Catalogue,
    operation: &ApiOperation,
    command: &str,
) -> String {
    let mut text = String::new();
    let all = field_names(catalogue, operation);
    if !all.is_empty() {
        text.push_str("Fields, given as field=value, field=@file or field:=json:\n");
    }
    let widest = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, required) in &all {
        let schema = field_of(catalogue, operation, name).unwrap_or(&Value::Null);
        let (mut kind, said) = (
            kind(catalogue, schema),
            &resolved(catalogue, schema)["description"],
        );
        // What the operator of a service added is known there alone.
        if operation.makes.is_some() && *name == model_field(catalogue, operation) {
            kind.push_str(" | a model of the service");
        }
        let said = schema["description"].as_str().or(said.as_str());
        let must = if *required { ", required" } else { "" };
        let usual = match &schema["default"] {
            Value::Null => String::new(),
            Value::String(text) => format!(", usually {text}"),
            other => format!(", usually {other}"),
        };
        let said = said.unwrap_or_default();
        let _ = writeln!(text, "  {name:widest$}  {kind}{must}{usual}");
        if !said.is_empty() {
            let _ = writeln!(text, "  {:widest$}  {said}", "");
        }
    }
    if let Some(example) = &operation.example {
        let _ = write!(text, "\nExample:\n  {}", line(command, example));
    }
    text
}

/// What may stand in a field.
pub(super) fn kind(catalogue: &Catalogue, schema: &Value) -> String {
    let outer = schema;
    let schema = resolved(catalogue, schema);
    if let Some(words) = allowed_values(catalogue, schema) {
        return words.join(" | ");
    }
    if let Some(others) = schema["anyOf"].as_array() {
        let kinds = others.iter().filter(|one| one["type"] != "null");
        let mut kinds: Vec<String> = kinds.map(|one| kind(catalogue, one)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    let is = |widget: &str| outer["x-widget"] == widget || schema["x-widget"] == widget;
    if is("video") {
        return "video: @file or URL".into();
    }
    if is("image") || is("mask") {
        return "image: @file or URL".into();
    }
    let of = |name: &str| schema[name].as_f64();
    let between = |least: Option<f64>, most: Option<f64>, unit: &str| match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, None) => String::new(),
    };
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let named = types
        .into_iter()
        .find(|kind| *kind != "null")
        .unwrap_or("text");
    match named {
        "integer" => format!("whole number{}", between(of("minimum"), of("maximum"), "")),
        "number" => format!("number{}", between(of("minimum"), of("maximum"), "")),
        "boolean" => "true | false".into(),
        "array" => format!("list of: {}", kind(catalogue, &schema["items"])),
        "object" => "JSON object".into(),
        _ if schema["format"] == "uri" => "address".into(),
        _ => format!(
            "text{}",
            between(
                of("minLength").filter(|least| *least > 1.0),
                of("maxLength"),
                " characters"
            )
        ),
    }
}

/// The words that are allowed in a field, when it is one of a few.
pub(super) fn allowed_values(catalogue: &Catalogue, schema: &Value) -> Option<Vec<String>> {
    let schema = resolved(catalogue, schema);
    let listed = schema["enum"].as_array()?;
    let plain = listed.iter().filter(|one| !one.is_null());
    Some(
        plain
            .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
            .collect(),
    )
}

/// An example as one would type it.
fn line(command: &str, example: &Value) -> String {
    let mut line = command.to_owned();
    for (name, value) in example.as_object().into_iter().flatten() {
        let _ = match value {
            Value::String(text) if text.len() > LONGEST => write!(line, " {name}=@{name}.png"),
            Value::String(text)
                if text.contains(|c: char| !(c.is_alphanumeric() || ".:/-_".contains(c))) =>
            {
                write!(line, " {name}='{}'", text.replace('\'', "'\\''"))
            }
            Value::String(text) => write!(line, " {name}={text}"),
            Value::Array(_) | Value::Object(_) => write!(line, " {name}:='{value}'"),
            other => write!(line, " {name}={other}"),
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::catalogue;

    #[test]
    fn every_operation_has_help_with_each_of_its_fields() {
        let catalogue = catalogue();
        for operation in &catalogue.operations {
            let help = field_rules(catalogue, operation, "atelier call x");
            for (name, _) in field_names(catalogue, operation) {
                assert!(
                    help.contains(&format!("  {name}")),
                    "{}: {name}\n{help}",
                    operation.name
                );
            }
            if operation.example.is_some() {
                assert!(help.contains("Example:\n  atelier call x"), "{help}");
            }
            assert!(!about(operation).is_empty(), "{}", operation.name);
        }
    }
}
