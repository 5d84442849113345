//! Pictures: what is sent for each task, and how the answers become results of the asked size.

use atelier_contract::brief::Task;
use atelier_media::{Mask, Picture, cut_out};
use bytes::Bytes;

use super::account::OpenAi;
use super::fields::{ImageBatch, ImageCall, styled};
use super::reply::ImageFiles;
use super::settings::{MaskStyle, ServerDialect};
use super::usage;
use crate::backend::{Fault, Work, WorkOutput};
use crate::canvas::Canvas;
use crate::fit::{self, Size};
use crate::images::{FinishOptions, finish_images, on_threads};
use crate::inputs::{self, unsupported};

/// Pictures one call may carry.
const MOST_SOURCES: usize = 16;
/// The words of a blend, which has none of its own.
const BLEND: &str = "Blend these pictures into one new picture that takes subject, style and colours from all of them.";

/// What to send, and how to finish what comes.
struct ImagePlan {
    wish: ImageCall,
    finish: FinishOptions,
}

impl OpenAi {
    /// Makes the pictures of a piece of work.
    pub(super) async fn make_images(&self, work: &Work) -> Result<WorkOutput, Fault> {
        let plan = self.plan(work).await?;
        let image_files = self.request_images(work, &plan.wish).await?;
        let finish = FinishOptions {
            revised_prompt: image_files.revised_prompt,
            ..plan.finish
        };
        let cost = image_files.cost;
        match finish_images(work, image_files.files, finish).await {
            Ok(made) => Ok(WorkOutput { cost, ..made }),
            // What cannot be used was paid for all the same.
            Err(fault) => Err(fault.paid(cost)),
        }
    }

    /// Calls until there are as many pictures as asked for. What was made before a call failed is not thrown away,
    /// unless a part is worth nothing.
    async fn request_images(&self, work: &Work, wish: &ImageCall) -> Result<ImageFiles, Fault> {
        let wanted = work.brief.count.clamp(1, 16);
        let mut all = ImageFiles::default();
        while (all.files.len() as u32) < wanted {
            let missing = wanted - all.files.len() as u32;
            let asked = missing.min(self.settings.images_per_call);
            let batch = ImageBatch {
                before: all.files.len(),
                count: asked,
            };
            let call = self.image_call(work, wish, batch);
            let taken: usize = all.files.iter().map(Bytes::len).sum();
            let left = self.http.most_file().saturating_sub(taken as u64);
            let more = self.call_for_files(call, &work.progress, asked, left);
            match more.await {
                Ok(more) => {
                    all.files.extend(more.files);
                    all.cost = usage::sum(all.cost, more.cost);
                    all.revised_prompt = all.revised_prompt.or(more.revised_prompt);
                }
                Err(fault) if all.files.is_empty() || work.brief.grid => {
                    return Err(fault.paid(all.cost));
                }
                Err(fault) => {
                    tracing::info!(job = %work.job_id, detail = %fault.detail, "the vendor made fewer images than requested");
                    break;
                }
            }
            let share = all.files.len() as u32 * 90 / wanted;
            work.progress.set(share.min(90) as u8);
        }
        Ok(all)
    }

    async fn plan(&self, work: &Work) -> Result<ImagePlan, Fault> {
        let brief = &work.brief;
        match brief.task {
            Task::Draw => self.plan_free(work, &brief.prompt, None).await,
            Task::Blend => self.plan_free(work, BLEND, None).await,
            Task::Edit => {
                let mask = match inputs::mask(work).await? {
                    Some(drawing) => Some(self.mask_file(Mask::from_transparent(&drawing)).await?),
                    None => None,
                };
                self.plan_free(work, &brief.prompt, mask).await
            }
            Task::Repaint => {
                let drawing = inputs::mask(work).await?;
                let drawing = drawing.ok_or_else(|| unsupported("mask", "is missing"))?;
                let base = inputs::source(work, 0).await?;
                self.plan_region(work, base, Mask::from_white(&drawing))
                    .await
            }
            Task::ReplaceBackground => {
                let base = inputs::source(work, 0).await?;
                let (base, subject) = on_threads(&work.sources, move || {
                    let subject = cut_out(&base);
                    Ok((base, subject))
                })
                .await?;
                self.plan_region(work, base, Mask::from_transparent(&subject))
                    .await
            }
            _ => Err(Fault::ours(format!("{} is not served", work.operation))),
        }
    }

    /// Pictures after words, with given ones as they are.
    async fn plan_free(
        &self,
        work: &Work,
        prompt: &str,
        mask: Option<Bytes>,
    ) -> Result<ImagePlan, Fault> {
        let mut images = Vec::new();
        for index in 0..work.sources.len().min(MOST_SOURCES) {
            images.push(inputs::input_bytes(work, index).await?);
        }
        if mask.is_some() && images.len() > 1 && self.settings.dialect == ServerDialect::Localai {
            return Err(unsupported(
                "image",
                "the back end works on one image at a time",
            ));
        }
        let target = fit::target(&work.brief, None);
        let model = self.model(work)?;
        let mut prompt = self.words(prompt, &work.brief.negative);
        if let Some(style) = styled(work, &model) {
            prompt = format!("{prompt}\n\n{style}");
        }
        Ok(ImagePlan {
            wish: ImageCall {
                prompt,
                size: target.map(|size| self.size_for(&model, size)),
                model,
                images,
                mask,
            },
            finish: FinishOptions {
                size: target,
                cut_out: work.brief.transparent && !self.cuts_out(),
                ..FinishOptions::default()
            },
        })
    }

    /// A part of a picture made anew; the rest stays as it was.
    async fn plan_region(
        &self,
        work: &Work,
        base: Picture,
        mask: Mask,
    ) -> Result<ImagePlan, Fault> {
        let own: Size = (base.width, base.height);
        let target = fit::target(&work.brief, Some(own)).unwrap_or(own);
        let model = self.model(work)?;
        let asked = self.size_for(&model, own);
        let canvas = Canvas::around(own, asked);
        let mask = mask.resized(own.0, own.1);
        let image = inputs::png(canvas.filled_with(&base)).await?;
        let drawn = self.mask_file(canvas.mask(&mask)).await?;
        Ok(ImagePlan {
            wish: ImageCall {
                model,
                prompt: self.words(&work.brief.prompt, &work.brief.negative),
                size: Some(asked),
                images: vec![image],
                mask: Some(drawn),
            },
            finish: FinishOptions {
                size: Some(target),
                canvas: Some(canvas),
                keep: vec![(base, mask)],
                ..FinishOptions::default()
            },
        })
    }

    async fn mask_file(&self, mask: Mask) -> Result<Bytes, Fault> {
        inputs::png(match self.settings.mask {
            MaskStyle::Transparent => inputs::transparent(&mask),
            MaskStyle::White => inputs::white(&mask),
        })
        .await
    }
}
