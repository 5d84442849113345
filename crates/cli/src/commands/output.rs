//! An answer as people or programs read it.

use serde_json::Value;

use super::client_options::ClientOptions;
use crate::terminal::screen::{self, TextStyle};
use crate::terminal::table;

/// Longer texts of answers are pictures in base64.
const LONGEST: usize = 4096;

/// Prints an answer: JSON as it is, or its data as a table.
pub(super) fn show(client_options: &ClientOptions, answer: &Value, columns: &[&str]) {
    if client_options.json {
        json(answer);
        return;
    }
    let data = answer.get("data").unwrap_or(answer);
    match data {
        Value::Array(rows) if rows.iter().all(Value::is_object) => {
            list(client_options, answer, rows, columns);
        }
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.values_mut().for_each(shorten);
            screen::put(table::fields(&fields));
        }
        Value::Null => screen::say(answer["message"].as_str().unwrap_or_default()),
        Value::String(text) => screen::say(screen::plain(text)),
        other => screen::say(other.to_string()),
    }
}

pub(super) fn json(value: &Value) {
    screen::say(serde_json::to_string_pretty(value).unwrap_or_default());
}

fn list(client_options: &ClientOptions, answer: &Value, rows: &[Value], columns: &[&str]) {
    if rows.is_empty() {
        if !client_options.quiet {
            screen::note("nothing there");
        }
        return;
    }
    let width = screen::is_seen().then(|| screen::size().0);
    screen::put(table::rows(rows, columns, width));
    let total = answer["total"].as_u64().unwrap_or(0);
    let (page, limit) = (answer["page"].as_u64(), answer["limit"].as_u64());
    let page = page.unwrap_or(1);
    // What a search has found may be through before everything was looked at.
    let through = page.saturating_mul(limit.unwrap_or(u64::MAX)) >= total;
    if let Some(next) = answer["next"]
        .as_str()
        .filter(|_| through && !client_options.quiet)
    {
        let more = format!("there is more; after={next} continues");
        screen::note(screen::note_ink(TextStyle::Faint, &more));
    } else if !client_options.quiet && total > rows.len() as u64 {
        let more = format!("{} of {total}; page={} has more", rows.len(), page + 1);
        screen::note(screen::note_ink(TextStyle::Faint, &more));
    }
}

/// Replaces what nobody can read.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            *value = format!("({} kB; --out DIR saves it)", text.len() / 1024).into();
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}
