//! Several pictures made into new ones.

use atelier_media::blend;

use super::album;
use super::desk::Desk;
use super::notes::Notes;
use crate::backend::{Fault, Made};

/// Blends the sources, each result with another share of each.
pub(super) fn merge(desk: &Desk) -> Result<Made, Fault> {
    let parts = desk.sources()?;
    let (width, height) = desk.size(parts.first());
    let files = album::filed(desk, desk.count(), |index| {
        Ok(blend(&parts, width, height, desk.seed_of(index)))
    })?;
    Ok(album::made(
        files,
        desk.count(),
        &Notes::Picture { seed: desk.seed },
    ))
}
