//! Which task is done where.

use atelier_contract::brief::Task;

use super::desk::Desk;
use super::{cel, draw, film, follow, merge, repaint, retouch};
use crate::backend::{Fault, Made};

/// Does the work of a desk; called on a thread of the pool.
pub(super) fn done(desk: &Desk) -> Result<Made, Fault> {
    desk.step(0, 1)?;
    match desk.work.brief.task {
        Task::Draw => draw::draw(desk),
        Task::Reroll => draw::reroll(desk),
        Task::Upsample(index) => follow::enlarge(desk, Some(index), false),
        Task::Enlarge(_, creative) => follow::enlarge(desk, None, creative),
        Task::Vary(index, strong) => follow::vary(desk, index, strong),
        Task::ZoomOut(tenths) => follow::zoom_out(desk, tenths),
        Task::Pan(direction) => follow::pan(desk, direction),
        Task::Square => follow::square(desk),
        Task::Repaint => repaint::repaint(desk),
        Task::Blend => merge::merge(desk),
        Task::Seed => seed(desk),
        Task::Describe => retouch::described(desk),
        Task::Restyle => retouch::restyled(desk),
        Task::Edit => retouch::edited(desk),
        Task::ReplaceBackground => retouch::on_another_ground(desk),
        Task::RemoveBackground => retouch::without_ground(desk),
        Task::Vectorize => retouch::traced(desk),
        Task::CrispUpscale => retouch::larger(desk, false),
        Task::CreativeUpscale => retouch::larger(desk, true),
        Task::SwapFace => retouch::with_other_face(desk),
        Task::Animate => film::animate(desk),
        Task::Extend(_) => film::extend(desk),
        Task::Unmark => film::unmark(desk),
        Task::Character => film::character(desk),
        Task::Anime => cel::anime(desk),
    }
}

/// The seed of the parent as text.
fn seed(desk: &Desk) -> Result<Made, Fault> {
    let fixed = desk.work.brief.seed;
    let parent = desk.notes.as_ref().map(super::notes::Notes::seed).or(fixed);
    let seed = parent.ok_or_else(|| Fault::unusable("jobId: this picture has no seed"))?;
    Ok(Made {
        seed: Some(seed.to_string()),
        made: 1,
        ..Made::default()
    })
}
