//! The pictures of a job in every form that a template may name: inline, as base64, at an address, uploaded.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::names::{LIST, PICTURES};
use super::pointer::JsonPointers;
use super::request::{CallValues, RequestSettings, RequestTemplate};
use crate::backend::{Acceptance, Fault, Work};
use crate::http::{VendorHttp, VendorRequest};
use crate::inputs::{self, data_uri, media_type, shrink_to_bytes, shrink_to_side, unsupported};
use crate::mapping::OrderValues;
use crate::task_vendor::VideoSources;
use crate::vendor_errors;

/// What pictures that are sent must be like.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PictureLimits {
    /// The longer side is no longer; larger pictures are made smaller, and are JPEGs then.
    most_side: Option<u32>,
    /// A file has no more bytes; larger ones are made smaller.
    most_bytes: Option<usize>,
}

impl PictureLimits {
    /// Whether a picture would have to be made smaller.
    fn are_exceeded(self, bytes: &[u8]) -> bool {
        self.most_bytes.is_some_and(|most| bytes.len() > most)
            || self.most_side.is_some_and(|side| is_longer(bytes, side))
    }
}

/// The call that puts a picture where the vendor finds it, before work is ordered. It must cost nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadSettings {
    /// The call, with `{{file}}` (a `data:` address), `{{file.base64}}`, `{{file.type}}` and `{{file.name}}`, or a part that
    /// is `{"file": "file"}`.
    pub(super) request: RequestSettings,
    /// Where the answer says what `{{image.upload}}` stands for: an address, or a name.
    pub(super) value: JsonPointers,
}

/// The same, understood.
pub(super) struct UploadCall {
    pub(super) request: RequestTemplate,
    pub(super) value: JsonPointers,
}

/// How long an upload may take.
const UPLOAD: Duration = Duration::from_mins(1);

/// One picture.
#[derive(Default)]
struct JobPicture {
    bytes: Bytes,
    /// Where the caller has it, if it goes along as it is.
    url: Option<String>,
    /// What the upload came to.
    upload: Option<Value>,
}

/// The pictures of a job.
#[derive(Default)]
pub(super) struct JobPictures {
    images: Vec<JobPicture>,
    first: Option<JobPicture>,
    last: Option<JobPicture>,
    mask: Option<JobPicture>,
}

/// A fault of an upload: nothing is lost with it, so that the work may be begun anew.
fn anew(fault: Fault) -> Fault {
    Fault {
        taken: Acceptance::No,
        ..fault
    }
}

impl UploadCall {
    /// The call that uploads a picture.
    fn filled(&self, bytes: &Bytes) -> VendorRequest {
        let kind = media_type(bytes);
        let extension = kind.rsplit('/').next().unwrap_or("png");
        let value = |name: &str| match name {
            "file" => json!(data_uri(bytes)),
            "file.base64" => json!(STANDARD.encode(bytes)),
            "file.type" => json!(kind),
            "file.name" => json!(format!("image.{extension}")),
            _ => Value::Null,
        };
        self.request.filled(&CallValues {
            value: &value,
            files: &|_| vec![bytes.clone()],
        })
    }

    async fn sent(&self, http: &VendorHttp, bytes: &Bytes) -> Result<Value, Fault> {
        let call = self.filled(bytes).within(UPLOAD);
        let answer = http.ask(call).await.map_err(anew)?;
        if !answer.is_good() {
            return Err(anew(vendor_errors::fault_of(&answer)));
        }
        let body = answer.json().unwrap_or_default();
        let found = self.value.first(&body);
        found.ok_or_else(|| anew(vendor_errors::unexpected(&answer)))
    }
}

impl JobPictures {
    /// The pictures of a piece of work, within limits.
    pub(super) async fn of(
        work: &Work,
        order: &mut OrderValues,
        sources: &VideoSources,
        limits: PictureLimits,
    ) -> Result<Self, Fault> {
        let video = work.brief.task.is_video();
        // A picture with a mask must keep the size that both have.
        if let (Some(_), Some(first)) = (&order.mask, order.images.first())
            && limits.are_exceeded(first)
        {
            return Err(unsupported("image", "is too large for the back end"));
        }
        let mut all = Self::default();
        for (place, bytes) in std::mem::take(&mut order.images).into_iter().enumerate() {
            let source = if video {
                sources.references.get(place).copied()
            } else {
                Some(place)
            };
            all.images
                .push(JobPicture::of(work, bytes, source, limits).await?);
        }
        if let Some(bytes) = order.first.take() {
            all.first = Some(JobPicture::of(work, bytes, sources.first, limits).await?);
        }
        if let Some(bytes) = order.last.take() {
            all.last = Some(JobPicture::of(work, bytes, sources.last, limits).await?);
        }
        if let Some(bytes) = order.mask.take() {
            // A mask must have the size of its picture, so it is sent as it is.
            let none = PictureLimits::default();
            all.mask = Some(JobPicture::of(work, bytes, None, none).await?);
        }
        Ok(all)
    }

