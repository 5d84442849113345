//! Results that are saved: which files an answer has, what they are called, and how a download that broke goes on.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, RANGE};
use serde_json::Value;

use super::fault::{ExitReason, Fault};
use super::request::connection_fault;
use super::transport::Client;

/// A download is taken up again this often.
const TRIES: u32 = 5;
/// A pause before it is.
const PAUSE: Duration = Duration::from_secs(1);
/// What names of saved files end with.
const ENDINGS: &[&str] = &[
    "png", "jpg", "webp", "gif", "svg", "mp4", "webm", "txt", "bin",
];
/// The longest name that is made of a prompt.
const LONGEST_NAME: usize = 40;

/// Where the bytes of a result are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultFile {
    /// To be downloaded from an address.
    Url(String),
    /// In the answer itself.
    Inline(Vec<u8>),
}

/// The files of a job, or of an answer that came at once.
pub(crate) fn files_of(answer: &Value) -> Vec<ResultFile> {
    if let Some(files) = answer["files"].as_array() {
        let addresses = files.iter().filter_map(|file| file["url"].as_str());
        return addresses
            .map(|url| ResultFile::Url(url.to_owned()))
            .collect();
    }
    let mut found = Vec::new();
    collect_files(answer, "", &mut found);
    found
}

/// Looks for addresses of results and for pictures in base64, whatever the shape of an answer.
fn collect_files(value: &Value, name: &str, found: &mut Vec<ResultFile>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| collect_files(value, name, found)),
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_files(item, name, found)),
        Value::String(text) if name == "b64_json" => {
            found.extend(STANDARD.decode(text).ok().map(ResultFile::Inline));
        }
        Value::String(text) if text.starts_with("http") && text.contains("/assets/") => {
            let at = ResultFile::Url(text.clone());
            if !found.contains(&at) {
                found.push(at);
            }
        }
        _ => {}
    }
}

/// A name for files that tells what was asked: the first words of the prompt, or else the operation.
pub(crate) fn stem(prompt: Option<&str>, operation: &str) -> String {
    let text = prompt
        .filter(|text| !text.trim().is_empty())
        .unwrap_or(operation);
    // Flags and sandbox words are no part of a name.
    let text = text.split(" --").next().unwrap_or(text);
    let mut name = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.chars().count() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() {
        "result".to_owned()
    } else {
        name.to_owned()
    }
}

/// The last characters of an identifier, to tell files of different jobs apart.
pub(crate) fn tail(id: &str) -> &str {
    let start = id.char_indices().rev().nth(5).map_or(0, |(place, _)| place);
    &id[start..]
}

/// The file of a name that was saved before; a file has its name only once it is whole.
pub(crate) fn existing_file(folder: &Path, stem: &str) -> Option<PathBuf> {
    let mut paths = ENDINGS
        .iter()
        .map(|ending| folder.join(format!("{stem}.{ending}")));
    paths.find(|path| path.is_file())
}

