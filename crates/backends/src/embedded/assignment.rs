//! An assignment: a piece of work with what was read for it, its seed, and how far it is.

use atelier_contract::brief::{Format, HintKind, Task};
use atelier_contract::{FaultKind, FileRole, Job};
use atelier_media::{Encoding, Label, Limits, Picture, decode, encode, header};
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::notes::EmbeddedNotes;
use super::world::{ENGINE, MOST_DRAWN_PIXELS};
use crate::backend::{Class, Fault, OutputFile, Work};
use crate::seeds;

/// No side of a result is longer.
const LONGEST_SIDE: u32 = 16_384;
/// No result has more pixels; larger wishes are made smaller in their own shape.
const MOST_PIXELS: f64 = 4096.0 * 4096.0;
/// Where neither the brief nor a source says a size.
const USUAL_SIDE: u32 = 1024;
/// Bytes that each drawn pixel takes: its colours, what shows through it, outlines.
const BYTES_DRAWN: u64 = 60;
/// Bytes that each pixel of a finished picture takes beside: the picture and its file.
const BYTES_A_PIXEL: u64 = 12;
/// Megabytes that any piece of work may take besides its pixels.
const BASE_MEGABYTES: u64 = 24;
/// Megabytes that frames on their way into a clip take.
const FILM_MEGABYTES: u64 = 250;

/// Pixels that the largest upscale takes, at the bytes of drawing.
const ENLARGED_PIXELS: u64 = 6 << 20;

/// Everything a piece of work needs once it runs on a thread of its own.
pub(super) struct Assignment {
    pub(super) work: Work,
    /// What the parent's making left behind, when the embedded engine made it.
    pub(super) notes: Option<EmbeddedNotes>,
    /// The parent's file to work from, when its notes are not enough.
    pub(super) file: Option<Bytes>,
    /// The frames the parent kept, where its video is made again.
    pub(super) kept: Vec<Bytes>,
    /// The seed of this job.
    pub(super) seed: u64,
    /// Set when nobody wants the result any more.
    pub(super) stop: CancellationToken,
    /// Percent that were reached by waiting.
    pub(super) waited: u8,
}

impl Assignment {
    /// The work with the parent's files, where they will be needed.
    pub(super) async fn prepared(work: Work, stop: CancellationToken) -> Result<Self, Fault> {
        let output = work.parent.as_ref().and_then(|parent| parent.output());
        let notes = output.and_then(|output| EmbeddedNotes::read(&output.notes));
        let file = match wanted_file(&work, notes.as_ref()) {
            Some(key) => Some((work.read)(key).await?),
            None => None,
        };
        let mut kept = Vec::new();
        for key in kept_frames(&work) {
            kept.push((work.read)(key).await?);
        }
        // A follow-up repeats the parent's flags, so the seed among them would make the parent's choices again.
        let fixed = work.brief.seed.filter(|_| work.parent.is_none());
        let seed = fixed.unwrap_or_else(|| seeds::of_job(&work.job_id));
        let waited = work.progress.get();
        Ok(Self {
            work,
            notes,
            file,
            kept,
            seed,
            stop,
            waited,
        })
    }

    /// Megabytes the work may take.
    pub(super) fn megabytes(&self) -> u32 {
        let brief = &self.work.brief;
        let mut pixels = u64::from(brief.width) * u64::from(brief.height);
        if brief.grid {
            pixels *= 2;
        }
        let given = self.work.sources.iter().chain(&self.work.hints);
        let given = given.chain(&self.file);
        for header in given.filter_map(|bytes| header(bytes).ok()) {
            pixels += u64::from(header.width) * u64::from(header.height);
        }
        if matches!(brief.task, Task::CrispUpscale | Task::CreativeUpscale) {
            pixels += ENLARGED_PIXELS;
        }
        let film = match brief.task {
            Task::Animate | Task::Extend(_) | Task::Unmark => FILM_MEGABYTES,
            _ => 0,
        };
        let drawn = pixels.min(MOST_DRAWN_PIXELS as u64);
        let bytes = pixels.saturating_mul(BYTES_A_PIXEL) + drawn * BYTES_DRAWN;
        u32::try_from(BASE_MEGABYTES + film + bytes / (1 << 20)).unwrap_or(u32::MAX)
    }

    /// Says how far it is, and stops here when nobody wants the result any more.
    pub(super) fn step(&self, done: usize, of: usize) -> Result<(), Fault> {
        if self.stop.is_cancelled() {
            return Err(cancelled());
        }
        let share = done as f32 / of.max(1) as f32;
        let rest = 98.0 - f32::from(self.waited).min(98.0);
        self.work.progress.set(self.waited + (share * rest) as u8);
        Ok(())
    }

    /// The size each result is to have; `like` decides where the brief leaves it open.
    pub(super) fn size(&self, like: Option<&Picture>) -> (u32, u32) {
        let brief = &self.work.brief;
        let usual = like.map_or((USUAL_SIDE, USUAL_SIDE), |like| (like.width, like.height));
        let (width, height) = match (brief.width, brief.height) {
            (0, _) | (_, 0) => usual,
            given => given,
        };
        let pixels = f64::from(width) * f64::from(height);
        let longest = f64::from(width.max(height));
        let scale = (MOST_PIXELS / pixels)
            .sqrt()
            .min(f64::from(LONGEST_SIDE) / longest)
            .min(1.0);
        let side = |length: u32| ((f64::from(length) * scale) as u32).max(1);
        (side(width), side(height))
    }

