//! Which calls a task comes to: what each starts from, which part it may change, and how far it goes.

use atelier_contract::brief::Task;
use atelier_media::{Mask, Picture, cut_out};

use super::server::SdWebUi;
use crate::backend::{Fault, Work};
use crate::fit::{self, Size};
use crate::images::{FinishOptions, on_threads};
use crate::inputs::{self, unsupported};

/// How far from their picture: references, edits, subtle and strong variations, repainted and invented parts.
const REFERENCE: f64 = 0.75;
const EDIT: f64 = 0.65;
const SUBTLE: f64 = 0.4;
const STRONG: f64 = 0.75;
const REPAINT: f64 = 0.85;
const INVENT: f64 = 0.95;
/// How far an upscale that may invent details goes.
const REFINE: f64 = 0.3;
/// How much larger the upscales of `design` make a picture, and the longest side they make.
const LARGER: u32 = 4;
const LONGEST: u32 = 8192;

pub(super) enum WebUiCall {
    /// From words alone, in this size, so many.
    Words(Size, u32),
    /// From a picture, where a mask allows or all over.
    From {
        base: Picture,
        mask: Option<Mask>,
        strength: f64,
        size: Size,
        count: u32,
    },
    /// The picture larger, nothing invented.
    Larger(Picture, Size),
    /// Nothing is to be changed.
    Same(Picture),
}

/// All calls of a piece of work, and how their pictures are finished.
pub(super) struct WebUiPlan {
    pub(super) strokes: Vec<WebUiCall>,
    pub(super) finish: FinishOptions,
}

impl WebUiPlan {
    fn of(stroke: WebUiCall, size: Option<Size>) -> Self {
        Self {
            strokes: vec![stroke],
            finish: FinishOptions {
                size,
                ..FinishOptions::default()
            },
        }
    }
}

impl SdWebUi {
    /// What to do for a piece of work.
    pub(super) async fn plan(&self, work: &Work) -> Result<WebUiPlan, Fault> {
        let brief = &work.brief;
        let mut plan = match brief.task {
            Task::Draw | Task::Reroll if work.sources.is_empty() => self.words(work),
            Task::Draw | Task::Reroll => self.changed_source(work, None, REFERENCE).await?,
            Task::Anime => self.anime(work).await?,
            Task::Restyle => self.changed_source(work, None, brief.strength).await?,
            Task::Edit => self.edit(work).await?,
            Task::Repaint => self.repaint(work).await?,
            Task::ReplaceBackground => {
                let base = inputs::source(work, 0).await?;
                let mask = on_threads(&work.sources, {
                    let base = base.clone();
                    move || Ok(Mask::from_transparent(&cut_out(&base)))
                });
                self.region(work, base, mask.await?)
            }
            Task::Upsample(index) => larger(work, Some(index)).await?,
            Task::Enlarge(_, false) => larger(work, None).await?,
            Task::Enlarge(_, true) => {
                let base = inputs::parent_picture(work, None).await?;
                self.changed(work, &base, None, REFINE)
            }
            Task::Vary(index, strong) => {
                let base = inputs::parent_picture(work, index).await?;
                self.changed(work, &base, None, if strong { STRONG } else { SUBTLE })
            }
            Task::ZoomOut(_) | Task::Pan(_) | Task::Square => self.beyond(work).await?,
            Task::CrispUpscale => {
                let base = inputs::source(work, 0).await?;
                let size = enlarged(&base);
                WebUiPlan::of(WebUiCall::Larger(base, size), Some(size))
            }
            Task::CreativeUpscale => {
                let base = inputs::source(work, 0).await?;
                let size = enlarged(&base);
                let mut plan = self.changed(work, &base, None, REFINE);
                plan.finish.size = Some(size);
                plan
            }
            _ => return Err(Fault::ours(format!("{} is not served", work.operation))),
        };
        plan.finish.cut_out = brief.transparent;
        Ok(plan)
    }

    fn asked(&self, target: Size) -> Size {
        fit::stepped(target, 8, self.settings.most_pixels)
    }

    fn words(&self, work: &Work) -> WebUiPlan {
        let target = inputs::size_or_usual(work);
        WebUiPlan::of(
            WebUiCall::Words(self.asked(target), work.brief.count.max(1)),
            Some(target),
        )
    }

    /// The whole picture changed, or a part of it; the result has the asked size, or else the picture's.
    fn changed(&self, work: &Work, base: &Picture, mask: Option<Mask>, strength: f64) -> WebUiPlan {
        let own = (base.width, base.height);
        let target = fit::target(&work.brief, Some(own)).unwrap_or(own);
        let base = base.covering(target.0, target.1);
        let stroke = WebUiCall::From {
            size: self.asked(target),
            count: work.brief.count.max(1),
            base,
            mask,
            strength,
        };
        WebUiPlan::of(stroke, Some(target))
    }

