//! Faces in photos: finding them, and putting one in the place of another.

mod detect;
mod light;
mod network;
mod points;
mod swap;
mod warp;

pub use detect::{Face, faces};
pub use swap::{FaceError, swap_face};
