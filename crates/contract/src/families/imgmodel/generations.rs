//! Images from a prompt, in the vendor's form.

use super::rules::{
    Background, ImageOptions, ImgmodelModel, ImgmodelSize, Moderation, OutputFormat, Quality,
    ResponseFormat, Style,
};
use crate::fields::{Count, Prompt};
use crate::prelude::*;

/// Makes images from a prompt.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImgmodelGenerations")]
pub struct ImgmodelGenerations {
    /// What to show: up to 32000 characters with `image-1`, 1000 with `art-2`, 4000 with `art-3`.
    pub prompt: Prompt,
    /// The model.
    #[serde(default)]
    pub model: ImgmodelModel,
    /// Background; only `image-1`. `transparent` needs `png` or `webp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    /// How strictly content is reviewed; only `image-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Moderation>,
    /// How many images; always 1 with `art-3`.
    #[serde(default)]
    pub n: Count<1, 10, 1>,
    /// Compression in percent; only `image-1`, and other than 100 only with `webp` or `jpeg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_compression: Option<Count<0, 100, 100>>,
    /// File format; only `image-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
    /// `image-1`: `high`, `medium`, `low`; `art-3`: `hd`, `standard`; `art-2`: `standard`; all: `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// How images are returned; `image-1` answers `b64_json` only, the others `url` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// `image-1`: `1024x1024`, `1536x1024`, `1024x1536`, `auto`; `art-2`: `256x256`, `512x512`, `1024x1024`;
    /// `art-3`: `1024x1024`, `1792x1024`, `1024x1792`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ImgmodelSize>,
    /// The look; only `art-3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
}

impl Operation for ImgmodelGenerations {
    const STREAMED_MODELS: &'static [&'static str] = super::rules::STREAMED;

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let settled = ImageOptions {
            model: self.model,
            prompt: &self.prompt,
            n: self.n,
            background: self.background,
            moderation: self.moderation,
            output_compression: self.output_compression,
            output_format: self.output_format,
            quality: self.quality,
            response_format: self.response_format,
            size: self.size,
            style: self.style,
        }
        .resolve_options()?;
        let mut brief = Brief::new(Task::Draw).words(&self.prompt);
        brief.extra = self.style.map_or(
            Value::Null,
            |style| serde_json::json!({ "style": style.word() }),
        );
        Ok(settled.order("imgmodel.generations", brief))
    }
}
