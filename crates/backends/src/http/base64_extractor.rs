//! Base64 taken out of a JSON text as it arrives, so that a large picture is in memory once and as itself: the text
//! that is kept has a number in its place. Server-sent events pass through the same way.

use base64::engine::general_purpose::STANDARD_NO_PAD;
use base64::{DecodeError, DecodeSliceError, Engine as _};

use crate::backend::{Acceptance, Class, Fault};

/// No picture or clip is larger.
const MOST_BLOB: usize = 128 * 1024 * 1024;
/// The text around the blobs is no longer.
const MOST_TEXT: usize = 4 * 1024 * 1024;
/// Names of fields are looked at up to this length.
const MOST_NAME: usize = 32;

/// Characters that are decoded at once, so that a text in which none can be costs little to try.
const MOST_RUN: usize = 4096;

/// Takes the base64 of certain fields out of a JSON text that comes in pieces.
pub(crate) struct Base64Extractor<'a> {
    fields: &'a [&'a str],
    text: Vec<u8>,
    blobs: ExtractedBlobs,
    state: ExtractorState,
    /// The last string that ended; a colon makes it a field's name.
    name: Vec<u8>,
    /// The value that comes next belongs to one of the fields.
    armed: bool,
    /// Inside a list of such values.
    list: bool,
    trouble: Option<ExtractError>,
    /// So much of the text has no end of an event.
    looked_at: usize,
}

/// What was taken out of a text, by the numbers that stand there now.
#[derive(Default)]
pub(crate) struct ExtractedBlobs(Vec<Option<Vec<u8>>>);

impl ExtractedBlobs {
    /// The blob with a number, once.
    pub(crate) fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        let blob = self.0.get_mut(usize::try_from(number).ok()?)?;
        blob.take().filter(|bytes| !bytes.is_empty())
    }
}

/// Why nothing of a text can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtractError {
    TooMuchText,
    BadBase64,
    TooLarge,
}

enum ExtractorState {
    Outside,
    Inside { escaped: bool },
    Blob(Base64Decoder),
}

