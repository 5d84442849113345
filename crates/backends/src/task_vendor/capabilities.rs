//! What a model can do for one request, as its adapter declares it, and what follows for the wishes in the request. The
//! calls are built by the same declarations.

use atelier_contract::brief::{Brief, HintKind, Source, Task};
use serde_json::Value;

use super::image_request::{self, ImageCapabilities, MaskSupport};
use super::video_request::{self, Lengths, VideoCapabilities};
use crate::backend::Fault;
use crate::inputs::unsupported;
use crate::support::{FieldSupport, SupportLevel};

/// What a model can do for one request.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a skill of its own, not a state of one machine"
)]
pub(crate) struct Capabilities {
    /// Where it makes videos.
    pub(crate) films: Option<VideoCapabilities>,
    /// Where it makes pictures.
    pub(crate) pictures: Option<ImageCapabilities>,
    /// Whether it takes seeds.
    pub(crate) seeds: bool,
    /// Whether it is told how far to go from a picture.
    pub(crate) strength: bool,
    /// Whether videos have the very length and shape that was asked for.
    pub(crate) exact: bool,
    /// Whether it has every field of the interface itself, so that nothing is refused before it has seen it.
    pub(crate) whole: bool,
    /// Whether pictures that lend their style or looks are looked at.
    pub(crate) hints: bool,
    /// The words of picture models that it takes, such as `quality`.
    pub(crate) words: Vec<&'static str>,
    /// What only anime knows of that it takes.
    pub(crate) anime: Vec<&'static str>,
}

/// What only anime knows of.
pub(crate) const ANIME: &[&str] = &[
    "steps",
    "step",
    "scale",
    "sampler",
    "noise",
    "noise_schedule",
    "quality_toggle",
    "character_prompts",
];
/// Pictures that stand at the start of a prompt.
const PROMPT_PICTURES: &str = "pictures in prompt";
const WORDS: &[&str] = &["quality", "moderation", "style"];
const LENGTH: &[&str] = &["duration", "seconds", "video_length"];
const SHAPE: &[&str] = &["size", "aspect_ratio", "aspectRatio", "resolution"];

impl Capabilities {
    /// Of a model that makes videos.
    pub(crate) fn films(films: VideoCapabilities) -> Self {
        Self {
            films: Some(films),
            ..Self::default()
        }
    }

    /// Of a model that makes pictures.
    pub(crate) fn pictures(pictures: ImageCapabilities) -> Self {
        Self {
            pictures: Some(pictures),
            ..Self::default()
        }
    }

    /// The same, with seeds or without.
    pub(crate) fn seeded(self, seeds: bool) -> Self {
        Self { seeds, ..self }
    }

    /// Of whoever has every field of the interface itself.
    pub(crate) fn all() -> Self {
        Self {
            films: Some(VideoCapabilities {
                lengths: Lengths::Between(0, u32::MAX),
                ends: true,
                loops: true,
                references: usize::MAX,
            }),
            pictures: Some(ImageCapabilities {
                masks: MaskSupport::White,
                references: usize::MAX,
                negative: true,
                transparent: true,
                backgrounds: true,
            }),
            seeds: true,
            strength: true,
            exact: true,
            whole: true,
            hints: true,
            words: WORDS.to_vec(),
            anime: ANIME.to_vec(),
        }
    }

    /// The length in which a video is ordered: the wanted one, or the next longer one that is offered.
    pub(crate) fn ordered_seconds(&self, brief: &Brief) -> u32 {
        let films = self.films.as_ref();
        let fit = films.and_then(|can| can.lengths.fit(brief.seconds).ok());
        fit.unwrap_or(brief.seconds)
    }

