//! Reads back what a file made here says about its making.

use super::Label;

/// The name all our labels in XMP packets carry.
const NAMESPACE: &[u8] = b"urn:atelier:label";
/// No label is longer than this, so nothing of it lies further away from where it begins.
const MOST: usize = 96 * 1024;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Label {
    /// The label of a picture or a clip; `None` when it has none of ours.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(PNG) {
            return from_chunks(bytes);
        }
        // Packets stand near the start of a JPEG and at the end of a WebP or a clip.
        let head = &bytes[..bytes.len().min(MOST)];
        let tail = &bytes[bytes.len().saturating_sub(MOST)..];
        from_packet(tail).or_else(|| from_packet(head))
    }

    fn take(&mut self, name: &str, value: String) {
        match name {
            "prompt" => self.prompt = value,
            "seed" => self.seed = value.parse().ok(),
            "model" => self.model = value,
            "job" => self.job = value,
            "engine" => self.engine = value,
            "definition" => self.definition = value,
            "scene" => self.scene = value,
            _ => {}
        }
    }
}

/// From the text chunks of a PNG.
fn from_chunks(bytes: &[u8]) -> Option<Label> {
    let mut label = Label::default();
    let mut rest = &bytes[PNG.len()..];
    while let Some((head, body)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes(head[..4].try_into().ok()?) as usize;
        let data = body.get(..length)?;
        match &head[4..] {
            b"iTXt" => {
                if let Some((name, value)) = text_chunk(data) {
                    label.take(name, value);
                }
            }
            // Labels come before the pixels.
            b"IDAT" => break,
            _ => {}
        }
        rest = body.get(length.checked_add(4)?..)?;
    }
    (!label.engine.is_empty()).then_some(label)
}

/// Keyword and text of an uncompressed international text chunk.
fn text_chunk(data: &[u8]) -> Option<(&str, String)> {
    let (name, rest) = split(data)?;
    let (flags, rest) = rest.split_at_checked(2)?;
    let (_language, rest) = split(rest)?;
    let (_translated, text) = split(rest)?;
    let plain = flags[0] == 0;
    plain.then(|| {
        let text = String::from_utf8_lossy(text).into_owned();
        Some((std::str::from_utf8(name).ok()?, text))
    })?
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// From an XMP packet somewhere in these bytes.
fn from_packet(bytes: &[u8]) -> Option<Label> {
    let start = bytes
        .windows(NAMESPACE.len())
        .rposition(|part| part == NAMESPACE)?;
    let text = String::from_utf8_lossy(&bytes[start..]);
    let end = text.find("/>").unwrap_or(text.len());
    let mut label = Label::default();
    for name in [
        "prompt",
        "seed",
        "model",
        "job",
        "engine",
        "definition",
        "scene",
    ] {
        if let Some(value) = attribute(&text[..end], name) {
            label.take(name, value);
        }
    }
    (label != Label::default()).then_some(label)
}

fn attribute(text: &str, name: &str) -> Option<String> {
    let opening = format!("atelier:{name}=\"");
    let start = text.find(&opening)? + opening.len();
    let end = text[start..].find('"')? + start;
    let mut value = text[start..end].to_owned();
    for (written, meant) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#10;", "\n"),
        ("&#9;", "\t"),
        ("&amp;", "&"),
    ] {
        value = value.replace(written, meant);
    }
    Some(value)
}
