//! The green of a place.

use crate::choices::kinds::Season;
use crate::paint::colour::{Rgb, hex, mix};
use crate::scene::stage::Stage;

/// Green that goes with the time of year the words suggest.
pub(crate) fn green(stage: &Stage) -> Rgb {
    let season = stage.scene.season;
    let base = match stage.dice.pick("green", 3) {
        0 => hex(0x6ea34a),
        1 => hex(0x7fae4e),
        _ => hex(0x5c9a55),
    };
    match season {
        Season::Autumn => mix(base, hex(0xd98f2e), 0.75),
        Season::Winter => mix(base, hex(0xf1f5fa), 0.93),
        Season::Spring => mix(base, hex(0x9ccc5a), 0.4),
        Season::Summer => base,
    }
}
