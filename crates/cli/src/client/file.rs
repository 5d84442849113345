//! Files of this machine that are sent along.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fault::{ExitReason, Fault};

/// A file that is sent along.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UploadFile {
    /// What it is called.
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl UploadFile {
    /// Whether it is something to look at.
    pub(super) fn is_media(&self) -> bool {
        !self.media_type.starts_with("application/")
    }

    /// What is written in it.
    pub(super) fn text(self) -> Result<String, Fault> {
        let Self { name, bytes, .. } = self;
        let wrong = |_| Fault::new(ExitReason::Usage, format!("{name}: is not text"));
        String::from_utf8(bytes).map_err(wrong)
    }
}

/// The bytes of a file; `-` is standard input.
fn read(file: &str) -> Result<Vec<u8>, Fault> {
    let wrong = |error: std::io::Error| Fault::new(ExitReason::Usage, format!("{file}: {error}"));
    if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(wrong)?;
        return Ok(bytes);
    }
    std::fs::read(file).map_err(wrong)
}

/// Reads a file that is sent along.
pub(super) fn open(file: &str) -> Result<UploadFile, Fault> {
    let bytes = read(file)?;
    let name = Path::new(file)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok(UploadFile {
        name: name.unwrap_or_else(|| "file".into()),
        media_type: media_type(&bytes),
        bytes,
    })
}

/// What is written in a file; `-` is standard input.
pub(crate) fn read_text(file: &str) -> Result<String, Fault> {
    open(file)?.text()
}

/// The picture or clip at a path; nothing when there is none.
pub(crate) fn media_file_at(path: &str) -> Option<UploadFile> {
    let file = open(path).ok()?;
    file.is_media().then_some(file)
}

/// What a file is, by its first bytes.
fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        [0x1a, 0x45, 0xdf, 0xa3, ..] => "video/webm",
        _ => "application/octet-stream",
    }
}

/// A file as text that can stand in JSON.
pub(crate) fn data_uri(file: &UploadFile) -> String {
    format!(
        "data:{};base64,{}",
        file.media_type,
        STANDARD.encode(&file.bytes)
    )
}
