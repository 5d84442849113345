//! Rows and fields of answers as people read them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::screen::{self, Ink};

/// A cell is not wider than this.
const WIDEST: usize = 44;
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
        lines.push(named.iter().map(|name| cell(&row[name.as_str()])).collect());
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
            0 => screen::ink(Ink::Faint, line),
            _ => line.to_owned(),
        });
        text.push('\n');
    }
    text
}

/// The fields of one thing, one to a line.
pub(crate) fn fields(object: &Map<String, Value>) -> String {
    let shown: Vec<(&String, &Value)> = object
        .iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    let widest = shown
        .iter()
        .map(|(name, _)| length(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, value) in shown {
        let gap = " ".repeat(widest - length(name));
        let value = match value {
            Value::Object(_) => value.to_string(),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let below: Vec<String> = items.iter().map(|item| format!("\n  {item}")).collect();
                below.concat()
            }
            other => whole(other),
        };
        let _ = writeln!(text, "{}{gap}  {value}", screen::ink(Ink::Faint, name));
    }
    text
}

/// The plain fields of a row.
fn scalars(row: Option<&Value>) -> Vec<String> {
    let fields = row.and_then(Value::as_object).into_iter().flatten();
    let plain = fields.filter(|(_, value)| !value.is_object() && !value.is_array());
    plain.map(|(name, _)| name.clone()).take(COLUMNS).collect()
}

/// A value on one line, however long.
fn whole(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(whole).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A value on one line that leaves room for others. Identifiers are never cut: one wants to copy them.
fn cell(value: &Value) -> String {
    let text = whole(value).replace(['\n', '\r', '\t'], " ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if length(&text) <= WIDEST || !text.contains(' ') && !text.contains("://") {
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
    }
}
