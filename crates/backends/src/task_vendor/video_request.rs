//! A video as it is ordered: words, frames and references in the shape that was asked for, and nothing that the vendor
//! cannot do.

use atelier_contract::brief::{Brief, Task, VideoDefinition};
use atelier_media::{Encoding, Picture, encode, header};
use bytes::Bytes;

use crate::backend::{Fault, Work};
use crate::fit::Size;
use crate::images::on_threads;
use crate::inputs::{self, unsupported};
use crate::videos::last_of_parent;

/// Frames are sent so: as sharp as the video, and small enough for inline data.
const FRAME: Encoding = Encoding::Jpeg { quality: 95 };
/// Standard definition of an upright video.
const STANDARD: Size = (720, 1280);
/// The shorter side where nobody said one.
const USUAL_SHORT_SIDE: u32 = 720;

/// Lengths that a vendor offers.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    Of(Vec<u32>),
    /// Whole seconds from and to.
    Between(u32, u32),
}

impl Lengths {
    /// The lengths in words.
    fn words(&self) -> String {
        match self {
            Self::Of(all) => {
                let all: Vec<String> = all.iter().map(u32::to_string).collect();
                all.join(", ")
            }
            Self::Between(from, to) => format!("{from} to {to}"),
        }
    }

    /// The wanted length, or the next longer one that is offered.
    pub(crate) fn fit(&self, wanted: u32) -> Result<u32, Fault> {
        let fit = match self {
            Self::Of(all) => all.iter().copied().filter(|&one| one >= wanted).min(),
            Self::Between(from, to) => (wanted <= *to).then_some(wanted.max(*from)),
        };
        fit.ok_or_else(|| {
            let offered = self.words();
            let message =
                format!("no back end makes videos of {wanted} seconds, allowed: {offered}");
            unsupported("duration", &message)
        })
    }
}

/// What a vendor's video model can do.
#[derive(Clone, Debug)]
pub(crate) struct VideoCapabilities {
    pub(crate) lengths: Lengths,
    /// Whether a video may end on a given frame, and so also on its first.
    pub(crate) ends: bool,
    /// Whether a video without a first frame may be told to loop.
    pub(crate) loops: bool,
    /// References beside the words; with none the first one becomes the first frame.
    pub(crate) references: usize,
}

/// Which of the given pictures is what in a video, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VideoSources {
    /// The frame it begins with; a video that is carried on begins with a frame of its own.
    pub(crate) first: Option<usize>,
    /// The frame it ends on.
    pub(crate) last: Option<usize>,
    /// Pictures for its words.
    pub(crate) references: Vec<usize>,
}

impl VideoSources {
    /// The roles of the pictures of a request at a model that can do so much.
    pub(crate) fn of(brief: &Brief, can: &VideoCapabilities) -> Self {
        let mut roles = Self::default();
        let frames = is_frames(brief) || can.references == 0;
        let begins = matches!(brief.task, Task::Extend(_));
        for index in 0..brief.sources.len() {
            if brief.last_frame == Some(index) {
                roles.last = Some(index);
            } else if !frames && roles.references.len() < can.references {
                roles.references.push(index);
            } else if frames && roles.first.is_none() && !begins {
                roles.first = Some(index);
            }
        }
        roles
    }
}

/// A video as it is ordered.
pub(crate) struct VideoRequest {
    /// The words, with what to leave out at their end.
    pub(crate) prompt: String,
    /// The frame it begins with.
    pub(crate) first: Option<Bytes>,
    /// The frame it ends on.
    pub(crate) last: Option<Bytes>,
    /// Pictures for its words.
    pub(crate) references: Vec<Bytes>,
    /// The size that was asked for.
    pub(crate) size: Size,
    /// The length to order.
    pub(crate) seconds: u32,
    /// First and last frame are to be equal.
    pub(crate) looped: bool,
}

impl VideoRequest {
    /// The order for a piece of work.
    pub(crate) async fn of(work: &Work, can: &VideoCapabilities) -> Result<Self, Fault> {
        let brief = &work.brief;
        if !work.cited.is_empty() {
            return Err(characters_unsupported("prompt"));
        }
        if let Some((field, _)) = &brief.video {
            return Err(characters_unsupported(field));
        }
        check(brief, can)?;
        let seconds = can.lengths.fit(brief.seconds)?;
        let size = size(work);
        let (mut first, mut last, mut references) = (None, None, Vec::new());
        if let Task::Extend(index) = brief.task {
            let frame = last_of_parent(work, usize::from(index)).await?;
            first = Some(framed(frame, size).await?);
        }
        let sources = VideoSources::of(brief, can);
        if let Some(index) = sources.first {
            first = Some(framed(inputs::source(work, index).await?, size).await?);
        }
        if let Some(index) = sources.last {
            last = Some(framed(inputs::source(work, index).await?, size).await?);
        }
        for index in sources.references {
            references.push(plain(work, index).await?);
        }
        if brief.looped && last.is_none() && !can.loops {
            last.clone_from(&first);
        }
        Ok(Self {
            prompt: prompt_text(brief),
            first,
            last,
            references,
            size,
            seconds,
            looped: brief.looped,
        })
    }

    /// The short side in the words of most vendors, no larger than these.
    pub(crate) fn resolution<'a>(&self, offered: &[(&'a str, u32)]) -> &'a str {
        resolution(self.size, offered)
    }

    /// The same for a later part, when the pictures that it began with are no longer at hand.
    pub(crate) fn later_resolution<'a>(work: &Work, offered: &[(&'a str, u32)]) -> &'a str {
        resolution(size(work), offered)
    }
}

