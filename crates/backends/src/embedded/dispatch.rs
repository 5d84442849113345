//! Which task is done where.

use atelier_contract::brief::Task;

use super::assignment::Assignment;
use super::notes::EmbeddedNotes;
use super::{anime, draw, follow_ups, merge, repaint, retouch, video};
use crate::backend::{Fault, Work, WorkOutput};

/// Does an assignment; called on a thread of its own.
pub(super) fn run(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    assignment.step(0, 1)?;
    match assignment.work.brief.task {
        Task::Draw => draw::draw(assignment),
        Task::Reroll => draw::reroll(assignment),
        Task::Upsample(index) => follow_ups::enlarge(assignment, Some(index), false),
        Task::Enlarge(_, creative) => follow_ups::enlarge(assignment, None, creative),
        Task::Vary(index, strong) => follow_ups::vary(assignment, index, strong),
        Task::ZoomOut(tenths) => follow_ups::zoom_out(assignment, tenths),
        Task::Pan(direction) => follow_ups::pan(assignment, direction),
        Task::Square => follow_ups::square(assignment),
        Task::Repaint => repaint::repaint(assignment),
        Task::Blend => merge::merge(assignment),
        Task::Seed => seed(&assignment.work),
        Task::Describe => retouch::described(assignment),
        Task::Shorten => Ok(shortened(&assignment.work)),
        Task::Restyle => retouch::restyled(assignment),
        Task::Edit => retouch::edited(assignment),
        Task::ReplaceBackground => retouch::on_another_ground(assignment),
        Task::RemoveBackground => retouch::without_ground(assignment),
        Task::Vectorize => retouch::traced(assignment),
        Task::CrispUpscale => retouch::larger(assignment, false),
        Task::CreativeUpscale => retouch::larger(assignment, true),
        Task::SwapFace => retouch::with_other_face(assignment),
        Task::Animate => video::animate(assignment),
        Task::Extend(_) => video::extend(assignment),
        Task::Unmark => video::unmark(assignment),
        Task::Character => video::character(assignment),
        Task::Anime => anime::anime(assignment),
    }
}

/// Shorter prompts for the one that was given.
fn shortened(work: &Work) -> WorkOutput {
    let prompts = atelier_studio::shorten(&work.brief.prompt);
    WorkOutput {
        made: prompts.len() as u32,
        prompts,
        ..WorkOutput::default()
    }
}

/// The seed of the parent as text; it is only told, so that no thread is needed.
pub(super) fn seed(work: &Work) -> Result<WorkOutput, Fault> {
    let output = work.parent.as_ref().and_then(|parent| parent.output());
    let noted = output.and_then(|output| EmbeddedNotes::seed(&output.notes));
    let seed = noted.or(work.brief.seed);
    let seed = seed.ok_or_else(|| Fault::unusable("jobId: this picture has no seed"))?;
    Ok(WorkOutput {
        seed: Some(seed.to_string()),
        made: 1,
        ..WorkOutput::default()
    })
}
