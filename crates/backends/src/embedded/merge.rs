//! Several pictures made into new ones.

use atelier_studio::blend;

use super::assignment::Assignment;
use super::image_files;
use super::notes::EmbeddedNotes;
use crate::backend::{Fault, WorkOutput};

/// Seeds of a blend that lie this far apart place its parts a quarter of a turn apart.
const QUARTER: u64 = 90;

/// Blends the sources, each result with another share of each.
pub(super) fn merge(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let parts = assignment.sources()?;
    let (width, height) = assignment.size(parts.first());
    let files = image_files::render_files(assignment, assignment.count(), |index| {
        // A quarter of a turn apart, no two of four show the same part in the same place.
        let turn = (assignment.seed + index as u64 * QUARTER) % (4 * QUARTER);
        let seed = assignment.seed_of(index) / (4 * QUARTER) * (4 * QUARTER) + turn;
        Ok(blend(&parts, width, height, seed))
    })?;
    Ok(image_files::work_output(
        files,
        assignment.count(),
        &EmbeddedNotes::Picture {
            seed: assignment.seed,
        },
    ))
}
