//! Faces in photos: finding them, and putting one in the place of another.

mod detect;
mod points;
mod swap;

pub use detect::{Face, faces};
pub use swap::{FaceError, swap_face};
