//! Clips that are longer or larger than was asked: cut and fitted, kept as they came, or refused.

use atelier_contract::FileRole;
use atelier_contract::brief::{Brief, Task, VideoDefinition};
use atelier_media::{fit_video, video_info};
use bytes::Bytes;
use serde::Deserialize;

use super::covers::covers;
use crate::backend::{Fault, OutputFile, WorkOutput};
use crate::fit::Size;
use crate::images::on_threads;

/// Vendors deliver a frame or two more than asked, which is nobody's concern.
const SLACK: f64 = 0.1;

/// What to do about clips that are longer or larger than was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OversizePolicy {
    /// They are cut and fitted where that is possible.
    #[default]
    Fit,
    /// They are delivered as they came.
    Keep,
    /// The job fails, because its result is not what was asked for.
    Refuse,
}

/// How long and how large a clip was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedVideo {
    seconds: Option<f64>,
    size: Option<Size>,
    /// Whether it was asked for smaller than it is to be, in standard definition.
    enlarged: bool,
}

impl RequestedVideo {
    /// What a brief asks for; nothing is asked of what carries a clip on, which may come with the earlier part.
    pub(crate) fn of(brief: &Brief) -> Self {
        let animates = brief.task == Task::Animate;
        let seconds = animates && brief.seconds > 0;
        let size = animates && brief.width > 0 && brief.height > 0;
        Self {
            seconds: seconds.then_some(f64::from(brief.seconds)),
            size: size.then_some((brief.width, brief.height)),
            enlarged: brief.definition == VideoDefinition::Standard,
        }
    }

    /// The size to give a clip of this one.
    fn size_for(&self, clip: Size) -> Option<Size> {
        let smaller = |(wide, high)| self.enlarged && clip.0 < wide && clip.1 < high;
        let larger = |(wide, high)| clip.0 > wide || clip.1 > high;
        self.size.filter(|size| larger(*size) || smaller(*size))
    }
}

/// What was made, with clips as long and as large as was asked.
pub(crate) async fn fit_videos(
    mut made: WorkOutput,
    asked: RequestedVideo,
    oversized: OversizePolicy,
) -> Result<WorkOutput, Fault> {
    if oversized == OversizePolicy::Keep {
        return Ok(made);
    }
    let mut changed = Vec::new();
    for file in made
        .files
        .iter_mut()
        .filter(|file| file.role == FileRole::Main)
    {
        let Ok(info) = video_info(&file.bytes) else {
            continue;
        };
        let seconds = asked.seconds.filter(|most| info.duration > most + SLACK);
        let size = asked.size_for((info.width, info.height));
        if seconds.is_none() && size.is_none() {
            continue;
        }
        let small = size.is_some_and(|(width, _)| info.width < width) && seconds.is_none();
        if oversized == OversizePolicy::Refuse && !small {
            let (width, height, length) = (info.width, info.height, info.duration);
            let detail = format!("a clip of {width}x{height} and {length:.1} s was not asked for");
            return Err(Fault::useless(detail));
        }
        if let Some(bytes) = fit(&file.bytes, seconds, size).await? {
            let now = video_info(&bytes).unwrap_or(info);
            (file.width, file.height) = (now.width, now.height);
            file.bytes = bytes.clone();
            changed.push(bytes);
        }
    }
    let is_cover =
        |file: &OutputFile| matches!(file.role, FileRole::FirstFrame | FileRole::LastFrame);
    if let ([bytes], true) = (changed.as_slice(), made.files.iter().any(is_cover)) {
        let bytes = bytes.clone();
        let fresh = on_threads(&[], move || Ok(covers(&bytes))).await?;
        if !fresh.is_empty() {
            made.files.retain(|file| !is_cover(file));
            made.files.extend(fresh);
        }
    }
    Ok(made)
}

/// The clip in another length and size; in another length alone where its frames cannot be read, and nothing where it
/// cannot even be taken apart.
async fn fit(
    bytes: &Bytes,
    seconds: Option<f64>,
    size: Option<Size>,
) -> Result<Option<Bytes>, Fault> {
    let bytes = bytes.clone();
    on_threads(&[], move || {
        let whole = fit_video(&bytes, seconds, size);
        let cut = whole.or_else(|error| {
            tracing::info!(%error, "a video could not be resized");
            fit_video(&bytes, seconds, None)
        });
        Ok(cut
            .unwrap_or_else(|error| {
                tracing::info!(%error, "a video could not be trimmed");
                None
            })
            .map(Bytes::from))
    })
    .await
}