impl<'a> Base64Extractor<'a> {
    /// Looks for these fields; a field may hold one text or a list of texts.
    pub(crate) fn new(fields: &'a [&'a str]) -> Self {
        Self {
            fields,
            text: Vec::new(),
            blobs: ExtractedBlobs::default(),
            state: ExtractorState::Outside,
            name: Vec::new(),
            armed: false,
            list: false,
            trouble: None,
            looked_at: 0,
        }
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, mut piece: &[u8]) {
        while let [byte, rest @ ..] = piece {
            // Nearly all of a picture's text is plain; a character at a time it was half of what a call cost.
            let run = match &mut self.state {
                ExtractorState::Blob(decoder) => decoder.take_run(piece),
                _ => 0,
            };
            if run > 0 {
                piece = &piece[run..];
                self.check_blob();
            } else {
                self.step(*byte);
                piece = rest;
            }
        }
        if self.text.len() > MOST_TEXT {
            self.trouble = Some(ExtractError::TooMuchText);
            self.text.clear();
            self.looked_at = 0;
        }
    }

    /// Whether more of it may be of use.
    pub(crate) fn is_valid(&self) -> bool {
        self.trouble.is_none()
    }

    /// Why nothing of it can be used, if so.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let trouble = self.trouble?;
        Some(match trouble {
            ExtractError::TooLarge => Fault::useless("a picture of the vendor is too large"),
            ExtractError::TooMuchText | ExtractError::BadBase64 => Fault {
                taken: Acceptance::Perhaps,
                ..Fault::vendor(Class::Retry, format!("nonsense: {trouble:?}"))
            },
        })
    }

    /// The text up to now, with a number in the place of each blob; what follows is kept for the next time.
    pub(crate) fn take_text(&mut self) -> Vec<u8> {
        self.looked_at = 0;
        std::mem::take(&mut self.text)
    }

    /// The text up to and with the last blank line: the events that are complete.
    pub(crate) fn take_events(&mut self) -> Vec<u8> {
        let ends = |pair: &[u8]| pair == b"\n\n" || pair == b"\r\n";
        // An end may have begun in what was looked at before.
        let from = self.looked_at.saturating_sub(3).max(1);
        let end = (from..self.text.len()).rev().find(|&at| {
            ends(&self.text[at - 1..=at]) && (self.text[at - 1] == b'\n' || self.blank_line(at))
        });
        let Some(end) = end else {
            self.looked_at = self.text.len();
            return Vec::new();
        };
        let rest = self.text.split_off(end + 1);
        self.looked_at = rest.len();
        std::mem::replace(&mut self.text, rest)
    }

    fn blank_line(&self, at: usize) -> bool {
        at >= 3 && &self.text[at - 3..=at] == b"\r\n\r\n"
    }

    /// The blob with a number, once.
    pub(crate) fn blob(&mut self, number: u64) -> Option<Vec<u8>> {
        self.blobs.take(number)
    }

    /// What was taken out, once the text has ended.
    pub(crate) fn into_blobs(self) -> ExtractedBlobs {
        self.blobs
    }

    fn step(&mut self, byte: u8) {
        match &mut self.state {
            ExtractorState::Outside => self.outside(byte),
            ExtractorState::Inside { escaped } => {
                let ends = byte == b'"' && !*escaped;
                *escaped = byte == b'\\' && !*escaped;
                self.text.push(byte);
                if ends {
                    self.state = ExtractorState::Outside;
                } else if self.name.len() < MOST_NAME {
                    self.name.push(byte);
                }
            }
            ExtractorState::Blob(decoder) if byte == b'"' => {
                if decoder.broken {
                    self.trouble = Some(ExtractError::BadBase64);
                }
                let bytes = std::mem::take(&mut decoder.bytes);
                self.text.extend(self.blobs.0.len().to_string().bytes());
                self.blobs.0.push(Some(bytes));
                self.state = ExtractorState::Outside;
            }
            ExtractorState::Blob(decoder) => {
                decoder.take(byte);
                self.check_blob();
            }
        }
    }

    fn check_blob(&mut self) {
        if let ExtractorState::Blob(decoder) = &mut self.state
            && decoder.bytes.len() > MOST_BLOB
        {
            decoder.bytes = Vec::new();
            self.trouble = Some(ExtractError::TooLarge);
        }
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' if self.armed => {
                self.state = ExtractorState::Blob(Base64Decoder::default());
                return;
            }
            b'"' => {
                self.name.clear();
                self.state = ExtractorState::Inside { escaped: false };
            }
            b':' => {
                let is_one = |field: &&str| field.as_bytes() == self.name;
                self.armed = self.fields.iter().any(is_one);
                self.name.clear();
            }
            b'[' => self.list = self.armed,
            b',' if self.list => {}
            b',' | b']' | b'{' | b'}' => (self.armed, self.list) = (false, false),
            _ => {}
        }
        self.text.push(byte);
    }
}

/// Base64 into bytes: whole groups of plain characters at once, everything else one character at a time.
#[derive(Default)]
struct Base64Decoder {
    bytes: Vec<u8>,
    bits: u32,
    loaded: u32,
    /// Characters of an escape that has begun.
    escape: Vec<u8>,
    /// Whether a comma will end the head of a data-URI.
    head: bool,
    seen: usize,
    broken: bool,
}

