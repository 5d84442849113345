//! The fields of a call for pictures: what the brief and the exact request say, in the dialect of the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::account::OpenAi;
use super::settings::{NegativeStyle, ServerDialect};
use crate::backend::Work;
use crate::fit::{self, Size};
use crate::http::{MultipartForm, VendorRequest};
use crate::inputs::data_uri;
use crate::seeds::{self, member};

/// What the caller of the image endpoints may set beyond the brief.
const OWN: &[&str] = &["quality", "background", "moderation", "style"];
/// A tag that would set options of stable-diffusion.cpp from inside a prompt.
const SDCPP_TAG: &str = "sd_cpp_extra_args";
/// No picture has more pixels at a server that takes any size.
const MOST_PIXELS: f64 = 3840.0 * 2160.0;

/// The pictures that one call makes, of all that a job asks for.
#[derive(Clone, Copy)]
pub(super) struct ImageBatch {
    /// How many there are already; seeds go on from here.
    pub(super) before: usize,
    pub(super) count: u32,
}

/// A call for pictures before it has its form.
pub(super) struct ImageCall {
    /// The vendor's name of the model.
    pub(super) model: String,
    pub(super) prompt: String,
    /// The size to ask for; the vendor's choice when `None`.
    pub(super) size: Option<Size>,
    /// Pictures to work from.
    pub(super) images: Vec<Bytes>,
    /// Where to work, in the server's own way.
    pub(super) mask: Option<Bytes>,
}

impl OpenAi {
    /// The words of a brief, with what to leave out where the dialect says it in words.
    pub(super) fn words(&self, prompt: &str, negative: &str) -> String {
        let mut prompt = match self.settings.dialect {
            ServerDialect::Sdcpp => prompt.replace(SDCPP_TAG, ""),
            _ => prompt.to_owned(),
        };
        if self.settings.negative == NegativeStyle::Pipe {
            prompt = prompt.replace('|', ",");
        }
        if negative.is_empty() {
            return prompt;
        }
        match self.settings.negative {
            NegativeStyle::Field => prompt,
            NegativeStyle::Pipe => format!("{prompt}|{}", negative.replace('|', ",")),
            NegativeStyle::Words => format!("{prompt}\n\nLeave out: {negative}"),
        }
    }

    /// The size to ask a model for so that the wanted one can be cut from it.
    pub(super) fn size_for(&self, model: &str, wanted: Size) -> Size {
        let sizes = self.settings.image_sizes(model);
        if sizes.is_empty() {
            let large = fit::at_least(wanted, f64::from(self.settings.image_least_pixels));
            fit::stepped(large, self.settings.image_step, MOST_PIXELS)
        } else {
            fit::nearest(wanted, sizes)
        }
    }

    /// The call for some pictures of a wish.
    pub(super) fn image_call(
        &self,
        work: &Work,
        wish: &ImageCall,
        batch: ImageBatch,
    ) -> VendorRequest {
        let mut fields = self.scalars(work, wish, batch);
        if wish.images.is_empty() {
            return VendorRequest::post_json("images/generations", &Value::Object(fields));
        }
        if self.settings.dialect == ServerDialect::Localai && wish.mask.is_none() {
            let images = wish.images.iter().map(|bytes| STANDARD.encode(bytes));
            fields.insert("ref_images".to_owned(), images.collect());
            return VendorRequest::post_json("images/generations", &Value::Object(fields));
        }
        if let (Some(name), None) = (self.settings.names.inline_image(), &wish.mask) {
            let first = wish.images.first();
            fields.extend(first.map(|bytes| (name.to_owned(), json!(data_uri(bytes)))));
            return VendorRequest::post_json("images/generations", &Value::Object(fields));
        }
        let mut form = MultipartForm::of(&fields);
        let (path, field) = match self.settings.dialect {
            ServerDialect::Localai => ("images/inpainting", "image"),
            _ => ("images/edits", self.image_field(wish.images.len())),
        };
        for (index, bytes) in wish.images.iter().enumerate() {
            let (media_type, extension) = kind(bytes);
            let name = format!("image-{index}.{extension}");
            form = form.file(field, &name, media_type, bytes.clone());
        }
        if let Some(mask) = &wish.mask {
            let name = match self.settings.dialect {
                ServerDialect::VllmOmni => "mask_image",
                _ => "mask",
            };
            form = form.file(name, "mask.png", "image/png", mask.clone());
        }
        let (body, media_type) = form.finish();
        VendorRequest::new(http::Method::POST, path).body(body, media_type)
    }

