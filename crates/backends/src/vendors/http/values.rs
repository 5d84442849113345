//! What placeholders stand for in a piece of work.

use std::collections::BTreeMap;

use atelier_contract::brief::{Format, Task};
use serde_json::{Value, json};

use super::entries::ModelOffer;
use super::maps::WordMap;
use super::pictures::JobPictures;
use super::pointer::text_of;
use crate::backend::Work;
use crate::fit;
use crate::images::FinishOptions;
use crate::mapping::OrderValues;

/// The values of a piece of work.
pub(super) struct JobValues<'a> {
    work: &'a Work,
    offer: &'a ModelOffer,
    maps: &'a BTreeMap<String, WordMap>,
    model: Option<&'a str>,
    order: OrderValues,
    pub(super) pictures: JobPictures,
}

/// Which of several calls for a piece of work it is, and how many results it makes.
#[derive(Clone, Copy)]
pub(super) struct CallShare {
    pub(super) place: u32,
    pub(super) count: u32,
}

impl<'a> JobValues<'a> {
    pub(super) fn new(
        work: &'a Work,
        offer: &'a ModelOffer,
        maps: &'a BTreeMap<String, WordMap>,
        order: OrderValues,
    ) -> Self {
        let brief = &work.brief;
        let routed = brief.vendor_model.as_deref();
        Self {
            model: routed.or_else(|| offer.model(&brief.model)),
            work,
            offer,
            maps,
            order,
            pictures: JobPictures::default(),
        }
    }

    /// Whether a model is named.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// How pictures are finished. A swapped face leaves the picture as large as it was.
    pub(super) fn finish(&self) -> FinishOptions {
        let finish = self.order.finish.clone();
        let own = || {
            let bytes = self.work.sources.first()?;
            let header = atelier_media::header(bytes).ok()?;
            Some(fit::inside((header.width, header.height)))
        };
        match self.work.brief.task {
            Task::SwapFace => FinishOptions {
                size: own(),
                ..finish
            },
            _ => finish,
        }
    }

    /// What a placeholder stands for in one of the calls.
    pub(super) fn of(&self, name: &str, share: CallShare) -> Value {
        if let Some(value) = self.pictures.value(name) {
            return value;
        }
        match name.split_once('.') {
            Some(("with", name)) => self
                .offer
                .written
                .with
                .get(name)
                .cloned()
                .unwrap_or_default(),
            // As the caller wrote it, with flags and all; pictures have names of their own.
            Some(("request", name)) => {
                let value = self.work.request.get(name);
                value
                    .filter(|value| text_of(value).is_some())
                    .cloned()
                    .unwrap_or_default()
            }
            Some(("map", name)) => {
                let map = self.maps.get(name);
                map.map_or(Value::Null, |map| map.word(|of| self.single(of, share)))
            }
            _ => self.single(name, share),
        }
    }

    /// What a placeholder stands for that is looked up in no table.
    fn single(&self, name: &str, share: CallShare) -> Value {
        let brief = &self.work.brief;
        let asked = self.order.size.map(|wanted| self.offer.size(wanted));
        match name {
            "model" => json!(self.model),
            "count" => json!(share.count),
            "width" => json!(asked.map(|size| size.0)),
            "height" => json!(asked.map(|size| size.1)),
            "size" => json!(asked.map(|(width, height)| format!("{width}x{height}"))),
            "resolution" => {
                let word = self.order.size.and_then(|size| self.offer.resolution(size));
                let usual = || self.scalar(name, share);
                word.map_or_else(usual, |word| json!(word))
            }
            "hook" => json!(self.work.hook_url),
            "attempt" => json!(start_name(self.work, share.place)),
            "format" => json!(match brief.format {
                Format::Png => "png",
                Format::Jpeg(_) => "jpeg",
                Format::Webp(_) => "webp",
            }),
            "background" if brief.transparent => json!("transparent"),
            "quality" | "style" | "background" | "moderation" => {
                brief.model_words.get(name).cloned().unwrap_or_default()
            }
            "steps" | "scale" | "sampler" => brief.extra.get(name).cloned().unwrap_or_default(),
            other => self.scalar(other, share),
        }
    }

    fn scalar(&self, name: &str, share: CallShare) -> Value {
        let ratios = &self.offer.written.ratios;
        self.order
            .scalar(name, share.place, ratios)
            .unwrap_or_default()
    }
}

/// A name for one of the starts of an attempt, which no other start has.
pub(super) fn start_name(work: &Work, place: u32) -> String {
    format!("{}-{place}", work.attempt_id)
}
