//! The words of the vendor's form and the rules each model has for them.

use crate::body::Fields;
use crate::brief::Format;
use crate::fields::{Count, words};
use crate::prelude::*;

words! {
    /// The model that makes the image.
    pub ImgmodelModel = Art2 { Image1 "image-1", Art2 "art-2", Art3 "art-3" }
}
words! {
    /// Background; only `image-1`.
    pub Background = Auto { Transparent "transparent", Opaque "opaque", Auto "auto" }
}
words! {
    /// How strictly content is reviewed; only `image-1`.
    pub Moderation = Auto { Low "low", Auto "auto" }
}
words! {
    /// File format; only `image-1`.
    pub OutputFormat = Png { Png "png", Jpeg "jpeg", Webp "webp" }
}
words! {
    /// How much care is taken; which words are allowed depends on the model.
    pub Quality = Auto {
        Auto "auto", High "high", Medium "medium", Low "low", Hd "hd", Standard "standard",
    }
}
words! {
    /// How images are returned; `image-1` answers `b64_json` only.
    pub ResponseFormat { Url "url", B64Json "b64_json" }
}
words! {
    /// Width and height; which are allowed depends on the model.
    pub ImgmodelSize {
        Auto "auto", S256 "256x256", S512 "512x512", S1024 "1024x1024", S1536x1024 "1536x1024",
        S1024x1536 "1024x1536", S1792x1024 "1792x1024", S1024x1792 "1024x1792",
    }
}
words! {
    /// The look; only `art-3`.
    pub Style { Vivid "vivid", Natural "natural" }
}

/// The models whose answers can be streamed: those that answer with the bytes themselves.
pub(super) const STREAMED: &[&str] = &["image-1"];

/// The key of the factor for the larger sizes of `image-1`.
pub(super) const LARGE: &str = "imgmodel.factor.image-1_large";

impl ImgmodelSize {
    /// Width and height; `auto` is square.
    pub(super) const fn pixels(self) -> (u32, u32) {
        match self {
            Self::Auto | Self::S1024 => (1024, 1024),
            Self::S256 => (256, 256),
            Self::S512 => (512, 512),
            Self::S1536x1024 => (1536, 1024),
            Self::S1024x1536 => (1024, 1536),
            Self::S1792x1024 => (1792, 1024),
            Self::S1024x1792 => (1024, 1792),
        }
    }
}

impl ImgmodelModel {
    const fn prompt_characters(self) -> usize {
        match self {
            Self::Image1 => 32000,
            Self::Art2 => 1000,
            Self::Art3 => 4000,
        }
    }

    const fn qualities(self) -> &'static [Quality] {
        match self {
            Self::Image1 => &[Quality::Auto, Quality::High, Quality::Medium, Quality::Low],
            Self::Art2 => &[Quality::Auto, Quality::Standard],
            Self::Art3 => &[Quality::Auto, Quality::Hd, Quality::Standard],
        }
    }

    const fn sizes(self) -> &'static [ImgmodelSize] {
        match self {
            Self::Image1 => &[
                ImgmodelSize::S1024,
                ImgmodelSize::S1536x1024,
                ImgmodelSize::S1024x1536,
                ImgmodelSize::Auto,
            ],
            Self::Art2 => &[ImgmodelSize::S256, ImgmodelSize::S512, ImgmodelSize::S1024],
            Self::Art3 => &[
                ImgmodelSize::S1024,
                ImgmodelSize::S1792x1024,
                ImgmodelSize::S1024x1792,
            ],
        }
    }
}

/// What a call asks for, before the model's rules and defaults.
pub(super) struct ImageOptions<'a> {
    pub(super) model: ImgmodelModel,
    pub(super) prompt: &'a str,
    pub(super) n: Count<1, 10, 1>,
    pub(super) background: Option<Background>,
    pub(super) moderation: Option<Moderation>,
    pub(super) output_compression: Option<Count<0, 100, 100>>,
    pub(super) output_format: Option<OutputFormat>,
    pub(super) quality: Option<Quality>,
    pub(super) response_format: Option<ResponseFormat>,
    pub(super) size: Option<ImgmodelSize>,
    pub(super) style: Option<Style>,
}

/// The same with every default resolved.
pub(super) struct ResolvedOptions {
    model: ImgmodelModel,
    n: u32,
    quality: Quality,
    size: ImgmodelSize,
    response: ResponseFormat,
    background: Background,
    output_format: OutputFormat,
    compression: u8,
    words: Fields,
}

