//! A file with many calls: a table with a column for each field, or a JSON object on each line.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::fault::{ExitReason, Fault};
use super::fields::{FieldArg, FieldValue};

/// A longer file is not a list of requests.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// One call of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Which one it is; the first has number one.
    pub(crate) number: usize,
    /// Its fields, as the command line would have them.
    pub(crate) words: Vec<FieldArg>,
}

/// Reads a file of calls; `-` is standard input. Files that its rows name are looked for beside it.
pub(crate) fn read(file: &str) -> Result<Vec<Row>, Fault> {
    let wrong = |why: String| Fault::new(ExitReason::Usage, format!("{file}: {why}"));
    let mut bytes = Vec::new();
    let reader: Box<dyn std::io::Read> = if file == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(file).map_err(|error| wrong(error.to_string()))?)
    };
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("is larger than {} MB", MOST_BYTES >> 20)));
    }
    let beside = Path::new(file).parent().filter(|_| file != "-");
    let rows = rows(&bytes, beside.unwrap_or(Path::new(""))).map_err(wrong)?;
    if rows.is_empty() {
        return Err(wrong("has no rows".into()));
    }
    Ok(rows)
}

fn rows(bytes: &[u8], beside: &Path) -> Result<Vec<Row>, String> {
    // Spreadsheets put a mark before the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text in UTF-8".to_owned())?;
    let place = |word: FieldArg| placed(word, beside);
    let found = if text.trim_start().starts_with('{') {
        lines(text)?
    } else {
        table(text)?
    };
    let rows = found.into_iter().enumerate().map(|(place_of, words)| Row {
        number: place_of + 1,
        words: words.into_iter().map(place).collect(),
    });
    Ok(rows.collect())
}

/// A file that a row names, as seen from here.
fn placed(mut word: FieldArg, beside: &Path) -> FieldArg {
    if let FieldValue::File(file) = &mut word.given {
        let path: PathBuf = beside.join(&*file);
        *file = path.to_string_lossy().into_owned();
    }
    word
}

/// JSON lines: texts that begin with an at sign name files, as they do on the command line.
fn lines(text: &str) -> Result<Vec<Vec<FieldArg>>, String> {
    let full = text.lines().enumerate();
    let full = full.filter(|(_, line)| !line.trim().is_empty());
    full.map(|(at, line)| {
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        Ok(object
            .into_iter()
            .flat_map(|(field, value)| of_json(field, value))
            .collect())
    })
    .collect()
}

fn of_json(field: String, value: Value) -> Vec<FieldArg> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![FieldArg::of(&field, &text)],
        // A list of texts may name files as well.
        Value::Array(items) if items.iter().all(Value::is_string) && !items.is_empty() => items
            .iter()
            .filter_map(Value::as_str)
            .map(|text| FieldArg::of(&field, text))
            .collect(),
        value => vec![FieldArg {
            field,
            given: FieldValue::Json(value),
        }],
    }
}

/// A table: its first row names the fields, and what is empty is not given. A field with a colon behind it holds JSON,
/// two columns of one name make a list.
fn table(text: &str) -> Result<Vec<Vec<FieldArg>>, String> {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let signs = [b',', b';', b'\t'];
    let named = |sign: &&u8| first.is_some_and(|line| line.contains(char::from(**sign)));
    let used = *signs.iter().find(named).unwrap_or(&b',');
    if let Some(line) = never_closed(text, used) {
        return Err(format!("line {line}: a quote is opened and never closed"));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(used)
        .from_reader(text.as_bytes());
    let plain = |error: csv::Error| match error.kind() {
        csv::ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let cells = if *len == 1 { "cell" } else { "cells" };
            format!("line {line}: has {len} {cells}, the first row has {expected_len}")
        }
        _ => error.to_string(),
    };
    let headers = reader.headers().map_err(plain)?.clone();
    let mut all = Vec::new();
    for record in reader.records() {
        let record = record.map_err(plain)?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        let cells = headers.iter().zip(&record);
        let cells = cells.filter(|(_, cell)| !cell.is_empty());
        let words: Result<Vec<FieldArg>, Fault> = cells
            .map(|(field, cell)| FieldArg::read(&format!("{}={cell}", field.trim())))
            .collect();
        let line = record.position().map_or(0, csv::Position::line);
        all.push(words.map_err(|fault| format!("line {line}: {}", fault.message))?);
    }
    Ok(all)
}

