//! A multipart form, for the one kind of request that carries files.

use bytes::{BufMut as _, Bytes, BytesMut};

/// A form in the making.
pub(super) struct Form {
    boundary: String,
    body: BytesMut,
}

impl Form {
    /// A form whose parts are parted by this word, which nothing in them may contain.
    pub(super) fn new(word: &str) -> Self {
        Self {
            boundary: format!("atelier-{word}"),
            body: BytesMut::new(),
        }
    }

    /// Adds a field.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.part(name, "", text.as_bytes());
    }

    /// Adds a file.
    pub(super) fn file(&mut self, name: &str, media_type: &str, bytes: &[u8]) {
        let extension = media_type.rsplit('/').next().unwrap_or("bin");
        let more = format!("; filename=\"{name}.{extension}\"\r\nContent-Type: {media_type}");
        self.part(name, &more, bytes);
    }

    fn part(&mut self, name: &str, more: &str, bytes: &[u8]) {
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n",
            self.boundary
        );
        self.body.put_slice(head.as_bytes());
        self.body.put_slice(bytes);
        self.body.put_slice(b"\r\n");
    }

    /// The body and its content type.
    pub(super) fn finish(mut self) -> (Bytes, String) {
        self.body
            .put_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        let content_type = format!("multipart/form-data; boundary={}", self.boundary);
        (self.body.freeze(), content_type)
    }
}
