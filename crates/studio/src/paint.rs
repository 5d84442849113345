//! What every drawing is made with: colours, choices, noise, outlines, regions, and the canvas they are laid on.

pub(crate) mod canvas;
pub(crate) mod colour;
pub(crate) mod cover;
pub(crate) mod dice;
pub(crate) mod foliage;
pub(crate) mod noise;
pub(crate) mod outline;
pub(crate) mod region;