    /// What becomes of the wishes of a brief.
    pub(crate) fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        let mut all = Vec::new();
        let mut put = |field: &str, support| all.push(FieldSupport::new(field, support));
        if brief.seed.is_some() {
            put(
                named(operation, &["seed"], "--seed"),
                SupportLevel::done(self.seeds),
            );
        }
        for hint in &brief.hints {
            let flag = match hint.lends {
                HintKind::Style => "--sref",
                HintKind::Looks => "--cref",
            };
            put(flag, SupportLevel::done(self.hints));
        }
        let words = brief.model_words.keys().map(String::as_str);
        for name in words.filter(|name| *name != "background") {
            put(name, SupportLevel::done(self.words.contains(&name)));
        }
        for (name, value) in brief.extra.as_object().into_iter().flatten() {
            let given = brief.task == Task::Anime && ANIME.contains(&name.as_str());
            if given && !is_empty(value) {
                put(
                    name,
                    SupportLevel::done(self.anime.contains(&name.as_str())),
                );
            }
        }
        match (&self.films, &self.pictures) {
            (Some(can), _) if brief.task.is_video() => self.film(operation, brief, can, &mut all),
            (_, Some(can)) if !brief.task.is_video() => {
                self.picture(operation, brief, can, &mut all);
            }
            _ => {}
        }
        all
    }

    fn picture(
        &self,
        operation: &str,
        brief: &Brief,
        can: &ImageCapabilities,
        all: &mut Vec<FieldSupport>,
    ) {
        if !brief.negative.is_empty() {
            let field = named(operation, &["negative_prompt"], "--no");
            all.push(FieldSupport::new(field, SupportLevel::exact(can.negative)));
        }
        if brief.width > 0 {
            let field = named(operation, &["size", "dimensions", "width"], "--ar");
            all.push(FieldSupport::new(field, SupportLevel::Honoured));
        }
        if brief.task == Task::Restyle || brief.extra["base_image"] == true {
            all.push(FieldSupport::new(
                "strength",
                SupportLevel::done(self.strength),
            ));
        }
        if let Some(source) = &brief.mask {
            let field = &source.field;
            all.push(match can.masks {
                MaskSupport::None => {
                    refused_field(unsupported(field, "no back end for masks is available"))
                }
                MaskSupport::Painted => FieldSupport::new(field, SupportLevel::Approximated),
                MaskSupport::White | MaskSupport::Black => {
                    FieldSupport::new(field, SupportLevel::Honoured)
                }
            });
        }
        match image_request::check(brief, can) {
            Err(fault) => all.push(refused_field(fault)),
            Ok(()) => all.extend(
                brief
                    .sources
                    .iter()
                    .map(|source| FieldSupport::new(label(source), SupportLevel::Honoured)),
            ),
        }
        if brief.transparent {
            all.push(FieldSupport::new(
                "background",
                SupportLevel::exact(can.transparent),
            ));
        }
    }

    fn film(
        &self,
        operation: &str,
        brief: &Brief,
        can: &VideoCapabilities,
        all: &mut Vec<FieldSupport>,
    ) {
        // What has no field of its own is not a wish, and cannot be refused by another name than that of the words.
        let field = field_of(operation, LENGTH);
        match (can.lengths.fit(brief.seconds), field) {
            (Err(fault), field) => all.push(FieldSupport {
                field: field.unwrap_or("prompt").to_owned(),
                ..refused_field(fault)
            }),
            (Ok(seconds), Some(field)) if brief.seconds > 0 => {
                let exact = self.exact || seconds == brief.seconds;
                all.push(FieldSupport::new(field, SupportLevel::exact(exact)));
            }
            (Ok(_), _) => {}
        }
        if let (true, Some(field)) = (brief.width > 0, field_of(operation, SHAPE)) {
            all.push(FieldSupport::new(field, SupportLevel::exact(self.exact)));
        }
        if !brief.negative.is_empty() {
            let field = named(operation, &["negative_prompt"], "--no");
            all.push(FieldSupport::new(field, SupportLevel::exact(self.exact)));
        }
        match (&brief.video, self.whole) {
            (Some((field, _)), true) => all.push(FieldSupport::new(field, SupportLevel::Honoured)),
            (Some((field, _)), false) => {
                all.push(refused_field(video_request::characters_unsupported(field)));
            }
            (None, _) => {}
        }
        if let (false, Err(fault)) = (self.whole, video_request::check(brief, can)) {
            all.push(refused_field(fault));
            return;
        }
        if brief.looped {
            all.push(FieldSupport::new("loop", SupportLevel::Honoured));
        }
        let frames = can.references == 0 || video_request::is_frames(brief);
        let room = if frames { 1 } else { can.references };
        let given = brief.sources.iter().enumerate();
        let given = given.filter(|(index, _)| brief.last_frame != Some(*index));
        for (place, (_, source)) in given.enumerate() {
            let stands_in = frames && !video_request::is_frames(brief);
            let support = if place >= room {
                SupportLevel::Ignored
            } else {
                SupportLevel::exact(!stands_in)
            };
            all.push(FieldSupport::new(label(source), support));
        }
        if let Some(end) = brief.last_frame.and_then(|end| brief.sources.get(end)) {
            all.push(FieldSupport::new(&end.field, SupportLevel::Honoured));
        }
    }
}

/// A wish that is refused, as a start would refuse it.
pub(crate) fn refused_field(fault: Fault) -> FieldSupport {
    FieldSupport {
        field: fault.field.unwrap_or_else(|| "prompt".to_owned()),
        support: SupportLevel::Refused,
        why: fault.message,
    }
}

/// What a given picture is called: those inside the words are not the words.
pub(crate) fn label(source: &Source) -> &str {
    match &*source.field {
        "prompt" => PROMPT_PICTURES,
        field => field,
    }
}

/// The first of these names that an operation has a field of, or the flag that says it in words.
fn named<'a>(operation: &str, names: &[&'a str], flag: &'a str) -> &'a str {
    field_of(operation, names).unwrap_or(flag)
}

/// The first of these names that an operation has a field of.
fn field_of<'a>(operation: &str, names: &[&'a str]) -> Option<&'a str> {
    let fields = atelier_contract::operation(operation)
        .map_or(&[][..], |(_, submit)| (submit.field_order)());
    names.iter().copied().find(|name| fields.contains(name))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}
