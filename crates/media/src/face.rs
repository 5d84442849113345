//! Faces in photos: finding them, and putting one in the place of another.

mod detect;

pub use detect::{Face, faces};