fn resolution<'a>(size: Size, offered: &[(&'a str, u32)]) -> &'a str {
    let wanted = size.0.min(size.1);
    let enough = offered.iter().find(|(_, side)| *side >= wanted);
    enough.or(offered.last()).map_or("", |(word, _)| word)
}

/// The sources are frames where the request says so, or where they must have the size of the video.
pub(super) fn is_frames(brief: &Brief) -> bool {
    let sized = |source: &atelier_contract::brief::Source| source.wanted.size.is_some();
    brief.of_frames || brief.sources.first().is_some_and(sized)
}

/// Nobody is taken out of a clip, nor put into one.
pub(super) fn characters_unsupported(field: &str) -> Fault {
    unsupported(field, "no back end for characters is available")
}

/// Refuses what a vendor's video model cannot do.
pub(super) fn check(brief: &Brief, can: &VideoCapabilities) -> Result<(), Fault> {
    if let Some(end) = brief.last_frame {
        let field = brief.sources.get(end);
        let field = field.map_or("image", |source| &source.field);
        if !can.ends {
            return Err(unsupported(
                field,
                "no back end for end frames is available",
            ));
        }
        if brief.sources.len() < 2 {
            return Err(unsupported(
                field,
                "no back end ends a video that begins freely",
            ));
        }
    }
    let begins = !brief.sources.is_empty() || matches!(brief.task, Task::Extend(_));
    if brief.looped && !can.loops && !(can.ends && begins) {
        return Err(unsupported(
            "loop",
            "no back end for such loops is available",
        ));
    }
    Ok(())
}

/// The size to ask a vendor for where one is given: the wanted one, or that of standard definition in the same shape, which is
/// made larger here.
pub(crate) fn request_size(brief: &Brief) -> Size {
    let (short, long) = STANDARD;
    let wanted = (brief.width, brief.height);
    match brief.definition {
        VideoDefinition::Standard if brief.width.min(brief.height) <= short => wanted,
        VideoDefinition::Standard if brief.width > brief.height => (long, short),
        VideoDefinition::Standard => (short, long),
        VideoDefinition::BySize | VideoDefinition::High => wanted,
    }
}

/// The size of the video: the given one, or that of its first source by the shorter side.
fn size(work: &Work) -> Size {
    let brief = &work.brief;
    if brief.width > 0 && brief.height > 0 {
        return request_size(brief);
    }
    let short = match brief.short_side {
        0 => USUAL_SHORT_SIDE,
        side => side,
    };
    let source = work.sources.first().and_then(|bytes| header(bytes).ok());
    let (width, height) = source.map_or((16, 9), |header| (header.width, header.height));
    let scale = f64::from(short) / f64::from(width.min(height).max(1));
    let side = |length: u32| {
        let long = f64::from(length) * scale / 2.0;
        (long.round() as u32).clamp(1, 4 * short) * 2
    };
    (side(width), side(height))
}

/// The words of a brief, with what to leave out at their end.
pub(crate) fn prompt_text(brief: &Brief) -> String {
    let mut prompt = brief.prompt.clone();
    if brief.high_motion {
        prompt.push_str("\nMuch motion.");
    }
    if !brief.negative.is_empty() {
        prompt = format!("{prompt}\nAvoid: {}", brief.negative);
    }
    prompt
}

async fn framed(picture: Picture, (width, height): Size) -> Result<Bytes, Fault> {
    on_threads(&[], move || {
        let frame = picture.on([0; 3]).covering(width, height);
        Ok(encode(&frame, FRAME, None).into())
    })
    .await
}

async fn plain(work: &Work, index: usize) -> Result<Bytes, Fault> {
    inputs::input_bytes(work, index).await
}

/// The offered ratio, such as `16:9`, whose shape is closest.
pub(crate) fn nearest_ratio<'a>((width, height): Size, offered: &[&'a str]) -> &'a str {
    let shape = |text: &str| {
        let (wide, high) = text.split_once([':', 'x']).unwrap_or(("1", "1"));
        let side = |text: &str| text.parse::<f64>().unwrap_or(1.0);
        side(wide) / side(high)
    };
    let wanted = f64::from(width.max(1)) / f64::from(height.max(1));
    let off = |text: &&&str| (shape(text) / wanted).ln().abs();
    let best = offered
        .iter()
        .min_by(|one, other| off(one).total_cmp(&off(other)));
    best.copied().unwrap_or("1:1")
}

/// Whether a job makes a video.
pub(crate) fn is_video_work(work: &Work) -> bool {
    matches!(work.brief.task, Task::Animate | Task::Extend(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_the_wanted_one_or_the_next_longer_one() {
        let some = Lengths::Of(vec![5, 10]);
        assert_eq!(some.fit(4).expect("a length"), 5);
        assert_eq!(some.fit(10).expect("a length"), 10);
        let refused = some.fit(15).expect_err("too long").message;
        assert!(refused.ends_with("allowed: 5, 10"), "{refused}");
        let range = Lengths::Between(4, 30);
        assert_eq!(range.fit(2).expect("a length"), 4);
        assert_eq!(range.fit(25).expect("a length"), 25);
        let refused = range.fit(31).expect_err("too long").message;
        assert!(refused.ends_with("allowed: 4 to 30"), "{refused}");
    }

    #[test]
    fn the_nearest_ratio_is_found_in_both_spellings() {
        let offered = ["16:9", "9:16", "1:1", "4:3"];
        assert_eq!(nearest_ratio((1280, 720), &offered), "16:9");
        assert_eq!(nearest_ratio((1024, 1792), &offered), "9:16");
        assert_eq!(nearest_ratio((1000, 990), &offered), "1:1");
        assert_eq!(nearest_ratio((1500, 1000), &["16x9", "3x2"]), "3x2");
    }
}