/// Saves a file into a folder; where it is now, and its bytes when they are few.
pub(crate) async fn save(
    client: &Client,
    file: &ResultFile,
    folder: &Path,
    stem: &str,
) -> Result<PathBuf, Fault> {
    let wrong = |path: &Path, error: std::io::Error| {
        Fault::new(ExitReason::Other, format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    match file {
        ResultFile::Inline(bytes) => {
            let path = free(folder, stem, ending(bytes, ""));
            std::fs::write(&path, bytes).map_err(|error| wrong(&path, error))?;
            Ok(path)
        }
        ResultFile::Url(url) => {
            // Two programs may be saving here at once.
            let part = folder.join(format!(".{stem}.{}.part", std::process::id()));
            let mut writer = std::fs::File::create(&part).map_err(|error| wrong(&part, error))?;
            let media_type = match download(client, url, &mut writer).await {
                Ok(media_type) => media_type,
                Err(fault) => {
                    let _ = std::fs::remove_file(&part);
                    return Err(fault);
                }
            };
            let path = free(folder, stem, ending(&[], &media_type));
            std::fs::rename(&part, &path).map_err(|error| wrong(&path, error))?;
            Ok(path)
        }
    }
}

/// Writes what is behind an address, going on where it was lost; its media type.
async fn download(client: &Client, url: &str, writer: &mut std::fs::File) -> Result<String, Fault> {
    let mut have = 0_u64;
    let mut media_type = String::new();
    for left in (0..TRIES).rev() {
        let mut request = client.http.get(url);
        if have > 0 {
            request = request.header(RANGE, format!("bytes={have}-"));
        }
        let mut answer = match request.send().await {
            Ok(answer) => answer,
            Err(_) if left > 0 => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => return Err(connection_fault(error)),
        };
        let status = answer.status();
        if status.is_client_error() || status.is_server_error() {
            let body: Value = answer.json().await.unwrap_or_default();
            return Err(Fault::refused(status.as_u16(), &body));
        }
        if have > 0 && status != StatusCode::PARTIAL_CONTENT {
            writer.set_len(0).map_err(|error| disk(&error))?;
            std::io::Seek::rewind(writer).map_err(|error| disk(&error))?;
            have = 0;
        }
        let said = answer
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        media_type = said.unwrap_or_default().to_owned();
        loop {
            match answer.chunk().await {
                Ok(Some(chunk)) => {
                    writer.write_all(&chunk).map_err(|error| disk(&error))?;
                    have += chunk.len() as u64;
                }
                Ok(None) => return Ok(media_type),
                Err(error) if left == 0 => return Err(connection_fault(error)),
                Err(_) => break,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(media_type)
}

fn disk(error: &std::io::Error) -> Fault {
    Fault::new(
        ExitReason::Other,
        format!("the file cannot be written: {error}"),
    )
}

/// A path that nothing is at yet.
fn free(folder: &Path, stem: &str, ending: &str) -> PathBuf {
    let mut path = folder.join(format!("{stem}.{ending}"));
    for count in 2.. {
        if !path.exists() {
            break;
        }
        path = folder.join(format!("{stem}-{count}.{ending}"));
    }
    path
}

/// The ending of a file's name, by its media type or its first bytes.
fn ending(bytes: &[u8], media_type: &str) -> &'static str {
    let media_type = media_type.split(';').next().unwrap_or_default();
    match (media_type, bytes) {
        ("image/png", _) | (_, [0x89, b'P', ..]) => "png",
        ("image/jpeg", _) | (_, [0xff, 0xd8, ..]) => "jpg",
        ("image/webp", _) | (_, [b'R', b'I', b'F', b'F', ..]) => "webp",
        ("image/gif", _) => "gif",
        ("image/svg+xml", _) => "svg",
        ("video/mp4", _) => "mp4",
        ("video/webm", _) => "webm",
        ("text/plain", _) => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_tell_what_was_asked() {
        assert_eq!(
            stem(Some("A red fox, at dawn! --ar 3:2"), "x"),
            "a-red-fox-at-dawn"
        );
        assert_eq!(
            stem(Some("ein Fuchs im Grünen"), "x"),
            "ein-fuchs-im-grünen"
        );
        assert_eq!(stem(Some("../../etc/passwd"), "x"), "etc-passwd");
        assert_eq!(stem(None, "design.vectorize"), "design-vectorize");
        assert_eq!(stem(Some("…"), "x"), "result");
        assert!(stem(Some(&"long ".repeat(100)), "x").len() <= LONGEST_NAME);
        assert_eq!(tail("0199-abcdef"), "abcdef");
        assert_eq!(tail("ab"), "ab");
    }

    #[test]
    fn files_are_found_whatever_the_shape_of_an_answer() {
        let job = json!({ "files": [{ "url": "http://h/assets/a" }], "result": { "x": "http://h/assets/b" } });
        assert_eq!(
            files_of(&job),
            [ResultFile::Url("http://h/assets/a".into())]
        );
        let answer = json!({ "data": [{ "b64_json": "aGk=" }, { "url": "http://h/assets/a?x" }, { "url": "http://elsewhere/a" }] });
        assert_eq!(
            files_of(&answer),
            [
                ResultFile::Inline(b"hi".to_vec()),
                ResultFile::Url("http://h/assets/a?x".into())
            ]
        );
    }
}
