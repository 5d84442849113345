//! What a made picture says about its making: PNG text chunks, and an XMP packet in JPEG and WebP.

use std::fmt::Write as _;

mod read;

/// How a picture came to be; written into its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The words it was made from.
    pub prompt: String,
    /// The seed, when there was one.
    pub seed: Option<u64>,
    /// The model asked for.
    pub model: String,
    /// The job it belongs to.
    pub job: String,
    /// What made it, such as "procedural".
    pub engine: String,
    /// How finely a clip was made, where that was not as usual.
    pub definition: String,
    /// The description it was rendered from, for whoever wrote it; one that is too long is left out.
    pub scene: String,
}

/// A JPEG segment ends at 64 KiB; a prompt of this many bytes fits even when every character is escaped.
const LONGEST: usize = 8_000;
const SHORT: usize = 300;
const SCENE: usize = 2_000;

impl Label {
    /// Names and values in a fixed order, empty ones left out.
    pub(crate) fn entries(&self) -> Vec<(&'static str, String)> {
        let seed = self.seed.map(|seed| seed.to_string()).unwrap_or_default();
        [
            ("prompt", &self.prompt, LONGEST),
            ("seed", &seed, SHORT),
            ("model", &self.model, SHORT),
            ("job", &self.job, SHORT),
            ("engine", &self.engine, SHORT),
            ("definition", &self.definition, SHORT),
            ("scene", &self.scene, SCENE),
        ]
        .into_iter()
        .filter(|(name, value, most)| {
            !value.is_empty() && (*name != "scene" || value.len() <= *most)
        })
        .map(|(name, value, most)| {
            (
                name,
                value[..value.floor_char_boundary(most)].replace('\0', " "),
            )
        })
        .collect()
    }

    /// The same as an XMP packet.
    pub(crate) fn xmp(&self) -> String {
        let mut packet = String::from(concat!(
            "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>",
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">",
            "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">",
            "<rdf:Description rdf:about=\"\" xmlns:atelier=\"urn:atelier:label\"",
        ));
        for (name, value) in self.entries() {
            let _ = write!(packet, " atelier:{name}=\"{}\"", escaped(&value));
        }
        packet.push_str("/></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>");
        packet
    }
}

fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
