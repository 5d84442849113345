//! Pictures into files: one after the other, or four in one with the single ones beside it.

use atelier_contract::FileRole;
use atelier_media::Picture;

use super::assignment::Assignment;
use super::notes::EmbeddedNotes;
use super::world::World;
use crate::backend::{Fault, OutputFile, WorkOutput};

/// A picture, and the world it shows where it shows one.
pub(super) struct RenderedPicture<'a> {
    pub(super) picture: Picture,
    /// What it was rendered from.
    pub(super) world: Option<&'a World>,
}

impl From<Picture> for RenderedPicture<'_> {
    fn from(picture: Picture) -> Self {
        Self {
            picture,
            world: None,
        }
    }
}

/// Paints every picture and files it; each is painted, encoded and let go before the next.
pub(super) fn render_files<'a, P: Into<RenderedPicture<'a>>>(
    assignment: &Assignment,
    count: usize,
    paint: impl Fn(usize) -> Result<P, Fault>,
) -> Result<Vec<OutputFile>, Fault> {
    let paint = |index: usize| paint(index).map(Into::into);
    if assignment.work.brief.grid {
        return grid(assignment, paint);
    }
    let mut files = Vec::with_capacity(count);
    for index in 0..count {
        assignment.step(index, count)?;
        files.push(painted_file(
            assignment,
            &paint(index)?,
            FileRole::Main,
            index,
        ));
    }
    Ok(files)
}

fn painted_file(
    assignment: &Assignment,
    painted: &RenderedPicture,
    role: FileRole,
    index: usize,
) -> OutputFile {
    let mut label = assignment.label(assignment.seed_of(index));
    if let Some(world) = painted.world {
        label.seed = Some(world.scene.seed());
        label.scene = world.description(&label.prompt);
    }
    assignment.file_labelled(&painted.picture, role, &label)
}

fn grid<'a>(
    assignment: &Assignment,
    paint: impl Fn(usize) -> Result<RenderedPicture<'a>, Fault>,
) -> Result<Vec<OutputFile>, Fault> {
    let mut small = Vec::new();
    let mut whole: Option<Picture> = None;
    for index in 0..4 {
        assignment.step(index, 5)?;
        let painted = paint(index)?;
        if assignment.work.brief.small_images {
            small.push(painted_file(assignment, &painted, FileRole::Small, index));
        }
        let picture = painted.picture;
        let (width, height) = (picture.width, picture.height);
        let sheet =
            whole.get_or_insert_with(|| Picture::filled(width * 2, height * 2, [0, 0, 0, 255]));
        let (x, y) = (index as u32 % 2 * width, index as u32 / 2 * height);
        sheet.pasted(&picture, i64::from(x), i64::from(y));
    }
    assignment.step(4, 5)?;
    let whole = whole.ok_or_else(|| Fault::ours("a grid without a picture"))?;
    let mut files = vec![assignment.file_of(&whole, FileRole::Main, assignment.seed)];
    files.append(&mut small);
    Ok(files)
}

/// What was made, with notes for those who follow up on it.
pub(super) fn work_output(
    files: Vec<OutputFile>,
    count: usize,
    notes: &EmbeddedNotes,
) -> WorkOutput {
    WorkOutput {
        files,
        made: count as u32,
        notes: notes.write(),
        ..WorkOutput::default()
    }
}