/// The line of a quote at the beginning of a cell that nothing ends: all that follows would be one cell.
fn never_closed(text: &str, delimiter: u8) -> Option<usize> {
    let mut line = 1;
    let mut opened = None;
    let mut begins = true;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let ends_line = byte == b'\n' || (byte == b'\r' && bytes.peek() != Some(&b'\n'));
        match (byte, opened) {
            // Two of them are one that is meant.
            (b'"', Some(_)) if bytes.peek() == Some(&b'"') => drop(bytes.next()),
            (b'"', Some(_)) => opened = None,
            (b'"', None) if begins => opened = Some(line),
            _ => {}
        }
        begins = opened.is_none() && (ends_line || byte == delimiter);
        line += usize::from(ends_line);
    }
    opened
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(all: &[&str]) -> Vec<FieldArg> {
        let read = all.iter().map(|text| FieldArg::read(text).expect("a word"));
        read.collect()
    }

    fn read(text: &str) -> Result<Vec<Vec<FieldArg>>, String> {
        let rows = rows(text.as_bytes(), Path::new("beside"))?;
        let numbers: Vec<usize> = rows.iter().map(|row| row.number).collect();
        assert_eq!(numbers, (1..=rows.len()).collect::<Vec<_>>());
        Ok(rows.into_iter().map(|row| row.words).collect())
    }

    #[test]
    fn a_table_is_read_as_spreadsheets_write_it() {
        let expected = vec![
            words(&["prompt=a fox, \"red\"\nat dawn", "timeout=300"]),
            words(&["prompt=ein Fuchs im Grünen"]),
        ];
        let text = "prompt,timeout\n\"a fox, \"\"red\"\"\nat dawn\",300\n,\nein Fuchs im Grünen,\n";
        assert_eq!(read(text).expect("rows"), expected);
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let windows = read(&windows).expect("rows");
        assert_eq!(windows[1], expected[1]);
        assert_eq!(
            read("prompt;mode\na, b;fast").expect("rows"),
            [words(&["prompt=a, b", "mode=fast"])]
        );
        assert_eq!(
            read("image,image,options:\n@a.png,@/b.png,\"{\"\"x\"\":1}\"").expect("rows"),
            [words(&[
                "image=@beside/a.png",
                "image=@/b.png",
                "options:={\"x\":1}"
            ])]
        );
    }

    #[test]
    fn json_lines_are_read_too() {
        let text = "{\"prompt\":\"a = b\",\"timeout\":300,\"none\":null}\n\n{\"images\":[\"@a.png\",\"https://h/\"]}\n";
        let rows = read(text).expect("rows");
        assert_eq!(
            rows,
            [
                words(&["prompt=a = b", "timeout:=300"]),
                words(&["images=@beside/a.png", "images=https://h/"])
            ]
        );
        assert_eq!(rows[0][1].given, FieldValue::Json(json!(300)));
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        for (text, said) in [
            ("a,b\n1,2\n1,2,3\n", "line 3: has 3 cells"),
            ("a,b\n1\n", "line 2: has 1 cell, the first row has 2"),
            (
                "a\n1\n\"2\n3\n",
                "line 3: a quote is opened and never closed",
            ),
            ("a,b\r\n1,2\r\n3,\"4 \"\"5\r\n", "line 3: a quote is opened"),
            ("{\"a\":1}\n{\"a\"\n", "line 2: "),
            ("options:\n{\n", "line 2: options: is not JSON"),
        ] {
            let why = read(text).expect_err(said);
            assert!(why.contains(said), "{why}");
        }
        assert!(rows(b"a\n\xff\n", Path::new("")).is_err());
        assert_eq!(read("a,b\n").expect("rows"), Vec::<Vec<FieldArg>>::new());
    }

    #[test]
    fn odd_tables_are_read_as_they_are_meant() {
        let one = |text: &str| read(text).expect(text);
        assert_eq!(one("\r\n\r\na;b\r\n1;2\r\n\r\n"), [words(&["a=1", "b=2"])]);
        assert_eq!(one("a\r\"x y\"\r"), [words(&["a=x y"])]);
        assert_eq!(one("a\n5\" nails\n"), [words(&["a=5\" nails"])]);
        assert_eq!(one("a,b\n\"\",\"\"\"\"\n"), [words(&["b=\""])]);
        // What a spreadsheet would take for a formula is text here.
        assert_eq!(
            one("a\n=1+1\n-x\n+1\n"),
            [words(&["a==1+1"]), words(&["a=-x"]), words(&["a=+1"])]
        );
    }
}
