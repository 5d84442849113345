//! Pictures as they are ordered: words, given pictures, and the region to work on in the vendor's own way.

use atelier_contract::brief::{Brief, Task};
use atelier_media::{Mask, Picture, cut_out};
use bytes::Bytes;

use crate::backend::{Fault, Work};
use crate::fit::{self, Size};
use crate::images::{FinishOptions, on_threads};
use crate::inputs::{self, unsupported};

/// The words of a blend, which has none of its own.
const BLEND: &str = "Blend these pictures into one new picture that takes subject, style and colours from all of them.";
/// What is painted over a region where a vendor has no masks.
const PAINT: [u8; 4] = [255, 0, 255, 255];
/// What is said about it.
const PAINTED: &str = "In the first picture a region is painted over in plain magenta. Fill that region, and leave everything else exactly as it is. In the region:";

/// How a vendor is told where to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskSupport {
    /// It cannot be told.
    None,
    /// The region is painted over and described; what lies outside is kept here. Only for answers within the call.
    Painted,
    /// White where to work.
    White,
    /// Black where to work.
    Black,
}

/// What a vendor's image model can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageCapabilities {
    pub(crate) masks: MaskSupport,
    /// Pictures that one call may carry.
    pub(crate) references: usize,
    /// Whether what to leave out has a field of its own.
    pub(crate) negative: bool,
    /// Whether it leaves backgrounds out itself.
    pub(crate) transparent: bool,
    /// Whether it replaces backgrounds without being told where they are.
    pub(crate) backgrounds: bool,
}

/// Pictures as they are ordered.
pub(crate) struct ImageRequest {
    pub(crate) prompt: String,
    /// What to leave out, where it has a field of its own.
    pub(crate) negative: String,
    /// Given pictures, the one to change first.
    pub(crate) images: Vec<Bytes>,
    /// The region to change, in the form of `MaskSupport`.
    pub(crate) mask: Option<Bytes>,
    /// The size of the results; `None` leaves it to the vendor.
    pub(crate) size: Option<Size>,
    pub(crate) finish: FinishOptions,
}

impl ImageRequest {
    /// The order for a piece of work.
    pub(crate) async fn of(work: &Work, can: &ImageCapabilities) -> Result<Self, Fault> {
        let brief = &work.brief;
        let mut sheet = match brief.task {
            Task::Blend => Self::free(work, can, BLEND).await?,
            Task::Edit | Task::Repaint if work.mask.is_some() => {
                let drawing = inputs::mask(work).await?;
                let drawing = drawing.ok_or_else(|| unsupported("mask", "is missing"))?;
                let mask = match brief.task {
                    Task::Edit => Mask::from_transparent(&drawing),
                    _ => Mask::from_white(&drawing),
                };
                let base = inputs::source(work, 0).await?;
                Self::region(work, can, base, mask).await?
            }
            Task::ReplaceBackground if !can.backgrounds => {
                let base = inputs::source(work, 0).await?;
                let (base, subject) = on_threads(&work.sources, move || {
                    let subject = cut_out(&base);
                    Ok((base, subject))
                })
                .await?;
                Self::region(work, can, base, Mask::from_transparent(&subject)).await?
            }
            _ => Self::free(work, can, &brief.prompt).await?,
        };
        if !brief.negative.is_empty() && !can.negative {
            sheet.prompt = format!("{}\nAvoid: {}", sheet.prompt, brief.negative);
        } else {
            sheet.negative.clone_from(&brief.negative);
        }
        if brief.transparent && !can.transparent {
            sheet.finish.cut_out = true;
        }
        Ok(sheet)
    }

    /// Pictures after words, with given ones as they are.
    async fn free(work: &Work, can: &ImageCapabilities, prompt: &str) -> Result<Self, Fault> {
        let source = match work.brief.task {
            Task::Restyle | Task::ReplaceBackground | Task::RemoveBackground => own_size(work),
            _ => None,
        };
        let size = fit::target(&work.brief, source);
        Ok(Self {
            prompt: prompt.to_owned(),
            negative: String::new(),
            images: images(work, can).await?,
            mask: None,
            size,
            finish: FinishOptions {
                size,
                ..FinishOptions::default()
            },
        })
    }

    /// A part of a picture made anew.
    async fn region(
        work: &Work,
        can: &ImageCapabilities,
        base: Picture,
        mask: Mask,
    ) -> Result<Self, Fault> {
        let own: Size = (base.width, base.height);
        let mask = mask.resized(own.0, own.1);
        let size = fit::target(&work.brief, Some(own));
        let mut sheet = Self {
            size,
            finish: FinishOptions {
                size,
                ..FinishOptions::default()
            },
            ..Self::free(work, can, &work.brief.prompt).await?
        };
        let drawing = match can.masks {
            MaskSupport::None => {
                return Err(unsupported("mask", "no back end for masks is available"));
            }
            MaskSupport::Painted => {
                sheet.images[0] = inputs::png(painted(&base, &mask)).await?;
                sheet.prompt = format!("{PAINTED} {}", sheet.prompt);
                sheet.finish.keep = vec![(base, mask)];
                return Ok(sheet);
            }
            MaskSupport::White => inputs::white(&mask),
            MaskSupport::Black => inputs::white(&mask.inverted()),
        };
        sheet.mask = Some(inputs::png(drawing).await?);
        Ok(sheet)
    }
}

fn painted(base: &Picture, mask: &Mask) -> Picture {
    let paint = Picture::filled(base.width, base.height, PAINT);
    mask.mixed(&base.on([255; 3]), &paint)
}

/// Refuses more pictures than a vendor's image model takes.
pub(super) fn check(brief: &Brief, can: &ImageCapabilities) -> Result<(), Fault> {
    if let Some(source) = brief.sources.get(can.references.max(1)) {
        let message = format!("no back end takes more than {} images", can.references);
        return Err(unsupported(&source.field, &message));
    }
    if let (0, Some(source)) = (can.references, brief.sources.first()) {
        return Err(unsupported(
            &source.field,
            "no back end for images is available",
        ));
    }
    Ok(())
}

async fn images(work: &Work, can: &ImageCapabilities) -> Result<Vec<Bytes>, Fault> {
    check(&work.brief, can)?;
    let mut images = Vec::new();
    for index in 0..work.sources.len() {
        images.push(inputs::input_bytes(work, index).await?);
    }
    Ok(images)
}

fn own_size(work: &Work) -> Option<Size> {
    let bytes = work.sources.first()?;
    let header = atelier_media::header(bytes).ok()?;
    Some((header.width, header.height))
}