    /// How many results are wanted.
    pub(super) fn count(&self) -> usize {
        self.work.brief.count.clamp(1, 16) as usize
    }

    /// The seed of the result at a place.
    pub(super) fn seed_of(&self, index: usize) -> u64 {
        seeds::member(self.seed, index)
    }

    /// The input picture at a place, decoded within the limits.
    pub(super) fn source(&self, index: usize) -> Result<Picture, Fault> {
        let field = |index: usize| self.work.brief.sources.get(index).map(|one| &*one.field);
        let name = field(index).unwrap_or("image");
        match self.work.sources.get(index) {
            Some(bytes) => decoded(bytes, name),
            None => Err(Fault::ours(format!("source {index} is missing"))),
        }
    }

    pub(super) fn sources(&self) -> Result<Vec<Picture>, Fault> {
        (0..self.work.sources.len())
            .map(|index| self.source(index))
            .collect()
    }

    /// The files and pictures that lend something.
    pub(super) fn hints(&self, lends: HintKind) -> Result<Vec<(&Bytes, Picture)>, Fault> {
        let hints = self.work.brief.hints.iter().zip(&self.work.hints);
        hints
            .filter(|(hint, _)| hint.lends == lends)
            .map(|(hint, file)| Ok((file, decoded(file, &hint.source.field)?)))
            .collect()
    }

    /// The picture in the mask's file.
    pub(super) fn mask(&self) -> Result<Option<Picture>, Fault> {
        let bytes = self.work.mask.as_ref();
        bytes.map(|bytes| decoded(bytes, "mask")).transpose()
    }

    /// The parent's picture as it was stored.
    pub(super) fn parent_picture(&self) -> Result<Picture, Fault> {
        let bytes = self.file.as_ref();
        let bytes = bytes.ok_or_else(|| Fault::ours("the parent's file was not read"))?;
        decode(bytes, limits())
            .map_err(|error| Fault::ours(format!("the parent's file: {error:?}")))
    }

    /// Whether the parent shows four pictures in one.
    pub(super) fn parent_is_grid(&self) -> bool {
        self.work.brief.of_grid
    }

    /// A picture as a file in the asked-for format, labelled with its making.
    pub(super) fn file_of(&self, picture: &Picture, role: FileRole, seed: u64) -> OutputFile {
        self.file_labelled(picture, role, &self.label(seed))
    }

    /// A picture as a file in the asked-for format with a label.
    pub(super) fn file_labelled(
        &self,
        picture: &Picture,
        role: FileRole,
        label: &Label,
    ) -> OutputFile {
        let encoding = match self.work.brief.format {
            Format::Png => Encoding::Png,
            Format::Jpeg(quality) => Encoding::Jpeg { quality },
            Format::Webp(quality) => Encoding::Webp {
                quality: Some(quality),
            },
        };
        OutputFile {
            role,
            media_type: encoding.format().media_type(),
            width: picture.width,
            height: picture.height,
            bytes: encode(picture, encoding, Some(label)).into(),
            ..OutputFile::default()
        }
    }

    /// What a result says about its making.
    pub(super) fn label(&self, seed: u64) -> Label {
        Label {
            prompt: self.work.brief.prompt.clone(),
            seed: Some(seed),
            model: self.work.brief.model.clone(),
            job: self.work.job_id.to_string(),
            engine: ENGINE.to_owned(),
            ..Label::default()
        }
    }
}

/// The fault of work that was stopped on the way.
pub(super) fn cancelled() -> Fault {
    Fault::new(
        Class::BadRequest,
        FaultKind::Cancelled,
        "the job was cancelled",
    )
}

fn limits() -> Limits {
    Limits::default()
}

/// A picture from outside, decoded within the limits.
pub(super) fn decoded(bytes: &[u8], field: &str) -> Result<Picture, Fault> {
    decode(bytes, limits()).map_err(|error| Fault {
        detail: format!("{error:?}"),
        ..Fault::bad_link(field, error.to_string())
    })
}

/// The key of the parent's file that a task works from; scenes need none.
fn wanted_file(work: &Work, notes: Option<&EmbeddedNotes>) -> Option<String> {
    let parent: &Job = work.parent.as_deref()?;
    let index = match work.brief.task {
        Task::Extend(index) => usize::from(index),
        Task::Seed | Task::Unmark => return None,
        _ if matches!(notes, Some(EmbeddedNotes::Scene { .. })) => return None,
        _ => 0,
    };
    parent.file(index).map(|file| file.key.clone())
}

/// The keys of the frames that were kept beside the parent's video.
fn kept_frames(work: &Work) -> Vec<String> {
    match (&work.parent, work.brief.task) {
        (Some(parent), Task::Unmark) => parent
            .files(FileRole::FirstFrame)
            .map(|file| file.key.clone())
            .collect(),
        _ => Vec::new(),
    }
}
