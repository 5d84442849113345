//! A form with files, as `multipart/form-data`, built in memory.

use bytes::Bytes;
use serde_json::{Map, Value};

/// A form under construction: fields and files in their order.
#[derive(Clone, Default)]
pub(crate) struct MultipartForm {
    parts: Vec<FormPart>,
}

#[derive(Clone)]
struct FormPart {
    head: String,
    body: Bytes,
}

impl MultipartForm {
    /// A form of the fields of a JSON document.
    pub(crate) fn of(fields: &Map<String, Value>) -> Self {
        let add = |form: Self, (name, value): (&String, &Value)| match value {
            Value::String(text) => form.text(name, text.as_str()),
            other => form.text(name, other.to_string()),
        };
        fields.iter().fold(Self::default(), add)
    }

    pub(crate) fn text(mut self, name: &str, value: impl Into<String>) -> Self {
        let head = format!(
            "Content-Disposition: form-data; name=\"{}\"\r\n\r\n",
            quoted(name)
        );
        self.parts.push(FormPart {
            head,
            body: Bytes::from(value.into()),
        });
        self
    }

    pub(crate) fn file(
        mut self,
        name: &str,
        file_name: &str,
        media_type: &str,
        body: Bytes,
    ) -> Self {
        let (name, file_name) = (quoted(name), quoted(file_name));
        let head = format!(
            "Content-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {media_type}\r\n\r\n"
        );
        self.parts.push(FormPart { head, body });
        self
    }

    /// The body and its media type.
    pub(crate) fn finish(self) -> (Bytes, String) {
        let boundary = self.boundary();
        let size: usize = self
            .parts
            .iter()
            .map(|part| part.head.len() + part.body.len() + boundary.len() + 6)
            .sum();
        let mut bytes = Vec::with_capacity(size + boundary.len() + 6);
        for part in &self.parts {
            bytes.extend_from_slice(b"--");
            bytes.extend_from_slice(boundary.as_bytes());
            bytes.extend_from_slice(b"\r\n");
            bytes.extend_from_slice(part.head.as_bytes());
            bytes.extend_from_slice(&part.body);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"--");
        bytes.extend_from_slice(boundary.as_bytes());
        bytes.extend_from_slice(b"--\r\n");
        (
            bytes.into(),
            format!("multipart/form-data; boundary={boundary}"),
        )
    }

    /// A line that is in none of the parts, so that no caller's text can end its part early.
    fn boundary(&self) -> String {
        let mut number = 0_u64;
        loop {
            let boundary = format!("atelier-part-{number:016x}");
            let line = boundary.as_bytes();
            let inside = |part: &FormPart| part.body.windows(line.len()).any(|text| text == line);
            if !self.parts.iter().any(inside) {
                return boundary;
            }
            number = number
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
        }
    }
}

/// A name without what would end it early.
fn quoted(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '"' | '\\' => '_',
            c if c.is_control() => '_',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_files_are_written_in_order() {
        let form = MultipartForm::default().text("prompt", "a cat").file(
            "image[]",
            "0.png",
            "image/png",
            Bytes::from_static(b"\x89PNG"),
        );
        let (bytes, media_type) = form.finish();
        let boundary = media_type
            .strip_prefix("multipart/form-data; boundary=")
            .expect("a boundary");
        let wanted = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na cat\r\n--{boundary}\r\n\
             Content-Disposition: form-data; name=\"image[]\"; filename=\"0.png\"\r\nContent-Type: image/png\r\n\r\n"
        );
        assert!(bytes.starts_with(wanted.as_bytes()));
        assert!(
            bytes.ends_with(
                format!("\u{0}PNG\r\n--{boundary}--\r\n")
                    .replace('\0', "")
                    .as_bytes()
            )
        );
    }

    #[test]
    fn a_prompt_that_holds_the_boundary_gets_another_one() {
        let plain = MultipartForm::default().text("prompt", "a cat").finish().1;
        let boundary = plain.rsplit('=').next().expect("a boundary").to_owned();
        let (bytes, media_type) = MultipartForm::default()
            .text("prompt", format!("\r\n--{boundary}--\r\n"))
            .finish();
        assert!(!media_type.ends_with(&boundary));
        let own = media_type.rsplit('=').next().expect("a boundary");
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        assert_eq!(text.matches(own).count(), 2);
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        let (bytes, _) = MultipartForm::default()
            .file("image", "a\"\r\nX: y", "image/png", Bytes::new())
            .finish();
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        assert!(text.contains("filename=\"a___X: y\""), "{text}");
    }

    /// Whatever is in a form, a reader that others wrote finds it again.
    #[tokio::test]
    async fn a_kept_reader_finds_every_part_again() {
        let mut dice = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut form = MultipartForm::default();
            let mut parts = Vec::new();
            for number in 0..dice.usize(0..6) {
                let alphabet = b"-\r\natelier-part-0 \"x";
                let body: Vec<u8> = (0..dice.usize(0..200))
                    .map(|_| alphabet[dice.usize(..alphabet.len())])
                    .collect();
                let name = format!("field[{number}]");
                form = if dice.bool() {
                    form.file(&name, "a.png", "image/png", body.clone().into())
                } else {
                    form.text(&name, String::from_utf8(body.clone()).expect("text"))
                };
                parts.push((name, body));
            }
            let empty = parts.is_empty();
            let (bytes, media_type) = form.finish();
            let boundary = multer::parse_boundary(&media_type).expect("a boundary");
            let whole = futures_util::stream::iter([Ok::<_, std::io::Error>(bytes)]);
            let mut reader = multer::Multipart::new(whole, boundary);
            let mut found = Vec::new();
            while let Some(field) = reader.next_field().await.expect("a form") {
                let name = field.name().expect("a name").to_owned();
                found.push((name, field.bytes().await.expect("a body").to_vec()));
            }
            assert_eq!(found, parts, "empty: {empty}");
        }
    }
}
