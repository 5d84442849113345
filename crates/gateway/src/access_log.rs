//! The access log: a line for each request in the combined format that log readers know, to a file of its own. A thread
//! writes; whoever answers only hands the line over, and a line that finds the queue full is dropped. The file is opened for
//! each batch of lines, so that it may be moved away and rotated without a word. It is for the service's user and group alone.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use atelier_contract::time::timestamp;

/// Lines that may wait to be written.
const QUEUE: usize = 8_192;
/// Bytes that are written at once.
const AT_ONCE: usize = 256 * 1024;
/// Who may read the file.
const MODE: u32 = 0o640;
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A request and its answer.
pub(crate) struct Line<'a> {
    pub(crate) peer: IpAddr,
    /// Whose request it was, when it had a key.
    pub(crate) account: Option<&'a str>,
    pub(crate) now_ms: i64,
    /// Method, path and version.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) bytes: Option<u64>,
    pub(crate) referer: &'a str,
    pub(crate) agent: &'a str,
}

/// Writes the access log on a thread of its own.
pub(crate) struct AccessLog {
    lines: Option<SyncSender<String>>,
    writer: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Begins to write to a file; none for an empty name.
    pub(crate) fn start(path: &Path) -> io::Result<Option<Self>> {
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let path = path.to_owned();
        opened(&path)?;
        let (lines, waiting) = sync_channel(QUEUE);
        let writer = std::thread::Builder::new().name("access-log".into());
        let writer = writer.spawn(move || write(&path, &waiting))?;
        Ok(Some(Self {
            lines: Some(lines),
            writer: Some(writer),
        }))
    }

    /// Hands a line over.
    pub(crate) fn write(&self, line: &Line<'_>) {
        if let Some(lines) = &self.lines {
            // A disk that is too slow for the log must not slow down answers.
            let _ = lines.try_send(combined(line));
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(path: &Path, waiting: &Receiver<String>) {
    while let Ok(mut text) = waiting.recv() {
        while text.len() < AT_ONCE {
            let Ok(line) = waiting.try_recv() else { break };
            text.push_str(&line);
        }
        let written = opened(path).and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            tracing::warn!(%error, "the access log cannot be written");
        }
    }
}

/// The file, closed to others whatever the umask is and whoever made it: lines name accounts and addresses.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(MODE).open(path)?;
    let about = file.metadata()?;
    let mode = about.mode() & 0o777;
    // A device or a pipe belongs to somebody else.
    if about.is_file() && mode & !MODE != 0 {
        let tightened = file.set_permissions(Permissions::from_mode(mode & MODE));
        if let Err(error) = tightened {
            tracing::warn!(%error, path = %path.display(), "the access log is readable by other users");
        }
    }
    Ok(file)
}

/// A line as Apache and nginx write it.
fn combined(line: &Line<'_>) -> String {
    let bytes = line.bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let mut text = format!(
        "{} - {} [{}] \"{}\" {} {bytes} ",
        line.peer,
        line.account.unwrap_or("-"),
        time(line.now_ms),
        quoted(&line.request),
        line.status,
    );
    let or_none = |text: &str| {
        if text.is_empty() {
            "-".into()
        } else {
            quoted(text)
        }
    };
    let (referer, agent) = (or_none(line.referer), or_none(line.agent));
    let _ = writeln!(text, "\"{referer}\" \"{agent}\"");
    text
}

/// `16/Nov/2026:07:01:50 +0000`.
fn time(now_ms: i64) -> String {
    let text = timestamp(now_ms);
    let (date, clock) = text.split_once(' ').unwrap_or((&text, ""));
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let month: usize = month.and_then(|month| month.parse().ok()).unwrap_or(1);
    let month = MONTHS[(month - 1).min(11)];
    let (year, day) = (year.unwrap_or_default(), day.unwrap_or_default());
    format!("{day}/{month}/{year}:{clock} +0000")
}

/// A caller's words cannot end the field that they are in, nor the line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(agent: &str) -> String {
        combined(&Line {
            peer: "192.0.2.7".parse().expect("an address"),
            account: Some("acc1"),
            now_ms: 1_794_812_510_000,
            request: "POST /artgen/v1/imagine HTTP/1.1".into(),
            status: 200,
            bytes: Some(81),
            referer: "",
            agent,
        })
    }

    #[test]
    fn a_line_is_in_the_combined_format() {
        let wanted = "192.0.2.7 - acc1 [16/Nov/2026:07:01:50 +0000] \"POST /artgen/v1/imagine HTTP/1.1\" 200 81 \"-\" \"curl/8.0\"\n";
        assert_eq!(line("curl/8.0"), wanted);
    }

    /// The promise: no caller can write a line of somebody else's.
    #[test]
    fn a_caller_cannot_end_its_line() {
        let line = line("a\" 500\n1.2.3.4 - - \\");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains(r#""a\" 500\x0a1.2.3.4 - - \\""#), "{line}");
    }
}