impl Base64Decoder {
    /// Takes as many whole groups of plain characters as the piece begins with; how many characters these were.
    fn take_run(&mut self, piece: &[u8]) -> usize {
        // In the first characters a data-URI may begin, and a group or an escape that has begun is to end first.
        if self.seen <= 5 || self.head || self.loaded != 0 || !self.escape.is_empty() {
            return 0;
        }
        let piece = &piece[..piece.len().min(MOST_RUN)];
        // A group with padding is read a character at a time: with it, all that stands before would not be plain.
        let end = memchr::memchr2(b'"', b'=', piece).unwrap_or(piece.len());
        let mut run = end / 4 * 4;
        let before = self.bytes.len();
        while run > 0 {
            self.bytes.resize(before + run / 4 * 3, 0);
            match STANDARD_NO_PAD.decode_slice(&piece[..run], &mut self.bytes[before..]) {
                Ok(_) => break,
                // What stands before a character of another kind is plain.
                Err(DecodeSliceError::DecodeError(DecodeError::InvalidByte(at, _))) if at < run => {
                    run = at / 4 * 4;
                }
                Err(_) => run = 0,
            }
        }
        self.bytes.truncate(before + run / 4 * 3);
        self.seen += run;
        run
    }

    fn take(&mut self, byte: u8) {
        if !self.escape.is_empty() || byte == b'\\' {
            self.escape.push(byte);
            let Some(byte) = unescaped(&self.escape) else {
                return;
            };
            self.escape.clear();
            self.digit(byte);
        } else {
            self.digit(byte);
        }
    }

    fn digit(&mut self, byte: u8) {
        self.seen += 1;
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' if !self.head => 62,
            b'/' | b'_' if !self.head => 63,
            b'=' | b' ' | b'\r' | b'\n' => return,
            // The colon of `data:`, with which no base64 begins.
            b':' if self.seen == 5 => {
                self.head = true;
                return;
            }
            b',' if self.head => {
                self.head = false;
                self.bytes.clear();
                (self.bits, self.loaded) = (0, 0);
                return;
            }
            _ if self.head => return,
            _ => {
                self.broken = true;
                return;
            }
        };
        self.bits = self.bits << 6 | u32::from(value);
        self.loaded += 6;
        if self.loaded >= 8 {
            self.loaded -= 8;
            self.bytes.push((self.bits >> self.loaded) as u8);
        }
    }
}