    async fn changed_source(
        &self,
        work: &Work,
        mask: Option<Mask>,
        strength: f64,
    ) -> Result<WebUiPlan, Fault> {
        if work.sources.len() > 1 && work.brief.task == Task::Edit {
            return Err(unsupported(
                "image",
                "the back end works on one image at a time",
            ));
        }
        let base = inputs::source(work, 0).await?;
        Ok(self.changed(work, &base, mask, strength))
    }

    /// A part of a picture made anew; the rest stays to the byte.
    fn region(&self, work: &Work, base: Picture, mask: Mask) -> WebUiPlan {
        let mut plan = self.changed(work, &base, Some(mask.clone()), REPAINT);
        plan.finish.keep = vec![(base, mask)];
        plan
    }

    async fn anime(&self, work: &Work) -> Result<WebUiPlan, Fault> {
        if work.brief.extra["base_image"] == true {
            return self.changed_source(work, None, work.brief.strength).await;
        }
        if let Some(source) = work.brief.sources.first() {
            return Err(unsupported(
                &source.field,
                "no back end for reference images is available",
            ));
        }
        Ok(self.words(work))
    }

    async fn edit(&self, work: &Work) -> Result<WebUiPlan, Fault> {
        let base = inputs::source(work, 0).await?;
        let drawing = match inputs::mask(work).await? {
            Some(mask) => Some(mask),
            // A picture with holes of its own says by them where it is to be edited.
            None => base.has_alpha().then(|| base.clone()),
        };
        let strength = if drawing.is_some() { REPAINT } else { EDIT };
        let own = (base.width, base.height);
        let (width, height) = fit::target(&work.brief, Some(own)).unwrap_or(own);
        let mask = drawing.map(|drawing| Mask::from_transparent(&drawing.covering(width, height)));
        self.changed_source(work, mask, strength).await
    }

    async fn repaint(&self, work: &Work) -> Result<WebUiPlan, Fault> {
        let drawing = inputs::mask(work).await?;
        let drawing = drawing.ok_or_else(|| unsupported("mask", "is missing"))?;
        if work.parent.is_none() {
            let base = inputs::source(work, 0).await?;
            return Ok(self.region(work, base, Mask::from_white(&drawing)));
        }
        let whole = inputs::parent_picture(work, None).await?;
        if !work.brief.of_grid {
            return Ok(self.region(work, whole, Mask::from_white(&drawing)));
        }
        // Each picture of a grid has its own part of the drawing.
        let mut plan = WebUiPlan::of(WebUiCall::Same(whole.quarter(0)), None);
        plan.strokes.clear();
        for index in 0..4 {
            let (base, mask) = (
                whole.quarter(index),
                Mask::from_white(&drawing.quarter(index)),
            );
            if mask.bounds().is_none() {
                plan.strokes.push(WebUiCall::Same(base.clone()));
            } else {
                let mut one = self.region(work, base.clone(), mask.clone());
                if let Some(WebUiCall::From { count, .. }) = one.strokes.first_mut() {
                    *count = 1;
                }
                plan.finish.size = one.finish.size;
                plan.strokes.append(&mut one.strokes);
            }
            plan.finish.keep.push((base, mask));
        }
        Ok(plan)
    }

    /// More of the world around the parent's picture.
    async fn beyond(&self, work: &Work) -> Result<WebUiPlan, Fault> {
        let inner = inputs::parent_picture(work, None).await?;
        let (width, height) = inputs::size_or_usual(work);
        let place = inputs::outpaint_area(
            work.brief.task,
            (inner.width, inner.height),
            (width, height),
        );
        let place = place.unwrap_or([0, 0, width, height]);
        let [r, g, b] = inner.mean_colour();
        let mut canvas = Picture::filled(width, height, [r, g, b, 255]);
        let fitted = inner.resized(place[2], place[3]);
        canvas.pasted(&fitted, i64::from(place[0]), i64::from(place[1]));
        let mask = Mask::rectangle(width, height, place).inverted();
        let mut plan = self.changed(work, &canvas, Some(mask.clone()), INVENT);
        plan.finish.keep = vec![(canvas, mask)];
        Ok(plan)
    }
}

/// A picture of the parent, larger.
async fn larger(work: &Work, index: Option<u8>) -> Result<WebUiPlan, Fault> {
    let base = inputs::parent_picture(work, index).await?;
    let size = inputs::size_or_usual(work);
    Ok(WebUiPlan::of(WebUiCall::Larger(base, size), Some(size)))
}

fn enlarged(base: &Picture) -> Size {
    let longest = base.width.max(base.height).max(1);
    let factor = LARGER.min((LONGEST / longest).max(1));
    fit::inside((base.width * factor, base.height * factor))
}
