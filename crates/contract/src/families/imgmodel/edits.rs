//! Edits of images, in the vendor's form: files of a multipart form, or JSON with addresses or base64.

use super::rules::{
    Background, ImageOptions, ImgmodelModel, ImgmodelSize, OutputFormat, Quality, ResponseFormat,
};
use crate::brief::{MEGABYTE, SourceRule};
use crate::fields::{Count, ImageData, List, Prompt, words};
use crate::prelude::*;

words! {
    /// The model.
    pub EditModel = Art2 { Image1 "image-1", Art2 "art-2" }
}

words! {
    /// How much care is taken; which words are allowed depends on the model.
    pub EditQuality = Auto { Auto "auto", High "high", Medium "medium", Low "low", Standard "standard" }
}
words! {
    /// Width and height; which are allowed depends on the model.
    pub EditSize {
        Auto "auto", S256 "256x256", S512 "512x512", S1024 "1024x1024", S1536x1024 "1536x1024",
        S1024x1536 "1024x1536",
    }
}

/// Edits or extends source images.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImgmodelEdits")]
pub struct ImgmodelEdits {
    /// The images: files, addresses, data-URIs or base64. `image-1`: each a png, webp or jpg under 25 MB; `art-2`:
    /// exactly one square png under 4 MB.
    #[schemars(extend(
        "x-hint" = "`image-1`: each under 25 MB; `art-2`: exactly one square png under 4 MB"
    ))]
    pub image: List<ImageData, 1, 16>,
    /// What to change: up to 32000 characters with `image-1`, 1000 with `art-2`.
    pub prompt: Prompt,
    /// A png under 4 MB with the dimensions of the first image; transparent places are edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-widget" = "mask", "x-mask" = "transparent"))]
    pub mask: Option<List<ImageData, 1, 1>>,
    /// The model.
    #[serde(default)]
    pub model: EditModel,
    /// Background; only `image-1`. `transparent` needs `png` or `webp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    /// How many images.
    #[serde(default)]
    pub n: Count<1, 10, 1>,
    /// Compression in percent; only `image-1`, and other than 100 only with `webp` or `jpeg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_compression: Option<Count<0, 100, 100>>,
    /// File format; only `image-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
    /// `image-1`: `high`, `medium`, `low`; `art-2`: `standard`; both: `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<EditQuality>,
    /// How images are returned; `image-1` answers `b64_json` only, `art-2` `url` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// `image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<EditSize>,
}

const PNG: &[&str] = &["image/png"];

impl EditModel {
    const fn model(self) -> ImgmodelModel {
        match self {
            Self::Image1 => ImgmodelModel::Image1,
            Self::Art2 => ImgmodelModel::Art2,
        }
    }

    /// What each source image must be like.
    const fn wanted(self) -> SourceRule {
        match self {
            Self::Image1 => SourceRule {
                media_types: &["image/png", "image/webp", "image/jpeg"],
                under_bytes: Some(25 * MEGABYTE),
                ..SourceRule::ANY
            },
            Self::Art2 => SourceRule {
                media_types: PNG,
                under_bytes: Some(4 * MEGABYTE),
                square: true,
                ..SourceRule::ANY
            },
        }
    }
}

/// What a mask must be like.
const MASK: SourceRule = SourceRule {
    media_types: PNG,
    under_bytes: Some(4 * MEGABYTE),
    like_first: true,
    ..SourceRule::ANY
};

impl ImgmodelEdits {
    fn brief(&self) -> Result<Brief, Refusal> {
        let count = self.image.len();
        if self.model == EditModel::Art2 && count != 1 {
            let message = format!("must be exactly one image with art-2, is {count}");
            return Err(Refusal::invalid("image", message));
        }
        let mut brief = Brief::new(Task::Edit).words(&self.prompt);
        for (index, image) in self.image.iter().enumerate() {
            let field = match count {
                1 => "image".to_owned(),
                _ => format!("image[{index}]"),
            };
            brief = brief.from_with_rule(field, image.clone(), self.model.wanted());
        }
        if let Some(mask) = self.mask.as_ref().and_then(|mask| mask.first()) {
            brief = brief.masked("mask", mask.clone(), MASK);
        }
        Ok(brief)
    }
}

impl Operation for ImgmodelEdits {
    const STREAMED_MODELS: &'static [&'static str] = super::rules::STREAMED;

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let settled = ImageOptions {
            model: self.model.model(),
            prompt: &self.prompt,
            n: self.n,
            background: self.background,
            moderation: None,
            output_compression: self.output_compression,
            output_format: self.output_format,
            quality: self
                .quality
                .and_then(|word| Quality::from_word(word.word())),
            response_format: self.response_format,
            size: self
                .size
                .and_then(|word| ImgmodelSize::from_word(word.word())),
            style: None,
        }
        .resolve_options()?;
        Ok(settled.order("imgmodel.edits", self.brief()?))
    }
}
