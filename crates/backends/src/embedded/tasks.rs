//! Which task is done where.

use atelier_contract::brief::Task;

use super::assignment::Assignment;
use super::notes::Notes;
use super::{cel, draw, film, follow, merge, repaint, retouch};
use crate::backend::{Fault, Made, Work};

/// Does an assignment; called on a thread of its own.
pub(super) fn done(assignment: &Assignment) -> Result<Made, Fault> {
    assignment.step(0, 1)?;
    match assignment.work.brief.task {
        Task::Draw => draw::draw(assignment),
        Task::Reroll => draw::reroll(assignment),
        Task::Upsample(index) => follow::enlarge(assignment, Some(index), false),
        Task::Enlarge(_, creative) => follow::enlarge(assignment, None, creative),
        Task::Vary(index, strong) => follow::vary(assignment, index, strong),
        Task::ZoomOut(tenths) => follow::zoom_out(assignment, tenths),
        Task::Pan(direction) => follow::pan(assignment, direction),
        Task::Square => follow::square(assignment),
        Task::Repaint => repaint::repaint(assignment),
        Task::Blend => merge::merge(assignment),
        Task::Seed => seed(&assignment.work),
        Task::Describe => retouch::described(assignment),
        Task::Restyle => retouch::restyled(assignment),
        Task::Edit => retouch::edited(assignment),
        Task::ReplaceBackground => retouch::on_another_ground(assignment),
        Task::RemoveBackground => retouch::without_ground(assignment),
        Task::Vectorize => retouch::traced(assignment),
        Task::CrispUpscale => retouch::larger(assignment, false),
        Task::CreativeUpscale => retouch::larger(assignment, true),
        Task::SwapFace => retouch::with_other_face(assignment),
        Task::Animate => film::animate(assignment),
        Task::Extend(_) => film::extend(assignment),
        Task::Unmark => film::unmark(assignment),
        Task::Character => film::character(assignment),
        Task::Anime => cel::anime(assignment),
    }
}

/// The seed of the parent as text; it is only told, so that no thread is needed.
pub(super) fn seed(work: &Work) -> Result<Made, Fault> {
    let output = work.parent.as_ref().and_then(|parent| parent.output());
    let noted = output.and_then(|output| Notes::seed(&output.notes));
    let seed = noted.or(work.brief.seed);
    let seed = seed.ok_or_else(|| Fault::unusable("jobId: this picture has no seed"))?;
    Ok(Made {
        seed: Some(seed.to_string()),
        made: 1,
        ..Made::default()
    })
}