    /// The words with a seed inside, for the server that has no other place for one and would draw the same for ever.
    fn seeded(&self, work: &Work, prompt: &str, before: usize) -> String {
        if self.settings.dialect != ServerDialect::Sdcpp {
            return prompt.to_owned();
        }
        let seed = work
            .brief
            .seed
            .unwrap_or_else(|| seeds::of_job(&work.job_id));
        let extra = json!({"seed": member(seed, before)});
        format!("{prompt}<{SDCPP_TAG}>{extra}</{SDCPP_TAG}>")
    }

    /// One picture is a field, several are a list; some servers know only the one or the other.
    fn image_field(&self, pictures: usize) -> &str {
        match (&self.settings.image_field, self.settings.dialect, pictures) {
            (Some(name), _, _) => name,
            (None, ServerDialect::Sdcpp, _) => "image[]",
            (None, ServerDialect::VllmOmni, _) | (None, _, 1) => "image",
            (None, ..) => "image[]",
        }
    }

    fn scalars(&self, work: &Work, wish: &ImageCall, batch: ImageBatch) -> Map<String, Value> {
        let settings = &self.settings;
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("model", json!(wish.model));
        put(
            "prompt",
            json!(self.seeded(work, &wish.prompt, batch.before)),
        );
        put("n", json!(batch.count));
        match wish.size {
            Some((width, height)) => put("size", json!(format!("{width}x{height}"))),
            None if settings.dialect == ServerDialect::Openai => put("size", json!("auto")),
            None => {}
        }
        if let Some(format) = &settings.response_format {
            put("response_format", json!(format));
        }
        if settings.negative == NegativeStyle::Field && !work.brief.negative.is_empty() {
            put("negative_prompt", json!(work.brief.negative));
        }
        // One of the dialects has it among the words.
        let seeds = settings.takes_seeds() && settings.dialect != ServerDialect::Sdcpp;
        if let Some(seed) = work.brief.seed.filter(|_| seeds) {
            put("seed", json!(member(seed, batch.before)));
        }
        if settings.dialect == ServerDialect::Openai {
            if settings.partial_images > 0 {
                put("stream", json!(true));
                put("partial_images", json!(settings.partial_images));
            }
            for (name, value) in own_fields(work, &wish.model) {
                put(name, value);
            }
        }
        settings.names.applied(fields)
    }

    /// Whether the server leaves the background out itself.
    pub(super) fn cuts_out(&self) -> bool {
        self.settings.dialect == ServerDialect::Openai
    }
}

/// What a caller said about the style, in words for models that have no field for it.
pub(super) fn styled(work: &Work, model: &str) -> Option<&'static str> {
    let style = work.brief.model_words.get("style")?.as_str()?;
    match style {
        _ if model.starts_with("dall-e") => None,
        "vivid" => Some("Make it vivid and dramatic."),
        "natural" => Some("Make it look natural, not hyper-real."),
        _ => None,
    }
}

/// What the request says in the vendor's own words, where the vendor's model takes it.
fn own_fields(work: &Work, model: &str) -> Vec<(&'static str, Value)> {
    let older = model.starts_with("dall-e");
    let translated = |name: &'static str| {
        let given = work.brief.model_words.get(name)?.as_str()?;
        let value = match (name, given, older) {
            ("quality", "hd", false) => "high",
            ("quality", "standard", false)
            | ("style", _, false)
            | ("background" | "moderation", _, true)
            | ("quality", "auto", true) => return None,
            (_, given, _) => given,
        };
        Some((name, json!(value)))
    };
    OWN.iter().filter_map(|&name| translated(name)).collect()
}

/// Media type and extension of a picture's bytes.
fn kind(bytes: &[u8]) -> (&'static str, &'static str) {
    match atelier_media::header(bytes) {
        Ok(header) => (header.format.media_type(), header.format.extension()),
        Err(_) => ("application/octet-stream", "bin"),
    }
}
