//! The answer to a call for pictures: one JSON document, or events with pictures on the way. Base64 is decoded as it
//! arrives, so a picture is never held as text.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::account::OpenAi;
use super::usage::{self, TokenPrices};
use crate::backend::{Acceptance, Class, Cost, Fault, ProgressTracker};
use crate::downloads::Downloader;
use crate::http::{Base64Extractor, VendorRequest, VendorResponse, with_share};
use crate::vendor_errors::{self, VendorError};

/// Progress that pictures on the way may bring.
const MOST_PROGRESS: u32 = 95;

/// What a call brought.
#[derive(Default)]
pub(super) struct ImageFiles {
    pub(super) files: Vec<Bytes>,
    /// The prompt that was really used.
    pub(super) revised_prompt: Option<String>,
    /// What it took.
    pub(super) cost: Option<Cost>,
}

/// A call under way.
struct ImageReplyReader {
    sifter: Base64Extractor<'static>,
    files: Vec<Vec<u8>>,
    revised_prompt: Option<String>,
    addresses: Vec<String>,
    cost: Option<Cost>,
    token_prices: Option<TokenPrices>,
    fault: Option<Fault>,
    asked: usize,
    progress: ProgressTracker,
    partial_images: u32,
}

impl OpenAi {
    /// Makes a call that is answered with files; more of them, or larger ones, than were asked for are not taken.
    pub(super) async fn call_for_files(
        &self,
        call: VendorRequest,
        progress: &ProgressTracker,
        asked: u32,
        bytes: u64,
    ) -> Result<ImageFiles, Fault> {
        let mut reader = ImageReplyReader {
            sifter: Base64Extractor::new(&["b64_json"]),
            files: Vec::new(),
            revised_prompt: None,
            addresses: Vec::new(),
            cost: None,
            token_prices: self.settings.token_prices,
            fault: None,
            asked: asked as usize,
            progress: progress.clone(),
            partial_images: u32::from(self.settings.partial_images),
        };
        let call = call.within(self.settings.timeout).at_most(bytes);
        let mut take = |piece: &[u8]| reader.take(piece);
        let sent = self.http.submit_streamed(call, &mut take).await;
        if let Some(fault) = reader.sifter.fault() {
            return Err(fault);
        }
        let (answer, share) = sent?;
        if !answer.is_good() {
            return Err(vendor_errors::fault_of_start(&answer));
        }
        reader.end(&answer)?;
        let files = reader.files.into_iter();
        let mut files: Vec<Bytes> = files
            .map(|bytes| with_share(Arc::clone(&share), bytes))
            .collect();
        let mut downloads = Downloader::of_at_most(&self.http, bytes);
        for address in &reader.addresses {
            files.push(downloads.file(address).await?);
        }
        Ok(ImageFiles {
            files,
            revised_prompt: reader.revised_prompt,
            cost: reader.cost,
        })
    }
}

impl ImageReplyReader {
    fn take(&mut self, piece: &[u8]) -> bool {
        self.sifter.take(piece);
        let events = self.sifter.take_events();
        for line in events.split(|&byte| byte == b'\n') {
            self.line(line);
        }
        self.sifter.is_valid()
    }

    /// One line of an event stream; only the data matters, it names its own type.
    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        let Ok(data) = serde_json::from_slice::<Value>(data) else {
            return;
        };
        let kind = data["type"].as_str().unwrap_or_default();
        if kind.ends_with(".partial_image") {
            let number = data["partial_image_index"].as_u64().unwrap_or(0) as u32 + 1;
            let share = number * MOST_PROGRESS / (self.partial_images + 1);
            self.progress.set(share.min(MOST_PROGRESS) as u8);
            // It is only a step on the way: its bytes are let go at once.
            data["b64_json"]
                .as_u64()
                .and_then(|at| self.sifter.blob(at));
        } else if kind.ends_with(".completed") {
            let more = usage::cost_of(&data["usage"], self.token_prices);
            self.cost = usage::sum(self.cost.take(), more);
            self.item(&data);
        } else if data.get("error").is_some() {
            self.fault = Some(failed(&data));
        }
    }

    fn item(&mut self, item: &Value) {
        if self.files.len() + self.addresses.len() >= self.asked {
            return;
        }
        if let Some(bytes) = item["b64_json"]
            .as_u64()
            .and_then(|at| self.sifter.blob(at))
        {
            self.files.push(bytes);
        } else if let Some(url) = item["url"].as_str().filter(|url| !url.is_empty()) {
            self.addresses.push(url.to_owned());
        }
        if let Some(prompt) = item["revised_prompt"].as_str() {
            self.revised_prompt.get_or_insert(prompt.to_owned());
        }
    }

    fn end(&mut self, answer: &VendorResponse) -> Result<(), Fault> {
        let text = self.sifter.take_text();
        if text.trim_ascii_start().starts_with(b"{")
            && let Ok(body) = serde_json::from_slice::<Value>(&text)
        {
            // Some servers have a list of another name.
            let list = body["data"].as_array().or(body["images"].as_array());
            for item in list.into_iter().flatten() {
                self.item(item);
            }
            self.cost = usage::cost_of(&body["usage"], self.token_prices);
            if self.is_empty() && body.get("error").is_some_and(|error| !error.is_null()) {
                self.fault = Some(failed(&body));
            }
        } else {
            for line in text.split(|&byte| byte == b'\n') {
                self.line(line);
            }
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if self.is_empty() {
            let start = VendorResponse {
                bytes: text.into(),
                ..answer.clone()
            };
            return Err(vendor_errors::unexpected(&start));
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.addresses.is_empty()
    }
}

/// What an error inside a good answer means.
pub(super) fn failed(body: &Value) -> Fault {
    let said = VendorError::read(body).unwrap_or_default();
    let fault = vendor_errors::failed_by(&[], &said);
    match fault.class {
        // Something broke in it, after who knows which step.
        Class::Retry => Fault {
            taken: Acceptance::Perhaps,
            ..fault
        },
        _ => fault,
    }
}
