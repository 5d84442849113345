//! The painter: scenes from words, figures, styles, films, and work on given pictures, all in memory.
//!
//! Invariants: studio knows nothing of jobs, accounts, files on disk or the network; the same input gives the
//! same pixels from one build on one kind of processor; nothing here is async. Codecs and plain work on pixels are `atelier-media`'s.

mod anime;
mod blend;
mod choices;
mod describe;
mod figure;
mod fill;
mod film;
mod grain;
mod layout;
mod packed_text;
mod paint;
mod painter;
mod pyramid;
mod scene;
mod shorten;
mod style;
mod subject;
mod vectorize;
mod words;

pub use anime::{Anime, Character};
pub use blend::{blend, restyle};
pub use choices::RequestedSubject;
pub use choices::habitat::{Habitat, Kind};
pub use choices::kinds::{Motion, Place, Season, Setting, StyleName, Time, Weather};
pub use describe::describe;
pub use describe::hour::seeming_time;
pub use figure::traits::{Expression, Extra, HairCut, Outfit, Pose, Traits};
pub use fill::fill;
pub use film::Film;
pub use film::camera::{CameraMove, camera_move, loop_time};
pub use film::mark::watermark;
pub use film::morph::{Morph, morph};
pub use grain::grained;
pub use scene::Scene;
pub use scene::window::Window;
pub use shorten::shorten;
pub use vectorize::vectorize;
pub use words::reading::Tongue;
pub use words::translate::translated_prompt;