/// The character of a JSON escape, once it is complete.
fn unescaped(escape: &[u8]) -> Option<u8> {
    match escape {
        [] | [_] => None,
        [_, b'u', digits @ ..] if digits.len() < 4 => None,
        [_, b'u', digits @ ..] => {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            Some(u8::from_str_radix(digits, 16).unwrap_or(b'?'))
        }
        [_, b'n' | b'r' | b't', ..] => Some(b'\n'),
        [_, other, ..] => Some(*other),
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn sifted(
        fields: &'static [&'static str],
        text: &str,
        step: usize,
    ) -> Base64Extractor<'static> {
        let mut sifter = Base64Extractor::new(fields);
        for piece in text.as_bytes().chunks(step) {
            sifter.take(piece);
        }
        sifter
    }

    #[test]
    fn pictures_come_out_whole_however_the_text_is_cut() {
        let bytes: Vec<u8> = (0..=255_u8).cycle().take(1000).collect();
        let text = format!(
            r#"{{"created":1,"data":[{{"b64_json":"{0}","note":"b64_json"}},{{"url":"x","b64_json" : "{0}"}}]}}"#,
            STANDARD.encode(&bytes)
        );
        for step in [1, 2, 7, 64, 5000] {
            let mut sifter = sifted(&["b64_json"], &text, step);
            assert!(sifter.is_valid());
            let kept = String::from_utf8(sifter.take_text()).expect("text");
            let wanted = r#"{"created":1,"data":[{"b64_json":0,"note":"b64_json"},{"url":"x","b64_json" : 1}]}"#;
            assert_eq!(kept, wanted);
            assert_eq!(sifter.blob(0), Some(bytes.clone()));
            assert_eq!(sifter.blob(0), None);
            assert_eq!(sifter.blob(1), Some(bytes.clone()));
        }
    }

    /// A group with padding was once an error of the whole run, and every group before it was then tried with all that follow.
    #[test]
    fn everything_before_a_padded_group_is_read_at_once() {
        for (length, padded) in [(999, 0), (1000, 4), (1001, 4)] {
            let text = STANDARD.encode(vec![7; length]) + "\"";
            let mut decoder = Base64Decoder {
                seen: 8,
                ..Base64Decoder::default()
            };
            let run = decoder.take_run(text.as_bytes());
            assert_eq!(run, text.len() - 1 - padded, "{length} bytes");
        }
    }

    /// Lines, the other alphabet, padding and escapes between plain groups, in pieces of any size: the same as character by
    /// character, which is how pieces of one are read.
    #[test]
    fn groups_read_at_once_are_what_single_characters_are() {
        let mut dice = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let bytes: Vec<u8> = (0..dice.usize(0..400)).map(|_| dice.u8(..)).collect();
            let mut text = String::from(["", "data:image/png;base64,"][dice.usize(0..2)]);
            for (place, digit) in STANDARD.encode(&bytes).chars().enumerate() {
                match digit {
                    '+' if dice.bool() => text.push('-'),
                    '/' if dice.bool() => text.push_str("\\/"),
                    _ => text.push(digit),
                }
                if place % 76 == 75 && dice.bool() {
                    text.push_str("\\n");
                }
            }
            let text = format!(r#"{{"b64_json":"{text}","x":1}}"#);
            for step in [1, 3, 50, 1000] {
                let mut sifter = sifted(&["b64_json"], &text, step);
                assert!(sifter.is_valid(), "{text}");
                let wanted = Some(bytes.clone()).filter(|bytes| !bytes.is_empty());
                assert_eq!(sifter.blob(0), wanted, "{text} in pieces of {step}");
            }
        }
    }

    #[test]
    fn lists_of_pictures_and_nulls_are_understood() {
        let text = r#"{"images":["AQI=","data:image/png;base64,AwQ="],"parameters":{"images":null,"x":"AQI="}}"#;
        let mut sifter = sifted(&["images"], text, 3);
        assert_eq!(
            sifter.take_text(),
            br#"{"images":[0,1],"parameters":{"images":null,"x":"AQI="}}"#
        );
        assert_eq!(sifter.blob(0), Some(vec![1, 2]));
        assert_eq!(sifter.blob(1), Some(vec![3, 4]));
    }

    #[test]
    fn escapes_inside_base64_are_read() {
        let mut sifter = sifted(&["b64_json"], r#"{"b64_json":"\/+\u003d\u002f8="}"#, 1);
        assert_eq!(sifter.take_text(), br#"{"b64_json":0}"#);
        assert_eq!(sifter.blob(0), STANDARD.decode("/+/8").ok());
    }

    #[test]
    fn other_characters_are_trouble_and_events_come_one_by_one() {
        let broken = sifted(&["b64_json"], r#"{"b64_json":"<!>"}"#, 9);
        assert!(!broken.is_valid() && broken.fault().is_some());
        let mut sifter = sifted(
            &["b64_json"],
            "event: a\ndata: {\"b64_json\":\"AQI=\"}\n\nevent: b\n",
            4,
        );
        assert_eq!(
            sifter.take_events(),
            b"event: a\ndata: {\"b64_json\":0}\n\n"
        );
        sifter.take(b"data: {}\r\n\r\nrest");
        assert_eq!(sifter.take_events(), b"event: b\ndata: {}\r\n\r\n");
        assert_eq!(sifter.take_text(), b"rest");
    }

    /// Each piece is looked at once: a server that sends a letter at a time cannot keep a processor busy.
    #[test]
    fn a_text_in_tiny_pieces_costs_no_more_than_in_large_ones() {
        let mut sifter = Base64Extractor::new(&["b64_json"]);
        let began = tokio::time::Instant::now();
        for _ in 0..500_000 {
            sifter.take(b"x");
            assert!(sifter.take_events().is_empty());
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
        sifter.take(b"\n");
        assert!(sifter.take_events().is_empty());
        sifter.take(b"\n");
        assert_eq!(sifter.take_events().len(), 500_002);
    }
}
