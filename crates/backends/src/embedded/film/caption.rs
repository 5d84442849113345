//! Reads back what a video made here says about its making.

/// The label stands at the end of a file; nothing of it lies further back.
const LABEL_BYTES: usize = 64 * 1024;

/// The words and the seed of a video.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Caption {
    pub(super) prompt: String,
    pub(super) seed: u64,
}

/// The label of a video; `None` when it has none of ours.
pub(super) fn read(bytes: &[u8]) -> Option<Caption> {
    let tail = &bytes[bytes.len().saturating_sub(LABEL_BYTES)..];
    let start = tail
        .windows(NAMESPACE.len())
        .rposition(|part| part == NAMESPACE)?;
    let text = String::from_utf8_lossy(&tail[start..]);
    Some(Caption {
        prompt: attribute(&text, "prompt")?,
        seed: attribute(&text, "seed")?.parse().ok()?,
    })
}

const NAMESPACE: &[u8] = b"urn:atelier:label";

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

#[cfg(test)]
mod tests {
    use atelier_media::{Label, Picture, encode_video, label_video};

    use super::*;

    #[test]
    fn a_label_reads_back_what_was_written() {
        let frames = [
            Picture::filled(32, 32, [10, 90, 200, 255]),
            Picture::filled(32, 32, [0; 4]),
        ];
        let mut bytes = encode_video(&mut frames.into_iter(), 24).expect("a clip");
        assert_eq!(read(&bytes), None);
        let label = Label {
            prompt: "a <fox> & \"an owl\"".into(),
            seed: Some(77),
            ..Label::default()
        };
        label_video(&mut bytes, &label);
        let expected = Caption {
            prompt: label.prompt,
            seed: 77,
        };
        assert_eq!(read(&bytes), Some(expected));
    }
}