    /// Has every picture that a template names in a form ready in it, or says which cannot be.
    pub(super) async fn prepare(
        &mut self,
        names: &[String],
        upload: Option<&UploadCall>,
        http: &VendorHttp,
    ) -> Result<(), Fault> {
        for name in names {
            let Some((base, form)) = name.split_once('.') else {
                continue;
            };
            for picture in self.named_mut(base) {
                match (form, upload) {
                    ("upload", Some(upload)) if picture.upload.is_none() => {
                        picture.upload = Some(upload.sent(http, &picture.bytes).await?);
                    }
                    ("url", _) if picture.url.is_none() => {
                        let why =
                            "no back end for images that are not at a public URL is available";
                        return Err(unsupported(base, why));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn named_mut(&mut self, base: &str) -> Vec<&mut JobPicture> {
        match base {
            LIST | super::names::ITEM => self.images.iter_mut().collect(),
            "first" => self.first.iter_mut().collect(),
            "last" => self.last.iter_mut().collect(),
            "mask" | "mask_black" => self.mask.iter_mut().collect(),
            _ => self.images.iter_mut().skip(index(base)).take(1).collect(),
        }
    }

    fn named(&self, base: &str) -> Option<&JobPicture> {
        match base {
            "first" => self.first.as_ref(),
            "last" => self.last.as_ref(),
            "mask" | "mask_black" => self.mask.as_ref(),
            // A model without a place for a first frame takes it as its picture.
            "image" | "image1" => self.images.first().or(self.first.as_ref()),
            _ => self.images.get(index(base)),
        }
    }

    /// What a placeholder for pictures stands for; `None` for another name.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let (base, form) = match name.split_once('.') {
            Some((base, form)) => (base, form),
            None => (name, ""),
        };
        if base == LIST {
            let all: Vec<Value> = self.images.iter().map(|one| one.value(form)).collect();
            return Some(if all.is_empty() {
                Value::Null
            } else {
                Value::Array(all)
            });
        }
        let picture = match base
            .strip_prefix(LIST)
            .and_then(|rest| rest.strip_prefix('#'))
        {
            Some(index) => self.images.get(index.parse::<usize>().ok()?),
            None if PICTURES.contains(&base) => self.named(base),
            None => return None,
        };
        Some(picture.map_or(Value::Null, |picture| picture.value(form)))
    }

    /// The bytes of a picture, or of each of the list.
    pub(super) fn files(&self, name: &str) -> Vec<Bytes> {
        let bytes = |picture: &JobPicture| picture.bytes.clone();
        if name == LIST {
            return self.images.iter().map(bytes).collect();
        }
        self.named(name).map(bytes).into_iter().collect()
    }

    /// How many bytes they have together.
    pub(super) fn size(&self) -> usize {
        let single = [&self.first, &self.last, &self.mask];
        let single = single.into_iter().flatten();
        self.images
            .iter()
            .chain(single)
            .map(|one| one.bytes.len())
            .sum()
    }
}

/// The place in the list of a name such as `image2`.
fn index(base: &str) -> usize {
    let number = base
        .strip_prefix("image")
        .and_then(|rest| rest.parse().ok());
    number.unwrap_or(1_usize).saturating_sub(1)
}

impl JobPicture {
    async fn of(
        work: &Work,
        bytes: Bytes,
        source: Option<usize>,
        limits: PictureLimits,
    ) -> Result<Self, Fault> {
        let source = source.and_then(|index| work.brief.sources.get(index));
        let url = source.and_then(|source| match &source.image {
            atelier_contract::fields::ImageData::Url(url) => Some(url.as_str().to_owned()),
            atelier_contract::fields::ImageData::Inline(_) => None,
        });
        let bytes = match limits.most_side {
            Some(side) if is_longer(&bytes, side) => {
                shrink_to_side(inputs::decoded(bytes, "image".to_owned()).await?, side).await?
            }
            _ => bytes,
        };
        let bytes = match limits.most_bytes {
            Some(most) => shrink_to_bytes(bytes, most).await?,
            None => bytes,
        };
        Ok(Self {
            bytes,
            url,
            upload: None,
        })
    }

    fn value(&self, form: &str) -> Value {
        match form {
            "base64" => json!(STANDARD.encode(&self.bytes)),
            "url" => json!(self.url),
            "upload" => json!(self.upload),
            "type" => json!(media_type(&self.bytes)),
            _ => json!(data_uri(&self.bytes)),
        }
    }
}

fn is_longer(bytes: &[u8], side: u32) -> bool {
    atelier_media::header(bytes).is_ok_and(|header| header.width.max(header.height) > side)
}