impl ImageOptions<'_> {
    /// Holds the wish against the rules of its model.
    pub(super) fn resolve_options(&self) -> Result<ResolvedOptions, Refusal> {
        let model = self.model;
        self.check_owners()?;
        self.check_prompt()?;
        if model == ImgmodelModel::Art3 && self.n.get() != 1 {
            let message = format!("must be 1 with art-3, is {}", self.n.get());
            return Err(Refusal::invalid("n", message));
        }
        let quality = self.quality.unwrap_or_default();
        if !model.qualities().contains(&quality) {
            let words = model.qualities().iter().map(|quality| quality.word());
            return Err(not_with(model, "quality", words, quality.word()));
        }
        let size = self.size.unwrap_or(match model {
            ImgmodelModel::Image1 => ImgmodelSize::Auto,
            _ => ImgmodelSize::S1024,
        });
        if !model.sizes().contains(&size) {
            let words = model.sizes().iter().map(|size| size.word());
            return Err(not_with(model, "size", words, size.word()));
        }
        let output_format = self.output_format.unwrap_or_default();
        self.check_format(output_format)?;
        Ok(ResolvedOptions {
            model,
            n: self.n.count(),
            quality,
            size,
            response: self.response()?,
            background: self.background.unwrap_or_default(),
            output_format,
            compression: self.output_compression.unwrap_or_default().get() as u8,
            words: self.words(quality),
        })
    }

    /// What was named in the words of picture models.
    fn words(&self, quality: Quality) -> Fields {
        let named = [
            ("quality", Some(quality.word())),
            ("background", self.background.map(Background::word)),
            ("moderation", self.moderation.map(Moderation::word)),
            ("style", self.style.map(Style::word)),
        ];
        let given = named
            .into_iter()
            .filter_map(|(name, word)| Some((name, word?)));
        given
            .map(|(name, word)| (name.to_owned(), word.into()))
            .collect()
    }

    /// Refuses fields that belong to another model.
    fn check_owners(&self) -> Result<(), Refusal> {
        let image_1 = [
            ("background", self.background.is_some()),
            ("moderation", self.moderation.is_some()),
            ("output_format", self.output_format.is_some()),
            ("output_compression", self.output_compression.is_some()),
        ];
        let stray = image_1
            .iter()
            .find(|(_, given)| *given && self.model != ImgmodelModel::Image1)
            .map(|(field, _)| (*field, ImgmodelModel::Image1))
            .or((self.style.is_some() && self.model != ImgmodelModel::Art3)
                .then_some(("style", ImgmodelModel::Art3)));
        match stray {
            None => Ok(()),
            Some((field, owner)) => Err(Refusal::invalid(
                field,
                format_args!(
                    "is only for {}, model is {}",
                    owner.word(),
                    self.model.word()
                ),
            )),
        }
    }

    fn check_prompt(&self) -> Result<(), Refusal> {
        let (length, most) = (self.prompt.chars().count(), self.model.prompt_characters());
        if length > most {
            let model = self.model.word();
            let message = format!("must be at most {most} characters with {model}, is {length}");
            return Err(Refusal::invalid("prompt", message));
        }
        Ok(())
    }

    fn check_format(&self, format: OutputFormat) -> Result<(), Refusal> {
        if self.background == Some(Background::Transparent) && format == OutputFormat::Jpeg {
            let message = "transparent needs output_format png or webp, is jpeg";
            return Err(Refusal::invalid("background", message));
        }
        // Nothing lost is what every format can do.
        let lossy = self.output_compression.filter(|given| given.get() != 100);
        if lossy.is_some() && format == OutputFormat::Png {
            let message = "must be 100 unless output_format is webp or jpeg, it is png";
            return Err(Refusal::invalid("output_compression", message));
        }
        Ok(())
    }

    fn response(&self) -> Result<ResponseFormat, Refusal> {
        match (self.model, self.response_format) {
            (ImgmodelModel::Image1, Some(ResponseFormat::Url)) => {
                let message = "must be b64_json with image-1, is url";
                Err(Refusal::invalid("response_format", message))
            }
            (ImgmodelModel::Image1, _) => Ok(ResponseFormat::B64Json),
            (_, given) => Ok(given.unwrap_or(ResponseFormat::Url)),
        }
    }
}

fn not_with<'a>(
    model: ImgmodelModel,
    field: &str,
    words: impl Iterator<Item = &'a str>,
    is: &str,
) -> Refusal {
    let words: Vec<_> = words.collect();
    let (model, words) = (model.word(), words.join(", "));
    Refusal::invalid(
        field,
        format_args!("must be one of {words} with {model}, is {is}"),
    )
}

impl ResolvedOptions {
    fn price(&self, operation: &str) -> Price {
        let price = Price::of(operation).by(self.model.word());
        let price = match self.model {
            ImgmodelModel::Image1 => {
                let quality = match self.quality {
                    Quality::Low => "low",
                    Quality::High => "high",
                    _ => "medium",
                };
                let price = price.by(quality);
                match self.size {
                    ImgmodelSize::S1536x1024 | ImgmodelSize::S1024x1536 => price.factor(LARGE),
                    _ => price,
                }
            }
            ImgmodelModel::Art2 => price.by(self.size.word()),
            ImgmodelModel::Art3
                if self.quality == Quality::Hd || self.size != ImgmodelSize::S1024 =>
            {
                price.by("hd_or_large")
            }
            ImgmodelModel::Art3 => price.by("standard"),
        };
        price.times(self.n)
    }

    /// The order for a brief of the operation; the settled values are kept for the answer.
    pub(super) fn order(&self, operation: &str, brief: Brief) -> Order {
        let mut brief = brief
            .sized(self.size.pixels())
            .times(self.n)
            .by_model(self.model.word());
        brief.model_words.clone_from(&self.words);
        brief.transparent = self.background == Background::Transparent;
        brief.format = match self.output_format {
            OutputFormat::Png => Format::Png,
            OutputFormat::Jpeg => Format::Jpeg(self.compression),
            OutputFormat::Webp => Format::Webp(self.compression),
        };
        Order::new(self.price(operation), brief)
            .resolve("quality", self.quality.word())
            .resolve("size", self.size.word())
            .resolve("response_format", self.response.word())
    }
}
