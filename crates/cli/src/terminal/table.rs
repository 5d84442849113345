//! Rows and fields of answers as people read them.

use std::fmt::Write as _;

use atelier_contract::time::timestamp;
use serde_json::{Map, Value};

use super::screen::{self, TextStyle};

/// A cell is not wider than this.
const WIDEST: usize = 44;
/// Milliseconds before this are a duration: a month of them.
const FIRST_TIME: i64 = 31 * 24 * 60 * 60 * 1000;
/// So many columns are shown when nobody said which.
const COLUMNS: usize = 7;

/// Rows under their heads. Columns that no row has are left out, and so are the last ones that have no room.
pub(crate) fn rows(rows: &[Value], columns: &[&str], width: Option<usize>) -> String {
    let named: Vec<String> = if columns.is_empty() {
        scalars(rows.first())
    } else {
        columns.iter().map(|&name| name.to_owned()).collect()
    };
    let known = |name: &String| rows.iter().any(|row| !row[name.as_str()].is_null());
    let named: Vec<String> = named.into_iter().filter(known).collect();
    let mut lines: Vec<Vec<String>> = vec![named.clone()];
    for row in rows {
        let cells = named
            .iter()
            .map(|name| cell(name, &row[name.as_str()], width));
        lines.push(cells.collect());
    }
    let mut widths: Vec<usize> = (0..named.len())
        .map(|place| {
            lines
                .iter()
                .map(|line| length(&line[place]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    while let Some(width) = width {
        let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        if whole <= width || widths.len() < 2 {
            break;
        }
        widths.pop();
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| {
                format!("{cell}{}", " ".repeat(width.saturating_sub(length(cell))))
            })
            .collect();
        let line = cells.join("  ");
        let line = line.trim_end();
        text.push_str(&match number {
            0 => screen::ink(TextStyle::Faint, line),
            _ => line.to_owned(),
        });
        text.push('\n');
    }
    text
}

/// The fields of one thing, one to a line; lists of things stand below their names as tables.
pub(crate) fn fields(object: &Map<String, Value>) -> String {
    let shown: Vec<(&String, &Value)> = object
        .iter()
        .filter(|(_, value)| !value.is_null() && !is_empty(value))
        .collect();
    let widest = shown
        .iter()
        .map(|(name, _)| length(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, value) in shown {
        let head = screen::ink(TextStyle::Faint, name);
        let below = match value {
            Value::Object(inner) => Some(fields(inner)),
            Value::Array(items) if items.iter().all(Value::is_object) => {
                Some(rows(items, &[], None))
            }
            _ => None,
        };
        if let Some(below) = below {
            let _ = writeln!(text, "{head}");
            for line in below.lines() {
                let _ = writeln!(text, "  {line}");
            }
            continue;
        }
        let gap = " ".repeat(widest - length(name));
        let _ = writeln!(text, "{head}{gap}  {}", whole(name, value));
    }
    text
}

/// Whether there is nothing to show.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// The plain fields of a row.
fn scalars(row: Option<&Value>) -> Vec<String> {
    let fields = row.and_then(Value::as_object).into_iter().flatten();
    let plain = fields.filter(|(_, value)| !value.is_object() && !value.is_array());
    plain.map(|(name, _)| name.clone()).take(COLUMNS).collect()
}

/// A value on one line, however long. Milliseconds since 1970 are shown as the time that they are.
fn whole(name: &str, value: &Value) -> String {
    let is_time = name.ends_with("Ms") || name.ends_with("_ms");
    match value {
        Value::Null => String::new(),
        Value::String(text) => screen::plain(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| whole(name, item));
            items.collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) if is_time && number.as_i64() > Some(FIRST_TIME) => {
            timestamp(number.as_i64().unwrap_or(0))
        }
        other => screen::plain(&other.to_string()),
    }
}

/// A value on one line that leaves room for others where somebody looks. Identifiers are never cut: one wants to copy
/// them. Neither is what a program reads.
fn cell(name: &str, value: &Value, width: Option<usize>) -> String {
    let text = whole(name, value);
    let short = length(&text) <= WIDEST || !text.contains(' ') && !text.contains("://");
    if short || width.is_none() {
        return text;
    }
    let start: String = text.chars().take(WIDEST - 1).collect();
    format!("{start}…")
}

/// How many columns text takes, as far as letters of Latin scripts go.
fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_that_have_no_room_are_left_out_from_the_end() {
        let all =
            [json!({ "id": "1234567890", "name": "somebody", "note": "a long line of words" })];
        let wide = rows(&all, &["id", "name", "note"], Some(80));
        assert!(wide.contains("a long line"), "{wide}");
        let narrow = rows(&all, &["id", "name", "note"], Some(25));
        assert!(
            narrow.contains("somebody") && !narrow.contains("a long"),
            "{narrow}"
        );
    }

    #[test]
    fn what_a_stranger_wrote_cannot_steer_the_terminal() {
        let shown = rows(&[json!({ "name": "a\u{1b}[31mb\nc" })], &["name"], None);
        assert!(
            !shown.contains('\u{1b}') && shown.lines().count() == 2,
            "{shown:?}"
        );
        let one = json!({ "name": "a\u{1b}[31mb\nc", "in": { "x": "\u{9b}1m" } });
        let shown = fields(one.as_object().expect("an object"));
        assert_eq!(shown, "in\n  x  1m\nname  a[31mb c\n");
    }

    #[test]
    fn what_a_program_reads_is_whole_and_times_are_times() {
        let long = format!("https://example.com/{}", "a".repeat(60));
        let all = [json!({ "url": long, "seenMs": 1_794_801_341_116_i64, "tookMs": 12 })];
        let shown = rows(&all, &["seenMs", "tookMs", "url"], None);
        assert!(shown.contains(&long), "{shown}");
        assert!(shown.contains("2026-11-16 03:55:41  12 "), "{shown}");
        assert!(rows(&all, &["url"], Some(80)).contains('…'));
    }
}
